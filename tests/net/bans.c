#include "net/bans.h"

#include "tests/check.h"

static struct bans bans;

static void the_third_offence_within_ten_minutes_bans_for_ten(void)
{
    bans_init(&bans);
    CHECK(!bans_add_score(&bans, 0, 7));
    CHECK(!bans_add_score(&bans, 300 * SECOND, 7));
    CHECK(!bans_hold(&bans, 300 * SECOND, 7));
    CHECK(bans_add_score(&bans, 600 * SECOND, 7));
    CHECK(bans_hold(&bans, 600 * SECOND, 7));
    CHECK(bans_hold(&bans, 1200 * SECOND - 1, 7));
    CHECK(!bans_hold(&bans, 1200 * SECOND, 7));
    CHECK(!bans_hold(&bans, 600 * SECOND, 8));
    bans_free(&bans);
}

static void three_offences_in_more_than_ten_minutes_are_forgiven(void)
{
    bans_init(&bans);
    for (unsigned i = 0; i < 100; i++)
        CHECK(!bans_add_score(&bans, (nanos)i * 301 * SECOND, 7));
    CHECK(bans_add_score(&bans, (nanos)99 * 301 * SECOND + 1, 7));
    bans_free(&bans);
}

static void a_ban_is_told_once_and_does_not_grow(void)
{
    bans_init(&bans);
    (void)bans_add_score(&bans, 0, 7);
    (void)bans_add_score(&bans, 0, 7);
    CHECK(bans_add_score(&bans, 0, 7));
    CHECK(!bans_add_score(&bans, 1, 7));
    CHECK(!bans_hold(&bans, BAN_TIME, 7));
    CHECK(!bans_add_score(&bans, BAN_TIME + 1, 7));
    bans_free(&bans);
}

static void however_many_offend_the_table_is_bounded_and_the_last_are_kept(void)
{
    const uint64_t last = 10 * (uint64_t)BANS_MAX;

    bans_init(&bans);
    for (uint64_t who = 1; who <= last; who++)
        for (int i = 0; i < BAN_SCORE_LIMIT; i++)
            (void)bans_add_score(&bans, (nanos)who, who);
    CHECK_EQUAL(BANS_MAX, bans.count);
    CHECK(bans_hold(&bans, (nanos)last, last));
    CHECK(bans_hold(&bans, (nanos)last, last - BANS_MAX + 1));
    CHECK(!bans_hold(&bans, (nanos)last, last - BANS_MAX));
    bans_free(&bans);
}

void add_net_bans_tests(CU_pSuite suite)
{
    TEST(the_third_offence_within_ten_minutes_bans_for_ten);
    TEST(three_offences_in_more_than_ten_minutes_are_forgiven);
    TEST(a_ban_is_told_once_and_does_not_grow);
    TEST(however_many_offend_the_table_is_bounded_and_the_last_are_kept);
}
