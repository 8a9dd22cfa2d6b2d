/* How fast bytes arrived, from samples. */
#include "node/program/link_rate.h"

#include "tests/check.h"

enum { COUNT = 1001 };
#define BURST ((uint64_t)128 << 10)
#define LUMP ((uint64_t)64 << 10)
#define RATE 1250000

/* One a millisecond, of a shaper's link: a burst at once, then RATE; by lumps
 * where there are any; nothing more after `all` bytes. */
static void shape(struct link_sample samples[COUNT], uint64_t lump,
                  uint64_t all)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t bytes = i < 10 ? 0 : BURST + (i - 10) * RATE / 1000;

        bytes -= bytes % lump;
        samples[i].at = (nanos)i * MILLISECOND;
        samples[i].bytes = bytes < all ? bytes : all;
    }
}

static void a_burst_is_not_measured(void)
{
    struct link_sample samples[COUNT];
    struct link_rate rate;

    shape(samples, 1, 1 << 20);
    rate = link_rate(samples, COUNT);
    CHECK_NEAR(RATE, rate.rate, RATE * 0.01);
    CHECK(!rate.at_least);
    CHECK(rate.steady > 500 * MILLISECOND);
}

/* Whenever the last of them comes. */
static void lumps_are_measured_from_one_to_another(void)
{
    struct link_sample samples[COUNT];

    for (uint64_t all = 10 * LUMP; all < 18 * LUMP; all += LUMP / 5) {
        shape(samples, LUMP, all);
        CHECK_NEAR(RATE, link_rate(samples, COUNT).rate, RATE * 0.03);
    }
}

/* A program that did not run has no samples from then, and that is all. */
static void samples_that_are_missing_do_not_matter(void)
{
    struct link_sample samples[COUNT], few[COUNT];
    size_t count = 0;

    shape(samples, 1, 1 << 20);
    for (unsigned i = 0; i < COUNT; i++)
        if (i < 300 || i > 500)
            few[count++] = samples[i];
    CHECK_NEAR(RATE, link_rate(few, count).rate, RATE * 0.01);
}

/* Bytes behind a gap are counted when that is filled, gap after gap. */
static void gaps_that_are_filled_late_do_not_matter(void)
{
    static const unsigned gaps[][2] = {{100, 400}, {250, 480}, {740, COUNT}};
    struct link_sample samples[COUNT];

    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        shape(samples, 1, 2 << 20);
        for (unsigned j = gaps[i][0]; j < gaps[i][1]; j++) {
            uint64_t before = samples[gaps[i][0] - 1].bytes;
            uint64_t here = samples[j].bytes - LUMP;

            samples[j].bytes = here > before ? here : before;
        }
        CHECK_NEAR(RATE, link_rate(samples, COUNT).rate, RATE * 0.01);
    }
}

static void what_was_too_short_was_reached_at_least(void)
{
    const struct link_sample samples[] = {{0, 5},
                                          {MILLISECOND, 5},
                                          {2 * MILLISECOND, 4000005},
                                          {6 * MILLISECOND, 8000005},
                                          {9 * MILLISECOND, 8000005}};
    struct link_rate rate = link_rate(samples, 5);

    CHECK(rate.at_least);
    CHECK_NEAR(8000000 / 5e-3, rate.rate, 1);
}

static void of_nothing_no_rate_is_known(void)
{
    const struct link_sample samples[] = {{0, 5}, {SECOND, 5}};

    CHECK_NEAR(0, link_rate(samples, 0).rate, 0);
    CHECK_NEAR(0, link_rate(samples, 1).rate, 0);
    CHECK_NEAR(0, link_rate(samples, 2).rate, 0);
}

void add_node_program_link_rate_tests(CU_pSuite suite)
{
    TEST(a_burst_is_not_measured);
    TEST(lumps_are_measured_from_one_to_another);
    TEST(samples_that_are_missing_do_not_matter);
    TEST(gaps_that_are_filled_late_do_not_matter);
    TEST(what_was_too_short_was_reached_at_least);
    TEST(of_nothing_no_rate_is_known);
}
