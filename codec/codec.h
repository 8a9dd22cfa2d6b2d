/* Codecs: float vectors <-> payload bytes, in a registry (codecs.def).
 *
 * Merging, applying and error feedback are all `add` with another weight, so
 * no codec needs a scratch vector. Encoding goes by ranges whose bounds are
 * multiples of CODEC_GRAIN (or the vector's end), the largest block any codec
 * may use, so that callers can stay inside the cache; adding takes any range.
 *
 * The same values give the same bytes, and the same bytes the same sums, on
 * every machine and with every set of instructions: nodes and hub must agree
 * on what was sent to the last bit. */
#ifndef CODEC_CODEC_H
#define CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/msg.h"

enum { CODEC_GRAIN = 4096 };

/* The payloads that may be encoded with it. */
enum codec_use {
    CODEC_FOR_ALL,    /* anything: parameters, too */
    CODEC_FOR_CHANGES /* what adds up over time, so that what it leaves out is
                         sent later: changes and gradients */
};

struct codec {
    const char *name, *doc;
    double bits; /* per element, of a long vector */
    enum codec_use use;
    /* Bytes that `elements` values take, encoded. */
    size_t (*bound)(size_t elements);
    /* Encodes elements [first, first+count) of a vector of `elements` finite
     * values; `values` points at the first one of the range, `bytes` at the
     * start of the payload, which may have any alignment. */
    void (*encode)(const float *values, size_t first, size_t count,
                   size_t elements, unsigned char *bytes);
    /* into[i] += weight * decoded[first + i], 0 <= i < count, of a vector of
     * `elements` values. */
    void (*add)(const unsigned char *bytes, size_t first, size_t count,
                size_t elements, double weight, double *into);
    /* Whether a payload of the right size may be given to `add`: places it
     * names are inside the vector. NULL: whatever the bytes are. */
    bool (*valid)(const unsigned char *bytes, size_t elements);
};

extern const struct codec codecs[CODEC_COUNT];

/* Their functions. */
#define CODEC(NAME, name, bits, use, valid, doc)                               \
    size_t codec_##name##_bound(size_t elements);                              \
    void codec_##name##_encode(const float *values, size_t first,              \
                               size_t count, size_t elements,                  \
                               unsigned char *bytes);                          \
    void codec_##name##_add(const unsigned char *bytes, size_t first,          \
                            size_t count, size_t elements, double weight,      \
                            double *into);
#include "codec/codecs.def"
#undef CODEC
bool codec_top1_valid(const unsigned char *bytes, size_t elements);
bool codec_top10_valid(const unsigned char *bytes, size_t elements);
bool codec_sparse_valid(const unsigned char *bytes, size_t elements);

/* NULL if there is none of this name. */
const struct codec *codec_find(const char *name);

/* Whether a payload from outside is one of exactly `elements` values of this
 * codec that may be added; false for a codec that there is not. The values may
 * still be NaN or infinite. */
bool codec_fits(enum codec_id codec, const unsigned char *bytes, size_t size,
                size_t elements);

#endif
