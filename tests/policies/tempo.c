/* The arithmetic of k and d. Rates are those of the issue: N nodes exchange a
 * model of P parameters as int8 over one port. */
#include "policies/tempo.h"

#include <math.h>

#include "tests/check.h"

/* Bytes of one update over bytes a second, of all nodes through one port. */
static struct tempo_seen star(double nodes, double params, double mbit,
                              double step)
{
    double busy = nodes * params / (mbit * 125000);

    return (struct tempo_seen){.busy = busy,
                               .rate = 1 / step,
                               .quick = 2 * busy / step,
                               .usual = 2.5 * busy / step};
}

static void k_leaves_a_quarter_of_the_links(void)
{
    struct tempo_seen seen = star(4, 750000, 10, 0.1);

    seen.quick = 0;
    CHECK_EQUAL(32, tempo_every(&seen, NULL)); /* 2.4 s in 3.2 s */
    seen = star(4, 750000, 100, 0.1);
    seen.quick = 0;
    CHECK_EQUAL(4, tempo_every(&seen, NULL)); /* 3.2 */
    seen = star(4, 750000, 1000, 0.1);        /* 0.48 in 1 */
    CHECK_EQUAL(1, tempo_every(&seen, NULL));
    seen = star(8, 10000000, 100, 0.5);
    seen.quick = 0;
    CHECK_EQUAL(18, tempo_every(&seen, NULL)); /* 6.4 s in 8.5 s */
}

/* Or rounds would wait for its one, and the others leave offers out. */
static void the_slowest_node_does_an_iteration_at_least(void)
{
    struct tempo_seen seen = star(4, 750000, 1000, 0.1);

    seen.spread = 4.2;
    CHECK_EQUAL(4, tempo_every(&seen, NULL));
    seen.spread = 1.1;
    CHECK_EQUAL(1, tempo_every(&seen, NULL));
}

static void d_covers_an_exchange(void)
{
    struct tempo_seen seen = {.rate = 10, .quick = 3.2, .usual = 5.5};

    CHECK_EQUAL(6, tempo_delay(&seen, 12));
    CHECK_EQUAL(6, tempo_delay(&seen, 100));
    seen.usual = 2; /* quick is never more, but for noise */
    CHECK_EQUAL(2, tempo_delay(&seen, 4));
    seen = (struct tempo_seen){.rate = 10};
    CHECK_EQUAL(1, tempo_delay(&seen, 4));
}

/* Who is faster than the others waits for them whatever d is. */
static void d_is_at_most_half_of_k_or_the_quickest_exchange(void)
{
    struct tempo_seen seen = {.rate = 10, .quick = 3, .usual = 500};

    CHECK_EQUAL(4, tempo_delay(&seen, 7));
    CHECK_EQUAL(3, tempo_delay(&seen, 1));
}

static void a_training_thread_spends_one_percent(void)
{
    struct tempo_seen seen = {.rate = 10, .exchanging = 0.02};
    const char *bound;

    CHECK_EQUAL(20, tempo_every(&seen, &bound)); /* 20 ms in 2 s */
    CHECK_TEXT("trainers' work", bound);
    seen.rate = 1;
    seen.quick = 3;
    CHECK_EQUAL(6, tempo_every(&seen, &bound));
    CHECK_TEXT("exchanges' time", bound);
}

static void no_more_than_20_exchanges_a_second(void)
{
    struct tempo_seen seen = {.rate = 2000};

    CHECK_EQUAL(100, tempo_every(&seen, NULL));
    seen.rate = 20;
    CHECK_EQUAL(1, tempo_every(&seen, NULL));
    seen.rate = 0;
    CHECK_EQUAL(1, tempo_every(&seen, NULL));
}

static void an_exchange_takes_half_of_k_at_most(void)
{
    struct tempo_seen seen = {.rate = 10, .quick = 7};

    CHECK_EQUAL(14, tempo_every(&seen, NULL));
}

/* On ever faster links. */
static void check_falls(double nodes, double params, double step)
{
    uint64_t every = UINT64_MAX, delay = UINT64_MAX;

    for (int i = 0; i < 22; i++) {
        struct tempo_seen seen = star(nodes, params, pow(1.7, i), step);
        uint64_t k = tempo_every(&seen, NULL);
        uint64_t d = tempo_delay(&seen, k);

        CHECK(k >= 1 && k <= every && k <= TEMPO_MOST);
        CHECK(d >= 1 && d <= delay && d <= TEMPO_MOST);
        every = k;
        delay = d;
    }
}

static void a_faster_link_never_gives_a_larger_k_or_d(void)
{
    for (int nodes = 1; nodes <= 64; nodes *= 2)
        for (int params = 4; params <= 9; params++)
            for (int step = -3; step <= 1; step++)
                check_falls(nodes, pow(10, params), pow(10, step));
}

static void what_makes_no_sense_is_bounded(void)
{
    struct tempo_seen seen = {.busy = 1e300, .rate = 1e300};

    CHECK_EQUAL(TEMPO_MOST, tempo_every(&seen, NULL));
    seen = (struct tempo_seen){.quick = 1e300, .usual = 1e300};
    CHECK_EQUAL(TEMPO_MOST, tempo_delay(&seen, 1));
}

static void a_quarter_is_not_worth_telling(void)
{
    CHECK(!tempo_differs(20, 20));
    CHECK(!tempo_differs(25, 20));
    CHECK(!tempo_differs(15, 20));
    CHECK(tempo_differs(26, 20));
    CHECK(tempo_differs(14, 20));
    CHECK(tempo_differs(1, 2));
    CHECK(tempo_differs(2, 1));
    CHECK(tempo_differs(1, 0));
}

static void percentiles_are_by_nearest_rank(void)
{
    struct tempo_value list[10];

    for (unsigned i = 0; i < 10; i++)
        list[i] = (struct tempo_value){(double)((7 * i + 3) % 10 + 1), 0.1};

    CHECK_NEAR(1, tempo_percentile(list, 10, 0.1), 0);
    CHECK_NEAR(5, tempo_percentile(list, 10, 0.5), 0);
    CHECK_NEAR(10, tempo_percentile(list, 10, 0.95), 0);
    CHECK_NEAR(1, tempo_percentile(list, 1, 0.95), 0);
    CHECK_NEAR(0, tempo_percentile(list, 0, 0.5), 0);
}

/* Three values of one node are worth as much as 30 of another one. */
static void percentiles_are_of_the_weights(void)
{
    struct tempo_value list[33];

    for (unsigned i = 0; i < 33; i++)
        list[i] = i < 30 ? (struct tempo_value){1e12, 1.0 / 30}
                         : (struct tempo_value){(double)i, 1.0 / 3};
    CHECK_NEAR(30, tempo_percentile(list, 33, 0.1), 0);
    CHECK_NEAR(32, tempo_percentile(list, 33, 0.5), 0);
    CHECK_NEAR(1e12, tempo_percentile(list, 33, 0.6), 0);
}

void add_policies_tempo_tests(CU_pSuite suite)
{
    TEST(k_leaves_a_quarter_of_the_links);
    TEST(the_slowest_node_does_an_iteration_at_least);
    TEST(d_covers_an_exchange);
    TEST(d_is_at_most_half_of_k_or_the_quickest_exchange);
    TEST(a_training_thread_spends_one_percent);
    TEST(no_more_than_20_exchanges_a_second);
    TEST(an_exchange_takes_half_of_k_at_most);
    TEST(a_faster_link_never_gives_a_larger_k_or_d);
    TEST(what_makes_no_sense_is_bounded);
    TEST(a_quarter_is_not_worth_telling);
    TEST(percentiles_are_by_nearest_rank);
    TEST(percentiles_are_of_the_weights);
}
