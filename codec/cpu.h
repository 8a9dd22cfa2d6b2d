/* Which instructions the codecs may use: asked of the processor once.
 *
 * A fast kernel is written once, as loops over a block of fixed length that
 * any compiler turns into vector instructions, and is compiled for each level
 * (block.h). The base level is what the compiler may always use: SSE2 on
 * x86-64, NEON on AArch64, where no other one is needed. Whatever the level,
 * the bytes and the sums are the same; the plain level is the reference, which
 * is written to be read, and which the tests hold the others to. */
#ifndef CODEC_CPU_H
#define CODEC_CPU_H

enum codec_cpu {
    CODEC_CPU_PLAIN,  /* the reference, a value at a time */
    CODEC_CPU_BASE,   /* what every machine of this kind has */
    CODEC_CPU_AVX2,   /* and F16C */
    CODEC_CPU_AVX512, /* F, BW, DQ and VL */
    CODEC_CPU_COUNT
};

/* The level in force: the machine's best, or the limit. Any thread. */
enum codec_cpu codec_cpu(void);
/* For tests: no level above `most` from now on. Returns the one in force,
 * which is lower when the machine has less. */
enum codec_cpu codec_cpu_limit(enum codec_cpu most);

/* What is compiled into each level's function, and for which instructions. */
#define CODEC_INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define CODEC_AVX2 __attribute__((target("avx2,f16c")))
#define CODEC_AVX512                                                           \
    __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#endif

#endif
