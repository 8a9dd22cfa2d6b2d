/* Robust reduction, and judging by held-out data. */
#include <math.h>

#include "policies/order.h"
#include "tests/check.h"
#include "tests/policies/star.h"

static double reduced(const char *preset, const double *offered, unsigned count)
{
    struct star star = star_of(preset, count, 0);

    star_equal(&star, offered, count);
    return (double)star.theta;
}

static void t19_one_outlier_of_five(void)
{
    static const double offered[5] = {1, 1.1, .9, 1.05, 10};

    CHECK_NEAR(2.81, reduced("mean", offered, 5), 1e-6);
    CHECK_NEAR(1.05, reduced("krum", offered, 5), 1e-6);
    CHECK_NEAR(1.05, reduced("median", offered, 5), 1e-6);
    CHECK_NEAR(1.05, reduced("trimmed", offered, 5), 1e-6);
    CHECK_NEAR((1.05 + 1) / 2, reduced("multi-krum", offered, 5), 1e-6);
}

static void t19_an_even_number_has_two_in_the_middle(void)
{
    static const double offered[4] = {7, 1, 2, 100};

    CHECK_NEAR(4.5, reduced("median", offered, 4), 0);
    CHECK_NEAR(4.5, reduced("trimmed", offered, 4), 0);
    CHECK_NEAR(7, reduced("median", offered, 1), 0);
    CHECK_NEAR(4, reduced("median", offered, 2), 0);
}

static void t19_trimming_never_cuts_all(void)
{
    static const double row[4] = {4, 1, 2, 3};
    const double *rows[4] = {&row[0], &row[1], &row[2], &row[3]};
    struct policy_numbers numbers = {.trim = 0.5};

    for (unsigned count = 1; count <= 4; count++) {
        double out = NAN;

        reduce_trimmed.rows(rows, count, 1, &numbers, &out);
        CHECK(out >= 1 && out <= 4);
    }
}

static void t19_ties_of_krum_go_to_the_lowest_node(void)
{
    static const double offered[5] = {1, 2, 3, 4, 5};

    CHECK_NEAR(2, reduced("krum", offered, 5), 0);
}

static void t19_krum_without_neighbours_keeps_all(void)
{
    static const double offered[3] = {1, 2, 9};

    CHECK_NEAR(4, reduced("krum", offered, 3), 0);
    CHECK_NEAR(1.5, reduced("krum", offered, 2), 0);
    CHECK_NEAR(1, reduced("krum", offered, 1), 0);
}

static void t19_nan_does_not_get_through(void)
{
    static const double offered[6] = {NAN, 1, 1.5, 1.25, INFINITY, 1};

    CHECK_NEAR(1.375, reduced("median", offered, 6), 0);
    CHECK_NEAR(1.25, reduced("krum", offered, 6), 0);
    CHECK_NEAR(1.125, reduced("multi-krum", offered, 6), 0);
    CHECK_NEAR(1.375, reduced("trimmed", offered, 4), 0);
}

static double clipped(const double *norm, const double *offered, unsigned count)
{
    struct star star = star_of("auto", count, 0);
    struct candidate list[8];

    star.policy.numbers.outer_lr = 1;
    star.policy.numbers.outer_momentum = 0;
    star_candidates(list, NULL, count);
    for (unsigned i = 0; i < count; i++)
        list[i].norm = norm[i];
    star_round(&star, list, offered, count);
    return (double)star.theta;
}

static void t19_clipping_shortens_to_two_medians(void)
{
    static const double offered[4] = {1, 1, 1, 100}, same[3] = {1, 1, 1};
    static const double norm[4] = {1, 1, 1, 100};
    static const double wrong[3] = {1, NAN, 1}, endless[3] = {1, INFINITY, 1};
    static const double nothing[3] = {0, 0, 0}, none[3] = {NAN, NAN, NAN};
    static const double even[4] = {1, 2, 4, 18};

    CHECK_NEAR((3 + 1) / 3.5, clipped(norm, offered, 4), 1e-6);
    CHECK_NEAR(1, clipped(norm, offered, 3), 1e-6);
    CHECK_NEAR(2. / 3, clipped(wrong, same, 3), 1e-6);
    CHECK_NEAR(2. / 3, clipped(endless, same, 3), 1e-6);
    CHECK_NEAR(1, clipped(nothing, same, 3), 1e-6);
    CHECK_NEAR(0, clipped(none, same, 3), 0);
    CHECK_NEAR((2.75 + 100 / 6.) / 3.25, clipped(even, offered, 4), 1e-5);
}

/* The share of the last one of `count` that say so many samples and lengths,
 * where `usual` is known of what came before. */
static double share_of_last(const double *samples, const double *norm,
                            unsigned count, double usual)
{
    const struct policy *policy = &preset_find("diloco")->policy;
    struct policy_context context = {
        .numbers = &policy->numbers, .live = count, .usual_norm = usual};
    struct candidate list[8];
    double share[8], whole;

    star_candidates(list, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        list[i].samples = samples[i];
        list[i].norm = norm[i];
    }
    policy_shares(policy, list, count, &context, share, &whole);
    return share[count - 1] / whole;
}

static void what_samples_and_lengths_say_together_is_bounded(void)
{
    static const double boasts[4] = {10, 10, 10, 1e18}, one[4] = {1, 1, 1, 1},
                        even[4] = {10, 20, 30, 40}, long_[4] = {1, 1, 1, 8};

    CHECK_NEAR(1 / 4., share_of_last(boasts, one, 4, 0), 1e-12);
    CHECK_NEAR(25 / 80., share_of_last(even, one, 4, 0), 1e-12);
    CHECK_NEAR(.5 / 3.5 / 4, share_of_last(boasts, long_, 4, 0), 1e-12);
}

/* Of eight a third of the others is 7/3, of three it is less than one pulls. */
static void nobody_pulls_by_more_than_a_third_of_the_others(void)
{
    static const double one[8] = {1, 1, 1, 1, 1, 1, 1, 1},
                        twice[8] = {1, 1, 1, 1, 1, 1, 1, 2},
                        three[3] = {1, 1, 9}, idle[4] = {1, 1, 0, 1};

    CHECK_NEAR(2 / 9., share_of_last(twice, one, 8, 0), 1e-12);
    CHECK_NEAR(7 / 6. / (7 + 7 / 6.), share_of_last(twice, twice, 8, 0), 1e-12);
    CHECK_NEAR(.5 / 2.5 * 2 / 9, share_of_last(three, three, 3, 0), 1e-12);
    CHECK_NEAR(1 / 4., share_of_last(one, idle, 4, 0), 1e-12);
    CHECK_NEAR(1 / 3., share_of_last(idle, one, 4, 0), 1e-12);
}

static void few_are_measured_by_what_was_merged_lately(void)
{
    static const double one[2] = {1, 1}, norm[2] = {3, 12};

    CHECK_NEAR(1, share_of_last(one, norm, 1, 0), 0);
    CHECK_NEAR(1, share_of_last(one, norm, 1, 1.5), 0);
    CHECK_NEAR(2 / 3., share_of_last(one, norm, 1, 1), 1e-12);
    CHECK_NEAR(1 / 2., share_of_last(one, norm, 2, 0), 1e-12);
    CHECK_NEAR(1 / 4., share_of_last(one, norm, 2, 3), 1e-12);
}

/* 0.29 * 100 is less than 29 as doubles multiply. */
static void a_share_is_counted_as_people_do(void)
{
    CHECK_EQUAL(29, share_of(0.29, 100));
    CHECK_EQUAL(0, share_of(0.25, 3));
    CHECK_EQUAL(0, share_of(0, 64));
    CHECK_EQUAL(64, share_of(1, 64));
}

/* Q: the loss is half the squared distance to 0. */
static double half_square(double x)
{
    return x * x / 2;
}

/* By the rule, through the step of the mean. */
static struct star star_by(const char *reduce, unsigned live, double theta)
{
    struct star star = star_of("mean", live, theta);

    star.policy.reduce = reduce_find(reduce);
    return star;
}

static double tasted(const char *reduce, double theta, const double *at,
                     unsigned count)
{
    struct star star = star_by(reduce, count, theta);
    double offered[8];

    star.loss = half_square;
    for (unsigned i = 0; i < count; i++)
        offered[i] = at[i] - theta;
    star_equal(&star, offered, count);
    return (double)star.theta;
}

static void t25_soup_takes_what_does_not_raise_the_loss(void)
{
    static const double at[3] = {1, -.8, 3};

    CHECK_NEAR(.1, tasted("soup", 2, at, 3), 1e-6);
}

static double flat(double x)
{
    return isfinite(x) ? 1 : x;
}

static void t25_soup_takes_what_makes_no_difference(void)
{
    static const double offered[3] = {1, 2, 6};
    struct star star = star_by("soup", 3, 0);

    star.loss = flat;
    star_equal(&star, offered, 3);
    CHECK_NEAR(3, (double)star.theta, 0);
}

static void t25_soup_of_equals_is_their_mean(void)
{
    static const double at[4] = {1.5, 1.5, 1.5, 1.5};

    CHECK_NEAR(1.5, tasted("soup", 0, at, 4), 0);
}

static void t25_soup_leaves_out_who_is_poisoned(void)
{
    static const double at[4] = {1, 0.5, -80, 0.75}, some[2] = {NAN, 0.5};

    CHECK_NEAR(0.5, tasted("soup", 2, at, 4), 1e-6);
    CHECK_NEAR(0.5, tasted("soup", 2, some, 2), 0);
    CHECK_NEAR(2, tasted("soup", 2, some, 1), 0);
}

static void t25_without_held_out_data_the_soup_is_the_mean(void)
{
    static const double offered[3] = {1, 2, 6};
    struct star star = star_by("soup", 3, 0);

    star_equal(&star, offered, 3);
    CHECK_NEAR(3, (double)star.theta, 0);
    CHECK_NEAR(3, reduced("verified", offered, 3), 0);
}

static void verified_keeps_what_is_not_worse_than_the_centre(void)
{
    static const double at[4] = {1, -2, 2.25, NAN};
    struct star star = star_of("verified", 4, 2);
    double offered[4];

    CHECK_NEAR(-0.5, tasted("verified", 2, at, 4), 1e-6);
    star.loss = half_square;
    star.error = 0.5;
    for (unsigned i = 0; i < 4; i++)
        offered[i] = at[i] - 2;
    star_equal(&star, offered, 4);
    CHECK_NEAR(1.25 / 3, (double)star.theta, 1e-6);
}

static void verified_keeps_the_centre_where_all_are_worse(void)
{
    static const double at[2] = {3, -4};

    CHECK_NEAR(2, tasted("verified", 2, at, 2), 0);
}

/* The centre has a loss of 1, each other one its place's tenth more, of which
 * nothing is sure but that of the last one. */
static double unsure(const struct pile *pile, const double *weights,
                     double *error)
{
    for (unsigned i = 0; i < pile->count; i++)
        if (weights[i] > 0) {
            *error = i == pile->count - 1 ? 0.01 : 1;
            return 1 + 0.1 * i;
        }
    *error = 1;
    return 1;
}

static void verified_goes_by_the_error_of_each_one(void)
{
    const struct pile pile = {.count = 3, .has_loss = true, .loss = unsure};
    struct star star = star_of("verified", 3, 0);
    struct policy_context context = star_context(&star);
    struct candidate list[3];
    double weight[3] = {1, 1, 1};

    star_candidates(list, NULL, 3);
    star.policy.reduce->judge(&pile, list, &context, weight);
    CHECK_NEAR(1, weight[0], 0);
    CHECK_NEAR(1, weight[1], 0);
    CHECK_NEAR(0, weight[2], 0);
}

void add_policies_reduces_tests(CU_pSuite suite)
{
    TEST(t19_one_outlier_of_five);
    TEST(t19_an_even_number_has_two_in_the_middle);
    TEST(t19_trimming_never_cuts_all);
    TEST(t19_ties_of_krum_go_to_the_lowest_node);
    TEST(t19_krum_without_neighbours_keeps_all);
    TEST(t19_nan_does_not_get_through);
    TEST(t19_clipping_shortens_to_two_medians);
    TEST(what_samples_and_lengths_say_together_is_bounded);
    TEST(nobody_pulls_by_more_than_a_third_of_the_others);
    TEST(few_are_measured_by_what_was_merged_lately);
    TEST(a_share_is_counted_as_people_do);
    TEST(t25_soup_takes_what_does_not_raise_the_loss);
    TEST(t25_soup_takes_what_makes_no_difference);
    TEST(t25_soup_of_equals_is_their_mean);
    TEST(t25_soup_leaves_out_who_is_poisoned);
    TEST(t25_without_held_out_data_the_soup_is_the_mean);
    TEST(verified_keeps_what_is_not_worse_than_the_centre);
    TEST(verified_keeps_the_centre_where_all_are_worse);
    TEST(verified_goes_by_the_error_of_each_one);
}
