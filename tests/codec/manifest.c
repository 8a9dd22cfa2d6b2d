#include "codec/manifest.h"

#include <string.h>

#include "tests/check.h"

static const char state[] = "run 7\nepoch 1\n";
static const unsigned char key[MANIFEST_KEY_BYTES] = {1, 2, 3};
static const float values[2][3] = {{1, 2, 3}, {4, 5, 6}};

enum {
    STATE_BYTES = sizeof state - 1,
    SIZE = 8 + STATE_BYTES + 2 * 24 + MANIFEST_HASH_BYTES + MANIFEST_MAC_BYTES
};

static void make(unsigned char *bytes)
{
    manifest_begin(bytes, 2, state, STATE_BYTES);
    manifest_add(bytes, 0, 9, values[0], sizeof values[0]);
    manifest_add(bytes, 1, (uint64_t)1 << 40, values[1], sizeof values[1]);
    manifest_seal(bytes, key);
}

static void what_is_written_is_read(void)
{
    unsigned char bytes[SIZE];
    struct manifest read;

    CHECK_EQUAL(SIZE, manifest_bytes(2, STATE_BYTES));
    make(bytes);
    if (!CHECK(manifest_read(&read, bytes, sizeof bytes)))
        return;
    CHECK_EQUAL(2, read.chunks);
    CHECK_EQUAL(STATE_BYTES, read.state_bytes);
    CHECK(memcmp(read.state, state, STATE_BYTES) == 0);
    CHECK_EQUAL(9, manifest_version(&read, 0));
    CHECK_EQUAL((uint64_t)1 << 40, manifest_version(&read, 1));
    CHECK(manifest_is_genuine(&read, key));
    CHECK(manifest_holds(&read, 1, values[1], sizeof values[1]));
    CHECK(!manifest_holds(&read, 1, values[0], sizeof values[0]));
}

static void every_bit_that_changes_is_noticed(void)
{
    unsigned char bytes[SIZE];
    struct manifest read;

    for (unsigned bit = 0; bit < 8 * SIZE; bit++) {
        make(bytes);
        bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        CHECK(!manifest_read(&read, bytes, sizeof bytes) ||
              !manifest_is_genuine(&read, key));
    }
}

static void no_other_length_is_read(void)
{
    unsigned char bytes[SIZE + 1] = {0};
    struct manifest read;

    make(bytes);
    for (size_t size = 0; size <= SIZE + 1; size++)
        CHECK_EQUAL(size == SIZE, manifest_read(&read, bytes, size));
}

static void numbers_that_are_too_large_do_not_wrap_around(void)
{
    unsigned char bytes[SIZE];
    struct manifest read;

    make(bytes);
    memset(bytes, 0xff, 4);
    CHECK(!manifest_read(&read, bytes, sizeof bytes));
    memset(bytes, 0xff, 8);
    CHECK(!manifest_read(&read, bytes, sizeof bytes));
}

static void another_key_makes_another_mac(void)
{
    unsigned char bytes[SIZE], other[MANIFEST_KEY_BYTES] = {0};
    struct manifest read;

    make(bytes);
    CHECK(manifest_read(&read, bytes, sizeof bytes));
    CHECK(!manifest_is_genuine(&read, other));
    manifest_seal(bytes, other);
    CHECK(manifest_is_genuine(&read, other));
}

static void a_state_with_a_nul_is_no_text(void)
{
    unsigned char bytes[SIZE];
    struct manifest read;

    make(bytes);
    bytes[8 + 3] = 0;
    manifest_seal(bytes, key);
    CHECK(!manifest_read(&read, bytes, sizeof bytes));
}

void add_codec_manifest_tests(CU_pSuite suite)
{
    TEST(what_is_written_is_read);
    TEST(every_bit_that_changes_is_noticed);
    TEST(no_other_length_is_read);
    TEST(numbers_that_are_too_large_do_not_wrap_around);
    TEST(another_key_makes_another_mac);
    TEST(a_state_with_a_nul_is_no_text);
}
