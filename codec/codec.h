/* Codecs: float vectors <-> payload bytes, in a registry (codecs.def).
 *
 * Merging, applying and error feedback are all `add` with another weight, so
 * no codec needs a scratch vector. Everything works on ranges whose bounds are
 * multiples of CODEC_GRAIN (or the vector's end), the largest block any codec
 * may use, so that callers can stay inside the cache. */
#ifndef CODEC_CODEC_H
#define CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/msg.h"

enum { CODEC_GRAIN = 4096 };

struct codec {
    const char *name, *doc;
    /* Bytes that `elements` values take, encoded. */
    size_t (*bound)(size_t elements);
    /* Encodes elements [first, first+count) of a vector of `elements` values;
     * `values` points at the first one of the range, `bytes` at the start of
     * the payload, which may have any alignment. */
    void (*encode)(const float *values, size_t first, size_t count,
                   size_t elements, unsigned char *bytes);
    /* into[i] += weight * decoded[first + i], 0 <= i < count. */
    void (*add)(const unsigned char *bytes, size_t first, size_t count,
                double weight, double *into);
};

extern const struct codec codecs[CODEC_COUNT];

/* Their functions, in codec/<name>.c. */
#define CODEC(NAME, name, bits, doc)                                           \
    size_t codec_##name##_bound(size_t elements);                              \
    void codec_##name##_encode(const float *values, size_t first,              \
                               size_t count, size_t elements,                  \
                               unsigned char *bytes);                          \
    void codec_##name##_add(const unsigned char *bytes, size_t first,          \
                            size_t count, double weight, double *into);
#include "codec/codecs.def"
#undef CODEC

/* Whether a payload of `bytes` holds exactly `elements` values of this codec;
 * false for a codec that there is not. */
bool codec_fits(enum codec_id codec, size_t bytes, size_t elements);

#endif
