/* Which instructions fast loops may use: asked of the processor once.
 *
 * A fast loop is written once, so that any compiler turns it into vector
 * instructions, and is compiled for each level (core/floats.c, codec/block.h).
 * The base level is what the compiler may always use: SSE2 on x86-64, NEON on
 * AArch64, where no other one is needed. Whatever the level, the bytes and the
 * sums are the same; the plain level is the reference, which is written to be
 * read, and which the tests hold the others to. */
#ifndef CORE_CPU_H
#define CORE_CPU_H

enum cpu_level {
    CPU_PLAIN,  /* the reference, a value at a time */
    CPU_BASE,   /* what every machine of this kind has */
    CPU_AVX2,   /* and F16C */
    CPU_AVX512, /* F, BW, DQ and VL */
    CPU_COUNT
};

/* The level in force: the machine's best, or the limit. Any thread. */
enum cpu_level cpu_level(void);
/* For tests: no level above `most` from now on. Returns the one in force,
 * which is lower when the machine has less. */
enum cpu_level cpu_limit(enum cpu_level most);

/* What is compiled into each level's function, and for which instructions. */
#define CPU_INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define TARGET_AVX2 __attribute__((target("avx2,f16c")))
#define TARGET_AVX512                                                          \
    __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

/* Defines name##_fast, which is name##_loop, a CPU_INLINE function that returns
 * nothing, as compiled for the level in force. A plain loop is its own
 * reference. */
#ifdef __x86_64__
#define CPU_FAST(name, parameters, arguments)                                  \
    static void name##_base parameters                                         \
    {                                                                          \
        name##_loop arguments;                                                 \
    }                                                                          \
    TARGET_AVX2 static void name##_avx2 parameters                             \
    {                                                                          \
        name##_loop arguments;                                                 \
    }                                                                          \
    TARGET_AVX512 static void name##_avx512 parameters                         \
    {                                                                          \
        name##_loop arguments;                                                 \
    }                                                                          \
    static void name##_fast parameters                                         \
    {                                                                          \
        static void(*const by_level[CPU_COUNT])                                \
            parameters = {[CPU_PLAIN] = name##_base,                           \
                          [CPU_BASE] = name##_base,                            \
                          [CPU_AVX2] = name##_avx2,                            \
                          [CPU_AVX512] = name##_avx512};                       \
                                                                               \
        by_level[cpu_level()] arguments;                                       \
    }
#else
#define CPU_FAST(name, parameters, arguments)                                  \
    static void name##_fast parameters                                         \
    {                                                                          \
        name##_loop arguments;                                                 \
    }
#endif

#endif
