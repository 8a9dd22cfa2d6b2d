#include "train/transformer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "train/attention.h"
#include "train/gelu.h"
#include "train/linear.h"
#include "train/matrix.h"
#include "train/norm.h"

/* ---- memory ---- */

enum { ALIGNED = 16 }; /* floats, as vector instructions like it */

/* Hands out memory, or only counts how much it would be. */
struct carver {
    float *memory; /* or NULL */
    size_t used;   /* floats */
};

static float *carve(struct carver *carver, size_t count)
{
    float *at = carver->memory ? carver->memory + carver->used : NULL;

    carver->used += (count + ALIGNED - 1) / ALIGNED * ALIGNED;
    return at;
}

static void carve_layer(const struct transformer *t, struct carver *carver,
                        struct transformer_layer *layer)
{
    const struct transformer_shape *shape = &t->shape;
    size_t rows = t->sequences * shape->context, width = shape->width;

    layer->input = carve(carver, rows * width);
    layer->statistics = carve(carver, rows * 2);
    layer->normed = carve(carver, rows * width);
    layer->qkv = carve(carver, rows * 3 * width);
    layer->p =
        carve(carver, rows * shape->heads * attention_stride(shape->context));
    layer->mixed = carve(carver, rows * width);
    layer->middle = carve(carver, rows * width);
    layer->statistics2 = carve(carver, rows * 2);
    layer->normed2 = carve(carver, rows * width);
    layer->raised = carve(carver, rows * 4 * width);
    layer->bent = carve(carver, rows * 4 * width);
}

/* Returns how many floats that took. */
static size_t carve_all(struct transformer *t, float *memory)
{
    struct carver carver = {memory, 0};
    size_t context = t->shape.context, width = t->shape.width;
    size_t rows = t->sequences * context;

    for (size_t l = 0; l < t->shape.layers; l++)
        carve_layer(t, &carver, &t->layer[l]);
    t->output = carve(&carver, rows * width);
    t->statistics = carve(&carver, rows * 2);
    t->normed = carve(&carver, rows * width);
    t->logits = carve(&carver, rows * TRANSFORMER_BYTES);
    t->dx = carve(&carver, rows * width);
    t->narrow = carve(&carver, rows * width);
    t->wide = carve(&carver, rows * 4 * width);
    t->square = carve(&carver, context * attention_stride(context));
    return carver.used;
}

enum status transformer_init(struct transformer *t,
                             const struct transformer_shape *shape,
                             size_t sequences)
{
    size_t bytes;

    assert(shape->layers >= 1 && shape->layers <= TRANSFORMER_LAYERS_MAX);
    assert(shape->heads >= 1 && shape->width % shape->heads == 0);
    memset(t, 0, sizeof *t);
    t->shape = *shape;
    t->sequences = sequences;
    bytes = carve_all(t, NULL) * sizeof(float);
    t->memory = aligned_alloc(ALIGNED * sizeof(float), bytes);
    t->inputs = malloc(sequences * shape->context);
    if (!t->memory || !t->inputs) {
        transformer_free(t);
        return STATUS_NO_MEMORY;
    }
    memset(t->memory, 0, bytes);
    (void)carve_all(t, t->memory);
    matrix_begin();
    return STATUS_OK;
}

void transformer_free(struct transformer *t)
{
    free(t->memory);
    free(t->inputs);
    memset(t, 0, sizeof *t);
}

/* ---- forward ---- */

/* A layer at work: what it has computed, its parameters, and where their
 * gradients go. */
struct pass {
    const struct transformer *t;
    const struct transformer_layer *layer;
    const float *values;
    float *gradients; /* NULL when forward */
};

static struct linear linear_of(const struct pass *pass,
                               enum transformer_part part)
{
    const struct transformer_row *row = &transformer_rows[part];
    size_t width = pass->t->shape.width;

    return (struct linear){row->columns * width, row->rows * width};
}

static struct attention attention_of(const struct pass *pass)
{
    const struct transformer *t = pass->t;
    const struct transformer_shape *shape = &t->shape;

    return (struct attention){.sequences = t->rows / t->length,
                              .length = t->length,
                              .heads = shape->heads,
                              .width = shape->width / shape->heads,
                              .qkv = pass->layer->qkv,
                              .p = pass->layer->p,
                              .scratch = t->square};
}

static struct norm norm_of(const struct pass *pass, enum transformer_part part)
{
    const struct transformer *t = pass->t;
    const struct transformer_layer *layer = pass->layer;
    int first = part == TRANSFORMER_NORM_1;

    return (struct norm){t->rows, t->shape.width,
                         pass->values + transformer_part_at(&t->shape, part),
                         first ? layer->input : layer->middle,
                         first ? layer->statistics : layer->statistics2};
}

static struct norm last_norm_of(const struct transformer *t,
                                const float *values)
{
    return (struct norm){t->rows, t->shape.width,
                         values + transformer_norm_at(&t->shape), t->output,
                         t->statistics};
}

static void run_linear(const struct pass *pass, enum transformer_part part,
                       const float *x, const float *onto, float *y)
{
    const struct transformer *t = pass->t;

    linear_forward(linear_of(pass, part),
                   pass->values + transformer_part_at(&t->shape, part), x,
                   t->rows, onto, y);
}

/* From the layer's input to `out`, the next one's. */
static void forward_layer(const struct pass *pass, float *out)
{
    const struct transformer_layer *layer = pass->layer;
    struct norm norm = norm_of(pass, TRANSFORMER_NORM_1);
    struct norm norm2 = norm_of(pass, TRANSFORMER_NORM_2);
    struct attention attention = attention_of(pass);
    size_t raised = pass->t->rows * 4 * pass->t->shape.width;

    norm_forward(&norm, layer->normed);
    run_linear(pass, TRANSFORMER_ATTEND, layer->normed, NULL, layer->qkv);
    attention_forward(&attention, layer->mixed);
    run_linear(pass, TRANSFORMER_PROJECT, layer->mixed, layer->input,
               layer->middle);
    norm_forward(&norm2, layer->normed2);
    run_linear(pass, TRANSFORMER_RAISE, layer->normed2, NULL, layer->raised);
    gelu_forward(layer->raised, raised, layer->bent);
    run_linear(pass, TRANSFORMER_LOWER, layer->bent, layer->middle, out);
}

static void embed(const struct transformer *t, const float *values, float *x)
{
    size_t width = t->shape.width;
    const float *places = values + transformer_places_at(&t->shape);

    for (size_t r = 0; r < t->rows; r++) {
        const float *byte = values + t->inputs[r] * width;
        const float *place = places + r % t->length * width;

        for (size_t i = 0; i < width; i++)
            x[r * width + i] = byte[i] + place[i];
    }
}

/* The embeddings of bytes are the head as well. */
static struct matrix head_of(const struct transformer *t, const float *values)
{
    return matrix_of(values, TRANSFORMER_BYTES, t->shape.width);
}

unsigned char *transformer_inputs(struct transformer *t)
{
    return t->inputs;
}

float *transformer_forward(struct transformer *t, const float *values,
                           size_t sequences, size_t length)
{
    const struct transformer_shape *shape = &t->shape;
    struct norm norm;

    assert(sequences <= t->sequences);
    assert(length >= 1 && length <= shape->context);
    t->rows = sequences * length;
    t->length = length;
    embed(t, values, t->layer[0].input);
    for (size_t l = 0; l < shape->layers; l++) {
        struct pass pass = {.t = t,
                            .layer = &t->layer[l],
                            .values = values + transformer_layer_at(shape, l)};

        forward_layer(&pass, l + 1 < shape->layers ? t->layer[l + 1].input
                                                   : t->output);
    }
    norm = last_norm_of(t, values);
    norm_forward(&norm, t->normed);
    matrix_multiply(matrix_of(t->normed, t->rows, shape->width),
                    matrix_transposed(head_of(t, values)), 1, 0, t->logits,
                    TRANSFORMER_BYTES);
    return t->logits;
}

/* ---- backward ---- */

/* Writes the gradient of a part, and the derivative by its x to dx. */
static void undo_linear(const struct pass *pass, enum transformer_part part,
                        const float *x, const float *dy, float *dx)
{
    const struct transformer *t = pass->t;
    struct linear linear = linear_of(pass, part);
    size_t at = transformer_part_at(&t->shape, part);

    linear_backward_values(linear, x, dy, t->rows, pass->gradients + at);
    linear_backward_inputs(linear, pass->values + at, dy, t->rows, dx);
}

/* Writes the gradient of a norm, and adds the derivative by its x to dx. */
static void undo_norm(const struct pass *pass, enum transformer_part part,
                      const float *dy, float *dx)
{
    struct norm norm = norm_of(pass, part);

    norm_backward(&norm, dy,
                  pass->gradients + transformer_part_at(&pass->t->shape, part),
                  dx);
}

/* The derivative by the layer's output, t->dx, becomes that by its input. */
static void backward_layer(const struct pass *pass)
{
    const struct transformer *t = pass->t;
    const struct transformer_layer *layer = pass->layer;
    struct attention attention = attention_of(pass);

    undo_linear(pass, TRANSFORMER_LOWER, layer->bent, t->dx, t->wide);
    gelu_backward(layer->raised, t->rows * 4 * t->shape.width, t->wide);
    undo_linear(pass, TRANSFORMER_RAISE, layer->normed2, t->wide, t->narrow);
    undo_norm(pass, TRANSFORMER_NORM_2, t->narrow, t->dx);
    undo_linear(pass, TRANSFORMER_PROJECT, layer->mixed, t->dx, t->narrow);
    attention_backward(&attention, t->narrow, t->wide);
    undo_linear(pass, TRANSFORMER_ATTEND, layer->normed, t->wide, t->narrow);
    undo_norm(pass, TRANSFORMER_NORM_1, t->narrow, t->dx);
}

/* Adds to the gradient of the bytes' embeddings, and overwrites that of the
 * places'. */
static void undo_embed(const struct transformer *t, float *gradients)
{
    size_t width = t->shape.width;
    float *places = gradients + transformer_places_at(&t->shape);

    memset(places, 0, t->shape.context * width * sizeof *places);
    for (size_t r = 0; r < t->rows; r++) {
        const float *restrict dx = t->dx + r * width;
        float *restrict byte = gradients + t->inputs[r] * width;
        float *restrict place = places + r % t->length * width;

        for (size_t i = 0; i < width; i++) {
            byte[i] += dx[i];
            place[i] += dx[i];
        }
    }
}

void transformer_backward(struct transformer *t, const float *values,
                          float *gradients)
{
    const struct transformer_shape *shape = &t->shape;
    size_t width = shape->width;
    struct norm norm = last_norm_of(t, values);
    struct matrix logits = matrix_of(t->logits, t->rows, TRANSFORMER_BYTES);

    matrix_multiply(matrix_transposed(logits),
                    matrix_of(t->normed, t->rows, width), 1, 0, gradients,
                    width);
    matrix_multiply(logits, head_of(t, values), 1, 0, t->narrow, width);
    memset(t->dx, 0, t->rows * width * sizeof *t->dx);
    norm_backward(&norm, t->narrow, gradients + transformer_norm_at(shape),
                  t->dx);
    for (size_t l = shape->layers; l-- > 0;) {
        size_t at = transformer_layer_at(shape, l);
        struct pass pass = {t, &t->layer[l], values + at, gradients + at};

        backward_layer(&pass);
    }
    undo_embed(t, gradients);
}
