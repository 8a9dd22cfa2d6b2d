#include "sim/trace/series.h"

#include "core/prng.h"
#include "tests/check.h"

static void a_value_holds_until_the_next_one(void)
{
    struct trace_series series = {.span = 0};

    CHECK_EQUAL(SERIES_UNSET, series_at(&series, 0));
    CHECK_EQUAL(NEVER, series_next_change(&series, 0));
    CHECK(series_append(&series, 10, 5));
    CHECK(series_append(&series, 20, 7));
    CHECK_EQUAL(SERIES_UNSET, series_at(&series, 9));
    CHECK_EQUAL(5, series_at(&series, 10));
    CHECK_EQUAL(5, series_at(&series, 19));
    CHECK_EQUAL(7, series_at(&series, 20));
    CHECK_EQUAL(7, series_at(&series, NEVER));
    CHECK_EQUAL(10, series_next_change(&series, 0));
    CHECK_EQUAL(20, series_next_change(&series, 10));
    CHECK_EQUAL(NEVER, series_next_change(&series, 20));
    series_free(&series);
}

static void after_its_span_it_begins_again(void)
{
    struct trace_series series = {.span = 30};

    CHECK(series_append(&series, 10, 5));
    CHECK(series_append(&series, 20, 7));
    CHECK_EQUAL(7, series_at(&series, 29));
    CHECK_EQUAL(SERIES_UNSET, series_at(&series, 30));
    CHECK_EQUAL(5, series_at(&series, 40));
    CHECK_EQUAL(7, series_at(&series, 30000000 + 25));
    CHECK_EQUAL(30, series_next_change(&series, 20));
    CHECK_EQUAL(40, series_next_change(&series, 30));
    CHECK_EQUAL(50, series_next_change(&series, 49));
    CHECK_EQUAL(NEVER, series_next_change(&series, NEVER));
    series_free(&series);
}

static void a_value_that_holds_forever_never_changes(void)
{
    struct trace_series series = {.span = 30};

    CHECK(series_append(&series, 0, 5));
    CHECK_EQUAL(5, series_at(&series, 1000));
    CHECK_EQUAL(NEVER, series_next_change(&series, 1000));
    series_free(&series);
}

/* Who goes from change to change sees every value that there is. */
static void between_two_changes_nothing_changes(void)
{
    struct trace_series series = {.span = 1000};
    struct prng prng;
    nanos next = 0;

    prng_seed(&prng, 1);
    for (nanos time = 0; time < 1000; time += 1 + (nanos)prng_below(&prng, 99))
        CHECK(series_append(&series, time, (int64_t)prng_below(&prng, 9)));
    for (nanos now = 0; now < 5000; now++) {
        if (now == next)
            next = series_next_change(&series, now);
        else
            CHECK_EQUAL(series_at(&series, now - 1), series_at(&series, now));
        CHECK(next > now);
    }
    series_free(&series);
}

void add_sim_trace_series_tests(CU_pSuite suite)
{
    TEST(a_value_holds_until_the_next_one);
    TEST(after_its_span_it_begins_again);
    TEST(a_value_that_holds_forever_never_changes);
    TEST(between_two_changes_nothing_changes);
}
