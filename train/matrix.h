/* Products of matrices, which are OpenBLAS's, or in portable builds our own
 * (train/product.h): on one thread, as that is reproducible, and the other
 * cores belong to other nodes. */
#ifndef TRAIN_MATRIX_H
#define TRAIN_MATRIX_H

#include <stddef.h>

#include "core/cpu.h"

/* Somebody's floats as rows of columns. */
struct matrix {
    const float *at;
    size_t rows, columns;
    size_t stride;  /* floats from a row to the next, as they are stored */
    int transposed; /* stored as columns x rows */
};

/* Rows that lie end to end. */
struct matrix matrix_of(const float *at, size_t rows, size_t columns);
/* Some columns of longer rows. */
struct matrix matrix_part(const float *at, size_t rows, size_t columns,
                          size_t stride);
struct matrix matrix_transposed(struct matrix matrix);

/* The kernels that OpenBLAS is to be told to use, if it has chosen those named
 * `chosen`: "Haswell" or "SkylakeX" where it took the slowest ones, which have
 * SSE3, though the processor has AVX2 or AVX-512; NULL where its choice is
 * good. OpenBLAS does so on a processor that is newer than itself, as Debian
 * 12's on Intel's of 2023 and later. */
const char *matrix_better_kernels(const char *chosen, enum cpu_level level);
/* Early in a program's main, before it has threads: where OpenBLAS is to be
 * told, it starts the program anew with $OPENBLAS_CORETYPE, as OpenBLAS reads
 * it before main. A value that the user has set stands. */
void matrix_use_processor(char **argv);
/* Must have been called, by any thread, before the first product. */
void matrix_begin(void);
/* out = scale * a b + keep * out, whose rows are `stride` floats apart; with
 * keep 0 it need not be initialised. No dimension is above INT_MAX. */
void matrix_multiply(struct matrix a, struct matrix b, float scale, float keep,
                     float *out, size_t stride);

#endif
