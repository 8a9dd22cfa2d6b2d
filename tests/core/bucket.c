#include "core/bucket.h"

#include "core/prng.h"
#include "tests/check.h"

static void a_bucket_without_a_rate_lets_all_through(void)
{
    struct bucket bucket;

    bucket_init(&bucket, 0, 100, 5);
    CHECK(bucket_spend(&bucket, UINT64_MAX, 5));
    CHECK_EQUAL(5, bucket_when(&bucket, UINT64_MAX, 5));
}

static void a_bucket_begins_full_with_a_chunk_and_10_ms(void)
{
    struct bucket bucket;

    bucket_init(&bucket, 1000, 20, 0);
    CHECK(bucket_spend(&bucket, 30, 0));
    CHECK(!bucket_spend(&bucket, 1, 0));
}

static void it_says_to_the_nanosecond_when_there_is_enough(void)
{
    struct prng prng;
    struct bucket bucket;
    nanos now = 7 * SECOND;

    prng_seed(&prng, 1);
    bucket_init(&bucket, 333333333, 1 << 20, now);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t bytes = 1 + prng_next(&prng) % (1 << 20);
        nanos when = bucket_when(&bucket, bytes, now);

        if (when > now)
            CHECK(!bucket_spend(&bucket, bytes, when - 1));
        now = when;
        CHECK(bucket_spend(&bucket, bytes, now));
    }
}

/* No rounding adds up: after an hour of odd times it is exact to the byte. */
static void nothing_is_lost_or_won_by_looking_often(void)
{
    struct bucket bucket;
    uint64_t taken = 0;
    nanos now = 0;

    bucket_init(&bucket, 999983, 1000, 0);
    while (bucket_spend(&bucket, 1, 0))
        taken++;
    CHECK_EQUAL(1000 + 9999, taken);
    for (taken = 0; now < SECOND; now += 999)
        while (bucket_spend(&bucket, 1, now))
            taken++;
    CHECK_EQUAL(999982, taken);
}

static void an_idle_bucket_is_full_and_no_more(void)
{
    struct bucket bucket;

    bucket_init(&bucket, 1000, 20, 0);
    CHECK(bucket_spend(&bucket, 30, 0));
    CHECK(bucket_spend(&bucket, 29, 3600 * SECOND));
    CHECK(bucket_spend(&bucket, 1, 3600 * SECOND));
    CHECK(!bucket_spend(&bucket, 1, 3600 * SECOND));
}

static void more_than_its_depth_is_taken_when_it_is_full_and_owed(void)
{
    struct bucket bucket;

    bucket_init(&bucket, 1000, 20, 0);
    CHECK(bucket_spend(&bucket, 1030, 0));
    CHECK_EQUAL(SECOND + MILLISECOND, bucket_when(&bucket, 1, 0));
    CHECK_EQUAL(SECOND + 30 * MILLISECOND, bucket_when(&bucket, 5000, 0));
}

static void a_clock_that_goes_back_gives_nothing(void)
{
    struct bucket bucket;

    bucket_init(&bucket, 1000, 20, SECOND);
    CHECK(bucket_spend(&bucket, 30, SECOND));
    CHECK(!bucket_spend(&bucket, 1, 0));
    CHECK_EQUAL(SECOND + MILLISECOND, bucket_when(&bucket, 1, 0));
}

static void the_largest_rates_and_sizes_do_not_overflow(void)
{
    struct bucket bucket;
    nanos when;

    bucket_init(&bucket, UINT64_MAX, UINT64_MAX, 0);
    CHECK(bucket_spend(&bucket, UINT64_MAX, 0));
    when = bucket_when(&bucket, UINT64_MAX, 0);
    CHECK(when > 0 && when < SECOND);
    CHECK(bucket_spend(&bucket, UINT64_MAX, NEVER - 1));
}

void add_core_bucket_tests(CU_pSuite suite)
{
    TEST(a_bucket_without_a_rate_lets_all_through);
    TEST(a_bucket_begins_full_with_a_chunk_and_10_ms);
    TEST(it_says_to_the_nanosecond_when_there_is_enough);
    TEST(nothing_is_lost_or_won_by_looking_often);
    TEST(an_idle_bucket_is_full_and_no_more);
    TEST(more_than_its_depth_is_taken_when_it_is_full_and_owed);
    TEST(a_clock_that_goes_back_gives_nothing);
    TEST(the_largest_rates_and_sizes_do_not_overflow);
}
