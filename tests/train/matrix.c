/* Which kernels OpenBLAS is told to use. What it does then is looked at from
 * outside: tests/e2e/kernels.sh. */
#include "train/matrix.h"

#include "tests/check.h"

static void slow_kernels_are_for_old_processors(void)
{
    CHECK_TEXT("SkylakeX", matrix_better_kernels("Prescott", CPU_AVX512));
    CHECK_TEXT("Haswell", matrix_better_kernels("Prescott", CPU_AVX2));
    CHECK(!matrix_better_kernels("Prescott", CPU_BASE));
}

static void what_openblas_knows_stands(void)
{
    CHECK(!matrix_better_kernels("Haswell", CPU_AVX512));
    CHECK(!matrix_better_kernels("Zen", CPU_AVX2));
    CHECK(!matrix_better_kernels("ARMV8", CPU_BASE));
}

void add_train_matrix_tests(CU_pSuite suite)
{
    TEST(slow_kernels_are_for_old_processors);
    TEST(what_openblas_knows_stands);
}
