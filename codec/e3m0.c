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
    float inverse =
        block_put_scale(block_largest(values, length), 1, FOUR_THIRDS, bytes);

    memset(bytes + HEAD, 0, (length + 1) / 2);
    for (size_t i = 0; i < length; i++)
        nibble_put(bytes + HEAD, length, i, code_of(values[i], inverse));
}

static void e3m0_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    for (size_t i = 0; i < length; i++) {
        unsigned code = nibble_get(bytes + HEAD, length, i);
        float size = sizes[code & 7];

        values[i] = (code & 8 ? -size : size) * float_at(bytes);
    }
}

/* ---- wide ---- */

/* The exponent of the float `1` is 127, the code of it 7. */
CPU_INLINE void e3m0_encode_wide(const float *values, unsigned char *bytes)
{
    const int32_t least = (int32_t)bits_of(FOUR_THIRDS * 0x1p-7F);
    float inverse =
        block_put_scale(block_largest_wide(values), 1, FOUR_THIRDS, bytes);
    unsigned char codes[BLOCK];

    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t bits = bits_of(values[i]);
        int32_t size = (int32_t)bits_of(float_of(bits & 0x7fffffff) * inverse);
        int32_t code = (size >> 23) - 120, floor = size >= least;

        code = code > floor ? code : floor;
        codes[i] = (unsigned char)((uint32_t)code | (bits >> 28 & 8));
    }
    nibbles_pack(codes, bytes + HEAD);
}

CPU_INLINE void e3m0_decode_wide(const unsigned char *bytes, float *values)
{
    unsigned char codes[BLOCK];
    float scale = float_at(bytes);

    nibbles_unpack(bytes + HEAD, codes);
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
