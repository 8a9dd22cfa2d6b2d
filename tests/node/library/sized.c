/* Structs of programs that were compiled with another version of the header. */
#include <stdint.h>
#include <string.h>

#include "node/library/sized.h"
#include "tests/check.h"

/* Of three versions of a header, and the library's is the second. */
struct first {
    uint32_t size;
    int one;
};

struct second {
    uint32_t size;
    int one;
    double two;
};

struct third {
    uint32_t size;
    int one;
    double two, three;
};

static void what_a_shorter_struct_lacks_is_zero(void)
{
    const struct first given = {sizeof given, 7};
    struct second read = {.two = 3};
    struct why why;

    CHECK_EQUAL(STATUS_OK,
                sized_read(&read, sizeof read, &given, "first", &why));
    CHECK_EQUAL(sizeof read, read.size);
    CHECK_EQUAL(7, read.one);
    CHECK_NEAR(0, read.two, 0);
}

static void a_longer_struct_says_nothing_that_is_not_known(void)
{
    struct third given = {sizeof given, 7, 8, 0};
    struct second read = {.two = 3};
    struct why why = {""};

    CHECK_EQUAL(STATUS_OK,
                sized_read(&read, sizeof read, &given, "third", &why));
    CHECK_NEAR(8, read.two, 0);
    given.two = 9;
    given.three = 1;
    CHECK_EQUAL(STATUS_USAGE,
                sized_read(&read, sizeof read, &given, "third", &why));
    CHECK_NEAR(8, read.two, 0);
    CHECK_CONTAINS("struct third has a member", why.text);
}

static void a_size_that_is_not_set_is_refused_with_a_sentence(void)
{
    static const uint32_t wrong[] = {0, 1, sizeof(uint32_t), 1 << 20};
    struct second given = {0, 7, 8}, read = {.one = 3};
    struct why why = {""};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        given.size = wrong[i];
        CHECK_EQUAL(STATUS_USAGE,
                    sized_read(&read, sizeof read, &given, "second", &why));
        CHECK_EQUAL(STATUS_USAGE, sized_write(&given, &read, sizeof read));
    }
    CHECK_CONTAINS("size of struct second is not set", why.text);
    CHECK_EQUAL(3, read.one);
    CHECK_EQUAL(7, given.one);
}

static void lists_are_as_wide_as_their_first_element(void)
{
    const struct third list[] = {{sizeof *list, 1, 2, 0},
                                 {sizeof *list, 3, 4, 0}};
    struct third mixed[] = {{sizeof *list, 1, 2, 0}, {8, 3, 4, 0}};
    struct second read;
    struct why why = {""};

    CHECK_EQUAL(STATUS_OK,
                sized_read_at(&read, sizeof read, list, 1, "third", &why));
    CHECK_EQUAL(3, read.one);
    CHECK_EQUAL(STATUS_USAGE,
                sized_read_at(&read, sizeof read, mixed, 1, "third", &why));
    CHECK_CONTAINS("is not that of the first", why.text);
}

static void what_is_written_ends_where_the_program_s_struct_ends(void)
{
    const struct second own = {sizeof own, 7, 8};
    struct {
        struct first given;
        char behind[8];
    } shorter = {{sizeof shorter.given, 0}, "behind"};
    struct third longer = {sizeof longer, 0, 0, 9};

    CHECK_EQUAL(STATUS_OK, sized_write(&shorter.given, &own, sizeof own));
    CHECK_EQUAL(7, shorter.given.one);
    CHECK_EQUAL(sizeof shorter.given, shorter.given.size);
    CHECK_TEXT("behind", shorter.behind);
    CHECK_EQUAL(STATUS_OK, sized_write(&longer, &own, sizeof own));
    CHECK_NEAR(8, longer.two, 0);
    CHECK_NEAR(0, longer.three, 0);
    CHECK_EQUAL(sizeof longer, longer.size);
}

void add_node_library_sized_tests(CU_pSuite suite)
{
    TEST(what_a_shorter_struct_lacks_is_zero);
    TEST(a_longer_struct_says_nothing_that_is_not_known);
    TEST(a_size_that_is_not_set_is_refused_with_a_sentence);
    TEST(lists_are_as_wide_as_their_first_element);
    TEST(what_is_written_ends_where_the_program_s_struct_ends);
}
