/* Two bytes an element: IEEE 754 binary16 (f16), and the upper half of a
 * float32 (bf16). Both round to the nearest, ties to the even one; what is
 * finite stays finite: beyond the largest number of the format it becomes
 * that (65504, 3.39e38). */
#include <math.h>

#include "codec/block.h"
#include "codec/codec.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { F16_LARGEST = 0x7bff, F16_INFINITY = 0x7c00, BF16_LARGEST = 0x7f7f };

static uint16_t code_at(const unsigned char *bytes, size_t place)
{
    uint16_t code;

    memcpy(&code, bytes + place * sizeof code, sizeof code);
    return code;
}

/* ---- f16, plain ---- */

/* Of a number m * 2^(e - 10) with a significand m < 2^11 and e >= -14 the code
 * is (e + 14) * 2^10 + m; when m is rounded up to 2^11, the carry is right. */
static uint16_t f16_of(float value)
{
    double size = fabs((double)value), significand;
    int exponent;
    unsigned code = F16_LARGEST;

    if (size < 65504) {
        (void)frexp(size, &exponent);
        exponent = size < 0x1p-14 ? -14 : exponent - 1;
        significand = rint(ldexp(size, 10 - exponent));
        code = (unsigned)(exponent + 14) * 1024 + (unsigned)significand;
    }
    return (uint16_t)(code | (signbit(value) ? 0x8000U : 0));
}

static float f16_value(uint16_t code)
{
    int exponent = code >> 10 & 31, significand = code & 1023;
    double size;

    if (exponent == 31)
        size = significand ? (double)NAN : (double)INFINITY;
    else if (exponent)
        size = ldexp(1024 + significand, exponent - 25);
    else
        size = ldexp(significand, -24);
    return (float)(code & 0x8000 ? -size : size);
}

static void f16_encode(const float *values, size_t length, unsigned char *bytes)
{
    for (size_t i = 0; i < length; i++) {
        uint16_t code = f16_of(values[i]);

        memcpy(bytes + i * sizeof code, &code, sizeof code);
    }
}

static void f16_decode(const unsigned char *bytes, size_t length, float *values)
{
    for (size_t i = 0; i < length; i++)
        values[i] = f16_value(code_at(bytes, i));
}

/* ---- f16, wide: integer arithmetic, or the instructions for it ---- */

/* What is below 2^-14 is rounded by adding 0.5, whose last bit is 2^-24. */
CPU_INLINE void f16_encode_wide(const float *values, unsigned char *bytes)
{
    uint16_t codes[BLOCK];

    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t bits = bits_of(values[i]), size = bits & 0x7fffffff;
        uint32_t odd = size >> 13 & 1;
        uint32_t normal = (size - 0x38000000 + 0xfff + odd) >> 13;
        uint32_t tiny = bits_of(float_of(size) + 0.5F) - 0x3f000000;
        uint32_t code = size < 0x38800000 ? tiny : normal;

        code = size > 0x477fe000 ? F16_LARGEST : code;
        codes[i] = (uint16_t)(code | (bits >> 16 & 0x8000));
    }
    memcpy(bytes, codes, sizeof codes);
}

CPU_INLINE void f16_decode_wide(const unsigned char *bytes, float *values)
{
    uint16_t codes[BLOCK];

    memcpy(codes, bytes, sizeof codes);
    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t code = codes[i], size = (code & 0x7fff) << 13;
        uint32_t bits = bits_of(float_of(size) * 0x1p112F);

        bits |= (code & 0x7fff) >= F16_INFINITY ? 0x7f800000 : 0;
        values[i] = float_of(bits | (code & 0x8000) << 16);
    }
}

BLOCK_LEVEL(f16, base, )

#ifdef __x86_64__
/* Wider vectors are no faster here: one function for both levels. */
TARGET_AVX2 static void f16_encode_avx2(const float *values,
                                        unsigned char *bytes)
{
    const __m256 most = _mm256_set1_ps(65504), least = _mm256_set1_ps(-65504);

    for (size_t i = 0; i < BLOCK; i += 8) {
        __m256 value = _mm256_loadu_ps(values + i);

        value = _mm256_max_ps(_mm256_min_ps(value, most), least);
        _mm_storeu_si128((__m128i *)(void *)(bytes + 2 * i),
                         _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    }
}

TARGET_AVX2 static void f16_decode_avx2(const unsigned char *bytes,
                                        float *values)
{
    for (size_t i = 0; i < BLOCK; i += 8) {
        const void *codes = bytes + 2 * i;

        _mm256_storeu_ps(values + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                         (const __m128i *)codes)));
    }
}
#endif

static const struct block_kernels f16_kernels[CPU_COUNT] = {
    [CPU_BASE] = {f16_encode_base, f16_decode_base},
#ifdef __x86_64__
    [CPU_AVX2] = {f16_encode_avx2, f16_decode_avx2},
    [CPU_AVX512] = {f16_encode_avx2, f16_decode_avx2},
#endif
};

static const struct block_codec f16 = {0, 16, f16_encode, f16_decode,
                                       f16_kernels};

BLOCK_CODEC(f16)

/* ---- bf16 ---- */

static void bf16_encode(const float *values, size_t length,
                        unsigned char *bytes)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t bits = bits_of(values[i]), size = bits & 0x7fffffff;
        uint32_t code = size >> 16, rest = size & 0xffff;
        uint16_t both;

        if (rest > 0x8000 || (rest == 0x8000 && code % 2 == 1))
            code++;
        if (code > BF16_LARGEST)
            code = BF16_LARGEST;
        both = (uint16_t)(code | (bits >> 16 & 0x8000));
        memcpy(bytes + i * sizeof both, &both, sizeof both);
    }
}

static void bf16_decode(const unsigned char *bytes, size_t length,
                        float *values)
{
    for (size_t i = 0; i < length; i++)
        values[i] = float_of((uint32_t)code_at(bytes, i) << 16);
}

CPU_INLINE void bf16_encode_wide(const float *values, unsigned char *bytes)
{
    uint16_t codes[BLOCK];

    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t bits = bits_of(values[i]), size = bits & 0x7fffffff;
        uint32_t code = (size + 0x7fff + (size >> 16 & 1)) >> 16;

        code = code > BF16_LARGEST ? BF16_LARGEST : code;
        codes[i] = (uint16_t)(code | (bits >> 16 & 0x8000));
    }
    memcpy(bytes, codes, sizeof codes);
}

CPU_INLINE void bf16_decode_wide(const unsigned char *bytes, float *values)
{
    uint16_t codes[BLOCK];

    memcpy(codes, bytes, sizeof codes);
    for (size_t i = 0; i < BLOCK; i++)
        values[i] = float_of((uint32_t)codes[i] << 16);
}

BLOCK_KERNELS(bf16)

static const struct block_codec bf16 = {0, 16, bf16_encode, bf16_decode,
                                        bf16_kernels};

BLOCK_CODEC(bf16)
