#include "policies/pace.h"

#include <math.h>

#include "tests/check.h"

static void the_reference_of_few_nodes_is_the_fastest(void)
{
    static const double rates[] = {3, 8, 5, 1, 2, 4, 6, 7, 8};

    CHECK_NEAR(0, pace_reference(rates, 0), 0);
    CHECK_NEAR(3, pace_reference(rates, 1), 0);
    CHECK_NEAR(8, pace_reference(rates, 2), 0);
    CHECK_NEAR(8, pace_reference(rates, 9), 0);
}

static void one_node_far_ahead_does_not_set_the_pace(void)
{
    static const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1000};
    static const double four[] = {1e300, 2, 1, 4};
    double twenty[20];

    CHECK_NEAR(9, pace_reference(ten, 10), 0);
    for (unsigned i = 0; i < 20; i++)
        twenty[i] = i * 7 % 20 + 1;
    CHECK_NEAR(18, pace_reference(twenty, 20), 0);
    CHECK_NEAR(PACE_FASTER * 2, pace_reference(four, 4), 0);
}

static void rates_that_are_not_known_do_not_count(void)
{
    const double rates[] = {0, (double)NAN, 4, -1, (double)INFINITY, 2};

    CHECK_NEAR(4, pace_reference(rates, 6), 0);
    CHECK_NEAR(0, pace_reference(rates, 2), 0);
}

static uint64_t steps(double rate, double reference, uint64_t every)
{
    return pace_steps(pace_share(rate, reference), every);
}

/* The char-LM of the paper's setting: relative speeds of four nodes. */
static void iterations_follow_the_speed(void)
{
    CHECK_EQUAL(50, steps(10, 10, 50));
    CHECK_EQUAL(25, steps(5, 10, 50));
    CHECK_EQUAL(8, steps(0.58, 3.33, 50));
    CHECK_EQUAL(11, steps(0.75, 3.33, 50));
    CHECK_EQUAL(22, steps(1.51, 3.33, 50));
    CHECK_EQUAL(100, steps(20, 10, 50));
}

static void nodes_within_a_tenth_do_the_same(void)
{
    CHECK_EQUAL(5, steps(9.1, 10, 5));
    CHECK_EQUAL(1000, steps(10.9, 10, 1000));
    CHECK_EQUAL(750, steps(7.5, 10, 1000));
    CHECK_EQUAL(1250, steps(12.5, 10, 1000));
}

static void every_node_does_at_least_one(void)
{
    CHECK_EQUAL(1, steps(0.1, 10, 50));
    CHECK_EQUAL(1, steps(1e-300, 1e300, 1));
}

static void without_a_rate_all_do_the_same(void)
{
    CHECK_EQUAL(50, steps(0, 10, 50));
    CHECK_EQUAL(50, steps(10, 0, 50));
    CHECK_EQUAL(50, steps((double)NAN, 10, 50));
    CHECK_EQUAL(50, steps(10, (double)INFINITY, 50));
}

static void a_rate_beyond_belief_is_bounded(void)
{
    CHECK_EQUAL(200, steps(1e300, 1, 50));
    CHECK_EQUAL(200, steps(1e300, 1e-300, 50));
    CHECK_EQUAL(PACE_MOST, pace_steps(2, PACE_MOST));
    CHECK_EQUAL(8, pace_delay(pace_share(1e300, 1), 2));
}

static void a_result_is_waited_for_as_long_as_by_others(void)
{
    CHECK_EQUAL(10, pace_delay(1, 10));
    CHECK_EQUAL(5, pace_delay(0.5, 10));
    CHECK_EQUAL(1, pace_delay(0.01, 10));
    CHECK_EQUAL(0, pace_delay(0.5, 0));
}

static void noise_changes_nothing(void)
{
    CHECK(!pace_differs(1, 20, 20));
    CHECK(!pace_differs(0.87, 20, 20));
    CHECK(!pace_differs(0.87, 2, 2));
    CHECK(pace_differs(0.7, 20, 20));
    CHECK(pace_differs(0.7, 2, 2));
    CHECK(!pace_differs(0.87, 2, 1));
    CHECK(pace_differs(1, 2, 1));
    CHECK(!pace_differs(0.01, 20, 1));
    CHECK(pace_differs(PACE_AHEAD, 20, 20));
    CHECK(!pace_differs(PACE_AHEAD, 20, 80));
}

void add_policies_pace_tests(CU_pSuite suite)
{
    TEST(the_reference_of_few_nodes_is_the_fastest);
    TEST(one_node_far_ahead_does_not_set_the_pace);
    TEST(rates_that_are_not_known_do_not_count);
    TEST(iterations_follow_the_speed);
    TEST(nodes_within_a_tenth_do_the_same);
    TEST(every_node_does_at_least_one);
    TEST(without_a_rate_all_do_the_same);
    TEST(a_rate_beyond_belief_is_bounded);
    TEST(a_result_is_waited_for_as_long_as_by_others);
    TEST(noise_changes_nothing);
}
