#include "sim/models.h"

double trainer_drift(const void *context, uint64_t iteration, const float *x,
                     size_t elements, float *gradient)
{
    const struct drift *drift = context;

    (void)iteration;
    (void)x;
    for (size_t i = 0; i < elements; i++)
        gradient[i] = -drift->amount;
    return 1;
}

double trainer_count(const void *context, uint64_t iteration, const float *x,
                     size_t elements, float *gradient)
{
    const struct count *count = context;

    (void)iteration;
    (void)x;
    for (size_t i = 0; i < elements; i++)
        gradient[i] = i == count->element ? -1 : 0;
    return 1;
}

double trainer_quadratic(const void *context, uint64_t iteration,
                         const float *x, size_t elements, float *gradient)
{
    const struct quadratic *quadratic = context;
    double loss = 0;

    (void)iteration;
    for (size_t i = 0; i < elements; i++) {
        double away = (double)x[i] - (double)quadratic->centre[i];

        gradient[i] = (float)(quadratic->curvature * away);
        loss += 0.5 * quadratic->curvature * away * away;
    }
    return loss;
}
