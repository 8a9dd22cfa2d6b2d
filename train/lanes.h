/* Sums and largest values of floats in lanes, and e^x: what compilers turn
 * into vector instructions, as the C library's are not.
 *
 * Element i goes to lane i modulo LANES whatever the machine can do at once,
 * so sums are the same to the last bit. What is not a number stays none. */
#ifndef TRAIN_LANES_H
#define TRAIN_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/cpu.h"

enum { LANES = 16 };

/* The larger one; `b` where that is not a number. */
CPU_INLINE float lanes_larger(float a, float b)
{
    return a > b ? a : b;
}

/* Lane by lane, so that halves can be added at once. */
CPU_INLINE float lanes_sum(float lane[LANES])
{
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++)
            lane[j] += lane[j + half];
    return lane[0];
}

/* e^x, within 2e-7 of it, for x up to 88; below -87 about e^-87. The Cephes
 * library's (Moshier, 1984): 2^n e^r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 to n
 * rounds it, and leaves it in the low bits. */
CPU_INLINE float lanes_exp(float x)
{
    const float rounder = 12582912;
    float shifted, n, r, y;
    uint32_t bits;

    x = x < -87 ? -87 : x;
    x = x > 88 ? 88 : x;
    shifted = x * 1.44269504F + rounder;
    n = shifted - rounder;
    r = x - n * 0.693359375F + n * 2.12194440e-4F;
    y = 1.9875691500e-4F;
    y = y * r + 1.3981999507e-3F;
    y = y * r + 8.3334519073e-3F;
    y = y * r + 4.1665795894e-2F;
    y = y * r + 1.6666665459e-1F;
    y = y * r + 5.0000001201e-1F;
    y = y * r * r + r + 1;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&n, &bits, sizeof n);
    return y * n;
}

#endif
