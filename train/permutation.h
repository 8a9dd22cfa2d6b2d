/* A seeded shuffle of 0 .. count-1 that is computed, not stored.
 *
 * Why: a shuffled epoch over a text of a gigabyte must not cost four gigabytes
 * of indices. A Feistel network with four rounds (Luby and Rackoff, 1988) is a
 * bijection of the next power of four; walking its cycle until the result is
 * below count keeps it one (Black and Rogaway, "Ciphers with arbitrary finite
 * domains", 2002). That takes fewer than four walks on average, 30-60 ns. */
#ifndef TRAIN_PERMUTATION_H
#define TRAIN_PERMUTATION_H

#include <stdint.h>

enum { PERMUTATION_ROUNDS = 4 };

struct permutation {
    uint64_t count;
    uint64_t keys[PERMUTATION_ROUNDS];
    unsigned half_bits; /* the network permutes 2 * half_bits bits */
};

/* 1 <= count <= 2^62. */
void permutation_init(struct permutation *permutation, uint64_t count,
                      uint64_t seed);
/* Where `index` (< count) goes to; no two go to the same place. */
uint64_t permutation_at(const struct permutation *permutation, uint64_t index);

#endif
