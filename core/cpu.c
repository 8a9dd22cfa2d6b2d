#include "core/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>

#ifdef __x86_64__
#include <cpuid.h>

/* Not a name that every __builtin_cpu_supports knows. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static enum cpu_level best(void)
{
    if (!__builtin_cpu_supports("avx2") || !has_f16c())
        return CPU_BASE;
    if (!__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return CPU_AVX2;
    return CPU_AVX512;
}
#else
static enum cpu_level best(void)
{
    return CPU_BASE;
}
#endif

/* Threads that come first together find the same. */
static atomic_uint in_force = CPU_COUNT;

enum cpu_level cpu_limit(enum cpu_level most)
{
    enum cpu_level level = best();

    if (level > most)
        level = most;
    atomic_store_explicit(&in_force, level, memory_order_relaxed);
    return level;
}

enum cpu_level cpu_level(void)
{
    unsigned level = atomic_load_explicit(&in_force, memory_order_relaxed);

    if (level == CPU_COUNT)
        return cpu_limit(CPU_AVX512);
    return (enum cpu_level)level;
}
