/* The parameters as one vector: how they lie in a trainer's memory, and the
 * part of them that an exchange holds.
 *
 * The vector is cut into chunks of chunk_elements elements, the last one
 * shorter. What is offered of a fragment is its chunks end to end. */
#ifndef NODE_VECTOR_H
#define NODE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fragment.h"

/* A piece of the vector, as it lies in the trainer's memory. */
struct span {
    float *values; /* NULL: there are none, as gradients of statistics */
    size_t count;
};

/* Where element `at` lies, or NULL; *count is lowered to those that follow in
 * one piece. */
float *span_at(const struct span *spans, size_t at, size_t *count);

/* Elements of a fragment of a vector. */
size_t fragment_elements(struct fragment fragment, size_t elements,
                         uint32_t chunk_elements);
/* Copies it to `to`, which has room for that many. */
void fragment_copy(struct fragment fragment, size_t elements,
                   uint32_t chunk_elements, const struct span *spans,
                   float *to);

#endif
