#include "train/dense.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status dense_init(struct dense *dense, const size_t *widths,
                       unsigned layers, size_t rows)
{
    size_t widest = 0, sum = 0;
    float *memory;

    assert(layers >= 1 && layers <= DENSE_LAYERS_MAX);
    dense->layers = layers;
    dense->rows = rows;
    for (unsigned l = 0; l <= layers; l++) {
        assert(widths[l] >= 1 && widths[l] <= DENSE_WIDTH_MAX);
        dense->width[l] = widths[l];
        sum += widths[l];
        widest = widths[l] > widest ? widths[l] : widest;
    }
    memory = malloc(rows * (sum + widest) * sizeof *memory);
    if (!memory)
        return STATUS_NO_MEMORY;
    for (unsigned l = 0; l <= layers; l++) {
        dense->activation[l] = memory;
        memory += rows * widths[l];
    }
    dense->scratch = memory;
    openblas_set_num_threads(1);
    return STATUS_OK;
}

void dense_free(struct dense *dense)
{
    free(dense->activation[0]);
    dense->activation[0] = NULL;
}

size_t dense_layer_elements(const struct dense *dense, unsigned layer)
{
    return (dense->width[layer] + 1) * dense->width[layer + 1];
}

size_t dense_elements(const struct dense *dense)
{
    size_t sum = 0;

    for (unsigned l = 0; l < dense->layers; l++)
        sum += dense_layer_elements(dense, l);
    return sum;
}

void dense_randomize(const struct dense *dense, float *values,
                     struct prng *prng)
{
    for (unsigned l = 0; l < dense->layers; l++) {
        size_t in = dense->width[l], out = dense->width[l + 1];
        double gain = l + 1 < dense->layers ? 2 : 1;
        double deviation = sqrt(gain / (double)in);

        for (size_t i = 0; i < in * out; i++)
            values[i] = (float)(deviation * prng_normal(prng));
        values += in * out;
        memset(values, 0, out * sizeof *values);
        values += out;
    }
}

float *dense_inputs(struct dense *dense)
{
    return dense->activation[0];
}

static void relu(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

float *dense_forward(struct dense *dense, const float *values, size_t rows)
{
    assert(rows <= dense->rows);
    for (unsigned l = 0; l < dense->layers; l++) {
        size_t in = dense->width[l], out = dense->width[l + 1];
        const float *bias = values + in * out;
        float *y = dense->activation[l + 1];

        for (size_t r = 0; r < rows; r++)
            memcpy(y + r * out, bias, out * sizeof *y);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows,
                    (int)out, (int)in, 1, dense->activation[l], (int)in, values,
                    (int)in, 1, y, (int)out);
        if (l + 1 < dense->layers)
            relu(y, rows * out);
        values = bias + out;
    }
    return dense->activation[dense->layers];
}

static void sum_rows(const float *x, size_t rows, size_t width, float *sum)
{
    memset(sum, 0, width * sizeof *sum);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++)
            sum[i] += x[r * width + i];
}

/* activation <- derivative where the ReLU was open, else 0. */
static void close_relu(float *activation, const float *derivative, size_t count)
{
    for (size_t i = 0; i < count; i++)
        activation[i] = activation[i] > 0 ? derivative[i] : 0;
}

/* The derivative by the inputs of layer l, which it replaces. */
static void backward_inputs(struct dense *dense, unsigned l,
                            const float *weights, size_t rows)
{
    size_t in = dense->width[l], out = dense->width[l + 1];
    float *into = l ? dense->scratch : dense->activation[0];

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)in,
                (int)out, 1, dense->activation[l + 1], (int)out, weights,
                (int)in, 0, into, (int)in);
    if (l)
        close_relu(dense->activation[l], into, rows * in);
}

void dense_backward(struct dense *dense, const float *values, float *gradients,
                    size_t rows, int inputs)
{
    size_t offset = dense_elements(dense);

    for (unsigned l = dense->layers; l-- > 0;) {
        size_t in = dense->width[l], out = dense->width[l + 1];
        const float *derivative = dense->activation[l + 1];

        offset -= dense_layer_elements(dense, l);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in,
                    (int)rows, 1, derivative, (int)out, dense->activation[l],
                    (int)in, 0, gradients + offset, (int)in);
        sum_rows(derivative, rows, out, gradients + offset + in * out);
        if (l || inputs)
            backward_inputs(dense, l, values + offset, rows);
    }
}
