/* Layer normalization of rows (Ba et al., 2016):
 *     y = (x - mean) / sqrt(variance + 1e-5) * weight + bias
 * with mean and variance of each row. The values are weight and bias, end to
 * end; gradients lie like them. */
#ifndef TRAIN_NORM_H
#define TRAIN_NORM_H

#include <stddef.h>

struct norm {
    size_t rows, width;
    const float *values; /* 2 x width */
    const float *x;      /* rows x width */
    float *statistics;   /* rows x 2: mean and 1 / deviation, from forward */
};

void norm_forward(const struct norm *norm, float *y);
/* Overwrites the gradients, given the loss's derivative by y; adds that by x
 * to dx. */
void norm_backward(const struct norm *norm, const float *dy, float *gradients,
                   float *dx);

#endif
