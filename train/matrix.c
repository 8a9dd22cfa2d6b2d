#include "train/matrix.h"

#include <assert.h>
#ifdef STAR_PORTABLE
#include "train/product.h"
#else
#include <cblas.h>
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

#ifdef STAR_PORTABLE
void matrix_begin(void)
{
}
#else
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
