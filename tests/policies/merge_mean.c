#include "policies/policy.h"

#include "tests/check.h"

static void step(const double *value, double sign, double lr, double momentum,
                 size_t count, float *theta, float *velocity)
{
    const struct policy_numbers numbers = {.outer_lr = lr,
                                           .outer_momentum = momentum};
    const struct merge_tile tile = {.value = value,
                                    .sign = sign,
                                    .count = count,
                                    .theta = theta,
                                    .plane = {velocity},
                                    .numbers = &numbers};

    merge_mean.step(&tile);
}

static void the_mean_of_displacements_moves_the_centre(void)
{
    static const double mean[2] = {0.5, -2};
    float theta[2] = {1, 1};

    step(mean, 1, 1, 0, 2, theta, NULL);
    CHECK_NEAR(1.5, (double)theta[0], 0);
    CHECK_NEAR(-1, (double)theta[1], 0);
}

static void a_gradient_moves_it_downhill_by_the_rate(void)
{
    static const double mean[1] = {2};
    float theta[1] = {1};

    step(mean, -1, 0.25, 0, 1, theta, NULL);
    CHECK_NEAR(0.5, (double)theta[0], 0);
}

/* PyTorch's SGD with nesterov=True: m = mu m + g; x -= lr (g + mu m). */
static void momentum_is_nesterovs_in_pytorchs_form(void)
{
    static const double mean[1] = {1}, nothing[1] = {0};
    double x = 0, m = 0;
    float theta[1] = {0}, velocity[1] = {0};

    for (int i = 0; i < 5; i++) {
        double g = i < 3 ? -1 : 0;

        m = 0.9 * m + g;
        x -= 0.7 * (g + 0.9 * m);
        step(i < 3 ? mean : nothing, 1, 0.7, 0.9, 1, theta, velocity);
        CHECK_NEAR(x, (double)theta[0], 1e-5);
        CHECK_NEAR(m, (double)velocity[0], 1e-5);
    }
}

static void momentum_of_zero_is_as_no_momentum(void)
{
    static const double mean[1] = {0.3};
    float with[1] = {1}, without[1] = {1}, velocity[1] = {5};

    step(mean, 1, 0.7, 0, 1, with, velocity);
    step(mean, 1, 0.7, 0, 1, without, NULL);
    CHECK_NEAR((double)without[0], (double)with[0], 0);
}

void add_policies_merge_mean_tests(CU_pSuite suite)
{
    TEST(the_mean_of_displacements_moves_the_centre);
    TEST(a_gradient_moves_it_downhill_by_the_rate);
    TEST(momentum_is_nesterovs_in_pytorchs_form);
    TEST(momentum_of_zero_is_as_no_momentum);
}
