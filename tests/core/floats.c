#include "core/floats.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/cpu.h"
#include "core/prng.h"
#include "tests/check.h"

enum { MOST = 100 };

/* Whatever instructions are used, results are the same. */
static void at_every_level(void (*check)(void))
{
    enum cpu_level best = cpu_limit(CPU_AVX512);

    for (unsigned level = CPU_PLAIN; level <= best; level++) {
        (void)cpu_limit((enum cpu_level)level);
        check();
    }
    (void)cpu_limit(CPU_AVX512);
}

/* Values of every size, at an odd address. */
static const void *fill(struct prng *prng, unsigned char *bytes, float *values)
{
    for (int i = 0; i < MOST; i++) {
        values[i] = (float)ldexp(prng_unit(prng) - 0.5,
                                 (int)prng_below(prng, 200) - 100);
        memcpy(bytes + 1 + (size_t)i * sizeof *values, &values[i],
               sizeof *values);
    }
    return bytes + 1;
}

static bool same(const double *one, const double *other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (one[i] != other[i])
            return false;
    return true;
}

static void check_sums(void)
{
    unsigned char bytes[1 + MOST * sizeof(float)];
    float values[MOST], rounded[MOST];
    struct prng prng;

    prng_seed(&prng, 1);
    for (size_t count = 0; count <= MOST; count++) {
        const void *packed = fill(&prng, bytes, values);
        double into[MOST] = {0}, expected[MOST] = {0};

        for (size_t i = 0; i < count; i++) {
            into[i] = prng_unit(&prng);
            expected[i] = (into[i] + 0.3 * (double)values[i]) / 3;
        }
        floats_add(packed, count, 0.3, into);
        floats_divide(into, count, 3);
        CHECK(same(expected, into, count));
        floats_divide(into, count, 1);
        CHECK(same(expected, into, count));
        floats_round(into, count, rounded);
        for (size_t i = 0; i < count; i++)
            CHECK(rounded[i] == (float)expected[i]);
    }
}

static void sums_are_those_of_a_plain_loop_to_the_last_bit(void)
{
    at_every_level(check_sums);
}

static void check_mix(void)
{
    static const double weights[] = {1, -1, 0.7};
    unsigned char bytes[1 + MOST * sizeof(float)];
    float values[MOST], others[MOST], mixed[MOST], expected[MOST];
    struct prng prng;

    prng_seed(&prng, 3);
    for (size_t count = 0; count <= MOST; count++) {
        struct weighed first = {fill(&prng, bytes, values), weights[count % 3]};
        struct weighed second = {others, weights[count / 3 % 3]};
        double sum[MOST] = {0};

        for (size_t i = 0; i < MOST; i++)
            others[i] = i % 3 ? (float)ldexp((double)values[i] * 0.7,
                                             (int)prng_below(&prng, 60) - 30)
                              : values[i];
        values[0] = -0.0f;
        others[0] = 0.0f;
        memcpy(bytes + 1, values, sizeof *values);
        floats_add(first.values, count, first.weight, sum);
        floats_add(second.values, count, second.weight, sum);
        floats_round(sum, count, expected);
        floats_mix(first, second, count, mixed);
        for (size_t i = 0; i < count; i++)
            CHECK(expected[i] == mixed[i] &&
                  !signbit(expected[i]) == !signbit(mixed[i]));
    }
}

static void a_mix_is_two_additions_and_a_rounding(void)
{
    at_every_level(check_mix);
}

static void check_two(void)
{
    unsigned char bytes[1 + MOST * sizeof(float)];
    float values[MOST], others[MOST];
    struct prng prng;

    prng_seed(&prng, 4);
    for (size_t count = 0; count <= MOST; count++) {
        struct weighed first = {fill(&prng, bytes, values), 0.3};
        struct weighed second = {others, -1.7};
        double into[MOST] = {0}, expected[MOST] = {0};

        for (size_t i = 0; i < MOST; i++) {
            others[i] = (float)prng_unit(&prng);
            into[i] = expected[i] = prng_unit(&prng);
        }
        floats_add(first.values, count, first.weight, expected);
        floats_add(second.values, count, second.weight, expected);
        floats_add_two(first, second, count, into);
        CHECK(same(expected, into, count));
    }
}

static void check_divisions(void)
{
    static const double divisors[] = {2, 0.25, -4, 3, 0x1p-1022, 0x1p1023};

    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        double values[] = {1, -0.3, 1e300, 5e-324, 0, INFINITY};
        double expected[6];

        for (int j = 0; j < 6; j++)
            expected[j] = values[j] / divisors[i];
        floats_divide(values, 6, divisors[i]);
        CHECK(same(expected, values, 6));
    }
}

static void check_moves(void)
{
    struct prng prng;

    prng_seed(&prng, 5);
    for (size_t count = 0; count <= MOST; count++) {
        double by[MOST];
        float values[MOST], expected[MOST];

        for (size_t i = 0; i < MOST; i++) {
            by[i] = prng_unit(&prng);
            values[i] = (float)prng_unit(&prng);
            expected[i] = (float)((double)values[i] - 0.7 * by[i]);
        }
        floats_move(by, count, -0.7, values);
        for (size_t i = 0; i < count; i++)
            CHECK(values[i] == expected[i]);
    }
}

static void two_additions_at_once_are_one_after_the_other(void)
{
    at_every_level(check_two);
}

static void dividing_by_powers_of_two_is_dividing(void)
{
    at_every_level(check_divisions);
}

static void values_move_by_what_is_rounded_last(void)
{
    at_every_level(check_moves);
}

static void check_squares(void)
{
    unsigned char bytes[1 + MOST * sizeof(float)];
    float values[MOST];
    double doubles[MOST];
    struct prng prng;

    prng_seed(&prng, 2);
    for (size_t count = 0; count <= MOST; count++) {
        const void *packed = fill(&prng, bytes, values);
        struct squares whole = {{0}}, parts = {{0}}, wide = {{0}};
        double lane[FLOATS_LANES] = {0}, sum = 0;
        size_t head = count / 2 / FLOATS_LANES * FLOATS_LANES;

        for (size_t i = 0; i < MOST; i++)
            doubles[i] = (double)values[i];
        for (size_t i = 0; i < count; i++)
            lane[i % FLOATS_LANES] += doubles[i] * doubles[i];
        for (int i = 0; i < FLOATS_LANES; i++)
            sum += lane[i];
        squares_add(&whole, packed, count);
        CHECK(squares_sum(&whole) == sum);
        squares_add(&parts, values, head);
        squares_add_doubles(&parts, doubles + head, count - head);
        CHECK(same(whole.lane, parts.lane, FLOATS_LANES));
        squares_add_doubles(&wide, doubles, count);
        CHECK(same(whole.lane, wide.lane, FLOATS_LANES));
    }
}

static void squares_are_added_up_in_lanes(void)
{
    at_every_level(check_squares);
}

static void check_bad_values(void)
{
    for (int i = 0; i < MOST; i++) {
        float values[MOST] = {0};
        struct squares nan = {{0}}, infinite = {{0}};

        values[i] = NAN;
        squares_add(&nan, values, MOST);
        CHECK(!isfinite(squares_sum(&nan)));
        values[i] = -INFINITY;
        squares_add(&infinite, values, MOST);
        CHECK(!isfinite(squares_sum(&infinite)));
    }
}

static void one_bad_value_anywhere_makes_the_squares_bad(void)
{
    at_every_level(check_bad_values);
}

void add_core_floats_tests(CU_pSuite suite)
{
    TEST(sums_are_those_of_a_plain_loop_to_the_last_bit);
    TEST(a_mix_is_two_additions_and_a_rounding);
    TEST(two_additions_at_once_are_one_after_the_other);
    TEST(dividing_by_powers_of_two_is_dividing);
    TEST(values_move_by_what_is_rounded_last);
    TEST(squares_are_added_up_in_lanes);
    TEST(one_bad_value_anywhere_makes_the_squares_bad);
}
