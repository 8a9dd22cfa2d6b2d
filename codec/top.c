/* top1, top10 and sparse: of each CODEC_GRAIN elements the 1 % (10 %, 1/64) of
 * the largest magnitude, rounded up; of equal ones the first. A block is their
 * places in it as 16-bit numbers, ascending, then their values as float32.
 *
 * In sparse a place leaves four bits of its number: they are the value as int4
 * has it, a code from -7 to 7 of the largest, whose step is before the places.
 * ("SparseLoCo", Sarfi et al. 2025, which takes two bits; two more are free.)
 *
 * The magnitude that the last one has is found bit by bit, from the highest:
 * each bit asks how many elements are at least as large, and counting is what
 * vectors are good at. After the exponent and three bits more few
 * elements are left to count. When exactly as many are left as are wanted,
 * it is over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/block.h"
#include "codec/codec.h"

enum {
    MOST_KEPT = (CODEC_GRAIN + 9) / 10,
    MOST_CODE = 7,
    CODE_SHIFT = 12 /* places are below CODEC_GRAIN */
};

struct form {
    unsigned share; /* one in so many is kept */
    bool coded;     /* values are in the upper bits of the places */
};

static const struct form top1 = {100, false}, top10 = {10, false},
                         sparse = {64, true};

/* Bits of a magnitude below the coarse ones. */
#define FINE_BITS ((int32_t)1 << 20)

/* The last block of a vector may be shorter. */
static size_t kept(const struct form *form, size_t length)
{
    return (length + form->share - 1) / form->share;
}

/* Bytes of a block before its places. */
static size_t head(const struct form *form)
{
    return form->coded ? sizeof(float) : 0;
}

static size_t block_bytes(const struct form *form, size_t length)
{
    size_t entry = sizeof(uint16_t) + (form->coded ? 0 : sizeof(float));

    return length ? head(form) + kept(form, length) * entry : 0;
}

static size_t bound(const struct form *form, size_t elements)
{
    return elements / CODEC_GRAIN * block_bytes(form, CODEC_GRAIN) +
           block_bytes(form, elements % CODEC_GRAIN);
}

/* ---- plain ---- */

struct ranked {
    float size;
    uint16_t place;
};

/* The larger first, of equal ones the first. */
static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->size > b->size || a->size < b->size)
        return a->size > b->size ? -1 : 1;
    return a->place - b->place;
}

static void choose_plain(const float *values, size_t length, size_t wanted,
                         uint16_t *places)
{
    struct ranked ranked[CODEC_GRAIN] = {{0, 0}};
    bool chosen[CODEC_GRAIN] = {false};
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        ranked[i] = (struct ranked){fabsf(values[i]), (uint16_t)i};
    qsort(ranked, length, sizeof *ranked, compare);
    for (size_t i = 0; i < wanted; i++)
        chosen[ranked[i].place] = true;
    for (size_t i = 0; i < length; i++)
        if (chosen[i])
            places[count++] = (uint16_t)i;
}

/* ---- wide ---- */

/* How many of `count`, which is a multiple of BLOCK, are at least `edge`. */
CPU_INLINE unsigned count_wide(const int32_t *sizes, size_t count, int32_t edge)
{
    unsigned found = 0;

    for (; count; count -= BLOCK, sizes += BLOCK)
        for (size_t i = 0; i < BLOCK; i++)
            found += sizes[i] >= edge;
    return found;
}

#define COUNT(level, target)                                                   \
    target static unsigned count_##level(const int32_t *sizes, size_t count,   \
                                         int32_t edge)                         \
    {                                                                          \
        return count_wide(sizes, count, edge);                                 \
    }

COUNT(base, )
#ifdef __x86_64__
COUNT(avx2, TARGET_AVX2)
COUNT(avx512, TARGET_AVX512)
#endif

static unsigned (*const count_by_level[CPU_COUNT])(const int32_t *sizes,
                                                   size_t count,
                                                   int32_t edge) = {
    [CPU_BASE] = count_base,
#ifdef __x86_64__
    [CPU_AVX2] = count_avx2,
    [CPU_AVX512] = count_avx512,
#endif
};

/* Elements that may be among the largest. */
struct candidates {
    size_t count;               /* at least as many as are wanted */
    int32_t edge;               /* which all of them reach */
    int32_t sizes[CODEC_GRAIN]; /* their bits without the sign; then 0 */
    uint16_t places[CODEC_GRAIN];
};

static void start(struct candidates *among, const float *values, size_t length)
{
    among->count = length;
    among->edge = 0;
    memcpy(among->sizes, values, length * sizeof *values);
    memset(among->sizes + length, 0,
           (CODEC_GRAIN - length) * sizeof *among->sizes);
    for (size_t i = 0; i < CODEC_GRAIN; i++) {
        among->sizes[i] &= 0x7fffffff;
        among->places[i] = (uint16_t)i;
    }
}

/* Raises the edge by the bits from `bit` down to `last`, and leaves out who
 * does not reach it. */
static void narrow(struct candidates *among, size_t wanted, int32_t bit,
                   int32_t last)
{
    enum cpu_level level = cpu_level();
    size_t padded = (among->count + BLOCK - 1) / BLOCK * BLOCK;
    size_t reached = among->count, count = 0;

    for (size_t i = among->count; i < padded; i++)
        among->sizes[i] = 0;
    for (; bit >= last && reached != wanted; bit >>= 1) {
        size_t more =
            count_by_level[level](among->sizes, padded, among->edge | bit);

        if (more >= wanted) {
            among->edge |= bit;
            reached = more;
        }
    }
    for (size_t i = 0; i < among->count; i++) {
        int32_t size = among->sizes[i];

        among->sizes[count] = size;
        among->places[count] = among->places[i];
        count += size >= among->edge;
    }
    among->count = count;
}

/* The edge is the magnitude of the last one that is wanted when there are more
 * candidates: then those that equal it are too many, and the first are taken.
 */
static void choose_wide(const float *values, size_t length, size_t wanted,
                        uint16_t *places)
{
    struct candidates among;
    size_t spare, count = 0;

    start(&among, values, length);
    narrow(&among, wanted, 1 << 30, FINE_BITS);
    narrow(&among, wanted, FINE_BITS >> 1, 1);
    spare = wanted;
    for (size_t i = 0; i < among.count; i++)
        spare -= among.sizes[i] > among.edge;
    for (size_t i = 0; i < among.count && count < wanted; i++) {
        bool equal = among.sizes[i] == among.edge;

        if (equal && !spare)
            continue;
        spare -= equal;
        places[count++] = among.places[i];
    }
}

/* ---- blocks ---- */

/* The places with their codes, behind the step. */
static void put_codes(const float *values, const uint16_t *places, size_t count,
                      unsigned char *bytes)
{
    float chosen[MOST_KEPT], inverse;

    for (size_t i = 0; i < count; i++)
        chosen[i] = values[places[i]];
    inverse = block_put_scale(block_largest(chosen, count), MOST_CODE,
                              MOST_CODE, bytes);
    for (size_t i = 0; i < count; i++) {
        int code = (int)rintf(chosen[i] * inverse);
        uint16_t entry =
            (uint16_t)(places[i] | ((unsigned)code & 15U) << CODE_SHIFT);

        memcpy(bytes + sizeof(float) + i * sizeof entry, &entry, sizeof entry);
    }
}

static void put_floats(const float *values, const uint16_t *places,
                       size_t count, unsigned char *bytes)
{
    unsigned char *value = bytes + count * sizeof *places;

    memcpy(bytes, places, count * sizeof *places);
    for (size_t i = 0; i < count; i++)
        memcpy(value + i * sizeof(float), &values[places[i]], sizeof(float));
}

static void encode(const struct form *form, const float *values,
                   struct span span, unsigned char *bytes)
{
    size_t size = block_bytes(form, CODEC_GRAIN);
    uint16_t places[MOST_KEPT] = {0};

    bytes += span.first / CODEC_GRAIN * size;
    while (span.count) {
        size_t length = span.count < CODEC_GRAIN ? span.count : CODEC_GRAIN;
        size_t wanted = kept(form, length);

        if (cpu_level() == CPU_PLAIN)
            choose_plain(values, length, wanted, places);
        else
            choose_wide(values, length, wanted, places);
        if (form->coded)
            put_codes(values, places, wanted, bytes);
        else
            put_floats(values, places, wanted, bytes);
        values += length;
        span.count -= length;
        bytes += size;
    }
}

static unsigned entry_at(const struct form *form, const unsigned char *bytes,
                         size_t i)
{
    uint16_t entry;

    memcpy(&entry, bytes + head(form) + i * sizeof entry, sizeof entry);
    return entry;
}

static size_t place_at(const struct form *form, const unsigned char *bytes,
                       size_t i)
{
    unsigned entry = entry_at(form, bytes, i);

    return form->coded ? entry & (CODEC_GRAIN - 1) : entry;
}

/* Of a block that keeps `count`. */
static float value_at(const struct form *form, const unsigned char *bytes,
                      size_t count, size_t i)
{
    int code;

    if (!form->coded)
        return float_at(bytes + count * sizeof(uint16_t) + i * sizeof(float));
    code = (int)(entry_at(form, bytes, i) >> CODE_SHIFT);
    return (float)(code < 8 ? code : code - 16) * float_at(bytes);
}

/* The first of `count` places that is at least `from`. */
static size_t find(const struct form *form, const unsigned char *bytes,
                   size_t count, size_t from)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (place_at(form, bytes, middle) < from)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Adds what is in `part` of a block. */
static void add_block(const struct form *form, const unsigned char *bytes,
                      struct span part, double weight, double *into)
{
    size_t count = kept(form, part.elements);

    for (size_t i = find(form, bytes, count, part.first); i < count; i++) {
        size_t place = place_at(form, bytes, i);

        if (place < part.first || place >= part.first + part.count)
            break;
        into[place - part.first] +=
            weight * (double)value_at(form, bytes, count, i);
    }
}

static void add(const struct form *form, const unsigned char *bytes,
                struct span span, double weight, double *into)
{
    size_t size = block_bytes(form, CODEC_GRAIN);
    size_t block = span.first / CODEC_GRAIN, from = span.first % CODEC_GRAIN;

    for (; span.count; block++, from = 0) {
        size_t left = span.elements - block * CODEC_GRAIN;
        size_t length = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        size_t some = length - from < span.count ? length - from : span.count;

        add_block(form, bytes + block * size, (struct span){from, some, length},
                  weight, into);
        into += some;
        span.count -= some;
    }
}

static bool valid(const struct form *form, const unsigned char *bytes,
                  size_t elements)
{
    for (size_t first = 0; first < elements; first += CODEC_GRAIN) {
        size_t left = elements - first;
        size_t length = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        size_t count = kept(form, length), next = 0;

        for (size_t i = 0; i < count; i++) {
            size_t place = place_at(form, bytes, i);

            if (place < next || place >= length)
                return false;
            next = place + 1;
        }
        bytes += block_bytes(form, length);
    }
    return true;
}

#define TOP_CODEC(name)                                                        \
    size_t codec_##name##_bound(size_t elements)                               \
    {                                                                          \
        return bound(&name, elements);                                         \
    }                                                                          \
    void codec_##name##_encode(const float *values, size_t first,              \
                               size_t count, size_t elements,                  \
                               unsigned char *bytes)                           \
    {                                                                          \
        encode(&name, values, (struct span){first, count, elements}, bytes);   \
    }                                                                          \
    void codec_##name##_add(const unsigned char *bytes, size_t first,          \
                            size_t count, size_t elements, double weight,      \
                            double *into)                                      \
    {                                                                          \
        add(&name, bytes, (struct span){first, count, elements}, weight,       \
            into);                                                             \
    }                                                                          \
    bool codec_##name##_valid(const unsigned char *bytes, size_t elements)     \
    {                                                                          \
        return valid(&name, bytes, elements);                                  \
    }

TOP_CODEC(top1)
TOP_CODEC(top10)
TOP_CODEC(sparse)
