/* The parameters of a transformer: how many, where, and what they are first.
 *
 * They lie end to end in one flat vector: the embeddings of bytes (wte) and of
 * places (wpe), the layers, the last norm. Names and order are GPT-2's;
 * matrices are stored as [out][in], each weight with its bias behind it. */
#ifndef TRAIN_TRANSFORMER_SHAPE_H
#define TRAIN_TRANSFORMER_SHAPE_H

#include <stddef.h>

#include "core/prng.h"

enum { TRANSFORMER_BYTES = 256, TRANSFORMER_LAYERS_MAX = 64 };

struct transformer_shape {
    size_t layers; /* at most TRANSFORMER_LAYERS_MAX */
    size_t width;  /* a multiple of heads */
    size_t heads;
    size_t context; /* bytes */
};

/* The parts of a layer, in their order. */
enum transformer_part {
    TRANSFORMER_NORM_1,
    TRANSFORMER_ATTEND,
    TRANSFORMER_PROJECT,
    TRANSFORMER_NORM_2,
    TRANSFORMER_RAISE,
    TRANSFORMER_LOWER,
    TRANSFORMER_PARTS
};

struct transformer_row {
    const char *name;
    size_t rows, columns; /* of the weight, in widths; columns 0: a norm */
};

extern const struct transformer_row transformer_rows[TRANSFORMER_PARTS];

/* All parameters. */
size_t transformer_elements(const struct transformer_shape *shape);
/* Where things begin: the places' embeddings, layers, parts of a layer, and
 * the last norm. */
size_t transformer_places_at(const struct transformer_shape *shape);
size_t transformer_layer_at(const struct transformer_shape *shape,
                            size_t layer);
size_t transformer_part_at(const struct transformer_shape *shape,
                           enum transformer_part part);
size_t transformer_norm_at(const struct transformer_shape *shape);

/* As GPT-2 begins: matrices normal with deviation 0.02, those that add to x
 * (project, lower) with 0.02 / sqrt(2 layers); norms are one, biases zero. */
void transformer_randomize(const struct transformer_shape *shape, float *values,
                           struct prng *prng);

#endif
