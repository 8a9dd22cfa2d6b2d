/* A block of a convolutional network: 3x3 convolution, ReLU, 2x2 max pool.
 *
 * A picture is in x height x width numbers, beyond its edges are zeroes. What
 * comes out is out x height / 2 x width / 2, where an odd last row or column
 * is left out. Its values are W, [out][in][3][3] as PyTorch stores it, and b
 * behind it, a number for each output channel; its gradients lie like them.
 * A convolution is a product of matrices: W by columns, which are the pictures
 * as each of the nine weights sees them ("im2col": Chellapilla et al., "High
 * performance convolutional neural networks for document processing", 2006),
 * one picture at a time, so that they stay in the processor's cache. */
#ifndef TRAIN_CONVOLUTION_H
#define TRAIN_CONVOLUTION_H

#include <stddef.h>
#include <stdint.h>

#include "core/prng.h"

enum {
    CONVOLUTION_SIDE = 3,
    CONVOLUTION_TAPS = 9,       /* weights from a channel to a channel */
    CONVOLUTION_BLOCKS_MAX = 8, /* which halve 256x256 to one */
    CONVOLUTION_CHANNELS_MAX = 4096
};

struct convolution {
    size_t in, out;       /* channels */
    size_t height, width; /* of what comes in, both at least 2 */
};

/* What a block needs beside its values; the caller owns all of it. */
struct convolution_work {
    float *scratch;   /* convolution_scratch() */
    uint8_t *winners; /* an output's: which of its four was the largest */
};

/* Numbers of W and b; of a picture as it comes in, and as it comes out; of the
 * scratch, which is the same for any count of pictures. */
size_t convolution_elements(const struct convolution *block);
size_t convolution_inputs(const struct convolution *block);
size_t convolution_outputs(const struct convolution *block);
size_t convolution_scratch(const struct convolution *block);

/* Biases 0, weights normal with variance 2 / (9 in), as they are before a ReLU
 * (He et al., "Delving deep into rectifiers", 2015). */
void convolution_randomize(const struct convolution *block, float *values,
                           struct prng *prng);
/* y, pictures x outputs, of x, pictures x inputs. Writes the winners, as many
 * as there are outputs. */
void convolution_forward(const struct convolution *block, const float *values,
                         const float *x, size_t pictures,
                         const struct convolution_work *work, float *y);
/* Overwrites the gradients, given the loss's derivative by y, for the same x,
 * and with the winners that forward has written. */
void convolution_backward_values(const struct convolution *block,
                                 const float *x, const float *dy,
                                 size_t pictures,
                                 const struct convolution_work *work,
                                 float *gradients);
/* Overwrites dx, the derivative by x; it may lie where x did. */
void convolution_backward_inputs(const struct convolution *block,
                                 const float *values, const float *dy,
                                 size_t pictures,
                                 const struct convolution_work *work,
                                 float *dx);

#endif
