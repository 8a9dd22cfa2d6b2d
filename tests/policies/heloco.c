/* Late updates and the momentum. */
#include <math.h>
#include <string.h>

#include "policies/policy.h"
#include "tests/check.h"

/* Of two elements; the centre goes where the momentum points, in units of
 * progress: what the rule keeps is its negative. */
static void corrected(double u0, double u1, double m0, double m1, double *out)
{
    const float slot[2] = {(float)-m0, (float)-m1};

    out[0] = u0;
    out[1] = u1;
    merge_heloco.correct(slot, 2, 1, out);
}

static void what_goes_the_same_way_stays_as_it_is(void)
{
    double out[2];

    corrected(3, 1, 5, 0, out);
    CHECK_NEAR(3, out[0], 0);
    CHECK_NEAR(1, out[1], 0);
    corrected(1, sqrt(3) * 0.9999, 5, 0, out); /* 60 degrees */
    CHECK_NEAR(1, out[0], 0);
}

static void what_goes_against_it_shrinks_along_it(void)
{
    double out[2];

    corrected(-1, 0, 3, 0, out); /* q = 1/4 */
    CHECK_NEAR(-0.75, out[0], 1e-15);
    CHECK_NEAR(0, out[1], 1e-15);
    corrected(-3, 4, 5, 0, out); /* q = 1/2, c = -0.6: 0.3 of the 3 */
    CHECK_NEAR(-3 + 0.9, out[0], 1e-12);
    CHECK_NEAR(4, out[1], 1e-12);
}

static void what_goes_across_turns_and_is_as_long(void)
{
    double out[2];

    corrected(0, 2, 2, 0, out); /* q = 1/2: half way */
    CHECK_NEAR(sqrt(2), out[0], 1e-12);
    CHECK_NEAR(sqrt(2), out[1], 1e-12);
    corrected(0, 1, 3, 0, out); /* q = 1/4: tan = 1/3 */
    CHECK_NEAR(1. / 3, out[0] / out[1], 1e-12);
    CHECK_NEAR(1, hypot(out[0], out[1]), 1e-12);
    corrected(0.3, sqrt(1 - 0.09), 1, 0, out);
    CHECK(out[0] > 0.3 && out[0] < 0.5);
    CHECK_NEAR(1, hypot(out[0], out[1]), 1e-12);
}

static void without_momentum_nothing_is_corrected(void)
{
    double out[2];

    corrected(1, 2, 0, 0, out);
    CHECK_NEAR(1, out[0], 0);
    CHECK_NEAR(2, out[1], 0);
    corrected(0, 0, 1, 1, out);
    CHECK_NEAR(0, out[0], 0);
    CHECK_NEAR(0, out[1], 0);
}

/* A gradient points the other way than progress, its momentum does, too. */
static void gradients_are_corrected_as_progress_is(void)
{
    const float slot[2] = {3, 0};
    double out[2] = {-1, 0};

    merge_heloco.correct(slot, 2, -1, out);
    CHECK_NEAR(-0.75, out[0], 1e-15);
}

static void its_step_is_the_means(void)
{
    const struct policy_numbers numbers = {.outer_lr = 0.7,
                                           .outer_momentum = 0.9};
    double value[2] = {1, -2};
    float theta[2][2] = {{1, 2}, {1, 2}}, slot[2][2] = {{1, 0}, {1, 0}};
    struct merge_tile tile = {
        .value = value, .sign = 1, .count = 2, .numbers = &numbers};

    for (unsigned i = 0; i < 2; i++) {
        tile.theta = theta[i];
        tile.slot[0] = slot[i];
        (i ? &merge_heloco : &merge_mean)->step(&tile);
    }
    for (unsigned i = 0; i < sizeof theta[0] / sizeof *theta[0]; i++) {
        CHECK_NEAR((double)theta[0][i], (double)theta[1][i], 0);
        CHECK_NEAR((double)slot[0][i], (double)slot[1][i], 0);
    }
}

void add_policies_heloco_tests(CU_pSuite suite)
{
    TEST(what_goes_the_same_way_stays_as_it_is);
    TEST(what_goes_against_it_shrinks_along_it);
    TEST(what_goes_across_turns_and_is_as_long);
    TEST(without_momentum_nothing_is_corrected);
    TEST(gradients_are_corrected_as_progress_is);
    TEST(its_step_is_the_means);
}
