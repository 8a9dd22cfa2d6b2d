#include "train/muon.h"

#include <math.h>
#include <string.h>

#include "core/floats.h"
#include "train/matrix.h"

enum { MUON_STEPS = 5 };

static const float quintic[3] = {3.4445F, -4.7750F, 2.0315F};

static size_t shorter(size_t rows, size_t columns)
{
    return rows < columns ? rows : columns;
}

size_t muon_scratch(size_t rows, size_t columns)
{
    size_t side = shorter(rows, columns);

    return rows * columns + 2 * side * side;
}

static void normalize(float *x, size_t count)
{
    struct squares squares = {{0}};
    float scale;

    squares_add(&squares, x, count);
    scale = (float)(1 / (sqrt(squares_sum(&squares)) + 1e-7));
    for (size_t i = 0; i < count; i++)
        x[i] *= scale;
}

/* out = a + b G + c G^2, all of them side x side. */
static void polynomial(const float *gram, size_t side, float *out)
{
    struct matrix square = matrix_of(gram, side, side);

    matrix_multiply(square, square, quintic[2], 0, out, side);
    for (size_t i = 0; i < side * side; i++)
        out[i] += quintic[1] * gram[i];
    for (size_t i = 0; i < side; i++)
        out[i * side + i] += quintic[0];
}

void muon_orthogonalize(float *x, size_t rows, size_t columns, float *scratch)
{
    size_t side = shorter(rows, columns);
    float *next = scratch, *gram = next + rows * columns;
    float *factor = gram + side * side;
    struct matrix by = matrix_of(factor, side, side);

    normalize(x, rows * columns);
    for (int step = 0; step < MUON_STEPS; step++) {
        struct matrix wide = matrix_of(x, rows, columns);
        struct matrix tall = matrix_transposed(wide);

        if (rows <= columns) {
            matrix_multiply(wide, tall, 1, 0, gram, side);
            polynomial(gram, side, factor);
            matrix_multiply(by, wide, 1, 0, next, columns);
        } else {
            matrix_multiply(tall, wide, 1, 0, gram, side);
            polynomial(gram, side, factor);
            matrix_multiply(wide, by, 1, 0, next, columns);
        }
        memcpy(x, next, rows * columns * sizeof *x);
    }
}
