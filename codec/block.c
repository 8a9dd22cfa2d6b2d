#include "codec/block.h"

#include <math.h>

#include "core/floats.h"

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
    enum cpu_level level = cpu_level();
    size_t size = block_bytes(codec, BLOCK);

    bytes += first / BLOCK * size;
    for (; count >= BLOCK; count -= BLOCK) {
        if (level == CPU_PLAIN)
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
    enum cpu_level level = cpu_level();
    size_t size = block_bytes(codec, BLOCK), count = span.count;
    size_t block = span.first / BLOCK, from = span.first % BLOCK;

    for (; count; block++, from = 0) {
        size_t left = span.elements - block * BLOCK;
        size_t length = left < BLOCK ? left : BLOCK;
        size_t some = length - from < count ? length - from : count;
        float values[BLOCK];

        if (level == CPU_PLAIN || length < BLOCK)
            codec->decode(bytes + block * size, length, values);
        else
            codec->kernels[level].decode(bytes + block * size, values);
        floats_add(values + from, some, weight, into);
        into += some;
        count -= some;
    }
}

float block_largest(const float *values, size_t length)
{
    float max = 0;

    for (size_t i = 0; i < length; i++)
        max = fmaxf(max, fabsf(values[i]));
    return max;
}
