#include "core/hex.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/check.h"

static void what_is_written_is_read(void)
{
    static const uint64_t values[] = {0, 1, 0x0123456789abcdef, UINT64_MAX};

    for (unsigned i = 0; i < 4; i++) {
        char text[HEX_DIGITS + 1];
        uint64_t value = 7;

        (void)snprintf(text, sizeof text, "%016" PRIx64, values[i]);
        CHECK(hex_read(text, &value));
        CHECK_EQUAL(values[i], value);
    }
}

static void anything_else_is_not(void)
{
    static const char *const texts[] = {"", "123456789abcdef",
                                        "000000000000000A", "00000000 0000000",
                                        "0x00000000000000"};

    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t value = 7;

        CHECK(!hex_read(texts[i], &value));
        CHECK_EQUAL(7, value);
    }
}

static void what_is_behind_is_not_looked_at(void)
{
    uint64_t value;

    CHECK(hex_read("00000000000000ff and more", &value));
    CHECK_EQUAL(255, value);
}

void add_core_hex_tests(CU_pSuite suite)
{
    TEST(what_is_written_is_read);
    TEST(anything_else_is_not);
    TEST(what_is_behind_is_not_looked_at);
}
