/* Nodes that offer what another one has learnt.
 *
 * A sketch of an update is a short vector that keeps lengths and angles, within
 * 1 / sqrt(SKETCH): each element goes, with a sign, to one of SKETCH places,
 * both by a hash of its index, 64 neighbours to neighbouring places (count
 * sketch; Charikar, Chen and Farach-Colton, 2002). Sketches of equal seed add
 * up, part by part.
 *
 * Two updates are alike when their directions are, and what is left of these
 * without what all have in common is, too. With directions u of length 1 and c
 * the mean of those of u_j's round,
 *
 *     cos(u_i, u_j) >= 0.9  and  cos(u_i - c, u_j - c) >= 0.9
 *
 * Of N honest nodes with data alike the second is -1 / (N - 1) in the mean,
 * however far they go the same way; of a copy of any length it is 1. By chance,
 * with k = 1 and many nodes, two are alike now and then, so that a node copies
 * which is like another one in COPY_ROUNDS rounds in a row: docs/policies.md
 * has what was measured. Source: the overlap check of templar's validators,
 * which compares which the largest changes of two nodes are. */
#ifndef POLICIES_COPIES_H
#define POLICIES_COPIES_H

#include <stddef.h>
#include <stdint.h>

enum {
    SKETCH = 128,
    COPY_MOST = 64, /* nodes in a round; of more, some are alike by chance */
    COPY_ROUNDS = 8 /* in a row, until it is told */
};

struct sketch {
    double at[SKETCH];
};

/* Adds elements [first, first + count) of an update. */
void sketch_add(struct sketch *sketch, uint64_t seed, uint64_t first,
                const double *values, size_t count);
/* Adds a sketch of other elements of the update. */
void sketch_merge(struct sketch *sketch, const struct sketch *part);

/* What a node offers in a round, and what it offered in the one before; NULL:
 * that is not known. */
struct offered {
    const struct sketch *now, *before;
};

/* Writes for each the place of the most alike one that it may be a copy of, or
 * -1: of those before it in the list, and of what any other one offered in the
 * round before. Fewer than three are not compared: there is nothing that two do
 * not have in common. Nor are more than COPY_MOST. */
void copies_find(const struct offered *list, unsigned count, int *of);

#endif
