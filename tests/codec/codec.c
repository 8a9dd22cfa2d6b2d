#include "codec/codec.h"

#include <math.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"

enum { ELEMENTS = 2 * CODEC_GRAIN + 17, MOST_BYTES = 8 * ELEMENTS + 64 };

static void fill(float *values)
{
    struct prng prng;

    prng_seed(&prng, 1);
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)prng_normal(&prng);
}

/* Encodes range by range, as jobs do. */
static void encode(const struct codec *codec, const float *values,
                   unsigned char *bytes)
{
    for (size_t first = 0; first < ELEMENTS; first += CODEC_GRAIN) {
        size_t left = ELEMENTS - first;

        codec->encode(values + first, first,
                      left < CODEC_GRAIN ? left : CODEC_GRAIN, ELEMENTS, bytes);
    }
}

static void every_codec_has_a_name_and_words(void)
{
    for (int i = 0; i < CODEC_COUNT; i++) {
        CHECK(strlen(codecs[i].name) > 0);
        CHECK(strlen(codecs[i].doc) > 0);
    }
}

static void a_payload_fits_when_it_has_exactly_the_size(void)
{
    static unsigned char bytes[4001];

    CHECK(codec_fits(CODEC_RAW, bytes, 4000, 1000));
    CHECK(!codec_fits(CODEC_RAW, bytes, 3999, 1000));
    CHECK(!codec_fits(CODEC_RAW, bytes, 4001, 1000));
    CHECK(!codec_fits(CODEC_COUNT, bytes, 4000, 1000));
    CHECK(!codec_fits((enum codec_id)(CODEC_COUNT + 1), bytes, 4000, 1000));
}

static void t20_raw_gives_back_every_bit(void)
{
    static unsigned char bytes[MOST_BYTES];
    static float values[ELEMENTS];
    static double sums[ELEMENTS];

    fill(values);
    memset(sums, 0, sizeof sums);
    encode(&codecs[CODEC_RAW], values, bytes);
    codecs[CODEC_RAW].add(bytes, 0, ELEMENTS, ELEMENTS, 1, sums);
    for (size_t i = 0; i < ELEMENTS; i++)
        if (!CHECK(!isless(sums[i], values[i]) &&
                   !isgreater(sums[i], values[i])))
            return;
}

static void an_encoding_has_the_announced_size(void)
{
    static unsigned char bytes[MOST_BYTES];
    static float values[ELEMENTS];

    fill(values);
    for (int i = 0; i < CODEC_COUNT; i++) {
        size_t size = codecs[i].bound(ELEMENTS);

        if (!CHECK(size < MOST_BYTES))
            return;
        memset(bytes, 0x5a, sizeof bytes);
        encode(&codecs[i], values, bytes);
        for (size_t at = size; at < MOST_BYTES; at++)
            if (!CHECK_EQUAL(0x5a, bytes[at]))
                return;
    }
}

static void adding_range_by_range_is_adding_all(void)
{
    static unsigned char bytes[MOST_BYTES];
    static float values[ELEMENTS];
    static double all[ELEMENTS], parts[ELEMENTS];

    fill(values);
    for (int i = 0; i < CODEC_COUNT; i++) {
        memset(all, 0, sizeof all);
        memset(parts, 0, sizeof parts);
        encode(&codecs[i], values, bytes);
        codecs[i].add(bytes, 0, ELEMENTS, ELEMENTS, 0.25, all);
        codecs[i].add(bytes, CODEC_GRAIN, ELEMENTS - CODEC_GRAIN, ELEMENTS,
                      0.25, parts + CODEC_GRAIN);
        codecs[i].add(bytes, 0, CODEC_GRAIN, ELEMENTS, 0.25, parts);
        for (size_t at = 0; at < ELEMENTS; at++)
            if (!CHECK_NEAR(all[at], parts[at], 0))
                return;
    }
}

/* Merging is add(w), error feedback is add(-1). */
static void t20_what_is_added_can_be_taken_out_again(void)
{
    static unsigned char bytes[MOST_BYTES];
    static float values[ELEMENTS];
    static double sums[ELEMENTS];

    fill(values);
    for (int i = 0; i < CODEC_COUNT; i++) {
        memset(sums, 0, sizeof sums);
        encode(&codecs[i], values, bytes);
        codecs[i].add(bytes, 0, ELEMENTS, ELEMENTS, 1, sums);
        codecs[i].add(bytes, 0, ELEMENTS, ELEMENTS, -1, sums);
        for (size_t at = 0; at < ELEMENTS; at++)
            if (!CHECK_NEAR(0, sums[at], 0))
                return;
    }
}

static void payloads_may_lie_at_any_address(void)
{
    static unsigned char bytes[MOST_BYTES], shifted[MOST_BYTES + 8];
    static float values[ELEMENTS];
    static double sums[ELEMENTS], others[ELEMENTS];

    fill(values);
    for (int i = 0; i < CODEC_COUNT; i++) {
        memset(sums, 0, sizeof sums);
        encode(&codecs[i], values, bytes);
        codecs[i].add(bytes, 0, ELEMENTS, ELEMENTS, 1, sums);
        for (size_t shift = 0; shift < 8; shift++) {
            memset(others, 0, sizeof others);
            encode(&codecs[i], values, shifted + shift);
            codecs[i].add(shifted + shift, 0, ELEMENTS, ELEMENTS, 1, others);
            CHECK(
                same_bytes(bytes, shifted + shift, codecs[i].bound(ELEMENTS)));
            CHECK(same_bytes(sums, others, sizeof sums));
        }
    }
}

void add_codec_codec_tests(CU_pSuite suite)
{
    TEST(every_codec_has_a_name_and_words);
    TEST(a_payload_fits_when_it_has_exactly_the_size);
    TEST(t20_raw_gives_back_every_bit);
    TEST(an_encoding_has_the_announced_size);
    TEST(adding_range_by_range_is_adding_all);
    TEST(t20_what_is_added_can_be_taken_out_again);
    TEST(payloads_may_lie_at_any_address);
}
