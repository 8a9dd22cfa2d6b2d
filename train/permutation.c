#include "train/permutation.h"

#include <assert.h>

#include "core/prng.h"

void permutation_init(struct permutation *permutation, uint64_t count,
                      uint64_t seed)
{
    assert(count >= 1 && count <= UINT64_C(1) << 62);
    permutation->count = count;
    permutation->half_bits = 1;
    while (UINT64_C(1) << (2 * permutation->half_bits) < count)
        permutation->half_bits++;
    for (unsigned i = 0; i < PERMUTATION_ROUNDS; i++)
        permutation->keys[i] = seed = prng_mix(seed);
}

static uint64_t walk(const struct permutation *permutation, uint64_t word)
{
    unsigned bits = permutation->half_bits;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t left = word >> bits, right = word & mask;

    for (unsigned i = 0; i < PERMUTATION_ROUNDS; i++) {
        uint64_t mixed = prng_mix(right ^ permutation->keys[i]);
        uint64_t next = left ^ (mixed & mask);

        left = right;
        right = next;
    }
    return left << bits | right;
}

uint64_t permutation_at(const struct permutation *permutation, uint64_t index)
{
    assert(index < permutation->count);
    do
        index = walk(permutation, index);
    while (index >= permutation->count);
    return index;
}
