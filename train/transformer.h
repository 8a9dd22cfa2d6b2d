/* The network of GPT-2 on bytes, forward and backward.
 *
 *     x = wte[byte] + wpe[place]
 *     each layer:  x += project(attention(norm(x)))
 *                  x += lower(gelu(raise(norm(x))))
 *     logits = norm(x) wte^T
 * Radford et al., "Language models are unsupervised multitask learners" (2019).
 * The parameters are the caller's (train/transformer_shape.h), so any vector
 * can be tried without a copy. Nothing is allocated after transformer_init. */
#ifndef TRAIN_TRANSFORMER_H
#define TRAIN_TRANSFORMER_H

#include <stddef.h>

#include "core/status.h"
#include "train/transformer_shape.h"

/* What a layer has computed, a row for each place. */
struct transformer_layer {
    float *input;                 /* x before the layer: rows x width */
    float *statistics, *normed;   /* of the first norm: x 2, x width */
    float *qkv, *p;               /* of attention.h: x 3 width; p */
    float *mixed;                 /* what attention gives: x width */
    float *middle;                /* x behind attention: x width */
    float *statistics2, *normed2; /* of the second norm */
    float *raised;                /* x 4 width; then GELU's derivative */
    float *bent;                  /* GELU of it: x 4 width */
};

struct transformer {
    struct transformer_shape shape;
    size_t sequences;      /* there is room for */
    size_t rows, length;   /* of the last forward: all places; a sequence's */
    unsigned char *inputs; /* rows */
    float *memory;         /* all of what follows */
    struct transformer_layer layer[TRANSFORMER_LAYERS_MAX];
    float *output;              /* x behind the layers: rows x width */
    float *statistics, *normed; /* of the last norm */
    float *logits;              /* rows x 256 */
    float *dx, *narrow, *wide;  /* scratch: rows x width, width, 4 width */
    float *square;              /* attention's scratch */
};

/* Batches may have up to `sequences` of shape.context bytes. STATUS_NO_MEMORY
 * leaves nothing behind. */
enum status transformer_init(struct transformer *transformer,
                             const struct transformer_shape *shape,
                             size_t sequences) MUST_CHECK;
void transformer_free(struct transformer *transformer);

/* Where the caller writes the inputs, sequences x length bytes. */
unsigned char *transformer_inputs(struct transformer *transformer);
/* Computes the logits of what follows each byte, sequences x length x 256, and
 * returns them. `length` is at most shape.context. */
float *transformer_forward(struct transformer *transformer, const float *values,
                           size_t sequences, size_t length);
/* Takes the loss's derivative by the logits from where transformer_forward
 * left the logits, and overwrites `gradients` (laid out as `values`). What was
 * computed is used up. */
void transformer_backward(struct transformer *transformer, const float *values,
                          float *gradients);

#endif
