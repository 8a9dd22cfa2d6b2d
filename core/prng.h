/* Seeded pseudo-random numbers: the only randomness that pure code may use.
 *
 * The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", 2021), its state filled by splitmix64
 * (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * 2014). Equal seeds give equal numbers on every machine; prng_normal needs
 * the same libm for that. Not for keys. */
#ifndef CORE_PRNG_H
#define CORE_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state[4]; /* never all zero */
};

/* Any seed is good, 0 too. */
void prng_seed(struct prng *prng, uint64_t seed);
/* 64 random bits. */
uint64_t prng_next(struct prng *prng);
/* Every number in [0, bound) with the same probability; bound > 0. */
uint64_t prng_below(struct prng *prng, uint64_t bound);
/* A multiple of 2^-53 in [0, 1). */
double prng_unit(struct prng *prng);
/* Mean 0, standard deviation 1 (the polar method of Marsaglia and Bray,
 * "A convenient method for generating normal variables", 1964). */
double prng_normal(struct prng *prng);

/* The bijective finalizer of splitmix64: a hash of one word, to derive seeds:
 * prng_mix(run ^ prng_mix(node)). */
uint64_t prng_mix(uint64_t word);

#endif
