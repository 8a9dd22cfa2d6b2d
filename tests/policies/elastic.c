/* Elastic averaging held to its equations. */
#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/policies/star.h"

/* A round of all nodes, which move at `rate` down f(x) = x^2 / 2 at once. */
static void exchange(struct star *star, double *x, unsigned count, double rate)
{
    star_equal(star, x, count);
    for (unsigned i = 0; i < count; i++)
        x[i] = star_receive(star, x[i]) - rate * x[i];
}

static double mean_of(const double *x, unsigned count)
{
    double sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += x[i];
    return sum / count;
}

static struct star elastic_star(const char *preset, unsigned live,
                                double centre, double alpha)
{
    struct star star = star_of(preset, live, centre);

    star.policy.numbers.elastic = alpha * live;
    return star;
}

static void t08_easgd_vector(void)
{
    static const double expected[3][3] = {
        {3, .2, 1.4}, {2.38, .42, 1.48}, {1.962, .59, 1.448}};
    struct star star = elastic_star("easgd", 2, 1, 0.2);
    double x[2] = {4, 0};

    for (unsigned i = 0; i < 3; i++) {
        exchange(&star, x, 2, 0.1);
        CHECK_NEAR(expected[i][0], x[0], 1e-6);
        CHECK_NEAR(expected[i][1], x[1], 1e-6);
        CHECK_NEAR(expected[i][2], (double)star.theta, 1e-6);
    }
}

static void t08_gap_and_disagreement_shrink_at_their_rates(void)
{
    struct star star = elastic_star("easgd", 4, 2, 0.1);
    double x[4] = {1, -3, 0.5, 4};
    double gap = mean_of(x, 4) - 2, apart = x[1] - mean_of(x, 4);

    for (unsigned i = 0; i < 5; i++) {
        exchange(&star, x, 4, 0);
        gap *= 1 - 0.1 * 5;
        apart *= 1 - 0.1;
        CHECK_NEAR(gap, mean_of(x, 4) - (double)star.theta, 1e-6);
        CHECK_NEAR(apart, x[1] - mean_of(x, 4), 1e-6);
    }
    exchange(&star, x, 4, 0.2);
    CHECK_NEAR(apart * (1 - 0.1 - 0.2), x[1] - mean_of(x, 4), 1e-6);
}

static double gap_after(double alpha)
{
    struct star star = elastic_star("easgd", 4, 1, alpha);
    double x[4] = {0, 0, 0, 0};

    for (unsigned i = 0; i < 3000; i++)
        exchange(&star, x, 4, 0);
    return fabs(x[0] - (double)star.theta);
}

static void t08_easgd_is_stable_below_2_of_n_and_1(void)
{
    CHECK(gap_after(2. / 5 * 0.998) < 0.1);
    CHECK(gap_after(2. / 5 * 1.002) > 10);
}

/* One node after the other, at once; the elastic difference is of the x before
 * the local step, and is taken off after it. */
static double size_after(unsigned nodes, double eta, double alpha)
{
    struct star star = elastic_star("easgd-async", nodes, 1, alpha);
    double x[3] = {1, 1, 1}, size = 0;

    for (unsigned i = 0; i < 6000 && size < 1e6; i++) {
        double *one = &x[i % nodes];

        star_equal(&star, one, 1);
        *one = star_receive(&star, *one) - eta * *one;
        size = fmax(fabs(*one), fabs((double)star.theta));
    }
    return size;
}

/* The bound is exact for an odd number of nodes; an even one stands more. */
static void t08_round_robin_is_stable_up_to_its_bound(void)
{
    static const double eta[] = {0.5, 1, 1.5};
    static const double limit[] = {.857143, .666667, .4};

    for (unsigned i = 0; i < 3; i++)
        for (unsigned nodes = 1; nodes <= 3; nodes++) {
            CHECK(size_after(nodes, eta[i], limit[i] * 0.99) < 0.1);
            if (nodes % 2)
                CHECK(size_after(nodes, eta[i], limit[i] * 1.01) > 10);
        }
}

static void t08_without_a_spring_nodes_are_alone(void)
{
    struct star star = elastic_star("easgd", 2, 7, 0);
    double x[2] = {4, 0};

    exchange(&star, x, 2, 0);
    CHECK_NEAR(4, x[0], 0);
    CHECK_NEAR(0, x[1], 0);
    CHECK_NEAR(7, (double)star.theta, 0);
}

static void t08_centre_first_with_full_springs_is_averaging(void)
{
    struct star star = star_of("easgd", 3, 10);
    double x[3] = {1, -2, 4};

    star.policy.merge = &merge_elastic_first;
    star.policy.numbers.elastic = star.policy.numbers.pull = 1;
    exchange(&star, x, 3, 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_NEAR(1, x[i], 1e-7);
    CHECK_NEAR(1, (double)star.theta, 1e-7);
}

/* x = 0.99 x + 0.01 mean: PAPA. */
static void t08_centre_first_with_a_small_pull_is_papa(void)
{
    struct star star = star_of("easgd", 2, 0);
    double x[2] = {1, 3};

    star.policy.merge = &merge_elastic_first;
    star.policy.numbers.elastic = 1;
    star.policy.numbers.pull = 0.01;
    exchange(&star, x, 2, 0);
    CHECK_NEAR(1.01, x[0], 1e-7);
    CHECK_NEAR(2.99, x[1], 1e-7);
}

/* delta = .5, eta = .1, alpha = .2, one node, worked from the equations. */
static void t09_eamsgd_vector(void)
{
    static const double expected[4][2] = {
        {0.7, 0.2}, {0.485, 0.3}, {0.34775, 0.337}, {0.2657125, 0.33915}};
    struct star star = elastic_star("easgd-async", 1, 0, 0.2);
    double x = 1, v = 0;

    for (unsigned i = 0; i < 4; i++) {
        double difference, gradient;

        star_equal(&star, &x, 1);
        difference = x - star_receive(&star, x);
        v *= 0.5;
        x += v;
        gradient = x;
        x -= 0.1 * gradient + difference;
        v -= 0.1 * gradient;
        CHECK_NEAR(expected[i][0], x, 1e-6);
        CHECK_NEAR(expected[i][1], (double)star.theta, 1e-6);
    }
}

static void sd_06_golden_vectors(void)
{
    static const double expected[2][5] = {
        {0.94625, 1.83875, 3.62375, -2.62375, 0.715},
        {0.921390625, 1.717946875, 3.311059375, -2.264834375, 0.8144375}};
    struct star star = star_of("easgd", 4, 0.5);
    double x[4] = {1, 2, 4, -3};

    star.policy.numbers.elastic = 0.43;
    for (unsigned i = 0; i < 2; i++) {
        exchange(&star, x, 4, 0);
        for (unsigned j = 0; j < 4; j++)
            CHECK_NEAR(expected[i][j], x[j], 1e-6);
        CHECK_NEAR(expected[i][4], (double)star.theta, 1e-6);
        CHECK_NEAR(4.5, 4 * mean_of(x, 4) + (double)star.theta, 1e-6);
    }
}

static void sd_07_the_sum_of_nodes_and_centre_stays(void)
{
    struct prng prng;

    prng_seed(&prng, 7);
    for (unsigned count = 1; count <= 64; count++) {
        struct star star = star_of("easgd", count, prng_normal(&prng));
        double x[64], sum;

        star.policy.numbers.elastic = prng_unit(&prng);
        for (unsigned i = 0; i < count; i++)
            x[i] = prng_normal(&prng);
        sum = count * mean_of(x, count) + (double)star.theta;
        for (unsigned i = 0; i < 4; i++)
            exchange(&star, x, count, 0);
        CHECK_NEAR(sum, count * mean_of(x, count) + (double)star.theta,
                   1e-6 * count);
    }
}

static void sd_07_equal_nodes_and_centre_stay(void)
{
    struct star star = star_of("easgd", 3, 2);
    double x[3] = {2, 2, 2};

    exchange(&star, x, 3, 0);
    CHECK_NEAR(2, x[0], 0);
    CHECK_NEAR(2, (double)star.theta, 0);
}

static void sd_07_one_node_and_a_full_spring_swap(void)
{
    struct star star = elastic_star("easgd", 1, 5, 1);
    double x = 3;

    exchange(&star, &x, 1, 0);
    CHECK_NEAR(5, x, 0);
    CHECK_NEAR(3, (double)star.theta, 0);
}

static void sd_08_one_node_at_a_time_keeps_the_sum(void)
{
    struct star star = elastic_star("easgd-async", 4, 1, 0.2);
    double x = 6;

    star_equal(&star, &x, 1);
    x = star_receive(&star, x);
    CHECK_NEAR(5, x, 1e-6);
    CHECK_NEAR(2, (double)star.theta, 1e-6);
}

/* Some nodes' offers are cut: the others' springs are as strong as before. */
static void sd_08_a_part_of_a_round_keeps_the_sum(void)
{
    struct star star = elastic_star("easgd", 4, 1, 0.2);
    double x[2] = {6, -2};

    exchange(&star, x, 2, 0);
    CHECK_NEAR(5, x[0], 1e-6);
    CHECK_NEAR(-1.4, x[1], 1e-6);
    CHECK_NEAR(1.4, (double)star.theta, 1e-6);
}

/* The centre was moved by a mean weighed by samples, the nodes all alike. */
static void the_sum_is_conserved_whatever_the_samples(void)
{
    static const double samples[] = {1, 3, 10, 0};
    struct star star = elastic_star("easgd", 4, 2, 0.2);
    const struct policy_context context = {.numbers = &star.policy.numbers,
                                           .live = 4};
    struct candidate list[4] = {{.node = 0}};
    double share[4], whole;

    for (unsigned i = 0; i < 4; i++)
        list[i] = (struct candidate){
            .node = i, .samples = samples[i], .lag = UINT64_C(7) * i};
    policy_shares(&star.policy, list, 4, &context, share, &whole);
    for (unsigned i = 0; i < 4; i++)
        CHECK_NEAR(0.25, share[i] / whole, 0);
}

/* One of four, or of two, says that it has seen 9e18 samples. */
static void nobody_decides_alone_by_what_it_says_of_its_samples(void)
{
    for (unsigned count = 2; count <= 4; count++) {
        struct star star = star_of("mean", count, 0);
        const struct policy_context context = {.numbers = &star.policy.numbers,
                                               .live = count};
        struct candidate list[4] = {{.node = 0}};
        double share[4], whole;

        for (unsigned i = 0; i < count; i++)
            list[i] = (struct candidate){.node = i, .samples = 64, .norm = 1};
        list[count - 1].samples = 9e18;
        policy_shares(&star.policy, list, count, &context, share, &whole);
        CHECK_NEAR(10. / (9 + count), share[count - 1] / whole, 1e-12);
        for (unsigned i = 0; i + 1 < count; i++)
            list[i].samples = 0;
        policy_shares(&star.policy, list, count, &context, share, &whole);
        CHECK_NEAR(1. / count, share[count - 1] / whole, 1e-12);
    }
}

/* Its progress would be cut to 1/n: nobody has the rest. */
static void who_brings_nothing_takes_nothing_from_others(void)
{
    for (unsigned count = 2; count <= 4; count++) {
        struct star star = star_of("mean", count, 0);
        const struct policy_context context = {.numbers = &star.policy.numbers,
                                               .live = count};
        struct candidate list[4] = {{.samples = 12, .norm = 12}};
        double share[4], whole;

        for (unsigned i = 1; i < count; i++)
            list[i] = (struct candidate){.node = i};
        policy_shares(&star.policy, list, count, &context, share, &whole);
        CHECK_NEAR(1, share[0] / whole, 0);
        CHECK_NEAR(0, share[1] / whole, 0);
    }
}

/* In the last round n of N move the centre n/N as far. */
static void who_is_missing_in_the_last_round_is_not_made_up_for(void)
{
    static const char *const names[] = {"mean", "median", "diloco"};

    for (unsigned i = 0; i < 3; i++) {
        struct star star = star_of(names[i], 4, 0);
        struct policy_context context = {.numbers = &star.policy.numbers,
                                         .live = 4};
        const struct candidate one = {.samples = 64, .norm = 1};
        double share, whole;

        policy_shares(&star.policy, &one, 1, &context, &share, &whole);
        CHECK_NEAR(1, (star.policy.reduce->rows ? 1 : share) / whole, 0);
        context.last = context.present = 1;
        policy_shares(&star.policy, &one, 1, &context, &share, &whole);
        CHECK_NEAR(0.25, (star.policy.reduce->rows ? 1 : share) / whole, 0);
    }
}

/* Of four, three have done one iteration since their last round, one three. */
static void in_the_last_round_nobody_is_long_who_is_not_longer_than_usual(void)
{
    struct star star = star_of("auto", 4, 0);
    struct policy_context context = {
        .numbers = &star.policy.numbers, .live = 4, .usual_norm = 20};
    struct candidate list[4] = {{.node = 0}};
    double share[4], whole;

    for (unsigned i = 0; i < 4; i++)
        list[i] =
            (struct candidate){.node = i, .samples = 1, .norm = i ? 1 : 3};
    policy_shares(&star.policy, list, 4, &context, share, &whole);
    CHECK_NEAR(2. / 3 / 2, share[0], 1e-12);
    context.last = 1;
    policy_shares(&star.policy, list, 4, &context, share, &whole);
    CHECK_NEAR(1, share[0], 0);
    list[0].norm = 1000;
    policy_shares(&star.policy, list, 4, &context, share, &whole);
    CHECK_NEAR(0.04 / 2, share[0], 1e-12);
}

void add_policies_elastic_tests(CU_pSuite suite)
{
    TEST(t08_easgd_vector);
    TEST(t08_gap_and_disagreement_shrink_at_their_rates);
    TEST(t08_easgd_is_stable_below_2_of_n_and_1);
    TEST(t08_round_robin_is_stable_up_to_its_bound);
    TEST(t08_without_a_spring_nodes_are_alone);
    TEST(t08_centre_first_with_full_springs_is_averaging);
    TEST(t08_centre_first_with_a_small_pull_is_papa);
    TEST(t09_eamsgd_vector);
    TEST(sd_06_golden_vectors);
    TEST(sd_07_the_sum_of_nodes_and_centre_stays);
    TEST(sd_07_equal_nodes_and_centre_stay);
    TEST(sd_07_one_node_and_a_full_spring_swap);
    TEST(sd_08_one_node_at_a_time_keeps_the_sum);
    TEST(sd_08_a_part_of_a_round_keeps_the_sum);
    TEST(the_sum_is_conserved_whatever_the_samples);
    TEST(nobody_decides_alone_by_what_it_says_of_its_samples);
    TEST(who_brings_nothing_takes_nothing_from_others);
    TEST(who_is_missing_in_the_last_round_is_not_made_up_for);
    TEST(in_the_last_round_nobody_is_long_who_is_not_longer_than_usual);
}
