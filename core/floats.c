#include "core/floats.h"

#include <math.h>
#include <string.h>

#include "core/cpu.h"

/* Compilers turn the memcpy into unaligned vector loads. */
CPU_INLINE float float_at(const void *values, size_t i)
{
    float value;

    memcpy(&value, (const unsigned char *)values + i * sizeof value,
           sizeof value);
    return value;
}

CPU_INLINE double value_at(const void *values, size_t i)
{
    return (double)float_at(values, i);
}

CPU_INLINE void add_loop(const void *values, size_t count, double weight,
                         double *into)
{
    for (size_t i = 0; i < count; i++)
        into[i] += weight * value_at(values, i);
}

CPU_INLINE void add_two_loop(struct weighed first, struct weighed second,
                             size_t count, double *into)
{
    for (size_t i = 0; i < count; i++) {
        double sum = into[i] + first.weight * value_at(first.values, i);

        into[i] = sum + second.weight * value_at(second.values, i);
    }
}

CPU_INLINE void move_loop(const double *by, size_t count, double weight,
                          float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)((double)to[i] + weight * by[i]);
}

CPU_INLINE void multiply_loop(double *values, size_t count, double by)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= by;
}

CPU_INLINE void round_loop(const double *values, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)values[i];
}

CPU_INLINE void mix_loop(struct weighed first, struct weighed second,
                         size_t count, float *to)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0.0 + first.weight * value_at(first.values, i);

        to[i] = (float)(sum + second.weight * value_at(second.values, i));
    }
}

/* The same for weights of 1 and -1. A sum of two floats that is rounded to a
 * double and then to a float is the sum rounded to a float at once, as 53 >=
 * 2 * 24 + 2 (Figueroa 1995, "When is double rounding innocuous?"). */
CPU_INLINE void mix_whole_loop(struct weighed first, struct weighed second,
                               size_t count, float *to)
{
    float one = (float)first.weight, other = (float)second.weight;

    for (size_t i = 0; i < count; i++) {
        float sum = 0.0F + one * float_at(first.values, i);

        to[i] = sum + other * float_at(second.values, i);
    }
}

CPU_INLINE void divide_loop(double *values, size_t count, double by)
{
    for (size_t i = 0; i < count; i++)
        values[i] /= by;
}

CPU_INLINE void squares_loop(const void *values, size_t count, double *lanes)
{
    double lane[FLOATS_LANES];
    size_t whole = count - count % FLOATS_LANES;

    memcpy(lane, lanes, sizeof lane);
    for (size_t i = 0; i < whole; i += FLOATS_LANES)
        for (size_t j = 0; j < FLOATS_LANES; j++)
            lane[j] += value_at(values, i + j) * value_at(values, i + j);
    for (size_t i = whole; i < count; i++)
        lane[i - whole] += value_at(values, i) * value_at(values, i);
    memcpy(lanes, lane, sizeof lane);
}

CPU_INLINE void doubles_loop(const double *values, size_t count, double *lanes)
{
    double lane[FLOATS_LANES];
    size_t whole = count - count % FLOATS_LANES;

    memcpy(lane, lanes, sizeof lane);
    for (size_t i = 0; i < whole; i += FLOATS_LANES)
        for (size_t j = 0; j < FLOATS_LANES; j++)
            lane[j] += values[i + j] * values[i + j];
    for (size_t i = whole; i < count; i++)
        lane[i - whole] += values[i] * values[i];
    memcpy(lanes, lane, sizeof lane);
}

struct loops {
    void (*add)(const void *values, size_t count, double weight, double *into);
    void (*add_two)(struct weighed first, struct weighed second, size_t count,
                    double *into);
    void (*round)(const double *values, size_t count, float *to);
    void (*mix)(struct weighed first, struct weighed second, size_t count,
                float *to);
    void (*mix_whole)(struct weighed first, struct weighed second, size_t count,
                      float *to);
    void (*divide)(double *values, size_t count, double by);
    void (*multiply)(double *values, size_t count, double by);
    void (*move)(const double *by, size_t count, double weight, float *to);
    void (*squares)(const void *values, size_t count, double *lanes);
    void (*doubles)(const double *values, size_t count, double *lanes);
};

#define VARIANT(name, attribute)                                               \
    attribute static void add_##name(const void *values, size_t count,         \
                                     double weight, double *into)              \
    {                                                                          \
        add_loop(values, count, weight, into);                                 \
    }                                                                          \
    attribute static void add_two_##name(struct weighed first,                 \
                                         struct weighed second, size_t count,  \
                                         double *into)                         \
    {                                                                          \
        add_two_loop(first, second, count, into);                              \
    }                                                                          \
    attribute static void multiply_##name(double *values, size_t count,        \
                                          double by)                           \
    {                                                                          \
        multiply_loop(values, count, by);                                      \
    }                                                                          \
    attribute static void move_##name(const double *by, size_t count,          \
                                      double weight, float *to)                \
    {                                                                          \
        move_loop(by, count, weight, to);                                      \
    }                                                                          \
    attribute static void round_##name(const double *values, size_t count,     \
                                       float *to)                              \
    {                                                                          \
        round_loop(values, count, to);                                         \
    }                                                                          \
    attribute static void mix_##name(                                          \
        struct weighed first, struct weighed second, size_t count, float *to)  \
    {                                                                          \
        mix_loop(first, second, count, to);                                    \
    }                                                                          \
    attribute static void mix_whole_##name(                                    \
        struct weighed first, struct weighed second, size_t count, float *to)  \
    {                                                                          \
        mix_whole_loop(first, second, count, to);                              \
    }                                                                          \
    attribute static void divide_##name(double *values, size_t count,          \
                                        double by)                             \
    {                                                                          \
        divide_loop(values, count, by);                                        \
    }                                                                          \
    attribute static void squares_##name(const void *values, size_t count,     \
                                         double *lanes)                        \
    {                                                                          \
        squares_loop(values, count, lanes);                                    \
    }                                                                          \
    attribute static void doubles_##name(const double *values, size_t count,   \
                                         double *lanes)                        \
    {                                                                          \
        doubles_loop(values, count, lanes);                                    \
    }                                                                          \
    static const struct loops name = {                                         \
        add_##name,       add_two_##name, round_##name,    mix_##name,         \
        mix_whole_##name, divide_##name,  multiply_##name, move_##name,        \
        squares_##name,   doubles_##name};

VARIANT(base, )
#ifdef __x86_64__
VARIANT(avx2, TARGET_AVX2)
VARIANT(avx512, TARGET_AVX512)
#endif

/* Loops as plain as these are their own reference. */
static const struct loops *const by_level[CPU_COUNT] = {
    [CPU_PLAIN] = &base,
    [CPU_BASE] = &base,
#ifdef __x86_64__
    [CPU_AVX2] = &avx2,
    [CPU_AVX512] = &avx512,
#endif
};

static const struct loops *loops(void)
{
    return by_level[cpu_level()];
}

void floats_add(const void *values, size_t count, double weight, double *into)
{
    loops()->add(values, count, weight, into);
}

void floats_add_two(struct weighed first, struct weighed second, size_t count,
                    double *into)
{
    loops()->add_two(first, second, count, into);
}

void floats_round(const double *values, size_t count, float *to)
{
    loops()->round(values, count, to);
}

void floats_mix(struct weighed first, struct weighed second, size_t count,
                float *to)
{
    if (fabs(first.weight) == 1 && fabs(second.weight) == 1)
        loops()->mix_whole(first, second, count, to);
    else
        loops()->mix(first, second, count, to);
}

/* Times a power of two is the same to the last bit, and faster. */
void floats_divide(double *values, size_t count, double by)
{
    int exponent;

    if (by == 1)
        return;
    if (frexp(by, &exponent) == 0.5 && exponent > -1000 && exponent < 1000)
        loops()->multiply(values, count, ldexp(1, 1 - exponent));
    else
        loops()->divide(values, count, by);
}

void floats_move(const double *by, size_t count, double weight, float *to)
{
    loops()->move(by, count, weight, to);
}

void squares_add(struct squares *squares, const void *values, size_t count)
{
    loops()->squares(values, count, squares->lane);
}

void squares_add_doubles(struct squares *squares, const double *values,
                         size_t count)
{
    loops()->doubles(values, count, squares->lane);
}

double squares_sum(const struct squares *squares)
{
    double sum = 0;

    for (unsigned i = 0; i < FLOATS_LANES; i++)
        sum += squares->lane[i];
    return sum;
}
