#include <math.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/policies/star.h"

static void adam_follows_its_algorithm(void)
{
    struct star star = star_of("adam", 3, 0.5);
    double x = 0.5, m = 0, v = 0;
    struct prng prng;

    prng_seed(&prng, 1);
    for (int i = 0; i < 50; i++) {
        double offered[3], mean = 0;

        for (unsigned j = 0; j < 3; j++) {
            offered[j] = prng_normal(&prng) / 10;
            mean += offered[j] / 3;
        }
        m = 0.9 * m + 0.1 * mean;
        v = 0.99 * v + 0.01 * mean * mean;
        x += 0.01 * m / (sqrt(v) + 0.001);
        star_equal(&star, offered, 3);
        CHECK_NEAR(x, (double)star.theta, 1e-5);
    }
}

/* However long the way is that all agree on, the step is the rate. */
static void adam_steps_by_its_rate_along_what_all_agree_on(void)
{
    struct star star = star_of("adam", 1, 0);
    static const double length[2] = {0.5, 50};

    for (unsigned i = 0; i < 2; i++) {
        double before = 0;

        for (unsigned j = 0; j < 2000; j++) {
            before = (double)star.theta;
            star_equal(&star, &length[i], 1);
        }
        CHECK_NEAR(0.01, (double)star.theta - before, 1e-4);
    }
}

/* As large as the hub takes it. */
static void one_huge_mean_does_not_hold_the_centre_for_good(void)
{
    struct star star = star_of("adam", 1, 0);
    static const double huge = 1e25, usual = 0.5;

    star_equal(&star, &huge, 1);
    CHECK_NEAR(0, (double)star.theta, 0);
    star_equal(&star, &usual, 1);
    CHECK_NEAR(0.01 * 0.05 / (0.05 + 0.001), (double)star.theta, 1e-6);
}

void add_policies_merge_adam_tests(CU_pSuite suite)
{
    TEST(adam_follows_its_algorithm);
    TEST(adam_steps_by_its_rate_along_what_all_agree_on);
    TEST(one_huge_mean_does_not_hold_the_centre_for_good);
}
