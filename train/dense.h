/* A stack of dense layers with ReLU between them, forward and backward.
 *
 * Layer l maps width[l] to width[l+1] numbers (train/linear.h). All layers lie
 * end to end in one flat vector that the caller owns; so any vector can be
 * tried without a copy. Nothing is allocated after dense_init. */
#ifndef TRAIN_DENSE_H
#define TRAIN_DENSE_H

#include <stddef.h>

#include "core/prng.h"
#include "core/status.h"

enum { DENSE_LAYERS_MAX = 16, DENSE_WIDTH_MAX = 65536 };

struct dense {
    unsigned layers;
    size_t width[DENSE_LAYERS_MAX + 1];
    size_t rows;                             /* the scratch holds */
    float *activation[DENSE_LAYERS_MAX + 1]; /* [l]: rows x width[l] */
    float *scratch;                          /* rows x the widest */
};

/* `widths` has `layers` + 1 entries, each 1 .. DENSE_WIDTH_MAX. Batches may
 * have up to `rows` rows. STATUS_NO_MEMORY leaves nothing behind. */
enum status dense_init(struct dense *dense, const size_t *widths,
                       unsigned layers, size_t rows) MUST_CHECK;
void dense_free(struct dense *dense);

/* Parameters of one layer, and of all. */
size_t dense_layer_elements(const struct dense *dense, unsigned layer);
size_t dense_elements(const struct dense *dense);

/* Biases 0, weights normal with variance 2 / in before a ReLU (He et al.,
 * "Delving deep into rectifiers", 2015), 1 / in for the last layer. */
void dense_randomize(const struct dense *dense, float *values,
                     struct prng *prng);

/* Where the caller writes the inputs, rows x width[0]. */
float *dense_inputs(struct dense *dense);
/* Computes the outputs, rows x width[layers], and returns them. */
float *dense_forward(struct dense *dense, const float *values, size_t rows);
/* Takes the loss's derivative by the outputs from where dense_forward left the
 * outputs, and overwrites `gradients` (laid out as `values`). The activations
 * are used up. With `inputs` set, dense_inputs() then holds the derivative by
 * the inputs. */
void dense_backward(struct dense *dense, const float *values, float *gradients,
                    size_t rows, int inputs);

#endif
