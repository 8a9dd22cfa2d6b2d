#include "core/cpu.h"

#include "tests/check.h"

static void the_level_is_the_machines_best_or_the_limit(void)
{
    enum cpu_level best = cpu_limit(CPU_AVX512);

    CHECK(best >= CPU_BASE);
    CHECK_EQUAL(best, cpu_level());
    CHECK_EQUAL(CPU_PLAIN, cpu_limit(CPU_PLAIN));
    CHECK_EQUAL(CPU_PLAIN, cpu_level());
    CHECK_EQUAL(best, cpu_limit(CPU_AVX512));
}

void add_core_cpu_tests(CU_pSuite suite)
{
    TEST(the_level_is_the_machines_best_or_the_limit);
}
