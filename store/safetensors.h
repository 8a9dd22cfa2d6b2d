/* Parameters in files: the format safetensors, written and read.
 *
 * A file is 8 bytes (the length of the header, little-endian), a header in
 * JSON {"name": {"dtype", "shape", "data_offsets"}, ..., "__metadata__":
 * {"key": "value"}}, padded with blanks so that the data begins at a multiple
 * of 8, and the data: all tensors in a row, without holes. Here all tensors
 * are F32, so the data is the flat vector of the schema.
 * (https://github.com/huggingface/safetensors, "Format".)
 *
 * A file that is read may come from anywhere: every number in it is checked
 * against the bytes that are there. */
#ifndef STORE_SAFETENSORS_H
#define STORE_SAFETENSORS_H

#include <stddef.h>

#include "core/schema.h"
#include "core/status.h"
#include "store/file.h"

enum {
    SAFETENSORS_MAX_HEADER = 1 << 20, /* ours have at most some 400 kB */
    SAFETENSORS_MAX_PAIRS = 256
};

/* One entry of the metadata. */
struct pair {
    const char *key, *value;
};

/* What is to be written; all of it borrowed. */
struct safetensors_source {
    const struct schema *schema;
    const struct pair *pairs;
    size_t pair_count;
    const struct part *parts; /* schema->elements floats, in a row */
    size_t part_count;
};

/* The bytes of the file as parts in a row: what it begins with, then the
 * source's parts, which are not copied. All that is not borrowed is in `*out`,
 * to be freed. CONFIG: the metadata is too long; NO_MEMORY. */
enum status safetensors_parts(const struct safetensors_source *source,
                              struct part **out, size_t *count,
                              struct why *why) MUST_CHECK;

/* What was read. */
struct safetensors {
    struct schema *schema; /* tensors in the order of their data */
    float *values;         /* schema->elements of them */
    struct pair *pairs;    /* the metadata */
    size_t pair_count;
};

/* Reads a file. IO when that fails, MALFORMED when it is no safetensors file,
 * CONFIG when it is one but holds what no schema can (another dtype, an empty
 * tensor), NO_MEMORY; each with a sentence that names the file. */
enum status safetensors_read(const char *path, struct safetensors **out,
                             struct why *why) MUST_CHECK;

/* The same from bytes in memory, which are borrowed for the call. */
enum status safetensors_parse(const unsigned char *bytes, size_t size,
                              struct safetensors **out,
                              struct why *why) MUST_CHECK;

void safetensors_destroy(struct safetensors **file);

/* The metadata's value of `key`, or NULL; lives as long as the file. */
const char *safetensors_value(const struct safetensors *file, const char *key);

#endif
