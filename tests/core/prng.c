#include "core/prng.h"

#include <math.h>

#include "tests/check.h"

static void equal_seeds_give_equal_numbers(void)
{
    struct prng a, b, c;
    unsigned same = 0;

    prng_seed(&a, 7);
    prng_seed(&b, 7);
    prng_seed(&c, 8);
    for (unsigned i = 0; i < 100; i++) {
        uint64_t word = prng_next(&a);

        CHECK(word == prng_next(&b));
        same += word == prng_next(&c);
    }
    CHECK_EQUAL(0, same);
}

/* Computed by hand from the definition: state 1, 2, 3, 4. */
static void the_first_words_are_those_of_xoshiro256_starstar(void)
{
    struct prng prng = {{1, 2, 3, 4}};

    CHECK_EQUAL(11520, prng_next(&prng));
    CHECK_EQUAL(0, prng_next(&prng));
    CHECK_EQUAL(1509978240, prng_next(&prng));
    CHECK_EQUAL(1215971899390074240, prng_next(&prng));
}

/* The first output of splitmix64 with seed 0, as published. */
static void mixing_is_splitmix64(void)
{
    CHECK(prng_mix(0) == UINT64_C(0xe220a8397b1dcdaf));
}

static void seed_zero_is_as_good_as_any(void)
{
    struct prng prng;

    prng_seed(&prng, 0);
    CHECK(prng.state[0] || prng.state[1] || prng.state[2] || prng.state[3]);
    CHECK(prng_next(&prng) != prng_next(&prng));
}

static void numbers_below_a_bound_are_even(void)
{
    struct prng prng;
    unsigned count[7] = {0};

    prng_seed(&prng, 1);
    for (unsigned i = 0; i < 70000; i++)
        count[prng_below(&prng, 7)]++;
    for (unsigned i = 0; i < 7; i++)
        CHECK_NEAR(10000, count[i], 400);
    for (unsigned i = 0; i < 100; i++)
        CHECK_EQUAL(0, prng_below(&prng, 1));
    CHECK(prng_below(&prng, UINT64_MAX) < UINT64_MAX);
}

static void units_stay_below_one(void)
{
    struct prng prng;
    double sum = 0;

    prng_seed(&prng, 2);
    for (unsigned i = 0; i < 10000; i++) {
        double unit = prng_unit(&prng);

        CHECK(unit >= 0 && unit < 1);
        sum += unit;
    }
    CHECK_NEAR(0.5, sum / 10000, 0.02);
}

static void normals_have_mean_zero_and_variance_one(void)
{
    struct prng prng;
    double sum = 0, squares = 0;

    prng_seed(&prng, 3);
    for (unsigned i = 0; i < 100000; i++) {
        double x = prng_normal(&prng);

        sum += x;
        squares += x * x;
    }
    CHECK_NEAR(0, sum / 100000, 0.02);
    CHECK_NEAR(1, squares / 100000, 0.02);
}

void add_core_prng_tests(CU_pSuite suite)
{
    TEST(equal_seeds_give_equal_numbers);
    TEST(the_first_words_are_those_of_xoshiro256_starstar);
    TEST(mixing_is_splitmix64);
    TEST(seed_zero_is_as_good_as_any);
    TEST(numbers_below_a_bound_are_even);
    TEST(units_stay_below_one);
    TEST(normals_have_mean_zero_and_variance_one);
}
