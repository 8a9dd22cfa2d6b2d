/* The outer step held to its closed forms, on quadratics: k steps of SGD at
 * rate eta move x to c + r (x - c), r = (1 - eta)^k. */
#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/policies/star.h"

static double descended(double x, double centre, double left)
{
    return centre + left * (x - centre);
}

/* A round in which all nodes train from the centre and offer their progress. */
static void train(struct star *star, const double *centre, const double *left,
                  unsigned count)
{
    double offered[8], theta = (double)star->theta;

    for (unsigned i = 0; i < count; i++)
        offered[i] = descended(theta, centre[i], left[i]) - theta;
    star_equal(star, offered, count);
}

static void check_drift(double k, double expected)
{
    static const double centre[2] = {0, 1};
    const double left[2] = {pow(0.9, k), pow(0.6, k)};
    struct star star = star_of("mean", 2, 3);

    for (int i = 0; i < 300; i++)
        train(&star, centre, left, 2);
    CHECK_NEAR(expected, (double)star.theta, 1e-6);
}

static void t03_unequal_nodes_drift_to_their_fixed_point(void)
{
    check_drift(1, 0.8);
    check_drift(10, 0.604126007663);
    check_drift(1000, 0.5);
}

static void check_diloco(double theta, double centre, const double *expected,
                         unsigned count)
{
    const double left = pow(0.9, 50);
    struct star star = star_of("diloco", 1, theta);

    for (unsigned i = 0; i < count; i++) {
        train(&star, &centre, &left, 1);
        CHECK_NEAR(expected[i], (double)star.theta, 2e-6);
    }
}

static void t04_diloco_follows_its_sequence(void)
{
    static const double from_1[] = {-0.323145, -0.459655, -0.176855,
                                    0.023579,  0.061927,  0.029280};
    static const double from_10[] = {-0.5851638318, -1.677238471, 0.5851563102,
                                     2.188634954};

    check_diloco(1, 0, from_1, 6);
    check_diloco(10, 2, from_10, 4);
}

/* |e| after many rounds of e -> e with the pseudo-gradient `pull` * e that is
 * `delay` rounds old, from 1. */
static double error_after(unsigned delay, double pull, double momentum,
                          double factor)
{
    struct star star = star_of("diloco", 1, 1);
    double past[16];
    double largest = 0;

    star.policy.numbers.outer_lr = 1;
    star.policy.numbers.outer_momentum = momentum;
    for (unsigned i = 0; i < 16; i++)
        past[i] = 1;
    for (unsigned i = 0; i < 40000 && fabs((double)star.theta) < 1e6; i++) {
        double offered;

        past[i % 16] = (double)star.theta;
        offered = -pull * factor * past[(i + 16 - delay) % 16];
        star_equal(&star, &offered, 1);
        if (i >= 39000 || fabs((double)star.theta) >= 1e6)
            largest = fmax(largest, fabs((double)star.theta));
    }
    return largest;
}

static void check_limit(unsigned delay, double limit, double momentum,
                        double margin)
{
    CHECK(error_after(delay, limit, momentum, 1 - margin) < 0.1);
    CHECK(error_after(delay, limit, momentum, 1 + margin) > 10);
}

static void t04_diloco_is_stable_up_to_its_bound(void)
{
    static const double momentum[] = {0, 0.5, 0.9};

    for (unsigned i = 0; i < 3; i++)
        check_limit(0, 2 * (1 + momentum[i]) / (1 + 2 * momentum[i]),
                    momentum[i], 0.001);
}

static void t05_nesterov_has_two_equal_forms(void)
{
    struct star star = star_of("diloco", 1, 0);
    struct prng prng;
    double x = 0, m = 0;

    prng_seed(&prng, 5);
    for (int i = 0; i < 50; i++) {
        double gradient = prng_normal(&prng), offered = -gradient;

        x -= 0.7 * (0.9 * 0.9 * m + 1.9 * gradient);
        m = 0.9 * m + gradient;
        star_equal(&star, &offered, 1);
        CHECK_NEAR(x, (double)star.theta, 1e-4);
    }
}

static void t06_delay_lowers_the_largest_stable_rate(void)
{
    static const unsigned delay[] = {0, 1, 2, 3, 4, 7, 8, 15};
    static const double limit[] = {2,       1,       .618034, .445042,
                                   .347296, .209057, .184537, .101298};

    for (unsigned i = 0; i < 8; i++) {
        CHECK_NEAR(2 * sin(acos(-1) / (2 * (2 * delay[i] + 1))), limit[i],
                   1e-6);
        check_limit(delay[i], limit[i], 0, 0.002);
    }
}

static void t06_a_quarter_is_the_fastest_rate_without_swings(void)
{
    static const double expected[] = {.75, .5, .3125, .1875, .109375};
    struct star star = star_of("async", 1, 1);
    double before = 1;

    for (unsigned i = 0; i < 5; i++) {
        double offered = -0.25 * before;

        before = (double)star.theta;
        star_equal(&star, &offered, 1);
        CHECK_NEAR(expected[i], (double)star.theta, 0);
    }
}

static void t15_a_pseudo_gradient_one_round_late_follows_its_sequence(void)
{
    static const double expected[] = {.44, -.12, -.3664, -.2992, -.094016};
    struct star star = star_of("mean", 1, 1);
    double before = 1;

    for (unsigned i = 0; i < 5; i++) {
        double offered = -0.56 * before;

        before = (double)star.theta;
        star_equal(&star, &offered, 1);
        CHECK_NEAR(expected[i], (double)star.theta, 1e-6);
    }
}

static void t15_one_round_of_delay_lowers_the_largest_outer_rate(void)
{
    check_limit(1, 1, 0, 0.002);
    check_limit(1, 0.5615, 0.5, 0.002);
    check_limit(1, 0.253, 0.9, 0.005);
}

/* Two fragments, k = 6, local steps of -2, an outer rate of 2; torchft's. */
static void check_fragment(double alpha, unsigned offset,
                           const double expected[16])
{
    struct star star = star_of("streaming", 1, 1);
    double x = 1;

    star.policy.numbers.outer_lr = 2;
    star.policy.numbers.outer_momentum = 0;
    star.policy.numbers.pull = 1 - alpha;
    for (unsigned i = 0; i < 16; i++) {
        if (i)
            x -= 2;
        if (i && i % 6 == offset) {
            double offered = x - (double)star.theta;

            star_equal(&star, &offered, 1);
            x = star_receive(&star, x);
        }
        CHECK_NEAR(expected[i], x, 0);
    }
}

static void t14_streaming_reproduces_the_published_fixtures(void)
{
    static const double first_0[] = {1,   -1,  -3,  -11, -13, -15, -17, -19,
                                     -21, -35, -37, -39, -41, -43, -45, -59};
    static const double second_0[] = {1,   -1,  -3,  -5,  -7,  -9,  -23, -25,
                                      -27, -29, -31, -33, -47, -49, -51, -53};
    static const double first_half[] = {
        1,   -1,    -3,    -8,    -10,   -12,   -14,   -16,
        -18, -24.5, -26.5, -28.5, -30.5, -32.5, -34.5, -40.25};
    static const double second_half[] = {1,   -1,  -3,  -5,  -7,  -9,
                                         -17, -19, -21, -23, -25, -27,
                                         -32, -34, -36, -38};
    double alone[16];

    for (unsigned i = 0; i < 16; i++)
        alone[i] = 1 - 2. * i;
    check_fragment(0, 3, first_0);
    check_fragment(0, 0, second_0);
    check_fragment(0.5, 3, first_half);
    check_fragment(0.5, 0, second_half);
    check_fragment(1, 3, alone);
    check_fragment(1, 0, alone);
}

void add_policies_outer_tests(CU_pSuite suite)
{
    TEST(t03_unequal_nodes_drift_to_their_fixed_point);
    TEST(t04_diloco_follows_its_sequence);
    TEST(t04_diloco_is_stable_up_to_its_bound);
    TEST(t05_nesterov_has_two_equal_forms);
    TEST(t06_delay_lowers_the_largest_stable_rate);
    TEST(t06_a_quarter_is_the_fastest_rate_without_swings);
    TEST(t14_streaming_reproduces_the_published_fixtures);
    TEST(t15_a_pseudo_gradient_one_round_late_follows_its_sequence);
    TEST(t15_one_round_of_delay_lowers_the_largest_outer_rate);
}
