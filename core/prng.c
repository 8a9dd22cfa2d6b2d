#include "core/prng.h"

#include <assert.h>
#include <math.h>

uint64_t prng_mix(uint64_t word)
{
    word += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

void prng_seed(struct prng *prng, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        prng->state[i] = prng_mix(seed);
        seed += 0x9e3779b97f4a7c15u;
    }
}

static uint64_t rotate(uint64_t word, unsigned left)
{
    return (word << left) | (word >> (64 - left));
}

uint64_t prng_next(struct prng *prng)
{
    uint64_t *s = prng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t prng_below(struct prng *prng, uint64_t bound)
{
    uint64_t surplus, word;

    assert(bound > 0);
    /* 2^64 mod bound: below it, the lowest residues would come once more. */
    surplus = (0 - bound) % bound;
    do
        word = prng_next(prng);
    while (word < surplus);
    return word % bound;
}

double prng_unit(struct prng *prng)
{
    return (double)(prng_next(prng) >> 11) * 0x1p-53;
}

double prng_normal(struct prng *prng)
{
    double x, y, square;

    do {
        x = 2 * prng_unit(prng) - 1;
        y = 2 * prng_unit(prng) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}
