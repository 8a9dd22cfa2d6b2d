/* Products without OpenBLAS, beside sums of doubles. */
#include "train/product.h"

#include <math.h>
#include <stdint.h>

#include "core/cpu.h"
#include "tests/check.h"

enum { MOST = 300, ROOM = MOST * 40 };

static float left[ROOM], right[ROOM], out[ROOM], again[ROOM];

static void fill(float *values, uint64_t seed)
{
    for (size_t i = 0; i < ROOM; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (float)(seed >> 40) / (1 << 24) - 0.5f;
    }
}

static double value_at(struct matrix m, size_t row, size_t column)
{
    return m
        .at[m.transposed ? column * m.stride + row : row * m.stride + column];
}

static struct matrix shaped(const float *at, size_t rows, size_t columns,
                            bool transposed)
{
    if (!transposed)
        return matrix_part(at, rows, columns, columns + 3);
    return matrix_transposed(matrix_part(at, columns, rows, rows + 3));
}

static void check_product(struct matrix a, struct matrix b, float scale,
                          float keep)
{
    size_t stride = b.columns + 2;

    for (size_t i = 0; i < a.rows * stride; i++)
        out[i] = keep == 0 ? NAN : 1.5f;
    product(a, b, scale, keep, out, stride);
    for (size_t r = 0; r < a.rows; r++) {
        for (size_t c = 0; c < b.columns; c++) {
            double sum = 0;

            for (size_t k = 0; k < a.columns; k++)
                sum += value_at(a, r, k) * value_at(b, k, c);
            sum = scale * sum + (keep == 0 ? 0 : keep * 1.5);
            CHECK_NEAR(sum, (double)out[r * stride + c], 1e-4);
        }
        CHECK(keep == 0 ? isnan(out[r * stride + b.columns])
                        : out[r * stride + b.columns] == 1.5f);
    }
}

static void all_shapes_are_as_sums_of_doubles(void)
{
    static const size_t shapes[][3] = {{1, 1, 1},  {4, 16, 16},  {5, 300, 17},
                                       {33, 7, 1}, {3, 257, 31}, {9, 256, 33}};

    fill(left, 1);
    fill(right, 2);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int way = 0; way < 4; way++) {
            const size_t *s = shapes[i];

            check_product(shaped(left, s[0], s[1], way & 1),
                          shaped(right, s[1], s[2], way & 2), 0.5f,
                          i & 1 ? 0 : 0.25f);
        }
}

static void the_bits_are_the_same_on_all_machines(void)
{
    struct matrix a = shaped(left, 13, 290, false);
    struct matrix b = shaped(right, 290, 37, false);

    fill(left, 3);
    fill(right, 4);
    (void)cpu_limit(CPU_BASE);
    product(a, b, 1, 0, out, 37);
    (void)cpu_limit(CPU_AVX512);
    product(a, b, 1, 0, again, 37);
    for (size_t i = 0; i < (size_t)13 * 37; i++)
        CHECK(out[i] == again[i]);
}

void add_train_product_tests(CU_pSuite suite)
{
    TEST(all_shapes_are_as_sums_of_doubles);
    TEST(the_bits_are_the_same_on_all_machines);
}
