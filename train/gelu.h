/* GELU, the nonlinearity of GPT-2, in its form with a tanh (Hendrycks and
 * Gimpel, "Gaussian error linear units", 2016):
 *     y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
#ifndef TRAIN_GELU_H
#define TRAIN_GELU_H

#include <stddef.h>

/* x becomes the derivative of y by x. */
void gelu_forward(float *x, size_t count, float *y);
/* The derivative by y becomes that by x. */
void gelu_backward(const float *slope, size_t count, float *dy);

#endif
