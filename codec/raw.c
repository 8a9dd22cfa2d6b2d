/* The codec that changes nothing: float32 as it lies in memory (little
 * endian, which every machine we run on is). */
#include <string.h>

#include "codec/codec.h"
#include "core/floats.h"

size_t codec_raw_bound(size_t elements)
{
    return elements * sizeof(float);
}

void codec_raw_encode(const float *values, size_t first, size_t count,
                      size_t elements, unsigned char *bytes)
{
    (void)elements;
    memcpy(bytes + first * sizeof(float), values, count * sizeof(float));
}

void codec_raw_add(const unsigned char *bytes, size_t first, size_t count,
                   size_t elements, double weight, double *into)
{
    (void)elements;
    floats_add(bytes + first * sizeof(float), count, weight, into);
}
