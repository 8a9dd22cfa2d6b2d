/* A linear layer on the rows of a batch: y = x W^T + b.
 *
 * Its values are W, stored as [out][in] as PyTorch does, and b behind it; its
 * gradients lie like them. x is rows x in, y is rows x out. */
#ifndef TRAIN_LINEAR_H
#define TRAIN_LINEAR_H

#include <stddef.h>

#include "core/prng.h"

struct linear {
    size_t in, out;
};

/* Floats of W and b. */
size_t linear_elements(struct linear linear);
/* Biases 0, weights normal with variance gain / in. */
void linear_randomize(struct linear linear, double gain, float *values,
                      struct prng *prng);
/* y = onto + x W^T + b; `onto`, rows x out, may be NULL for zeros. */
void linear_forward(struct linear linear, const float *values, const float *x,
                    size_t rows, const float *onto, float *y);
/* Overwrites the gradients, given the loss's derivative by y. */
void linear_backward_values(struct linear linear, const float *x,
                            const float *dy, size_t rows, float *gradients);
/* Overwrites dx, the derivative by x. */
void linear_backward_inputs(struct linear linear, const float *values,
                            const float *dy, size_t rows, float *dx);

#endif
