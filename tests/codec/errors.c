/* What codecs leave out: how much of normal values, and at most how much. */
#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "core/prng.h"
#include "tests/check.h"

enum { ELEMENTS = 1 << 16, BLOCK = 256 };

static float values[ELEMENTS];
static unsigned char bytes[ELEMENTS * sizeof(float)];
static double decoded[ELEMENTS];

static double cube(double value)
{
    return value * value * value;
}

static double same(double value)
{
    return value;
}

/* Of normal numbers, by a function that may give them longer tails. */
static void fill(double (*of)(double value))
{
    struct prng prng;

    prng_seed(&prng, 20);
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)of(prng_normal(&prng));
}

static void there_and_back(enum codec_id codec)
{
    for (size_t first = 0; first < ELEMENTS; first += CODEC_GRAIN)
        codecs[codec].encode(values + first, first, CODEC_GRAIN, ELEMENTS,
                             bytes);
    memset(decoded, 0, sizeof decoded);
    codecs[codec].add(bytes, 0, ELEMENTS, ELEMENTS, 1, decoded);
}

static double energy(size_t first, size_t count)
{
    double sum = 0;

    for (size_t i = first; i < first + count; i++)
        sum += (double)values[i] * (double)values[i];
    return sum;
}

static double lost(size_t first, size_t count)
{
    double sum = 0;

    for (size_t i = first; i < first + count; i++) {
        double error = (double)values[i] - decoded[i];

        sum += error * error;
    }
    return sum;
}

static void t20_normal_values_lose_the_known_share_of_their_energy(void)
{
    static const struct {
        enum codec_id codec;
        double share, tolerance;
    } known[] = {{CODEC_RAW, 0, 0},
                 {CODEC_F16, 4.3e-8, .3e-8},
                 {CODEC_BF16, 2.8e-6, .2e-6},
                 {CODEC_INT8, 4.8e-5, .2e-5},
                 {CODEC_INT4, 1.6e-2, .04e-2},
                 {CODEC_E3M0, 3.7e-2, .15e-2},
                 {CODEC_SIGN, .363, .003},
                 {CODEC_TOP1, .914, .003},
                 {CODEC_TOP10, .56, .01},
                 {CODEC_SPARSE, .881, .003}};

    fill(same);
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        there_and_back(known[i].codec);
        if (!CHECK_NEAR(known[i].share, lost(0, ELEMENTS) / energy(0, ELEMENTS),
                        known[i].tolerance))
            CHECK_TEXT("", codecs[known[i].codec].name);
    }
}

/* hivemind's acceptance test for its codecs. */
static void t20_the_mean_square_error_is_what_hivemind_accepts(void)
{
    fill(same);
    there_and_back(CODEC_F16);
    CHECK(lost(0, ELEMENTS) / ELEMENTS < 5e-8);
    there_and_back(CODEC_INT8);
    CHECK(lost(0, ELEMENTS) / ELEMENTS < 8e-4);
}

static void t20_two_bytes_lose_at_most_half_of_the_last_bit(void)
{
    fill(cube);
    there_and_back(CODEC_F16);
    for (size_t i = 0; i < ELEMENTS; i++) {
        double size = fabs((double)values[i]);

        if (!CHECK(fabs(decoded[i] - (double)values[i]) <=
                   fmax(size * 0x1p-11, 0x1p-25)))
            return;
    }
    there_and_back(CODEC_BF16);
    for (size_t i = 0; i < ELEMENTS; i++)
        if (!CHECK(fabs(decoded[i] - (double)values[i]) <=
                   fabs((double)values[i]) * 0x1p-8))
            return;
}

static double largest(size_t first)
{
    double max = 0;

    for (size_t i = first; i < first + BLOCK; i++)
        max = fmax(max, fabs((double)values[i]));
    return max;
}

static void check_steps(enum codec_id codec, double steps)
{
    there_and_back(codec);
    for (size_t i = 0; i < ELEMENTS; i++) {
        double half = largest(i / BLOCK * BLOCK) / steps / 2;

        if (!CHECK(fabs(decoded[i] - (double)values[i]) <= half * (1 + 1e-5)))
            return;
    }
}

static void t20_integers_lose_at_most_half_a_step(void)
{
    fill(cube);
    check_steps(CODEC_INT8, 127);
    check_steps(CODEC_INT4, 7);
}

static void t20_e3m0_loses_at_most_a_third(void)
{
    fill(cube);
    there_and_back(CODEC_E3M0);
    for (size_t i = 0; i < ELEMENTS; i++) {
        double size = fabs((double)values[i]);
        double least = largest(i / BLOCK * BLOCK) * 0x1p-6;
        double error = fabs(decoded[i] - (double)values[i]);

        if (!CHECK(size >= least ? error <= size / 3 * (1 + 1e-6)
                                 : error <= least / 2 * (1 + 1e-6)))
            return;
    }
}

/* ||p - Q(p)||^2 <= (1 - delta) ||p||^2, here with delta = ||p||_1^2 /
 * (P ||p||_2^2), the cosine with the signs, squared. */
static void t20_sign_is_a_contraction(void)
{
    fill(cube);
    there_and_back(CODEC_SIGN);
    for (size_t first = 0; first < ELEMENTS; first += BLOCK) {
        double sum = 0;

        for (size_t i = first; i < first + BLOCK; i++)
            sum += fabs((double)values[i]);
        CHECK_NEAR(energy(first, BLOCK) - sum * sum / BLOCK, lost(first, BLOCK),
                   1e-6 * energy(first, BLOCK));
    }
}

static void check_top(enum codec_id codec, double kept)
{
    there_and_back(codec);
    for (size_t first = 0; first < ELEMENTS; first += CODEC_GRAIN)
        CHECK(lost(first, CODEC_GRAIN) <= (1 - kept / CODEC_GRAIN) *
                                              energy(first, CODEC_GRAIN) *
                                              (1 + 1e-12));
}

static double one(double value)
{
    return value < 0 ? -1 : 1;
}

/* With delta = K / P, which equal magnitudes reach. */
static void t20_top_is_a_contraction(void)
{
    fill(cube);
    check_top(CODEC_TOP1, 41);
    check_top(CODEC_TOP10, 410);
    fill(one);
    check_top(CODEC_TOP1, 41);
    CHECK_NEAR(CODEC_GRAIN - 41, lost(0, CODEC_GRAIN), 0);
    check_top(CODEC_TOP10, 410);
    CHECK_NEAR(CODEC_GRAIN - 410, lost(0, CODEC_GRAIN), 0);
}

/* Of values of one magnitude each that is kept is a whole number of steps, so
 * that what is lost is 1 - 64/4096; else each also loses half a step at most.
 */
static void sparse_is_a_contraction_but_for_half_a_step(void)
{
    fill(one);
    there_and_back(CODEC_SPARSE);
    CHECK_NEAR(CODEC_GRAIN - 64, lost(0, CODEC_GRAIN), 0);
    fill(cube);
    there_and_back(CODEC_SPARSE);
    for (size_t first = 0; first < ELEMENTS; first += CODEC_GRAIN) {
        double half = largest(first / BLOCK * BLOCK) / 14;

        for (size_t i = first; i < first + CODEC_GRAIN; i += BLOCK)
            half = fmax(half, largest(i) / 14);
        CHECK(lost(first, CODEC_GRAIN) <=
              (1 - 64.0 / CODEC_GRAIN) * energy(first, CODEC_GRAIN) +
                  64 * half * half * (1 + 1e-6));
    }
}

static float given[ELEMENTS], left[ELEMENTS];
static double added[ELEMENTS];

static void send_with_what_was_left(enum codec_id codec)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = given[i] + left[i];
    there_and_back(codec);
    for (size_t i = 0; i < ELEMENTS; i++) {
        added[i] += decoded[i];
        left[i] = (float)((double)values[i] - decoded[i]);
    }
}

/* Error feedback: what was left out is offered again, so that what has been
 * added, and what is left, are all that was given. */
static void t20_what_is_left_out_is_sent_later(void)
{
    enum { ROUNDS = 5 };

    fill(same);
    memcpy(given, values, sizeof given);
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        memset(added, 0, sizeof added);
        memset(left, 0, sizeof left);
        for (int round = 0; round < ROUNDS; round++)
            send_with_what_was_left((enum codec_id)codec);
        for (size_t i = 0; i < ELEMENTS; i++)
            if (!CHECK_NEAR(ROUNDS * (double)given[i],
                            added[i] + (double)left[i], 1e-5))
                break;
    }
}

void add_codec_errors_tests(CU_pSuite suite)
{
    TEST(t20_normal_values_lose_the_known_share_of_their_energy);
    TEST(t20_the_mean_square_error_is_what_hivemind_accepts);
    TEST(t20_two_bytes_lose_at_most_half_of_the_last_bit);
    TEST(t20_integers_lose_at_most_half_a_step);
    TEST(t20_e3m0_loses_at_most_a_third);
    TEST(t20_sign_is_a_contraction);
    TEST(t20_top_is_a_contraction);
    TEST(sparse_is_a_contraction_but_for_half_a_step);
    TEST(t20_what_is_left_out_is_sent_later);
}
