/* e3m0: a sign and three bits of exponent, as in Streaming DiLoCo (Douillard
 * et al., 2025): the powers of two from 2^-6 to 1, and 0, times the largest
 * magnitude of the block. The nearest one is taken, halfway the larger; the
 * relative error is at most 1/3 from 2^-6 up. A block without a value of at
 * least 2^-100 is all 0.
 *
 * Halfway between 2^(n-1) and 2^n is 3/4 2^n, so the code is the exponent of
 * 4/3 of the value; between 0 and 2^-6 it is 2^-7. */
#include <math.h>

#include "codec/block.h"
#include "codec/codec.h"

enum { HEAD = sizeof(float) };
#define FOUR_THIRDS (4.0F / 3)
#define LEAST_MAX 0x1p-100F

/* Writes the scale, returns what makes 4/3 of the largest. */
CPU_INLINE float put_scale(float max, unsigned char *bytes)
{
    float scale = max < LEAST_MAX ? 0 : max;

    memcpy(bytes, &scale, sizeof scale);
    return max < LEAST_MAX ? 0 : FOUR_THIRDS / max;
}

/* ---- plain ---- */

static const float sizes[] = {0,       0x1p-6F, 0x1p-5F, 0x1p-4F,
                              0x1p-3F, 0x1p-2F, 0x1p-1F, 1};

static unsigned code_of(float value, float inverse)
{
    float size = fabsf(value) * inverse;
    unsigned code = size >= FOUR_THIRDS * 0x1p-7F;

    while (code && code < 7 && size >= sizes[code + 1])
        code++;
    return code | (signbit(value) ? 8U : 0);
}

static void e3m0_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    size_t plane = (length + 1) / 2;
    float max = 0, inverse;

    for (size_t i = 0; i < length; i++)
        max = fmaxf(max, fabsf(values[i]));
    inverse = put_scale(max, bytes);
    memset(bytes + HEAD, 0, plane);
    for (size_t i = 0; i < length; i++) {
        unsigned code = code_of(values[i], inverse);
        unsigned char *byte = &bytes[HEAD + i % plane];

        *byte = (unsigned char)(*byte | code << (i < plane ? 0 : 4));
    }
}

static void e3m0_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    size_t plane = (length + 1) / 2;

    for (size_t i = 0; i < length; i++) {
        int code = bytes[HEAD + i % plane] >> (i < plane ? 0 : 4) & 15;
        float size = sizes[code & 7];

        values[i] = (code & 8 ? -size : size) * float_at(bytes);
    }
}

/* ---- wide ---- */

/* The exponent of the float `1` is 127, the code of it 7. */
CPU_INLINE void e3m0_encode_wide(const float *values, unsigned char *bytes)
{
    const int32_t least = (int32_t)bits_of(FOUR_THIRDS * 0x1p-7F);
    unsigned char codes[BLOCK], packed[BLOCK / 2];
    int32_t max = 0;
    float inverse;

    for (size_t i = 0; i < BLOCK; i++) {
        int32_t size = (int32_t)(bits_of(values[i]) & 0x7fffffff);

        max = size > max ? size : max;
    }
    inverse = put_scale(float_of((uint32_t)max), bytes);
    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t bits = bits_of(values[i]);
        int32_t size = (int32_t)bits_of(float_of(bits & 0x7fffffff) * inverse);
        int32_t code = (size >> 23) - 120, floor = size >= least;

        code = code > floor ? code : floor;
        codes[i] = (unsigned char)((uint32_t)code | (bits >> 28 & 8));
    }
    for (size_t i = 0; i < BLOCK / 2; i++)
        packed[i] = (unsigned char)(codes[i] | codes[BLOCK / 2 + i] << 4);
    memcpy(bytes + HEAD, packed, sizeof packed);
}

CPU_INLINE void e3m0_decode_wide(const unsigned char *bytes, float *values)
{
    unsigned char packed[BLOCK / 2], codes[BLOCK];
    float scale = float_at(bytes);

    memcpy(packed, bytes + HEAD, sizeof packed);
    for (size_t i = 0; i < BLOCK / 2; i++) {
        codes[i] = packed[i] & 15;
        codes[BLOCK / 2 + i] = packed[i] >> 4;
    }
    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t code = codes[i] & 7;
        uint32_t size = code ? (code + 120) << 23 : 0;

        values[i] = float_of(size | (uint32_t)(codes[i] & 8) << 28) * scale;
    }
}

BLOCK_KERNELS(e3m0)

static const struct block_codec e3m0 = {HEAD, 4, e3m0_encode, e3m0_decode,
                                        e3m0_kernels};

BLOCK_CODEC(e3m0)
