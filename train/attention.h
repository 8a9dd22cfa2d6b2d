/* Causal self-attention of several heads, on sequences of equal length.
 *
 * A row of qkv has the queries of all heads, then their keys, then their
 * values: 3 x heads x width floats. A place looks at itself and those before:
 *     p = softmax(q k^T / sqrt(width));  out = p v
 * Vaswani et al., "Attention is all you need" (2017). */
#ifndef TRAIN_ATTENTION_H
#define TRAIN_ATTENTION_H

#include <stddef.h>

struct attention {
    size_t sequences, length;
    size_t heads, width; /* of a head */
    const float *qkv;    /* a row for each place of each sequence */
    /* Both have rows of attention_stride(length) floats. */
    float *p;       /* sequences x heads x length rows */
    float *scratch; /* length rows, for backward; zeroes at first */
};

size_t attention_stride(size_t length);

/* out has a row of heads x width floats for each place. */
void attention_forward(const struct attention *attention, float *out);
/* Overwrites dqkv, given the loss's derivative by out; p is used up. */
void attention_backward(const struct attention *attention, const float *dout,
                        float *dqkv);

#endif
