/* Codecs by block: each BLOCK elements are encoded by themselves, a scale (if
 * there is one) before their codes, so that the place of a block in a payload
 * does not depend on the length of the vector. The last block may be shorter.
 *
 * Codes of less than a byte lie in planes: with m bytes of codes in a block,
 * the lowest bits of byte i belong to element i, the next ones to element
 * m + i, and so on; so packing is shifts of whole vectors.
 *
 * A codec gives an encoder and a decoder of one block, each as a reference
 * that is plain and takes any length, and as wide loops that take full blocks
 * only. What is decoded is floats, whatever the codec. */
#ifndef CODEC_BLOCK_H
#define CODEC_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/cpu.h"

enum { BLOCK = 256 };

struct block_kernels {
    void (*encode)(const float *values, unsigned char *bytes);
    void (*decode)(const unsigned char *bytes, float *values);
};

struct block_codec {
    size_t head;   /* bytes before the codes */
    unsigned bits; /* of a code */
    void (*encode)(const float *values, size_t length, unsigned char *bytes);
    void (*decode)(const unsigned char *bytes, size_t length, float *values);
    const struct block_kernels *kernels; /* by level; none of the plain one */
};

/* Elements [first, first+count) of a vector of `elements`. */
struct span {
    size_t first, count, elements;
};

/* See codec.h. */
size_t block_bound(const struct block_codec *codec, size_t elements);
void block_encode(const struct block_codec *codec, const float *values,
                  size_t first, size_t count, unsigned char *bytes);
void block_add(const struct block_codec *codec, const unsigned char *bytes,
               struct span span, double weight, double *into);

/* The functions of codec.h for a `struct block_codec name`. */
#define BLOCK_CODEC(name)                                                      \
    size_t codec_##name##_bound(size_t elements)                               \
    {                                                                          \
        return block_bound(&name, elements);                                   \
    }                                                                          \
    void codec_##name##_encode(const float *values, size_t first,              \
                               size_t count, size_t elements,                  \
                               unsigned char *bytes)                           \
    {                                                                          \
        (void)elements;                                                        \
        block_encode(&name, values, first, count, bytes);                      \
    }                                                                          \
    void codec_##name##_add(const unsigned char *bytes, size_t first,          \
                            size_t count, size_t elements, double weight,      \
                            double *into)                                      \
    {                                                                          \
        block_add(&name, bytes, (struct span){first, count, elements}, weight, \
                  into);                                                       \
    }

/* name_kernels, by level, of name_encode_wide and name_decode_wide. */
#define BLOCK_LEVEL(name, level, target)                                       \
    target static void name##_encode_##level(const float *values,              \
                                             unsigned char *bytes)             \
    {                                                                          \
        name##_encode_wide(values, bytes);                                     \
    }                                                                          \
    target static void name##_decode_##level(const unsigned char *bytes,       \
                                             float *values)                    \
    {                                                                          \
        name##_decode_wide(bytes, values);                                     \
    }
#ifdef __x86_64__
#define BLOCK_KERNELS(name)                                                    \
    BLOCK_LEVEL(name, base, )                                                  \
    BLOCK_LEVEL(name, avx2, TARGET_AVX2)                                       \
    BLOCK_LEVEL(name, avx512, TARGET_AVX512)                                   \
    static const struct block_kernels name##_kernels[CPU_COUNT] = {            \
        [CPU_BASE] = {name##_encode_base, name##_decode_base},                 \
        [CPU_AVX2] = {name##_encode_avx2, name##_decode_avx2},                 \
        [CPU_AVX512] = {name##_encode_avx512, name##_decode_avx512}};
#else
#define BLOCK_KERNELS(name)                                                    \
    BLOCK_LEVEL(name, base, )                                                  \
    static const struct block_kernels name##_kernels[CPU_COUNT] = {            \
        [CPU_BASE] = {name##_encode_base, name##_decode_base}};
#endif

/* ---- what wide loops are made of ---- */

CPU_INLINE uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

CPU_INLINE float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Floats at any address. */
CPU_INLINE float float_at(const unsigned char *bytes)
{
    float value;

    memcpy(&value, bytes, sizeof value);
    return value;
}

/* ---- codes of the share that a value has of its block's largest ---- */

/* A block without a value of at least that is all 0. */
#define BLOCK_LEAST 0x1p-100F

/* The largest magnitude. */
float block_largest(const float *values, size_t length);

/* The same of a full block: the bits of floats that are not negative have the
 * order of the floats. */
CPU_INLINE float block_largest_wide(const float *values)
{
    int32_t max = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        int32_t size = (int32_t)(bits_of(values[i]) & 0x7fffffff);

        max = size > max ? size : max;
    }
    return float_of((uint32_t)max);
}

/* Writes the scale, by which `most` is `max`; returns what turns `max` into
 * `to`. Both are 0 if max is too small. */
CPU_INLINE float block_put_scale(float max, float most, float to,
                                 unsigned char *bytes)
{
    float scale = max < BLOCK_LEAST ? 0 : max / most;

    memcpy(bytes, &scale, sizeof scale);
    return max < BLOCK_LEAST ? 0 : to / max;
}

/* ---- codes of 4 bits ---- */

/* Code i of a block of `length`; it must be 0 when it is put. */
CPU_INLINE void nibble_put(unsigned char *codes, size_t length, size_t i,
                           unsigned code)
{
    size_t plane = (length + 1) / 2;
    unsigned char *byte = &codes[i % plane];

    *byte = (unsigned char)(*byte | code << (i < plane ? 0 : 4));
}

CPU_INLINE unsigned nibble_get(const unsigned char *codes, size_t length,
                               size_t i)
{
    size_t plane = (length + 1) / 2;

    return codes[i % plane] >> (i < plane ? 0 : 4) & 15U;
}

/* All of a full block, of which the lowest four bits are taken. */
CPU_INLINE void nibbles_pack(const unsigned char *codes, unsigned char *bytes)
{
    unsigned char packed[BLOCK / 2];

    for (size_t i = 0; i < BLOCK / 2; i++)
        packed[i] =
            (unsigned char)((codes[i] & 15) | codes[BLOCK / 2 + i] << 4);
    memcpy(bytes, packed, sizeof packed);
}

CPU_INLINE void nibbles_unpack(const unsigned char *bytes, unsigned char *codes)
{
    unsigned char packed[BLOCK / 2];

    memcpy(packed, bytes, sizeof packed);
    for (size_t i = 0; i < BLOCK / 2; i++) {
        codes[i] = packed[i] & 15;
        codes[BLOCK / 2 + i] = packed[i] >> 4;
    }
}

#endif
