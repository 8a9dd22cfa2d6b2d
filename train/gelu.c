#include "train/gelu.h"

#include "train/lanes.h"

/* 1 + tanh(u) is 2 / (1 + e), and 1 - tanh(u) is 2 e / (1 + e), of e^-2u. */
CPU_INLINE void forward_loop(float *restrict x, size_t count, float *restrict y)
{
    const float twice = 1.59576912F; /* 2 sqrt(2 / pi) */

    for (size_t i = 0; i < count; i++) {
        float at = x[i], square = at * at;
        float e = lanes_exp(-twice * at * (1 + 0.044715F * square));
        float half = 1 / (1 + e);
        float slope = twice * (1 + 0.134145F * square);

        y[i] = at * half;
        x[i] = half + y[i] * (e * half) * slope;
    }
}

CPU_FAST(forward, (float *restrict x, size_t count, float *restrict y),
         (x, count, y))

void gelu_forward(float *x, size_t count, float *y)
{
    forward_fast(x, count, y);
}

void gelu_backward(const float *restrict slope, size_t count,
                   float *restrict dy)
{
    for (size_t i = 0; i < count; i++)
        dy[i] *= slope[i];
}
