#include "train/matrix.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef STAR_PORTABLE
#include "train/product.h"
#else
#include <cblas.h>

#define KERNELS "OPENBLAS_CORETYPE"
#endif

struct matrix matrix_of(const float *at, size_t rows, size_t columns)
{
    return matrix_part(at, rows, columns, columns);
}

struct matrix matrix_part(const float *at, size_t rows, size_t columns,
                          size_t stride)
{
    return (struct matrix){at, rows, columns, stride, 0};
}

struct matrix matrix_transposed(struct matrix matrix)
{
    size_t rows = matrix.rows;

    matrix.rows = matrix.columns;
    matrix.columns = rows;
    matrix.transposed = !matrix.transposed;
    return matrix;
}

const char *matrix_better_kernels(const char *chosen, enum cpu_level level)
{
    if (strcmp(chosen, "Prescott") != 0 || level < CPU_AVX2)
        return NULL;
    return level == CPU_AVX512 ? "SkylakeX" : "Haswell";
}

#ifdef STAR_PORTABLE
void matrix_use_processor(char **argv)
{
    (void)argv;
}

void matrix_begin(void)
{
}
#else
/* Without /proc the program goes on, slowly. */
void matrix_use_processor(char **argv)
{
    const char *better =
        matrix_better_kernels(openblas_get_corename(), cpu_level());

    /* There is one thread yet. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    if (better && !getenv(KERNELS) && setenv(KERNELS, better, 0) == 0)
        (void)execv("/proc/self/exe", argv);
}

void matrix_begin(void)
{
    openblas_set_num_threads(1);
}
#endif

void matrix_multiply(struct matrix a, struct matrix b, float scale, float keep,
                     float *out, size_t stride)
{
    assert(a.columns == b.rows);
#ifdef STAR_PORTABLE
    product(a, b, scale, keep, out, stride);
#else
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, (int)a.rows,
                (int)b.columns, (int)a.columns, scale, a.at, (int)a.stride,
                b.at, (int)b.stride, keep, out, (int)stride);
#endif
}
