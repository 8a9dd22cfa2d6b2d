/* Small data files for the tests of train/, in a folder of their own. */
#ifndef TESTS_TRAIN_FILES_H
#define TESTS_TRAIN_FILES_H

#include "tests/store/folder.h"
#include "train/input.h"

/* Borrowed bytes as an input that must not be freed. */
struct input input_of(const void *bytes, size_t size);
/* A heap copy, as readers take inputs over; input_free frees it. */
struct input input_copy(const void *bytes, size_t size);

/* Gzips bytes into a file. */
bool gzip_fill(const char *path, const void *bytes, size_t size);

/* An IDX file of bytes with so many dimensions. */
bool idx_fill(const char *path, const unsigned *shape, unsigned dimensions,
              const unsigned char *bytes);

/* IDX bytes of `count` images of 2 x 2, and of their labels i % classes.
 * Each pixel tells its class. Return the size; `out` has the room. */
enum { IMAGE_PIXELS = 4, IDX_BYTES_MAX = 16 + 4 * 400 };
size_t images_bytes(unsigned count, unsigned classes, unsigned char *out);
size_t labels_bytes(unsigned count, unsigned classes, unsigned char *out);

/* Writes both under the usual names: `part` is "train" or "t10k", `end` is ""
 * or ".gz". */
bool pair_fill(const struct folder *folder, const char *part, unsigned count,
               const char *end);

/* A version 1 .npy of these elements; returns the size. */
size_t npy_bytes(const char *type, const char *shape, const void *elements,
                 size_t size, unsigned char *out);

#endif
