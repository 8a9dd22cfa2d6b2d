#include "codec/cpu.h"

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

static enum codec_cpu best(void)
{
    if (!__builtin_cpu_supports("avx2") || !has_f16c())
        return CODEC_CPU_BASE;
    if (!__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return CODEC_CPU_AVX2;
    return CODEC_CPU_AVX512;
}
#else
static enum codec_cpu best(void)
{
    return CODEC_CPU_BASE;
}
#endif

/* Threads that come first together find the same. */
static atomic_uint in_force = CODEC_CPU_COUNT;

enum codec_cpu codec_cpu_limit(enum codec_cpu most)
{
    enum codec_cpu level = best();

    if (level > most)
        level = most;
    atomic_store_explicit(&in_force, level, memory_order_relaxed);
    return level;
}

enum codec_cpu codec_cpu(void)
{
    unsigned level = atomic_load_explicit(&in_force, memory_order_relaxed);

    if (level == CODEC_CPU_COUNT)
        return codec_cpu_limit(CODEC_CPU_AVX512);
    return (enum codec_cpu)level;
}
