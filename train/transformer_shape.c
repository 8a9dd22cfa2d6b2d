#include "train/transformer_shape.h"

#include <math.h>

#define DEVIATION 0.02

const struct transformer_row transformer_rows[TRANSFORMER_PARTS] = {
    [TRANSFORMER_NORM_1] = {"ln_1", 1, 0},
    [TRANSFORMER_ATTEND] = {"attn.c_attn", 3, 1},
    [TRANSFORMER_PROJECT] = {"attn.c_proj", 1, 1},
    [TRANSFORMER_NORM_2] = {"ln_2", 1, 0},
    [TRANSFORMER_RAISE] = {"mlp.c_fc", 4, 1},
    [TRANSFORMER_LOWER] = {"mlp.c_proj", 1, 4}};

static size_t weight_elements(const struct transformer_shape *shape, int part)
{
    const struct transformer_row *row = &transformer_rows[part];
    size_t columns = row->columns ? row->columns * shape->width : 1;

    return row->rows * shape->width * columns;
}

static size_t bias_elements(const struct transformer_shape *shape, int part)
{
    return transformer_rows[part].rows * shape->width;
}

size_t transformer_part_at(const struct transformer_shape *shape,
                           enum transformer_part part)
{
    size_t at = 0;

    for (int i = 0; i < (int)part; i++)
        at += weight_elements(shape, i) + bias_elements(shape, i);
    return at;
}

size_t transformer_places_at(const struct transformer_shape *shape)
{
    return TRANSFORMER_BYTES * shape->width;
}

size_t transformer_layer_at(const struct transformer_shape *shape, size_t layer)
{
    return transformer_places_at(shape) + shape->context * shape->width +
           layer * transformer_part_at(shape, TRANSFORMER_PARTS);
}

size_t transformer_norm_at(const struct transformer_shape *shape)
{
    return transformer_layer_at(shape, shape->layers);
}

size_t transformer_elements(const struct transformer_shape *shape)
{
    return transformer_norm_at(shape) + 2 * shape->width;
}

static void draw(float *values, size_t count, double deviation,
                 struct prng *prng)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(deviation * prng_normal(prng));
}

static void fill(float *values, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

static void randomize_layer(const struct transformer_shape *shape,
                            float *values, struct prng *prng)
{
    for (int part = 0; part < TRANSFORMER_PARTS; part++) {
        size_t weights = weight_elements(shape, part);
        size_t biases = bias_elements(shape, part);
        double deviation = DEVIATION;

        if (part == TRANSFORMER_PROJECT || part == TRANSFORMER_LOWER)
            deviation /= sqrt(2 * (double)shape->layers);
        if (transformer_rows[part].columns)
            draw(values, weights, deviation, prng);
        else
            fill(values, weights, 1);
        fill(values + weights, biases, 0);
        values += weights + biases;
    }
}

void transformer_randomize(const struct transformer_shape *shape, float *values,
                           struct prng *prng)
{
    float *norm = values + transformer_norm_at(shape);

    draw(values, transformer_layer_at(shape, 0), DEVIATION, prng);
    for (size_t l = 0; l < shape->layers; l++)
        randomize_layer(shape, values + transformer_layer_at(shape, l), prng);
    fill(norm, shape->width, 1);
    fill(norm + shape->width, shape->width, 0);
}
