#include "keys/key.h"

#include <string.h>

#include "seam/machine.h"
#include "tests/check.h"

static void a_key_is_read_as_it_is_printed(void)
{
    struct key_pair pair;
    struct key again;
    char text[KEY_TEXT_BYTES];

    CHECK_OK(key_pair_make(&pair, NULL));
    key_print(&pair.shown, text);
    CHECK_EQUAL(40, strlen(text));
    CHECK(key_parse(text, 40, &again));
    CHECK(keys_equal(&pair.shown, &again));
    CHECK(!keys_equal(&pair.secret, &again));
    CHECK_EQUAL(key_hash(&pair.shown), key_hash(&again));
}

static void no_two_pairs_are_equal_and_no_hash_is_a_word(void)
{
    struct key_pair one, other;

    for (int i = 0; i < 50; i++) {
        CHECK_OK(key_pair_make(&one, NULL));
        CHECK_OK(key_pair_make(&other, NULL));
        CHECK(!keys_equal(&one.shown, &other.shown));
        CHECK(key_hash(&one.shown) != key_hash(&other.shown));
        CHECK(key_hash(&one.shown) > KEY_ENROLS);
    }
}

static void a_text_that_is_no_key_is_refused(void)
{
    static const char *const texts[] = {
        "",
        "short",
        "0123456789012345678901234567890123456789x", /* too long */
        "012345678901234567890123456789012345678",   /* too short */
        "01234567890123456789012345678901234\"6789", /* no such letter */
        "0123456789012345678901234567890123 56789",  /* nor a space */
        "\xff\xff\xff\xff\xff\xff\xff\xff 0123456789012345678901234567890",
        "########################################", /* above 2^32 */
    };
    struct key before, out;

    memset(&before, 7, sizeof before);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        out = before;
        check_true(!key_parse(texts[i], strlen(texts[i]), &out), texts[i],
                   HERE);
        CHECK(keys_equal(&before, &out));
    }
    CHECK(!key_parse("0123456789\0123456789012345678901234567890", 40, &out));
}

void add_keys_key_tests(CU_pSuite suite)
{
    TEST(a_key_is_read_as_it_is_printed);
    TEST(no_two_pairs_are_equal_and_no_hash_is_a_word);
    TEST(a_text_that_is_no_key_is_refused);
}
