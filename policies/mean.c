#include "policies/mean.h"

static void merge(const double *mean, double sign, const struct outer *outer,
                  size_t count, float *theta, float *velocity)
{
    double lr = outer->lr, mu = outer->momentum;

    if (!velocity) {
        for (size_t i = 0; i < count; i++)
            theta[i] = (float)((double)theta[i] + lr * (sign * mean[i]));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double gradient = -sign * mean[i];
        double next = mu * (double)velocity[i] + gradient;

        velocity[i] = (float)next;
        theta[i] = (float)((double)theta[i] - lr * (gradient + mu * next));
    }
}

const struct merge_rule merge_mean = {"mean", merge};
