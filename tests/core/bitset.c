#include "core/bitset.h"

#include "tests/check.h"

static void numbers_are_walked_in_order(void)
{
    static const int numbers[] = {1000, 0, 63, 64, 5, 127, 128, 16383};
    static const int sorted[] = {0, 5, 63, 64, 127, 128, 1000, 16383};
    struct bitset set = {0};
    int at = -1;

    CHECK_EQUAL(-1, bitset_next(&set, 0));
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bitset_set(&set, numbers[i], true);
    for (unsigned i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        at = bitset_next(&set, at + 1);
        CHECK_EQUAL(sorted[i], at);
    }
    CHECK_EQUAL(-1, bitset_next(&set, at + 1));
    bitset_free(&set);
}

static void what_is_taken_out_is_passed_over(void)
{
    struct bitset set = {0};

    bitset_set(&set, 100, false);
    CHECK_EQUAL(-1, bitset_next(&set, 0));
    for (int i = 0; i < 300; i++)
        bitset_set(&set, i, true);
    for (int i = 0; i < 300; i++)
        if (i % 70 != 3)
            bitset_set(&set, i, false);
    CHECK_EQUAL(3, bitset_next(&set, 0));
    CHECK_EQUAL(73, bitset_next(&set, 4));
    CHECK_EQUAL(283, bitset_next(&set, 214));
    CHECK_EQUAL(-1, bitset_next(&set, 284));
    bitset_free(&set);
}

void add_core_bitset_tests(CU_pSuite suite)
{
    TEST(numbers_are_walked_in_order);
    TEST(what_is_taken_out_is_passed_over);
}
