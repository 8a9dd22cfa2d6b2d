#include "train/lanes.h"

#include <math.h>

#include "tests/check.h"
#include "train/gelu.h"

static void exponentials_are_near_those_of_the_c_library(void)
{
    double worst = 0;

    for (int i = -86000; i <= 88000; i += 7) {
        float x = (float)i / 1000;
        double right = exp((double)x);

        worst = fmax(worst, fabs((double)lanes_exp(x) - right) / right);
    }
    CHECK(worst < 2e-7);
    CHECK(lanes_exp(0) == 1);
}

static void exponentials_end_in_what_is_very_small_or_large(void)
{
    CHECK(lanes_exp(-1e30F) > 0 && lanes_exp(-INFINITY) < 2e-38F);
    CHECK(lanes_exp(1e30F) > 1e38F && isfinite(lanes_exp(INFINITY)));
    CHECK(isnan(lanes_exp(NAN)));
}

static void lanes_are_added_up(void)
{
    float lane[LANES];

    for (int i = 0; i < LANES; i++)
        lane[i] = (float)i;
    CHECK_EQUAL(LANES * (LANES - 1) / 2, lanes_sum(lane));
}

static double gelu(double x)
{
    return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static void gelu_and_its_slope_are_those_of_the_formula(void)
{
    enum { POINTS = 801 };
    static float x[POINTS], y[POINTS], dy[POINTS];

    for (int i = 0; i < POINTS; i++) {
        x[i] = (float)(i - 400) / 32;
        dy[i] = 2;
    }
    gelu_forward(x, POINTS, y);
    gelu_backward(x, POINTS, dy);
    for (int i = 0; i < POINTS; i++) {
        double at = (double)(i - 400) / 32;
        double slope = (gelu(at + 1e-5) - gelu(at - 1e-5)) / 2e-5;

        CHECK_NEAR(gelu(at), y[i], 2e-7 * (1 + fabs(at)));
        CHECK_NEAR(slope, x[i], 1e-6);
        CHECK_NEAR(2 * slope, dy[i], 2e-6);
    }
}

void add_train_lanes_tests(CU_pSuite suite)
{
    TEST(exponentials_are_near_those_of_the_c_library);
    TEST(exponentials_end_in_what_is_very_small_or_large);
    TEST(lanes_are_added_up);
    TEST(gelu_and_its_slope_are_those_of_the_formula);
}
