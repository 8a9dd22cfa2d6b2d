/* Labelled samples: rows of numbers and a class for each.
 *
 * Pixels stay the bytes they are, a quarter of the floats' memory, and become
 * numbers in [0, 1] when a batch is loaded. Other numbers are taken as they
 * are; scaling them to about [-1, 1] is the user's affair, since every node
 * must do the same. */
#ifndef TRAIN_TABLE_H
#define TRAIN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { TABLE_LABEL_MAX = 65535, TABLE_FEATURES_MAX = 65536 };

struct table {
    size_t count;    /* rows, at least 1 once read */
    size_t features; /* numbers per row, 1 .. TABLE_FEATURES_MAX */
    uint8_t *bytes;  /* count x features, or NULL: */
    float *floats;   /* count x features, all finite */
    int32_t *labels; /* count, each 0 .. TABLE_LABEL_MAX */
    void *memory;    /* what holds the features; NULL: a part of another */
};

/* Frees what a reader made; nothing for a zeroed table or for a part. */
void table_free(struct table *table);
/* Rows [first, first + count) of a table that must outlive the part. */
struct table table_part(const struct table *whole, size_t first, size_t count);
/* Puts the rows into a random order that depends on seed and count only. */
void table_shuffle(struct table *table, uint64_t seed);
/* Writes one row as floats; bytes are divided by 255. */
void table_load(const struct table *table, size_t row, float *out);
/* The largest label. */
int32_t table_largest_label(const struct table *table);

#endif
