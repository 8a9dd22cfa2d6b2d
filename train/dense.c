#include "train/dense.h"

#include <assert.h>
#include <stdlib.h>

#include "train/linear.h"
#include "train/matrix.h"

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
    matrix_begin();
    return STATUS_OK;
}

void dense_free(struct dense *dense)
{
    free(dense->activation[0]);
    dense->activation[0] = NULL;
}

static struct linear linear_of(const struct dense *dense, unsigned layer)
{
    return (struct linear){dense->width[layer], dense->width[layer + 1]};
}

size_t dense_layer_elements(const struct dense *dense, unsigned layer)
{
    return linear_elements(linear_of(dense, layer));
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
        double gain = l + 1 < dense->layers ? 2 : 1;

        linear_randomize(linear_of(dense, l), gain, values, prng);
        values += dense_layer_elements(dense, l);
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
        float *y = dense->activation[l + 1];

        linear_forward(linear_of(dense, l), values, dense->activation[l], rows,
                       NULL, y);
        if (l + 1 < dense->layers)
            relu(y, rows * dense->width[l + 1]);
        values += dense_layer_elements(dense, l);
    }
    return dense->activation[dense->layers];
}

/* activation <- derivative where the ReLU was open, else 0. */
static void close_relu(float *activation, const float *derivative, size_t count)
{
    for (size_t i = 0; i < count; i++)
        activation[i] = activation[i] > 0 ? derivative[i] : 0;
}

/* The derivative by the inputs of layer l, which it replaces. */
static void backward_inputs(struct dense *dense, unsigned l,
                            const float *values, size_t rows)
{
    float *into = l ? dense->scratch : dense->activation[0];

    linear_backward_inputs(linear_of(dense, l), values,
                           dense->activation[l + 1], rows, into);
    if (l)
        close_relu(dense->activation[l], into, rows * dense->width[l]);
}

void dense_backward(struct dense *dense, const float *values, float *gradients,
                    size_t rows, int inputs)
{
    size_t offset = dense_elements(dense);

    for (unsigned l = dense->layers; l-- > 0;) {
        offset -= dense_layer_elements(dense, l);
        linear_backward_values(linear_of(dense, l), dense->activation[l],
                               dense->activation[l + 1], rows,
                               gradients + offset);
        if (l || inputs)
            backward_inputs(dense, l, values + offset, rows);
    }
}
