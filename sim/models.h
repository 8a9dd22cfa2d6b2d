/* What simulated trainers train: functions with known answers. */
#ifndef SIM_MODELS_H
#define SIM_MODELS_H

#include "sim/trainer.h"

/* x += amount each iteration, with rate 1. Dyadic: sums are exact. */
struct drift {
    float amount;
};
trainer_gradient trainer_drift;

/* f(x) = curvature/2 |x - centre|^2, exact gradients. */
struct quadratic {
    double curvature;
    const float *centre;
};
trainer_gradient trainer_quadratic;

#endif
