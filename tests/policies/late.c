/* Offers that come one by one, late, or in part. */
#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/policies/star.h"

static void t07_staleness_weights(void)
{
    CHECK_NEAR(1, damping_none.factor(7), 0);
    CHECK_NEAR(1, damping_inverse.factor(0), 0);
    CHECK_NEAR(1, damping_inverse.factor(1), 0);
    CHECK_NEAR(0.25, damping_inverse.factor(4), 0);
    CHECK_NEAR(1, damping_root.factor(0), 0);
    CHECK_NEAR(0.5, damping_root.factor(3), 1e-15);
    CHECK(damping_inverse.factor(UINT64_MAX) >= 0);
    CHECK(damping_root.factor(UINT64_MAX) >= 0);
}

/* |e| after many offers of -rate * e that are `delay` versions old. */
static double error_after(unsigned delay, double rate)
{
    struct star star = star_of("async", 1, 1);
    struct candidate one;
    double past[16], largest = 0;

    star.policy.damping = &damping_inverse;
    star_candidates(&one, NULL, 1);
    one.lag = delay;
    for (unsigned i = 0; i < 16; i++)
        past[i] = 1;
    for (unsigned i = 0; i < 20000 && fabs((double)star.theta) < 1e6; i++) {
        double offered;

        past[i % 16] = (double)star.theta;
        offered = -rate * past[(i + 16 - delay) % 16];
        star_round(&star, &one, &offered, 1);
        if (i >= 19000 || fabs((double)star.theta) >= 1e6)
            largest = fmax(largest, fabs((double)star.theta));
    }
    return largest;
}

static void t07_inverse_damping_frees_the_rate_from_the_delay(void)
{
    static const unsigned delay[] = {1, 2, 4, 8, 15};

    for (unsigned i = 0; i < 5; i++) {
        double limit = 2 * delay[i] * sin(acos(-1) / (2 * (2 * delay[i] + 1)));

        CHECK(limit >= 1 - 1e-9 && limit < acos(-1) / 2);
        CHECK(error_after(delay[i], limit * 0.995) < 0.1);
        CHECK(error_after(delay[i], limit * 1.005) > 10);
    }
}

static struct star delayed_star(unsigned live, double early)
{
    struct star star = star_of("delayed", live, 0.5);

    star.policy.gate = &gate_async;
    star.policy.numbers.early = early;
    return star;
}

/* Algorithm 3 as it is written, in double. */
struct paper {
    double theta, m, buffer;
    unsigned t;
};

static void paper_push(struct paper *paper, unsigned period, double c,
                       double gradient)
{
    double n = period, beta = 0.9, rate = 0.25;

    paper->buffer += gradient;
    if (++paper->t % period == 0) {
        paper->m = beta * paper->m + paper->buffer / n;
        paper->theta -=
            rate * ((1 - c * n + c) * beta * paper->m + gradient / n);
        paper->buffer = 0;
    } else {
        paper->theta -= rate * (c * beta * paper->m + gradient / n);
    }
}

static void t12_delayed_nesterov_follows_its_algorithm(void)
{
    for (unsigned live = 1; live <= 9; live += 4)
        for (int c = 0; c < 3; c++) {
            double early = 0.5 * c / live;
            struct star star = delayed_star(live, early);
            struct paper paper = {0.5, 0, 0, 0};
            struct prng prng;

            prng_seed(&prng, live);
            for (unsigned i = 0; i < 5 * live; i++) {
                double gradient = prng_normal(&prng), offered = -gradient;

                paper_push(&paper, live, early, gradient);
                star_equal(&star, &offered, 1);
                CHECK_NEAR(paper.theta, (double)star.theta, 1e-5);
            }
        }
}

/* Four offers of 1 to three periods, mu = 0.5, epsilon = 1: worked by hand. */
static void t12_delayed_nesterov_vector(void)
{
    static const double expected[] = {0.25, 0.5,  0.75, 1.5,  1.75, 2,
                                      2.25, 3.25, 3.5,  3.75, 4,    5.125};
    struct star star = delayed_star(4, 0);
    double offered = 1;

    star.theta = 0;
    star.policy.numbers.outer_lr = 1;
    star.policy.numbers.outer_momentum = 0.5;
    for (unsigned i = 0; i < 12; i++) {
        star_equal(&star, &offered, 1);
        CHECK_NEAR(expected[i], (double)star.theta, 0);
    }
}

/* eps [(N-1) c beta m_old + (1 - (N-1) c) beta m_new + gbar]. */
static void t12_a_period_moves_the_centre_by_the_total(void)
{
    const double c = 0.2, old = 0.3;
    struct star star = delayed_star(4, c);
    double mean = 0, m, total;

    star.slot[0] = (float)old;
    for (unsigned i = 0; i < 4; i++) {
        double gradient = 0.5 + i, offered = -gradient;

        mean += gradient / 4;
        star_equal(&star, &offered, 1);
    }
    m = 0.9 * old + mean;
    total = 0.25 * (3 * c * 0.9 * old + (1 - 3 * c) * 0.9 * m + mean);
    CHECK_NEAR(0.5 - total, (double)star.theta, 1e-6);
    CHECK_NEAR(m, (double)star.slot[0], 1e-6);
    CHECK_NEAR(0, (double)star.slot[1], 0);
}

/* One update, then the three others of its period at once. */
static void t12_updates_that_come_together_are_as_one_by_one(void)
{
    static const double offered[4] = {-1, 2, 0.5, 3};
    struct star one = delayed_star(4, 0.2), together = delayed_star(4, 0.2);

    one.slot[0] = together.slot[0] = 0.3F;
    together.policy.gate = &gate_quorum;
    for (unsigned i = 0; i < 4; i++)
        star_equal(&one, &offered[i], 1);
    star_equal(&together, offered, 1);
    star_equal(&together, offered + 1, 3);
    CHECK_NEAR((double)one.theta, (double)together.theta, 1e-6);
    CHECK_NEAR((double)one.slot[0], (double)together.slot[0], 1e-6);
}

static void t12_early_is_one_of_n_at_most(void)
{
    static const double offered[4] = {-1, 2, 0.5, 3};
    struct star most = delayed_star(4, 0.25), more = delayed_star(4, 1);

    most.slot[0] = more.slot[0] = 0.3F;
    for (unsigned i = 0; i < 4; i++) {
        star_equal(&most, &offered[i], 1);
        star_equal(&more, &offered[i], 1);
        CHECK_NEAR((double)most.theta, (double)more.theta, 0);
    }
}

static void t12_four_plain_steps_would_go_6_times_as_far(void)
{
    struct star plain = star_of("diloco", 4, 0), one = star_of("diloco", 4, 0);
    double offered = 1;

    for (unsigned i = 0; i < 4; i++)
        star_equal(&plain, &offered, 1);
    star_equal(&one, &offered, 1);
    CHECK_NEAR(6.39, (double)(plain.theta / one.theta), 0.005);
}

/* The same rounds, by batches that are whole. */
static void compare(struct star *a, struct star *b, unsigned live)
{
    struct prng prng;

    prng_seed(&prng, live);
    for (unsigned round = 0; round < 20; round++) {
        struct candidate list[64];
        double offered[64];

        star_candidates(list, NULL, live);
        for (unsigned i = 0; i < live; i++) {
            offered[i] = (double)(float)prng_normal(&prng);
            list[i].samples = (double)(1 + prng_below(&prng, 40));
        }
        star_round(a, list, offered, live);
        star_round(b, list, offered, live);
        CHECK_NEAR((double)a->theta, (double)b->theta, 0);
        CHECK_NEAR((double)a->slot[0], (double)b->slot[0], 0);
    }
}

static void t13_endless_grace_is_the_round_of_all_to_the_last_bit(void)
{
    for (unsigned live = 1; live <= 64; live *= 2) {
        struct star sync = star_of("diloco", live, 0.1);
        struct star grace = star_of("diloco", live, 0.1);
        struct star delayed = star_of("delayed", live, 0.1);

        grace.policy.gate = &gate_quorum;
        compare(&sync, &grace, live);
        sync = star_of("diloco", live, 0.1);
        sync.policy.numbers.outer_lr = 0.25;
        compare(&sync, &delayed, live);
    }
}

static void a_part_of_a_round_moves_the_centre_by_its_part(void)
{
    static const double offered[3] = {1, 1, 1}, twice[2] = {2, 2};
    struct star star = star_of("mean", 12, 0);

    star.policy.gate = &gate_quorum;
    star_equal(&star, offered, 3);
    CHECK_NEAR(0.25, (double)star.theta, 0);
    star_equal(&star, twice, 2);
    CHECK_NEAR(0.25 + 1. / 3, (double)star.theta, 1e-7);
}

void add_policies_late_tests(CU_pSuite suite)
{
    TEST(t07_staleness_weights);
    TEST(t07_inverse_damping_frees_the_rate_from_the_delay);
    TEST(t12_delayed_nesterov_follows_its_algorithm);
    TEST(t12_delayed_nesterov_vector);
    TEST(t12_a_period_moves_the_centre_by_the_total);
    TEST(t12_updates_that_come_together_are_as_one_by_one);
    TEST(t12_early_is_one_of_n_at_most);
    TEST(t12_four_plain_steps_would_go_6_times_as_far);
    TEST(t13_endless_grace_is_the_round_of_all_to_the_last_bit);
    TEST(a_part_of_a_round_moves_the_centre_by_its_part);
}
