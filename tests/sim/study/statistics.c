#include "sim/study/statistics.h"

#include <math.h>

#include "tests/check.h"

/* Hours of sleep gained with two drugs by the same ten patients: Student 1908,
 * "The probable error of a mean", section IX. */
static const double drug_1[] = {0.7, -1.6, -0.2, -1.2, -0.1,
                                3.4, 3.7,  0.8,  0.0,  2.0};
static const double drug_2[] = {1.9, 0.8, 1.1, 0.1, -0.1,
                                4.4, 5.5, 1.6, 4.6, 3.4};

static void quartiles_lie_between_two_values_by_their_distances(void)
{
    /* R: quantile(1:10), and of 4 values quantile(c(1, 2, 4, 8)). */
    double ten[] = {10, 2, 3, 9, 5, 6, 7, 8, 4, 1}, four[] = {8, 1, 4, 2};
    struct quartiles quartiles = statistics_quartiles(ten, 10);

    CHECK_NEAR(3.25, quartiles.low, 1e-12);
    CHECK_NEAR(5.5, quartiles.median, 1e-12);
    CHECK_NEAR(7.75, quartiles.high, 1e-12);
    quartiles = statistics_quartiles(four, 4);
    CHECK_NEAR(1.75, quartiles.low, 1e-12);
    CHECK_NEAR(3, quartiles.median, 1e-12);
    CHECK_NEAR(5, quartiles.high, 1e-12);
}

static void what_never_came_sorts_behind_all_else(void)
{
    double three[] = {INFINITY, 2, 1}, two[] = {INFINITY, 1};
    double none[] = {INFINITY, INFINITY};

    CHECK_NEAR(2, statistics_quantile(three, 3, 0.5), 0);
    CHECK(isinf(statistics_quantile(three, 3, 1)));
    CHECK(isinf(statistics_quantile(two, 2, 0.5)));
    CHECK(isinf(statistics_quantile(none, 2, 0.25)));
}

static void one_value_is_its_own_median_and_has_no_error(void)
{
    double one[] = {7};
    struct quartiles quartiles = statistics_quartiles(one, 1);
    struct mean mean = statistics_mean(one, 1);

    CHECK_NEAR(7, quartiles.low, 0);
    CHECK_NEAR(7, quartiles.high, 0);
    CHECK_NEAR(7, mean.value, 0);
    CHECK(isnan(mean.error));
    CHECK(isnan(statistics_mean(one, 0).value));
}

static void paired_differences_are_those_of_student(void)
{
    struct pairs pairs = statistics_differences(drug_2, drug_1, 10);

    /* A mean of 1.58 hours, t = 4.0621. */
    CHECK_EQUAL(10, pairs.count);
    CHECK_NEAR(1.58, pairs.mean.value, 1e-9);
    CHECK_NEAR(1.2300, pairs.mean.deviation, 5e-5);
    CHECK_NEAR(4.0621, pairs.mean.value / pairs.mean.error, 5e-5);
    CHECK_EQUAL(9, pairs.above);
    CHECK_EQUAL(0, pairs.below);
}

static void a_pair_without_both_counts_but_is_in_no_mean(void)
{
    const double a[] = {1, INFINITY, 3, INFINITY};
    const double b[] = {2, 5, INFINITY, INFINITY};
    struct pairs pairs = statistics_differences(a, b, 4);

    CHECK_EQUAL(1, pairs.count);
    CHECK_NEAR(-1, pairs.mean.value, 0);
    CHECK_EQUAL(2, pairs.below);
    CHECK_EQUAL(1, pairs.above);
}

static void ratios_have_a_geometric_mean(void)
{
    /* Logarithms -2, 0, 2 of the base 2: their error is 2 / sqrt(3). */
    const double a[] = {1, 3, 8}, b[] = {4, 3, 2};
    struct pairs pairs = statistics_ratios(a, b, 3);

    CHECK_NEAR(1, pairs.mean.value, 1e-12);
    CHECK_NEAR(2 * log(2) / sqrt(3), pairs.mean.error, 1e-12);
    CHECK_EQUAL(1, pairs.below);
    CHECK_EQUAL(1, pairs.above);
}

static void no_ratio_is_made_of_nothing(void)
{
    const double a[] = {0, 1, -1, 2}, b[] = {1, 0, 2, 1};
    struct pairs pairs = statistics_ratios(a, b, 4);

    CHECK_EQUAL(1, pairs.count);
    CHECK_NEAR(2, pairs.mean.value, 1e-12);
}

static void kendalls_tau_is_that_of_known_tables(void)
{
    /* Hollander and Wolfe 1973, page 187: lightness of tuna and its quality as
     * a panel tasted it; tau = 0.4444. */
    const double lightness[] = {44.4, 45.9, 41.9, 53.3, 44.7,
                                44.1, 50.7, 45.2, 60.1};
    const double panel[] = {2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8};
    /* With ties, the example of scipy.stats.kendalltau: -0.4714. */
    const double tied[] = {12, 2, 1, 12, 2}, other[] = {1, 4, 7, 1, 0};

    CHECK_NEAR(0.444444444, statistics_kendall(lightness, panel, 9), 1e-9);
    CHECK_NEAR(-0.471404521, statistics_kendall(tied, other, 5), 1e-9);
    CHECK_NEAR(1, statistics_kendall(tied, tied, 5), 1e-12);
}

static void all_ties_have_no_rank(void)
{
    const double same[] = {1, 1, 1}, other[] = {1, 2, 3};

    CHECK(isnan(statistics_kendall(same, other, 3)));
}

void add_sim_study_statistics_tests(CU_pSuite suite)
{
    TEST(quartiles_lie_between_two_values_by_their_distances);
    TEST(what_never_came_sorts_behind_all_else);
    TEST(one_value_is_its_own_median_and_has_no_error);
    TEST(paired_differences_are_those_of_student);
    TEST(a_pair_without_both_counts_but_is_in_no_mean);
    TEST(ratios_have_a_geometric_mean);
    TEST(no_ratio_is_made_of_nothing);
    TEST(kendalls_tau_is_that_of_known_tables);
    TEST(all_ties_have_no_rank);
}
