/* int8 and int4: codes from -127 (-7) to 127 (7), scaled by the largest value
 * of the block (absmax quantisation). value = code * step in float32, the step
 * before the codes; the code is value / step to the nearest, ties to the even
 * one, so that the error is at most half a step, max/254 (max/14). A block
 * without a value of at least 2^-100 is all 0. */
#include <math.h>

#include "codec/block.h"
#include "codec/codec.h"

enum { INT8_MOST = 127, INT4_MOST = 7, HEAD = sizeof(float) };
/* Added to a small number it leaves its nearest integer in the last bits. */
#define ROUNDING 0x1.8p23F

/* ---- plain ---- */

/* Writes the step, returns its inverse. */
static float put_step(const float *values, size_t length, float most,
                      unsigned char *bytes)
{
    return block_put_scale(block_largest(values, length), most, most, bytes);
}

static void int8_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    float inverse = put_step(values, length, INT8_MOST, bytes);

    for (size_t i = 0; i < length; i++)
        bytes[HEAD + i] = (unsigned char)(int)rintf(values[i] * inverse);
}

static void int8_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    for (size_t i = 0; i < length; i++)
        values[i] = (float)(signed char)bytes[HEAD + i] * float_at(bytes);
}

static void int4_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    float inverse = put_step(values, length, INT4_MOST, bytes);

    memset(bytes + HEAD, 0, (length + 1) / 2);
    for (size_t i = 0; i < length; i++)
        nibble_put(bytes + HEAD, length, i,
                   (unsigned)(int)rintf(values[i] * inverse) & 15);
}

static void int4_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    for (size_t i = 0; i < length; i++) {
        int code = (int)nibble_get(bytes + HEAD, length, i);

        values[i] = (float)(code < 8 ? code : code - 16) * float_at(bytes);
    }
}

/* ---- wide ---- */

CPU_INLINE void codes_wide(const float *values, float most,
                           unsigned char *bytes, unsigned char *codes)
{
    float inverse =
        block_put_scale(block_largest_wide(values), most, most, bytes);

    for (size_t i = 0; i < BLOCK; i++)
        codes[i] = (unsigned char)bits_of(values[i] * inverse + ROUNDING);
}

CPU_INLINE void int8_encode_wide(const float *values, unsigned char *bytes)
{
    unsigned char codes[BLOCK];

    codes_wide(values, INT8_MOST, bytes, codes);
    memcpy(bytes + HEAD, codes, sizeof codes);
}

CPU_INLINE void int8_decode_wide(const unsigned char *bytes, float *values)
{
    signed char codes[BLOCK];
    float step = float_at(bytes);

    memcpy(codes, bytes + HEAD, sizeof codes);
    for (size_t i = 0; i < BLOCK; i++)
        values[i] = (float)codes[i] * step;
}

CPU_INLINE void int4_encode_wide(const float *values, unsigned char *bytes)
{
    unsigned char codes[BLOCK];

    codes_wide(values, INT4_MOST, bytes, codes);
    nibbles_pack(codes, bytes + HEAD);
}

CPU_INLINE void int4_decode_wide(const unsigned char *bytes, float *values)
{
    unsigned char codes[BLOCK];
    float step = float_at(bytes);

    nibbles_unpack(bytes + HEAD, codes);
    for (size_t i = 0; i < BLOCK; i++)
        values[i] = (float)(signed char)((codes[i] ^ 8) - 8) * step;
}

BLOCK_KERNELS(int8)
BLOCK_KERNELS(int4)

static const struct block_codec int8 = {HEAD, 8, int8_encode, int8_decode,
                                        int8_kernels};
static const struct block_codec int4 = {HEAD, 4, int4_encode, int4_decode,
                                        int4_kernels};

BLOCK_CODEC(int8)
BLOCK_CODEC(int4)
