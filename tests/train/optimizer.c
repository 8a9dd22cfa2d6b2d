#include "train/optimizer.h"

#include <math.h>

#include "tests/check.h"

static const struct optimizer_settings sgd = {.kind = OPTIMIZER_SGD,
                                              .rate = 0.1};
static const struct optimizer_settings adamw = {.kind = OPTIMIZER_ADAMW,
                                                .rate = 0.1,
                                                .beta1 = 0.9,
                                                .beta2 = 0.99,
                                                .epsilon = 1e-8};

static void plain_descent_subtracts_rate_times_gradient(void)
{
    struct optimizer optimizer;
    float x[2] = {1, -2}, g[2] = {0.5f, 4};

    if (!CHECK_OK(optimizer_init(&optimizer, &sgd, 2)))
        return;
    optimizer_step(&optimizer, x, g);
    CHECK_NEAR(0.95, x[0], 1e-6);
    CHECK_NEAR(-2.4, x[1], 1e-6);
    CHECK(!optimizer.first);
    optimizer_free(&optimizer);
}

/* With g = 1 and momentum 0.5 the velocity is 1, 1.5, 1.75. */
static void momentum_sums_what_is_left_of_older_gradients(void)
{
    struct optimizer_settings settings = sgd;
    struct optimizer optimizer;
    float x = 0, g = 1;

    settings.momentum = 0.5;
    if (!CHECK_OK(optimizer_init(&optimizer, &settings, 1)))
        return;
    optimizer_step(&optimizer, &x, &g);
    CHECK_NEAR(-0.1, x, 1e-6);
    optimizer_step(&optimizer, &x, &g);
    CHECK_NEAR(-0.25, x, 1e-6);
    optimizer_step(&optimizer, &x, &g);
    CHECK_NEAR(-0.425, x, 1e-6);
    optimizer_free(&optimizer);
}

/* u = 0 + 0.2 * 1 = 0.2; x = 1 - 0.02; u = 0.9 * 0.2 + 0.2 * 0.98. */
static void decay_of_sgd_goes_through_the_momentum(void)
{
    struct optimizer_settings settings = sgd;
    struct optimizer optimizer;
    float x = 1, g = 0;

    settings.momentum = 0.9;
    settings.decay = 0.2;
    if (!CHECK_OK(optimizer_init(&optimizer, &settings, 1)))
        return;
    optimizer_step(&optimizer, &x, &g);
    CHECK_NEAR(0.98, x, 1e-6);
    optimizer_step(&optimizer, &x, &g);
    CHECK_NEAR(0.98 - 0.1 * 0.376, x, 1e-6);
    optimizer_free(&optimizer);
}

/* Bias correction makes m = g and v = g^2 as long as g is the same. */
static void adamw_steps_by_the_rate_under_a_constant_gradient(void)
{
    struct optimizer optimizer;
    float x[2] = {0, 0}, g[2] = {3, -0.001f};

    if (!CHECK_OK(optimizer_init(&optimizer, &adamw, 2)))
        return;
    for (int step = 1; step <= 5; step++) {
        optimizer_step(&optimizer, x, g);
        CHECK_NEAR(-0.1 * step, x[0], 1e-5);
        CHECK_NEAR(0.1 * step, x[1], 1e-4);
    }
    optimizer_free(&optimizer);
}

/* Second step with g = 1, then 0: m = 0.09, v = 0.0099, corrected by 0.19 and
 * 0.0199. */
static void adamw_follows_its_equations_when_the_gradient_changes(void)
{
    struct optimizer optimizer;
    float x = 0, one = 1, zero = 0;

    if (!CHECK_OK(optimizer_init(&optimizer, &adamw, 1)))
        return;
    optimizer_step(&optimizer, &x, &one);
    optimizer_step(&optimizer, &x, &zero);
    CHECK_NEAR(-0.1 - 0.1 * (0.09 / 0.19) / sqrt(0.0099 / 0.0199), x, 1e-6);
    optimizer_free(&optimizer);
}

static void decay_of_adamw_does_not_depend_on_the_gradient(void)
{
    struct optimizer_settings settings = adamw;
    struct optimizer optimizer;
    float x[2] = {2, 2}, g[2] = {0, 5};

    settings.decay = 0.5;
    if (!CHECK_OK(optimizer_init(&optimizer, &settings, 2)))
        return;
    optimizer_step(&optimizer, x, g);
    CHECK_NEAR(1.9, x[0], 1e-6);
    CHECK_NEAR(1.8, x[1], 1e-6);
    optimizer_free(&optimizer);
}

static void a_reset_optimizer_is_a_new_one(void)
{
    struct optimizer optimizer;
    float x = 0, g = 1, again = 0;

    if (!CHECK_OK(optimizer_init(&optimizer, &adamw, 1)))
        return;
    optimizer_step(&optimizer, &x, &g);
    optimizer_reset(&optimizer);
    optimizer_step(&optimizer, &again, &g);
    CHECK(x == again);
    CHECK_EQUAL(1, optimizer.steps);
    optimizer_free(&optimizer);
}

static void averages_end_at_zero_and_not_as_denormals(void)
{
    struct optimizer optimizer;
    float x = 0, g = 1e-10f;

    if (!CHECK_OK(optimizer_init(&optimizer, &adamw, 1)))
        return;
    for (int step = 0; step < 2000; step++) {
        optimizer_step(&optimizer, &x, &g);
        g = 0;
    }
    CHECK(optimizer.first[0] == 0);
    CHECK(optimizer.second[0] == 0);
    CHECK(isfinite(x));
    optimizer_free(&optimizer);
}

void add_train_optimizer_tests(CU_pSuite suite)
{
    TEST(plain_descent_subtracts_rate_times_gradient);
    TEST(momentum_sums_what_is_left_of_older_gradients);
    TEST(decay_of_sgd_goes_through_the_momentum);
    TEST(adamw_steps_by_the_rate_under_a_constant_gradient);
    TEST(adamw_follows_its_equations_when_the_gradient_changes);
    TEST(decay_of_adamw_does_not_depend_on_the_gradient);
    TEST(a_reset_optimizer_is_a_new_one);
    TEST(averages_end_at_zero_and_not_as_denormals);
}
