#include "policies/policy.h"

#include "tests/check.h"

/* Of two elements. */
static void step(const double *value, double sign, double lr, double momentum,
                 float *theta, float *velocity)
{
    const struct policy_numbers numbers = {.outer_lr = lr,
                                           .outer_momentum = momentum};
    const struct merge_tile tile = {.value = value,
                                    .sign = sign,
                                    .count = 2,
                                    .theta = theta,
                                    .slot = {velocity},
                                    .numbers = &numbers};

    merge_mean.step(&tile);
}

static void the_mean_of_displacements_moves_the_centre(void)
{
    static const double mean[2] = {0.5, -2};
    float theta[2] = {1, 1};

    step(mean, 1, 1, 0, theta, NULL);
    CHECK_NEAR(1.5, (double)theta[0], 0);
    CHECK_NEAR(-1, (double)theta[1], 0);
}

static void a_gradient_moves_it_downhill_by_the_rate(void)
{
    static const double mean[2] = {2, 0};
    float theta[2] = {1, 1};

    step(mean, -1, 0.25, 0, theta, NULL);
    CHECK_NEAR(0.5, (double)theta[0], 0);
}

/* PyTorch's SGD with nesterov=True: m = mu m + g; x -= lr (g + mu m). */
static void momentum_is_nesterovs_in_pytorchs_form(void)
{
    static const double mean[2] = {1, 0}, nothing[2] = {0, 0};
    double x = 0, m = 0;
    float theta[2] = {0, 0}, velocity[2] = {0, 0};

    for (int i = 0; i < 5; i++) {
        double g = i < 3 ? -1 : 0;

        m = 0.9 * m + g;
        x -= 0.7 * (g + 0.9 * m);
        step(i < 3 ? mean : nothing, 1, 0.7, 0.9, theta, velocity);
        CHECK_NEAR(x, (double)theta[0], 1e-5);
        CHECK_NEAR(m, (double)velocity[0], 1e-5);
    }
}

static void momentum_of_zero_is_as_no_momentum(void)
{
    static const double mean[2] = {0.3, -1};
    float with[2] = {1, 2}, without[2] = {1, 2}, velocity[2] = {5, 6};

    step(mean, 1, 0.7, 0, with, velocity);
    step(mean, 1, 0.7, 0, without, NULL);
    CHECK_NEAR((double)without[0], (double)with[0], 0);
}

void add_policies_merge_mean_tests(CU_pSuite suite)
{
    TEST(the_mean_of_displacements_moves_the_centre);
    TEST(a_gradient_moves_it_downhill_by_the_rate);
    TEST(momentum_is_nesterovs_in_pytorchs_form);
    TEST(momentum_of_zero_is_as_no_momentum);
}
