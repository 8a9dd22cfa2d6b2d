/* The models of simulated trainers: functions with known answers. */
#ifndef SIM_MODELS_H
#define SIM_MODELS_H

#include "sim/trainer.h"

/* x += amount each iteration, with rate 1. Dyadic: sums are exact. */
struct drift {
    float amount;
};
trainer_gradient trainer_drift;

/* Counts: x[element] += 1 each iteration, with rate 1, which a float32 holds
 * exactly up to 2^24. Where each node has an element of its own, and samples of
 * 0, so that all weigh the same, a centre that averages n nodes holds their
 * iterations divided by n, neither more nor less. As a gradient it is exact,
 * too: -1. */
struct count {
    size_t element;
};
trainer_gradient trainer_count;

/* f(x) = curvature/2 |x - centre|^2, exact gradients. */
struct quadratic {
    double curvature;
    const float *centre;
};
trainer_gradient trainer_quadratic;

#endif
