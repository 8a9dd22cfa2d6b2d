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

/* For so many weights. */
static bool begin(struct optimizer *optimizer,
                  const struct optimizer_settings *settings, size_t count)
{
    struct optimizer_part weights = {ROLE_WEIGHT, count, 1};

    return CHECK_OK(optimizer_init(optimizer, settings, &weights, 1));
}

static void plain_descent_subtracts_rate_times_gradient(void)
{
    struct optimizer optimizer;
    float x[2] = {1, -2}, g[2] = {0.5f, 4};

    if (!begin(&optimizer, &sgd, 2))
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
    if (!begin(&optimizer, &settings, 1))
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
    if (!begin(&optimizer, &settings, 1))
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

    if (!begin(&optimizer, &adamw, 2))
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

    if (!begin(&optimizer, &adamw, 1))
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
    if (!begin(&optimizer, &settings, 2))
        return;
    optimizer_step(&optimizer, x, g);
    CHECK_NEAR(1.9, x[0], 1e-6);
    CHECK_NEAR(1.8, x[1], 1e-6);
    optimizer_free(&optimizer);
}

static void only_weights_decay(void)
{
    static const struct optimizer_part parts[] = {
        {ROLE_OTHER, 1, 1}, {ROLE_WEIGHT, 1, 2}, {ROLE_OTHER, 2, 1}};
    struct optimizer_settings settings = adamw;

    settings.decay = 0.5;
    for (int kind = 0; kind < OPTIMIZERS; kind++) {
        float x[5] = {2, 2, 2, 2, 2}, g[5] = {0};
        struct optimizer optimizer;

        settings.kind = (enum optimizer_kind)kind;
        if (!CHECK_OK(optimizer_init(&optimizer, &settings, parts, 3)))
            return;
        CHECK_EQUAL(5, optimizer.elements);
        optimizer_step(&optimizer, x, g);
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(i == 1 || i == 2 ? 1.9 : 2, x[i], 1e-6);
        optimizer_free(&optimizer);
    }
}

/* All parts are one vector here: its length is 5. */
static void a_gradient_that_is_too_long_is_shortened(void)
{
    static const struct optimizer_part parts[] = {{ROLE_OTHER, 1, 1},
                                                  {ROLE_WEIGHT, 1, 1}};
    struct optimizer_settings settings = sgd;
    struct optimizer optimizer;
    float x[2] = {0, 0}, g[2] = {3, -4};

    settings.clip = 2.5;
    if (!CHECK_OK(optimizer_init(&optimizer, &settings, parts, 2)))
        return;
    optimizer_step(&optimizer, x, g);
    CHECK_NEAR(-0.15, x[0], 1e-6);
    CHECK_NEAR(0.2, x[1], 1e-6);
    g[0] = 1.5F;
    g[1] = -2;
    optimizer_step(&optimizer, x, g);
    CHECK_NEAR(-0.3, x[0], 1e-6);
    CHECK_NEAR(0.4, x[1], 1e-6);
    optimizer_free(&optimizer);
}

static void the_rate_grows_while_it_warms_up(void)
{
    static const double rates[] = {0.025, 0.05, 0.075, 0.1, 0.1};
    struct optimizer_settings settings = sgd;
    struct optimizer optimizer;
    float g = 1;

    settings.warmup = 4;
    if (!begin(&optimizer, &settings, 1))
        return;
    for (int i = 0; i < 10; i++) {
        float x = 0;

        if (i == 5)
            optimizer_reset(&optimizer);
        optimizer_step(&optimizer, &x, &g);
        CHECK_NEAR(-rates[i % 5], x, 1e-6);
    }
    optimizer_free(&optimizer);
}

static void a_reset_optimizer_is_a_new_one(void)
{
    struct optimizer optimizer;
    float x = 0, g = 1, again = 0;

    if (!begin(&optimizer, &adamw, 1))
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

    if (!begin(&optimizer, &adamw, 1))
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
    TEST(only_weights_decay);
    TEST(a_gradient_that_is_too_long_is_shortened);
    TEST(the_rate_grows_while_it_warms_up);
    TEST(a_reset_optimizer_is_a_new_one);
    TEST(averages_end_at_zero_and_not_as_denormals);
}
