/* The sign of each element, and the mean magnitude of each block: what is
 * nearest to the block of all vectors of equal magnitudes (Karimireddy et al.,
 * "Error feedback fixes SignSGD", 2019). 0 counts as +.
 *
 * Magnitudes are added in double precision, in LANES sums that are then folded
 * in halves, so that the order is the same however wide the vectors are. */
#include <math.h>

#include "codec/block.h"
#include "codec/codec.h"

enum { HEAD = sizeof(float), LANES = 16, PLANE = BLOCK / 8 };

CPU_INLINE void put_mean(double *lanes, size_t length, unsigned char *bytes)
{
    float mean;

    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] += lanes[half + i];
    mean = (float)(lanes[0] / (double)length);
    memcpy(bytes, &mean, sizeof mean);
}

/* ---- plain ---- */

static void sign_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    size_t plane = (length + 7) / 8;
    double lanes[LANES] = {0};

    for (size_t i = 0; i < length; i++)
        lanes[i % LANES] += fabs((double)values[i]);
    put_mean(lanes, length, bytes);
    memset(bytes + HEAD, 0, plane);
    for (size_t i = 0; i < length; i++)
        if (signbit(values[i])) {
            unsigned char *byte = &bytes[HEAD + i % plane];

            *byte = (unsigned char)(*byte | 1U << i / plane);
        }
}

static void sign_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    size_t plane = (length + 7) / 8;
    float mean = float_at(bytes);

    for (size_t i = 0; i < length; i++)
        values[i] = bytes[HEAD + i % plane] >> i / plane & 1 ? -mean : mean;
}

/* ---- wide ---- */

CPU_INLINE void sign_encode_wide(const float *values, unsigned char *bytes)
{
    unsigned char signs[PLANE] = {0};
    double lanes[LANES] = {0};

    for (size_t i = 0; i < BLOCK; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += (double)float_of(bits_of(values[i + j]) & 0x7fffffff);
    put_mean(lanes, BLOCK, bytes);
    for (size_t bit = 0; bit < 8; bit++)
        for (size_t i = 0; i < PLANE; i++) {
            uint32_t sign = bits_of(values[bit * PLANE + i]) >> 31;

            signs[i] = (unsigned char)(signs[i] | sign << bit);
        }
    memcpy(bytes + HEAD, signs, sizeof signs);
}

CPU_INLINE void sign_decode_wide(const unsigned char *bytes, float *values)
{
    uint32_t mean = bits_of(float_at(bytes));
    unsigned char signs[PLANE];

    memcpy(signs, bytes + HEAD, sizeof signs);
    for (size_t bit = 0; bit < 8; bit++)
        for (size_t i = 0; i < PLANE; i++) {
            uint32_t sign = signs[i] >> bit & 1;

            values[bit * PLANE + i] = float_of(mean ^ sign << 31);
        }
}

BLOCK_KERNELS(sign)

static const struct block_codec sign = {HEAD, 1, sign_encode, sign_decode,
                                        sign_kernels};

BLOCK_CODEC(sign)
