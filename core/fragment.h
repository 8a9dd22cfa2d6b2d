/* Fragments: a model in F parts that travel one after the other.
 *
 * A fragment is every F-th chunk (the strided assignment of Streaming DiLoCo,
 * Douillard et al. 2025); with F = 1 it is all of them. */
#ifndef CORE_FRAGMENT_H
#define CORE_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The fragment of an offer that holds all chunks, as a node's last one. */
#define FRAGMENT_ALL UINT32_MAX

/* The chunks first, first + stride, ... */
struct fragment {
    uint32_t first, stride;
};

/* Number `number` of F fragments; FRAGMENT_ALL, or F below 2: all chunks. */
struct fragment fragment_of(uint32_t number, uint32_t fragments);
bool fragment_holds(struct fragment fragment, uint32_t chunk);
/* Whether they have chunks in common, as far as is known. */
bool fragments_meet(struct fragment one, struct fragment other);
uint32_t fragment_chunks(struct fragment fragment, uint32_t chunks);

#endif
