#include "train/linear.h"

#include <math.h>
#include <string.h>

#include "train/matrix.h"

size_t linear_elements(struct linear linear)
{
    return (linear.in + 1) * linear.out;
}

void linear_randomize(struct linear linear, double gain, float *values,
                      struct prng *prng)
{
    size_t weights = linear.in * linear.out;
    double deviation = sqrt(gain / (double)linear.in);

    for (size_t i = 0; i < weights; i++)
        values[i] = (float)(deviation * prng_normal(prng));
    memset(values + weights, 0, linear.out * sizeof *values);
}

static void add_row(const float *restrict onto, const float *restrict bias,
                    size_t count, float *restrict y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = onto[i] + bias[i];
}

void linear_forward(struct linear linear, const float *values, const float *x,
                    size_t rows, const float *onto, float *y)
{
    size_t in = linear.in, out = linear.out;
    const float *bias = values + in * out;

    for (size_t r = 0; r < rows; r++)
        if (onto)
            add_row(onto + r * out, bias, out, y + r * out);
        else
            memcpy(y + r * out, bias, out * sizeof *y);
    matrix_multiply(matrix_of(x, rows, in),
                    matrix_transposed(matrix_of(values, out, in)), 1, 1, y,
                    out);
}

static void sum_rows(const float *x, size_t rows, size_t width, float *sum)
{
    memset(sum, 0, width * sizeof *sum);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++)
            sum[i] += x[r * width + i];
}

void linear_backward_values(struct linear linear, const float *x,
                            const float *dy, size_t rows, float *gradients)
{
    size_t in = linear.in, out = linear.out;

    matrix_multiply(matrix_transposed(matrix_of(dy, rows, out)),
                    matrix_of(x, rows, in), 1, 0, gradients, in);
    sum_rows(dy, rows, out, gradients + in * out);
}

void linear_backward_inputs(struct linear linear, const float *values,
                            const float *dy, size_t rows, float *dx)
{
    size_t in = linear.in, out = linear.out;

    matrix_multiply(matrix_of(dy, rows, out), matrix_of(values, out, in), 1, 0,
                    dx, in);
}
