/* top1 and top10: of each CODEC_GRAIN elements the 1 % (10 %) of the largest
 * magnitude, rounded up; of equal ones the first. A block is their places in
 * it as 16-bit numbers, ascending, then their values as float32.
 *
 * The magnitude that the last one has is found bit by bit, from the highest:
 * each bit asks how many elements are at least as large, and counting is what
 * vectors are good at. When exactly as many as are wanted are, it is over;
 * of normal values that is after about half the bits. */
#include <math.h>
#include <string.h>

#include "codec/block.h"
#include "codec/codec.h"

enum { ENTRY = sizeof(uint16_t) + sizeof(float) };

/* The last block of a vector may be shorter. */
static size_t kept(size_t length, unsigned share)
{
    return (length + share - 1) / share;
}

static size_t bound(size_t elements, unsigned share)
{
    return (elements / CODEC_GRAIN * kept(CODEC_GRAIN, share) +
            kept(elements % CODEC_GRAIN, share)) *
           ENTRY;
}

/* ---- plain ---- */

static void choose_plain(const float *values, size_t length, size_t wanted,
                         uint16_t *places)
{
    bool chosen[CODEC_GRAIN] = {false};
    size_t count = 0;

    for (size_t i = 0; i < wanted; i++) {
        size_t best = length;

        for (size_t j = 0; j < length; j++)
            if (!chosen[j] && (best == length ||
                               fabsf(values[j]) > fabsf(values[best])))
                best = j;
        chosen[best] = true;
    }
    for (size_t i = 0; i < length; i++)
        if (chosen[i])
            places[count++] = (uint16_t)i;
}

/* ---- wide ---- */

/* How many are at least `edge`. */
CODEC_INLINE unsigned count_wide(const int32_t *sizes, int32_t edge)
{
    unsigned count = 0;

    for (size_t i = 0; i < CODEC_GRAIN; i++)
        count += sizes[i] >= edge;
    return count;
}

#define COUNT(level, target)                                                   \
    target static unsigned count_##level(const int32_t *sizes, int32_t edge)   \
    {                                                                          \
        return count_wide(sizes, edge);                                        \
    }

COUNT(base, )
#ifdef __x86_64__
COUNT(avx2, CODEC_AVX2)
COUNT(avx512, CODEC_AVX512)
#endif

static unsigned (*const count_by_level[CODEC_CPU_COUNT])(const int32_t *sizes,
                                                         int32_t edge) = {
    [CODEC_CPU_BASE] = count_base,
#ifdef __x86_64__
    [CODEC_CPU_AVX2] = count_avx2,
    [CODEC_CPU_AVX512] = count_avx512,
#endif
};

/* The places of the `wanted` largest. Those beyond `edge` are fewer, or with
 * `spare` of those that equal it exactly as many. */
static void choose(const float *values, size_t length, size_t wanted,
                   uint16_t *places)
{
    enum codec_cpu level = codec_cpu();
    uint16_t room[CODEC_GRAIN + 1];
    int32_t sizes[CODEC_GRAIN], edge = 0;
    unsigned reached = CODEC_GRAIN;
    size_t spare = wanted, count = 0;

    if (level == CODEC_CPU_PLAIN) {
        choose_plain(values, length, wanted, places);
        return;
    }
    for (size_t i = 0; i < length; i++)
        sizes[i] = (int32_t)(bits_of(values[i]) & 0x7fffffff);
    for (size_t i = length; i < CODEC_GRAIN; i++)
        sizes[i] = 0;
    for (int32_t bit = 1 << 30; bit && reached != wanted; bit >>= 1) {
        unsigned more = count_by_level[level](sizes, edge | bit);

        if (more >= wanted) {
            edge |= bit;
            reached = more;
        }
    }
    if (reached != wanted)
        spare = wanted - count_by_level[level](sizes, edge + 1);
    for (size_t i = 0; i < length; i++) {
        bool equal = sizes[i] == edge, take = sizes[i] > edge;

        room[count] = (uint16_t)i;
        count += take | (equal & (spare > 0));
        spare -= equal & (spare > 0);
    }
    memcpy(places, room, wanted * sizeof *places);
}

/* ---- blocks ---- */

static void encode(const float *values, size_t first, size_t count,
                   unsigned share, unsigned char *bytes)
{
    size_t size = kept(CODEC_GRAIN, share) * ENTRY;
    uint16_t places[CODEC_GRAIN];

    bytes += first / CODEC_GRAIN * size;
    while (count) {
        size_t length = count < CODEC_GRAIN ? count : CODEC_GRAIN;
        size_t wanted = kept(length, share);
        unsigned char *value = bytes + wanted * sizeof *places;

        choose(values, length, wanted, places);
        memcpy(bytes, places, wanted * sizeof *places);
        for (size_t i = 0; i < wanted; i++)
            memcpy(value + i * sizeof(float), &values[places[i]],
                   sizeof(float));
        values += length;
        count -= length;
        bytes += size;
    }
}

static size_t place_at(const unsigned char *bytes, size_t i)
{
    uint16_t place;

    memcpy(&place, bytes + i * sizeof place, sizeof place);
    return place;
}

/* The first of `count` places that is at least `from`. */
static size_t find(const unsigned char *bytes, size_t count, size_t from)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (place_at(bytes, middle) < from)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Adds what is in [from, to) of a block. */
static void add_block(const unsigned char *bytes, size_t count, size_t from,
                      size_t to, double weight, double *into)
{
    const unsigned char *values = bytes + count * sizeof(uint16_t);

    for (size_t i = find(bytes, count, from); i < count; i++) {
        size_t place = place_at(bytes, i);

        if (place < from || place >= to)
            break;
        into[place - from] +=
            weight * (double)float_at(values + i * sizeof(float));
    }
}

static void add(const unsigned char *bytes, size_t first, size_t count,
                size_t elements, unsigned share, double weight, double *into)
{
    size_t size = kept(CODEC_GRAIN, share) * ENTRY;
    size_t block = first / CODEC_GRAIN, from = first % CODEC_GRAIN;

    for (; count; block++, from = 0) {
        size_t left = elements - block * CODEC_GRAIN;
        size_t length = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        size_t some = length - from < count ? length - from : count;

        add_block(bytes + block * size, kept(length, share), from, from + some,
                  weight, into);
        into += some;
        count -= some;
    }
}

static bool valid(const unsigned char *bytes, size_t elements, unsigned share)
{
    for (size_t first = 0; first < elements; first += CODEC_GRAIN) {
        size_t left = elements - first;
        size_t length = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        size_t count = kept(length, share), next = 0;

        for (size_t i = 0; i < count; i++) {
            size_t place = place_at(bytes, i);

            if (place < next || place >= length)
                return false;
            next = place + 1;
        }
        bytes += count * ENTRY;
    }
    return true;
}

#define TOP_CODEC(name, share)                                                 \
    size_t codec_##name##_bound(size_t elements)                               \
    {                                                                          \
        return bound(elements, share);                                         \
    }                                                                          \
    void codec_##name##_encode(const float *values, size_t first,              \
                               size_t count, size_t elements,                  \
                               unsigned char *bytes)                           \
    {                                                                          \
        (void)elements;                                                        \
        encode(values, first, count, share, bytes);                            \
    }                                                                          \
    void codec_##name##_add(const unsigned char *bytes, size_t first,          \
                            size_t count, size_t elements, double weight,      \
                            double *into)                                      \
    {                                                                          \
        add(bytes, first, count, elements, share, weight, into);               \
    }                                                                          \
    bool codec_##name##_valid(const unsigned char *bytes, size_t elements)     \
    {                                                                          \
        return valid(bytes, elements, share);                                  \
    }

TOP_CODEC(top1, 100)
TOP_CODEC(top10, 10)
