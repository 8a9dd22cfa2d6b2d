#include "train/product.h"

#include <string.h>

#include "core/cpu.h"

/* Of `out`, ROWS x WIDTH values are in registers while the sums run over DEEP
 * terms; those of `b` are laid out as they are read, 16 KB. Each value is one
 * sum in the order of its terms, whatever the width of the registers. */
enum { ROWS = 4, WIDTH = 16, DEEP = 256 };

struct piece {
    const float *a; /* its rows, `down` floats apart, terms `along` apart */
    size_t down, along;
    const float *b; /* terms x WIDTH */
    size_t terms, rows, columns;
    float scale, *out;
    size_t stride;
};

static inline size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Rows below the last one are the last one again. */
CPU_INLINE void sums_of_rows(const struct piece *piece, size_t row, size_t rows,
                             float sums[ROWS][WIDTH])
{
    const float *a[ROWS], *b = piece->b;

    for (size_t r = 0; r < ROWS; r++)
        a[r] = piece->a + (row + smaller(r, rows - 1)) * piece->down;
    memset(sums, 0, sizeof(float[ROWS][WIDTH]));
    for (size_t k = 0; k < piece->terms; k++, b += WIDTH)
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < WIDTH; c++)
                sums[r][c] += a[r][k * piece->along] * b[c];
}

CPU_INLINE void add_piece_loop(const struct piece *piece)
{
    for (size_t row = 0; row < piece->rows; row += ROWS) {
        size_t rows = smaller(ROWS, piece->rows - row);
        float sums[ROWS][WIDTH];

        sums_of_rows(piece, row, rows, sums);
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < piece->columns; c++)
                piece->out[(row + r) * piece->stride + c] +=
                    piece->scale * sums[r][c];
    }
}

CPU_FAST(add_piece, (const struct piece *piece), (piece))

/* Terms `first` and on of columns `column` and on; zeros where there are no
 * more columns. */
static void lay_out(struct matrix b, size_t first, size_t terms, size_t column,
                    size_t columns, float *out)
{
    size_t down = b.transposed ? 1 : b.stride;
    size_t along = b.transposed ? b.stride : 1;
    const float *at = b.at + first * down + column * along;

    memset(out, 0, terms * WIDTH * sizeof *out);
    for (size_t k = 0; k < terms; k++)
        for (size_t c = 0; c < columns; c++)
            out[k * WIDTH + c] = at[k * down + c * along];
}

static void keep_some(float keep, float *out, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        out[c] = keep == 0 ? 0 : keep * out[c];
}

void product(struct matrix a, struct matrix b, float scale, float keep,
             float *out, size_t stride)
{
    float panel[DEEP * WIDTH];
    struct piece piece = {.down = a.transposed ? 1 : a.stride,
                          .along = a.transposed ? a.stride : 1,
                          .b = panel,
                          .rows = a.rows,
                          .scale = scale,
                          .stride = stride};

    for (size_t r = 0; r < a.rows; r++)
        keep_some(keep, out + r * stride, b.columns);
    for (size_t k = 0; k < a.columns; k += DEEP)
        for (size_t c = 0; c < b.columns; c += WIDTH) {
            piece.terms = smaller(DEEP, a.columns - k);
            piece.columns = smaller(WIDTH, b.columns - c);
            lay_out(b, k, piece.terms, c, piece.columns, panel);
            piece.a = a.at + k * piece.along;
            piece.out = out + c;
            add_piece_fast(&piece);
        }
}
