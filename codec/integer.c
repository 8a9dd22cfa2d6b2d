/* int8 and int4: codes from -127 (-7) to 127 (7), scaled by the largest value
 * of the block (absmax quantisation). value = code * step in float32, the step
 * before the codes; the code is value / step to the nearest, ties to the even
 * one, so that the error is at most half a step, max/254 (max/14). A block
 * without a value of at least 2^-100 is all 0. */
#include <math.h>

#include "codec/block.h"
#include "codec/codec.h"

enum { INT8_MOST = 127, INT4_MOST = 7, HEAD = sizeof(float) };
#define LEAST_MAX 0x1p-100F
/* Added to a small number it leaves its nearest integer in the last bits. */
#define ROUNDING 0x1.8p23F

/* Writes the step, returns its inverse. */
CPU_INLINE float put_step(float max, float most, unsigned char *bytes)
{
    float step = max < LEAST_MAX ? 0 : max / most;

    memcpy(bytes, &step, sizeof step);
    return max < LEAST_MAX ? 0 : most / max;
}

/* ---- plain ---- */

static float plain_step(const float *values, size_t length, float most,
                        unsigned char *bytes)
{
    float max = 0;

    for (size_t i = 0; i < length; i++)
        max = fmaxf(max, fabsf(values[i]));
    return put_step(max, most, bytes);
}

static void int8_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    float inverse = plain_step(values, length, INT8_MOST, bytes);

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
    float inverse = plain_step(values, length, INT4_MOST, bytes);
    size_t plane = (length + 1) / 2;

    memset(bytes + HEAD, 0, plane);
    for (size_t i = 0; i < length; i++) {
        unsigned code = (unsigned)(int)rintf(values[i] * inverse) & 15;
        unsigned char *byte = &bytes[HEAD + i % plane];

        *byte = (unsigned char)(*byte | code << (i < plane ? 0 : 4));
    }
}

static void int4_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    size_t plane = (length + 1) / 2;

    for (size_t i = 0; i < length; i++) {
        int code = bytes[HEAD + i % plane] >> (i < plane ? 0 : 4) & 15;

        values[i] = (float)(code < 8 ? code : code - 16) * float_at(bytes);
    }
}

/* ---- wide ---- */

/* The bits of floats that are not negative have the order of the floats. */
CPU_INLINE void codes_wide(const float *values, float most,
                           unsigned char *bytes, unsigned char *codes)
{
    int32_t max = 0;
    float inverse;

    for (size_t i = 0; i < BLOCK; i++) {
        int32_t size = (int32_t)(bits_of(values[i]) & 0x7fffffff);

        max = size > max ? size : max;
    }
    inverse = put_step(float_of((uint32_t)max), most, bytes);
    for (size_t i = 0; i < BLOCK; i++)
        codes[i] = (unsigned char)bits_of(values[i] * inverse + ROUNDING);
}

CPU_INLINE void values_wide(const signed char *codes, float step,
                            float *values)
{
    for (size_t i = 0; i < BLOCK; i++)
        values[i] = (float)codes[i] * step;
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

    memcpy(codes, bytes + HEAD, sizeof codes);
    values_wide(codes, float_at(bytes), values);
}

CPU_INLINE void int4_encode_wide(const float *values, unsigned char *bytes)
{
    unsigned char codes[BLOCK], packed[BLOCK / 2];

    codes_wide(values, INT4_MOST, bytes, codes);
    for (size_t i = 0; i < BLOCK / 2; i++)
        packed[i] =
            (unsigned char)((codes[i] & 15) | codes[BLOCK / 2 + i] << 4);
    memcpy(bytes + HEAD, packed, sizeof packed);
}

CPU_INLINE void int4_decode_wide(const unsigned char *bytes, float *values)
{
    unsigned char packed[BLOCK / 2];
    signed char codes[BLOCK];

    memcpy(packed, bytes + HEAD, sizeof packed);
    for (size_t i = 0; i < BLOCK / 2; i++) {
        codes[i] = (signed char)(((packed[i] & 15) ^ 8) - 8);
        codes[BLOCK / 2 + i] = (signed char)((packed[i] >> 4 ^ 8) - 8);
    }
    values_wide(codes, float_at(bytes), values);
}

BLOCK_KERNELS(int8)
BLOCK_KERNELS(int4)

static const struct block_codec int8 = {HEAD, 8, int8_encode, int8_decode,
                                        int8_kernels};
static const struct block_codec int4 = {HEAD, 4, int4_encode, int4_decode,
                                        int4_kernels};

BLOCK_CODEC(int8)
BLOCK_CODEC(int4)
