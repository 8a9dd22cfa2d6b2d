/* Payloads: a chunk of the model, encoded tensor by tensor.
 *
 * Tensors of rank 0 and 1 (biases, scales of norms) and statistics are few and
 * sensitive, so they stay raw whatever the codec. A payload holds first the
 * other elements of the chunk, end to end in their order, as one vector of the
 * codec, then the exempt ones as float32. */
#ifndef CODEC_PAYLOAD_H
#define CODEC_PAYLOAD_H

#include <stdint.h>

#include "codec/codec.h"
#include "core/schema.h"

/* The elements of a model that are always raw. */
struct exempt {
    const struct statistics *statistics; /* the schema's, which must outlive
                                            it */
    unsigned count;
    struct exempt_range {
        uint64_t first, end; /* of the flat vector */
        uint64_t before;     /* exempt elements before it */
    } range[];               /* in order, apart from each other */
};

/* NULL when there is no memory. */
struct exempt *exempt_new(const struct schema *schema);
void exempt_destroy(struct exempt **exempt);

/* A part of a model's vector: a chunk. */
struct extent {
    const struct exempt *exempt; /* NULL: nothing is */
    uint64_t first;              /* its first element in the vector */
    size_t elements;
    uint32_t scale; /* elements of the wire that each one stands for, in a
                       simulation of a larger model; 0 and 1: itself */
};

/* Chunk `chunk` of a model of `elements`, in chunks of `chunk_elements`. */
struct extent extent_of(const struct exempt *exempt, uint64_t elements,
                        uint32_t chunk_elements, uint32_t chunk);

size_t payload_bytes(const struct extent *extent, enum codec_id codec);
/* statistics_next of elements [first, first + count) of the extent. */
bool extent_statistics(const struct extent *extent, size_t first, size_t count,
                       struct statistic_part *part);
/* Its bytes on a simulated link: the same but for the scale. */
uint64_t payload_wire_bytes(const struct extent *extent, enum codec_id codec);
/* Whether bytes from outside are a payload of this extent; see codec_fits. */
bool payload_fits(const struct extent *extent, enum codec_id codec,
                  const unsigned char *bytes, size_t size);
/* `values` has extent->elements values; `bytes` has room for the payload. */
void payload_encode(const struct extent *extent, enum codec_id codec,
                    const float *values, unsigned char *bytes);
/* into[i] += weight * decoded[first + i], 0 <= i < count <= CODEC_GRAIN. */
void payload_add(const struct extent *extent, enum codec_id codec,
                 const unsigned char *bytes, size_t first, size_t count,
                 double weight, double *into);

#endif
