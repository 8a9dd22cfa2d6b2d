#include "codec/block.h"

/* ---- into += weight * values ---- */

static void accumulate_plain(const void *floats, size_t count, double weight,
                             double *into)
{
    const unsigned char *bytes = floats;

    for (size_t i = 0; i < count; i++)
        into[i] += weight * (double)float_at(bytes + i * sizeof(float));
}

CODEC_INLINE void accumulate_wide(const void *floats, size_t blocks,
                                  double weight, double *restrict into)
{
    const unsigned char *restrict bytes = floats;

    for (; blocks; blocks--) {
        for (size_t i = 0; i < BLOCK; i++)
            into[i] += weight * (double)float_at(bytes + i * sizeof(float));
        into += BLOCK;
        bytes += BLOCK * sizeof(float);
    }
}

#define ACCUMULATE(level, target)                                              \
    target static void accumulate_##level(const void *floats, size_t blocks,   \
                                          double weight, double *into)         \
    {                                                                          \
        accumulate_wide(floats, blocks, weight, into);                         \
    }

ACCUMULATE(base, )
#ifdef __x86_64__
ACCUMULATE(avx2, CODEC_AVX2)
ACCUMULATE(avx512, CODEC_AVX512)
#endif

static void (*const accumulate[CODEC_CPU_COUNT])(const void *floats,
                                                 size_t blocks, double weight,
                                                 double *into) = {
    [CODEC_CPU_BASE] = accumulate_base,
#ifdef __x86_64__
    [CODEC_CPU_AVX2] = accumulate_avx2,
    [CODEC_CPU_AVX512] = accumulate_avx512,
#endif
};

void block_accumulate(const void *floats, size_t count, double weight,
                      double *into)
{
    enum codec_cpu level = codec_cpu();
    size_t full = level == CODEC_CPU_PLAIN ? 0 : count / BLOCK;
    size_t done = full * BLOCK;

    if (full)
        accumulate[level](floats, full, weight, into);
    accumulate_plain((const unsigned char *)floats + done * sizeof(float),
                     count - done, weight, into + done);
}

/* ---- blocks ---- */

static size_t block_bytes(const struct block_codec *codec, size_t length)
{
    return codec->head + (length * codec->bits + 7) / 8;
}

size_t block_bound(const struct block_codec *codec, size_t elements)
{
    size_t rest = elements % BLOCK;

    return elements / BLOCK * block_bytes(codec, BLOCK) +
           (rest ? block_bytes(codec, rest) : 0);
}

void block_encode(const struct block_codec *codec, const float *values,
                  size_t first, size_t count, unsigned char *bytes)
{
    enum codec_cpu level = codec_cpu();
    size_t size = block_bytes(codec, BLOCK);

    bytes += first / BLOCK * size;
    for (; count >= BLOCK; count -= BLOCK) {
        if (level == CODEC_CPU_PLAIN)
            codec->encode(values, BLOCK, bytes);
        else
            codec->kernels[level].encode(values, bytes);
        values += BLOCK;
        bytes += size;
    }
    if (count)
        codec->encode(values, count, bytes);
}

void block_add(const struct block_codec *codec, const unsigned char *bytes,
               struct span span, double weight, double *into)
{
    enum codec_cpu level = codec_cpu();
    size_t size = block_bytes(codec, BLOCK), count = span.count;
    size_t block = span.first / BLOCK, from = span.first % BLOCK;

    for (; count; block++, from = 0) {
        size_t left = span.elements - block * BLOCK;
        size_t length = left < BLOCK ? left : BLOCK;
        size_t some = length - from < count ? length - from : count;
        float values[BLOCK];

        if (level == CODEC_CPU_PLAIN || length < BLOCK)
            codec->decode(bytes + block * size, length, values);
        else
            codec->kernels[level].decode(bytes + block * size, values);
        block_accumulate(values + from, some, weight, into);
        into += some;
        count -= some;
    }
}
