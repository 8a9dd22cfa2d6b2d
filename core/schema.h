/* The shape of a model: named tensors in order, as one flat float32 vector
 * that is cut into chunks.
 *
 * Everything that moves or merges is a chunk. All nodes of a run must have the
 * same schema; where two differ, the first difference is named. */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum {
    SCHEMA_NAME_BYTES = 64,
    SCHEMA_MAX_RANK = 8,
    SCHEMA_MAX_TENSORS = 4096,
    SCHEMA_MAX_CHUNKS = 1 << 20,
    SCHEMA_MAX_TEXT_BYTES = 60 * 1024 /* fits a control message */
};
#define SCHEMA_MAX_ELEMENTS ((uint64_t)1 << 36)

enum dtype { DTYPE_F32, DTYPES };

/* What becomes of a tensor when the nodes' are merged. All but the trained ones
 * are statistics (docs/decisions/statistics-travel-as-they-are.md). */
enum tensor_kind {
    TENSOR_TRAINED,
    TENSOR_AVERAGED, /* the mean, weighted by samples */
    TENSOR_LARGEST,  /* the largest value that any node has had */
    TENSOR_KINDS
};

struct tensor {
    char name[SCHEMA_NAME_BYTES]; /* printable ASCII without spaces */
    enum dtype dtype;
    unsigned rank;
    uint64_t shape[SCHEMA_MAX_RANK];
    uint64_t first; /* its first element in the flat vector */
    uint64_t elements;
    enum tensor_kind kind;
};

/* Statistics of one kind in a row. */
struct statistic {
    uint64_t first, end; /* of the flat vector */
    enum tensor_kind kind;
};

/* All of a schema, in order. */
struct statistics {
    struct statistic *list;
    unsigned count, capacity;
};

/* Elements of one kind within some others. */
struct statistic_part {
    size_t at, count;
    enum tensor_kind kind;
};

/* What of a tensor is among some elements. */
struct tensor_part {
    const struct tensor *tensor;
    size_t at, count;
};

struct schema {
    struct tensor *tensors; /* in order; room for `capacity` */
    unsigned count, capacity;
    uint64_t elements;
    struct statistics statistics;
    uint64_t hash; /* schema_hash of its text; equal hash: equal schema */
    size_t text_bytes;
    char text[SCHEMA_MAX_TEXT_BYTES];     /* what schema_print writes */
    uint16_t by_name[SCHEMA_MAX_TENSORS]; /* their numbers, sorted by name */
};

/* An empty schema; add tensors in order. NULL when there is no memory. */
struct schema *schema_new(void);
void schema_destroy(struct schema **schema);

/* Appends a tensor. CONFIG when the name is empty, too long, not printable or
 * taken, a dimension is 0, or a bound is exceeded; NO_MEMORY. */
enum status schema_add(struct schema *schema, const char *name, unsigned rank,
                       const uint64_t *shape, struct why *why);

/* The same of a tensor with the name, rank, shape and kind of this one. */
enum status schema_add_tensor(struct schema *schema, const struct tensor *like,
                              struct why *why);

/* The next statistics among elements [first, first + count) of the vector,
 * behind *part, which is zeroed at first; false: there are none. */
bool statistics_next(const struct statistics *statistics, uint64_t first,
                     size_t count, struct statistic_part *part);

/* The next tensor of which something is among elements [first, first + count)
 * of the vector, behind *part, which is zeroed at first; false: there is none.
 */
bool schema_part(const struct schema *schema, uint64_t first, size_t count,
                 struct tensor_part *part);

/* Writes the schema as text, a line `name f32 784,128` per tensor, with `-` for
 * the shape of a scalar, and ` averaged` or ` largest` behind that of a
 * statistic; returns the length, or 0 when it is longer than
 * `size`. There is no NUL behind it. */
size_t schema_print(const struct schema *schema, char *text, size_t size);
/* XXH3-64 of what schema_print wrote. */
uint64_t schema_hash(const char *text, size_t size);
/* Reads what schema_print wrote, from a hostile peer; NULL when it is not
 * exactly that, or has no tensor. O(n log n) for n tensors. */
struct schema *schema_parse(const char *text, size_t size, struct why *why);

/* Compares a run's schema (`ours`) with a node's: OK when equal, else CONFIG
 * with the first tensor that differs in `why`, by its number from 0:
 * `tensor 2: "w2" f32 128,10 in the run, "w2" f32 64,10 at the node`. */
enum status schema_compare(const struct schema *ours,
                           const struct schema *theirs, struct why *why);

/* Whether there are at least one and at most SCHEMA_MAX_CHUNKS chunks: to be
 * asked before the functions below. */
static inline bool chunks_fit(uint64_t elements, uint32_t chunk_elements)
{
    return chunk_elements && elements &&
           (elements - 1) / chunk_elements < SCHEMA_MAX_CHUNKS;
}

/* Chunks of `chunk_elements` elements each, the last one shorter. */
static inline uint32_t chunks_of(uint64_t elements, uint32_t chunk_elements)
{
    return (uint32_t)((elements + chunk_elements - 1) / chunk_elements);
}

/* Elements of chunk `chunk`. */
static inline size_t chunk_length(uint64_t elements, uint32_t chunk_elements,
                                  uint32_t chunk)
{
    uint64_t first = (uint64_t)chunk * chunk_elements;
    uint64_t left = elements - first;

    return left < chunk_elements ? (size_t)left : (size_t)chunk_elements;
}

#endif
