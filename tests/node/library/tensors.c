/* The tensors that a program gives: which cannot be, and those that move. */
#include <stdint.h>

#include <starswitch.h>

#include "tests/check.h"
#include "tests/node/library/server.h"

static void check_refused(const struct star_tensor *tensors, size_t count,
                          const char *part)
{
    const struct star_options options = {.size = sizeof options, .quiet = 1};
    struct star_link *link = NULL;
    char error[256] = "";

    CHECK_EQUAL(STAR_BAD_ARGUMENT, star_attach(&options, tensors, count, &link,
                                               error, sizeof error));
    CHECK_CONTAINS(part, error);
    CHECK(link == NULL);
}

static void tensors_that_cannot_be_are_refused_with_a_sentence(void)
{
    static float w[4];
    static const struct star_tensor wrong[] = {
        STAR_TENSOR(NULL, 1, w, NULL, 4),
        STAR_TENSOR("w", 1, NULL, NULL, 4),
        STAR_TENSOR("w", -1, w, NULL, 4),
        STAR_TENSOR("w", STAR_RANK_MAX + 1, w, NULL, 4),
        STAR_TENSOR("w", 1, w, NULL, 0),
        STAR_TENSOR("", 1, w, NULL, 4),
        STAR_TENSOR("two words", 1, w, NULL, 4),
        STAR_TENSOR("w", 2, w, NULL, UINT64_MAX, 2)};
    const struct star_tensor twice[] = {STAR_TENSOR("w", 1, w, NULL, 4),
                                        STAR_TENSOR("w", 1, w, NULL, 4)};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(&wrong[i], 1, "tensor");
    check_refused(twice, 2, "w");
    check_refused(wrong, 0, "no tensors");
    check_refused(NULL, 3, "no tensors");
}

static void a_statistic_has_a_kind_that_there_is(void)
{
    static float w[4], count[1];
    struct star_tensor tensors[] = {STAR_TENSOR("w", 1, w, NULL, 4),
                                    STAR_TENSOR("n", 0, count, NULL, 0)};
    struct star_options options = {
        .size = sizeof options, .quiet = 1, .change = move_nothing};
    struct star_link *link = NULL;
    char error[256] = "";

    tensors[1].kind = (enum star_kind)3;
    check_refused(tensors, 2, "kind");
    tensors[1].kind = STAR_LARGEST;
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_attach(&options, tensors, 2, &link, error, sizeof error));
    CHECK_CONTAINS("raise_to", error);
    options.change = NULL;
    CHECK_EQUAL(STAR_OK,
                star_attach(&options, tensors, 2, &link, error, sizeof error));
    CHECK_EQUAL(STAR_OK, star_retarget(link, tensors, 2, error, sizeof error));
    tensors[1].kind = STAR_AVERAGED;
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_retarget(link, tensors, 2, error, sizeof error));
    (void)star_detach_within(&link, 0);
}

static void tensors_that_share_memory_are_refused(void)
{
    static float w[6], g[6];
    const struct star_tensor over[] = {STAR_TENSOR("a", 1, w, g, 4),
                                       STAR_TENSOR("b", 1, w + 3, NULL, 3)};
    const struct star_tensor gradient[] = {STAR_TENSOR("a", 1, w, w + 2, 3)};
    const struct star_tensor beside[] = {STAR_TENSOR("a", 1, w + 3, g + 3, 3),
                                         STAR_TENSOR("b", 1, w, g, 3)};
    const struct star_options options = {
        .size = sizeof options, .hub = "127.0.0.1:1", .quiet = 1};
    struct star_link *link = NULL;
    char error[256] = "";

    check_refused(over, 2, "a and b share memory");
    check_refused(gradient, 1, "share memory");
    CHECK_EQUAL(STAR_OK,
                star_attach(&options, beside, 2, &link, error, sizeof error));
    star_detach(&link);
}

static void who_moves_tensors_moves_the_same_ones(void)
{
    static float w[8], v[8];
    const struct star_tensor first[] = {STAR_TENSOR("a", 1, w, NULL, 4),
                                        STAR_TENSOR("b", 1, w + 4, NULL, 4)};
    const struct star_tensor moved[] = {STAR_TENSOR("a", 1, v + 4, NULL, 4),
                                        STAR_TENSOR("b", 1, v, NULL, 4)};
    const struct star_tensor other[] = {STAR_TENSOR("b", 1, v, NULL, 4),
                                        STAR_TENSOR("a", 1, v + 4, NULL, 4)};
    const struct star_tensor over[] = {STAR_TENSOR("a", 1, v, NULL, 4),
                                       STAR_TENSOR("b", 1, v + 3, NULL, 4)};
    const struct star_options options = {
        .size = sizeof options, .hub = "127.0.0.1:1", .quiet = 1};
    struct star_link *link = NULL;
    char error[256] = "";

    CHECK_EQUAL(STAR_OK,
                star_attach(&options, first, 2, &link, error, sizeof error));
    CHECK_EQUAL(STAR_OK, star_retarget(link, moved, 2, error, sizeof error));
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_retarget(link, moved, 1, error, sizeof error));
    CHECK_CONTAINS("more or fewer tensors", error);
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_retarget(link, other, 2, error, sizeof error));
    CHECK_CONTAINS("tensor 0 is not the one that was attached, a", error);
    CHECK_EQUAL(STAR_BAD_ARGUMENT,
                star_retarget(link, over, 2, error, sizeof error));
    CHECK_CONTAINS("share memory", error);
    CHECK_EQUAL(STAR_GO, star_step(link, NULL));
    star_detach_within(&link, 0);
}

void add_node_library_tensors_tests(CU_pSuite suite)
{
    TEST(tensors_that_cannot_be_are_refused_with_a_sentence);
    TEST(a_statistic_has_a_kind_that_there_is);
    TEST(tensors_that_share_memory_are_refused);
    TEST(who_moves_tensors_moves_the_same_ones);
}
