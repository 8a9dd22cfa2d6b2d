/* Whatever instructions are used, the bytes and the sums are those of the
 * plain level. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "core/cpu.h"
#include "core/prng.h"
#include "tests/check.h"

enum { MOST = 3 * CODEC_GRAIN, MOST_BYTES = 8 * MOST + 64 };

/* ---- what is encoded ---- */

static float normal_value(struct prng *prng, size_t i)
{
    (void)i;
    return (float)prng_normal(prng);
}

/* Every finite float is as likely as any other. */
static float any_value(struct prng *prng, size_t i)
{
    uint32_t bits = (uint32_t)prng_next(prng);
    float value;

    (void)i;
    if ((bits >> 23 & 255) == 255)
        bits ^= 1U << 30;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float denormal_value(struct prng *prng, size_t i)
{
    uint32_t bits = (uint32_t)prng_next(prng) & 0x807fffff;
    float value;

    (void)i;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float huge_value(struct prng *prng, size_t i)
{
    return i % 3 ? FLT_MAX : -(float)prng_unit(prng) * FLT_MAX;
}

/* About what f16 can say: its denormals, its ties, its end. */
static float half_value(struct prng *prng, size_t i)
{
    double size = ldexp((double)prng_below(prng, 1 << 14),
                        (int)prng_below(prng, 20) - 28);

    return (float)(i % 2 ? size * 4 : -size);
}

/* Multiples of half a step of int8, int4 and e3m0: ties. */
static float tie_value(struct prng *prng, size_t i)
{
    static const float most[] = {127, 7, 1};
    double half = (double)prng_below(prng, 509) / 2 - 127;

    if (i % 256 == 0)
        return most[i / 256 % 3];
    return (float)(i / 256 % 3 == 0   ? half
                   : i / 256 % 3 == 1 ? rint(half / 9) / 2
                                      : ldexp(3, (int)rint(half / 12) - 2));
}

static float zero_value(struct prng *prng, size_t i)
{
    (void)prng;
    return i % 5 ? 0.0F : -0.0F;
}

/* Mostly nothing, and equal magnitudes. */
static float few_value(struct prng *prng, size_t i)
{
    (void)i;
    return (float)((double)prng_below(prng, 5) - 2) *
           (float)(prng_below(prng, 8) == 0);
}

static float (*const kinds[])(struct prng *prng, size_t i) = {
    normal_value, any_value, denormal_value, huge_value,
    half_value,   tie_value, zero_value,     few_value};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void fill(unsigned kind, float *values)
{
    struct prng prng;

    prng_seed(&prng, kind);
    for (size_t i = 0; i < MOST; i++)
        values[i] = kinds[kind](&prng, i);
}

/* ---- comparing ---- */

static void encode(const struct codec *codec, const float *values,
                   size_t elements, unsigned char *bytes)
{
    for (size_t first = 0; first < elements; first += CODEC_GRAIN) {
        size_t left = elements - first;

        codec->encode(values + first, first,
                      left < CODEC_GRAIN ? left : CODEC_GRAIN, elements, bytes);
    }
}

static bool same(const struct codec *codec, const float *values,
                 size_t elements, enum cpu_level level)
{
    static unsigned char plain[MOST_BYTES], fast[MOST_BYTES];
    static double expected[MOST], sums[MOST];
    size_t size = codec->bound(elements);
    size_t first = elements / 3, count = elements / 2;

    for (size_t i = 0; i < elements; i++)
        expected[i] = sums[i] = (double)i - 100;
    (void)cpu_limit(CPU_PLAIN);
    encode(codec, values, elements, plain);
    codec->add(plain, 0, elements, elements, 0.3, expected);
    codec->add(plain, first, count, elements, -0.7, expected + first);
    (void)cpu_limit(level);
    encode(codec, values, elements, fast);
    codec->add(fast, 0, elements, elements, 0.3, sums);
    codec->add(fast, first, count, elements, -0.7, sums + first);
    (void)cpu_limit(CPU_AVX512);
    return CHECK(memcmp(plain, fast, size) == 0) &&
           CHECK(memcmp(expected, sums, elements * sizeof *sums) == 0) &&
           CHECK(codec_fits((enum codec_id)(codec - codecs), fast, size,
                            elements));
}

static void t20_every_level_gives_the_bytes_and_sums_of_the_plain_one(void)
{
    static const size_t lengths[] = {1,   2,   3,   7,    8,    9,   15,
                                     17,  31,  100, 101,  128,  255, 256,
                                     257, 511, 513, 1000, 4095, MOST};
    static float values[MOST];
    enum cpu_level best = cpu_limit(CPU_AVX512);

    for (unsigned kind = 0; kind < KINDS; kind++) {
        fill(kind, values);
        for (int i = 0; i < CODEC_COUNT; i++)
            for (unsigned at = 0; at < sizeof lengths / sizeof *lengths; at++)
                for (unsigned level = CPU_BASE; level <= best; level++)
                    if (!same(&codecs[i], values, lengths[at],
                              (enum cpu_level)level)) {
                        CHECK_TEXT("", codecs[i].name);
                        CHECK_EQUAL(-1, kind);
                        CHECK_EQUAL(0, lengths[at]);
                        return;
                    }
    }
}

/* NaNs may differ in what they carry. */
static bool alike(const double *expected, const double *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(expected[i])
                ? !isnan(sums[i])
                : !same_bytes(&expected[i], &sums[i], sizeof sums[i]))
            return false;
    return true;
}

/* Bytes that no encoder wrote. */
static void every_level_decodes_any_bytes_alike(void)
{
    static unsigned char bytes[MOST_BYTES];
    static double expected[MOST], sums[MOST];
    enum cpu_level best = cpu_limit(CPU_AVX512);
    struct prng prng;

    prng_seed(&prng, 7);
    for (size_t i = 0; i < MOST_BYTES; i++)
        bytes[i] = (unsigned char)prng_below(&prng, 256);
    for (int i = 0; i < CODEC_COUNT; i++) {
        memset(expected, 0, sizeof expected);
        (void)cpu_limit(CPU_PLAIN);
        codecs[i].add(bytes, 0, MOST, MOST, 1, expected);
        for (unsigned level = CPU_BASE; level <= best; level++) {
            memset(sums, 0, sizeof sums);
            (void)cpu_limit((enum cpu_level)level);
            codecs[i].add(bytes, 0, MOST, MOST, 1, sums);
            if (!CHECK(alike(expected, sums, MOST)))
                CHECK_TEXT("", codecs[i].name);
        }
    }
    (void)cpu_limit(CPU_AVX512);
}

void add_codec_levels_tests(CU_pSuite suite)
{
    TEST(t20_every_level_gives_the_bytes_and_sums_of_the_plain_one);
    TEST(every_level_decodes_any_bytes_alike);
}
