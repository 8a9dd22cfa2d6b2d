#include "codec/payload.h"

#include <stdlib.h>
#include <string.h>

static bool is_exempt(const struct tensor *tensor)
{
    return tensor->rank < 2 || tensor->kind != TENSOR_TRAINED;
}

struct exempt *exempt_new(const struct schema *schema)
{
    struct exempt *exempt =
        calloc(1, sizeof *exempt + schema->count * sizeof *exempt->range);
    struct exempt_range *last = NULL;
    uint64_t sum = 0;

    for (unsigned i = 0; exempt && i < schema->count; i++) {
        const struct tensor *tensor = &schema->tensors[i];

        if (!is_exempt(tensor))
            continue;
        if (!last || last->end != tensor->first) {
            last = &exempt->range[exempt->count++];
            last->first = tensor->first;
            last->before = sum;
        }
        last->end = tensor->first + tensor->elements;
        sum += tensor->elements;
    }
    if (exempt)
        exempt->statistics = &schema->statistics;
    return exempt;
}

void exempt_destroy(struct exempt **exempt)
{
    free(*exempt);
    *exempt = NULL;
}

struct extent extent_of(const struct exempt *exempt, uint64_t elements,
                        uint32_t chunk_elements, uint32_t chunk)
{
    return (struct extent){exempt, (uint64_t)chunk * chunk_elements,
                           chunk_length(elements, chunk_elements, chunk), 1};
}

/* The first range that ends behind `at`, or exempt->count. */
static unsigned range_behind(const struct exempt *exempt, uint64_t at)
{
    unsigned low = 0, high = exempt->count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (exempt->range[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Exempt elements of the vector before `at`. */
static uint64_t exempt_before(const struct exempt *exempt, uint64_t at)
{
    unsigned next = range_behind(exempt, at);
    const struct exempt_range *range = &exempt->range[next];

    if (next < exempt->count)
        return range->before + (at > range->first ? at - range->first : 0);
    if (!exempt->count)
        return 0;
    range--;
    return range->before + range->end - range->first;
}

/* Elements of one kind in a row. */
struct stretch {
    bool raw;
    size_t count;
    size_t place; /* of the first, among those of its kind in the extent */
};

/* The stretch that begins at element `at` of the extent and ends within the
 * next `most`. */
static struct stretch stretch_at(const struct extent *extent, size_t at,
                                 size_t most)
{
    const struct exempt *exempt = extent->exempt;
    uint64_t from = extent->first + at, edge = from + most, raws;
    struct stretch stretch = {false, most, at};
    unsigned next;

    if (!exempt || !exempt->count)
        return stretch;
    raws = exempt_before(exempt, from) - exempt_before(exempt, extent->first);
    next = range_behind(exempt, from);
    if (next < exempt->count) {
        const struct exempt_range *range = &exempt->range[next];
        uint64_t bound = range->first > from ? range->first : range->end;

        stretch.raw = range->first <= from;
        if (bound < edge)
            stretch.count = (size_t)(bound - from);
    }
    stretch.place = stretch.raw ? (size_t)raws : at - (size_t)raws;
    return stretch;
}

static size_t raw_elements(const struct extent *extent)
{
    if (!extent->exempt)
        return 0;
    return (size_t)(exempt_before(extent->exempt,
                                  extent->first + extent->elements) -
                    exempt_before(extent->exempt, extent->first));
}

size_t payload_bytes(const struct extent *extent, enum codec_id codec)
{
    size_t raw = raw_elements(extent);

    return codecs[codec].bound(extent->elements - raw) + codec_raw_bound(raw);
}

uint64_t payload_wire_bytes(const struct extent *extent, enum codec_id codec)
{
    size_t raw = raw_elements(extent), scale = extent->scale;

    if (scale < 2)
        return payload_bytes(extent, codec);
    return codecs[codec].bound((extent->elements - raw) * scale) +
           codec_raw_bound(raw * scale);
}

bool payload_fits(const struct extent *extent, enum codec_id codec,
                  const unsigned char *bytes, size_t size)
{
    size_t raw = raw_elements(extent), tail = codec_raw_bound(raw);

    return size >= tail &&
           codec_fits(codec, bytes, size - tail, extent->elements - raw);
}

bool extent_statistics(const struct extent *extent, size_t first, size_t count,
                       struct statistic_part *part)
{
    return extent->exempt &&
           statistics_next(extent->exempt->statistics, extent->first + first,
                           count, part);
}

/* Collects the elements to be encoded until a grain of them is full. */
struct collector {
    const struct codec *codec;
    size_t elements; /* to be encoded in all */
    unsigned char *bytes;
    size_t first, count; /* that are in `grain` */
    float grain[CODEC_GRAIN];
};

static void collector_flush(struct collector *collector)
{
    collector->codec->encode(collector->grain, collector->first,
                             collector->count, collector->elements,
                             collector->bytes);
    collector->first += collector->count;
    collector->count = 0;
}

static void collect(struct collector *collector, const float *values,
                    size_t count)
{
    while (count) {
        size_t room = CODEC_GRAIN - collector->count;
        size_t some = count < room ? count : room;

        memcpy(collector->grain + collector->count, values,
               some * sizeof *values);
        collector->count += some;
        values += some;
        count -= some;
        if (collector->count == CODEC_GRAIN)
            collector_flush(collector);
    }
}

static void encode_plain(const struct codec *codec, const float *values,
                         size_t elements, unsigned char *bytes)
{
    for (size_t first = 0; first < elements; first += CODEC_GRAIN) {
        size_t left = elements - first;

        codec->encode(values + first, first,
                      left < CODEC_GRAIN ? left : CODEC_GRAIN, elements, bytes);
    }
}

void payload_encode(const struct extent *extent, enum codec_id codec,
                    const float *values, unsigned char *bytes)
{
    size_t raw = raw_elements(extent), encoded = extent->elements - raw;
    unsigned char *tail = bytes + codecs[codec].bound(encoded);
    struct collector collector;

    if (!raw || codec == CODEC_RAW) {
        encode_plain(&codecs[codec], values, extent->elements, bytes);
        return;
    }
    collector.codec = &codecs[codec];
    collector.elements = encoded;
    collector.bytes = bytes;
    collector.first = collector.count = 0;
    for (size_t at = 0; at < extent->elements;) {
        struct stretch stretch = stretch_at(extent, at, extent->elements - at);

        if (stretch.raw)
            codec_raw_encode(values + at, stretch.place, stretch.count, raw,
                             tail);
        else
            collect(&collector, values + at, stretch.count);
        at += stretch.count;
    }
    if (collector.count)
        collector_flush(&collector);
}

// NOLINTNEXTLINE(readability-function-size): a codec's add, with which codec
void payload_add(const struct extent *extent, enum codec_id codec,
                 const unsigned char *bytes, size_t first, size_t count,
                 double weight, double *into)
{
    size_t raw = codec == CODEC_RAW ? 0 : raw_elements(extent);
    size_t encoded = extent->elements - raw;
    const unsigned char *tail = bytes + codecs[codec].bound(encoded);

    if (!raw) {
        codecs[codec].add(bytes, first, count, encoded, weight, into);
        return;
    }
    for (size_t at = 0; at < count;) {
        struct stretch stretch = stretch_at(extent, first + at, count - at);

        if (stretch.raw)
            codec_raw_add(tail, stretch.place, stretch.count, raw, weight,
                          into + at);
        else
            codecs[codec].add(bytes, stretch.place, stretch.count, encoded,
                              weight, into + at);
        at += stretch.count;
    }
}
