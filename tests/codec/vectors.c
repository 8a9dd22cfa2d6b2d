/* Numbers that were worked out by hand, codec by codec. */
#include <float.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/check.h"

/* One vector for all. */
static const float eight[] = {.1F, -.5F, .25F, 1, -.02F, 0, .33F, -.77F};
enum { EIGHT = 8, ROOM = 8192 };

static void decode(enum codec_id codec, const unsigned char *bytes,
                   size_t elements, double *values)
{
    memset(values, 0, elements * sizeof *values);
    codecs[codec].add(bytes, 0, elements, elements, 1, values);
}

static float float_at(const unsigned char *bytes)
{
    float value;

    memcpy(&value, bytes, sizeof value);
    return value;
}

static void check_half(enum codec_id codec, float value, unsigned expected)
{
    unsigned char bytes[2] = {0, 0};

    codecs[codec].encode(&value, 0, 1, 1, bytes);
    if (!CHECK_EQUAL(expected, bytes[0] | bytes[1] << 8))
        CHECK_NEAR(0, (double)value, 0);
}

static void t20_f16_rounds_to_the_nearest_and_ties_to_even(void)
{
    check_half(CODEC_F16, 0, 0);
    check_half(CODEC_F16, -0.0F, 0x8000);
    check_half(CODEC_F16, 1, 0x3c00);
    check_half(CODEC_F16, -2, 0xc000);
    check_half(CODEC_F16, .1F, 0x2e66);
    check_half(CODEC_F16, 1 + 0x1p-11F, 0x3c00);
    check_half(CODEC_F16, 1 + 0x1.8p-10F, 0x3c02);
    check_half(CODEC_F16, 0x1.ffep-1F + 0x1p-12F, 0x3c00);
    check_half(CODEC_F16, 0x1p-14F, 0x0400);
    check_half(CODEC_F16, 0x1p-24F, 1);
    check_half(CODEC_F16, 0x1p-25F, 0);
    check_half(CODEC_F16, 0x1.8p-24F, 2);
    check_half(CODEC_F16, -0x1.000002p-25F, 0x8001);
}

static void t20_bf16_rounds_to_the_nearest_and_ties_to_even(void)
{
    check_half(CODEC_BF16, 0, 0);
    check_half(CODEC_BF16, -0.0F, 0x8000);
    check_half(CODEC_BF16, 1, 0x3f80);
    check_half(CODEC_BF16, .1F, 0x3dcd);
    check_half(CODEC_BF16, 1 + 0x1p-8F, 0x3f80);
    check_half(CODEC_BF16, 1 + 0x1.8p-7F, 0x3f82);
    check_half(CODEC_BF16, -1 - 0x1.0002p-8F, 0xbf81);
    check_half(CODEC_BF16, 0x1p-133F, 1);
}

static void what_is_finite_stays_finite_in_two_bytes(void)
{
    check_half(CODEC_F16, 65504, 0x7bff);
    check_half(CODEC_F16, 65520, 0x7bff);
    check_half(CODEC_F16, -1e10F, 0xfbff);
    check_half(CODEC_F16, FLT_MAX, 0x7bff);
    check_half(CODEC_BF16, FLT_MAX, 0x7f7f);
    check_half(CODEC_BF16, -FLT_MAX, 0xff7f);
}

static void t20_int8_gives_the_known_codes(void)
{
    static const int codes[] = {13, -64, 32, 127, -3, 0, 42, -98};
    unsigned char bytes[4 + EIGHT];

    codecs[CODEC_INT8].encode(eight, 0, EIGHT, EIGHT, bytes);
    CHECK_NEAR(1 / 127.0, (double)float_at(bytes), 1e-9);
    for (int i = 0; i < EIGHT; i++)
        CHECK_EQUAL(codes[i], (signed char)bytes[4 + i]);
}

static void t20_int4_gives_the_known_codes_in_two_planes(void)
{
    static const int codes[] = {1, -4, 2, 7, 0, 0, 2, -5};
    unsigned char bytes[4 + EIGHT / 2];
    double values[EIGHT];

    codecs[CODEC_INT4].encode(eight, 0, EIGHT, EIGHT, bytes);
    for (int i = 0; i < EIGHT / 2; i++)
        CHECK_EQUAL((codes[i] & 15) | (codes[EIGHT / 2 + i] & 15) << 4,
                    bytes[4 + i]);
    decode(CODEC_INT4, bytes, EIGHT, values);
    for (int i = 0; i < EIGHT; i++)
        CHECK_NEAR(codes[i] / 7.0, values[i], 1e-7);
}

static void t20_e3m0_gives_the_known_values(void)
{
    static const double known[] = {.125, -.5, .25, 1, -.015625, 0, .25, -1};
    unsigned char bytes[4 + EIGHT / 2];
    double values[EIGHT];

    codecs[CODEC_E3M0].encode(eight, 0, EIGHT, EIGHT, bytes);
    decode(CODEC_E3M0, bytes, EIGHT, values);
    for (int i = 0; i < EIGHT; i++)
        CHECK_NEAR(known[i], values[i], 0);
}

static void e3m0_takes_the_larger_of_two_that_are_as_near(void)
{
    static const float halfway[] = {1,         .75F,    -.375F,
                                    0x1.8p-6F, 0x1p-7F, 0x1.fffffep-8F};
    static const double known[] = {1, 1, -.5, 0x1p-5, 0x1p-6, 0};
    unsigned char bytes[4 + 3];
    double values[6];

    codecs[CODEC_E3M0].encode(halfway, 0, 6, 6, bytes);
    decode(CODEC_E3M0, bytes, 6, values);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(known[i], values[i], 0);
}

static void t20_sign_has_the_known_scale_and_leaves_the_known_energy(void)
{
    unsigned char bytes[4 + 1];
    double values[EIGHT], energy = 0;

    codecs[CODEC_SIGN].encode(eight, 0, EIGHT, EIGHT, bytes);
    CHECK_NEAR(.37125, (double)float_at(bytes), 1e-7);
    CHECK_EQUAL(1 << 1 | 1 << 4 | 1 << 7, bytes[4]);
    decode(CODEC_SIGN, bytes, EIGHT, values);
    for (int i = 0; i < EIGHT; i++)
        energy +=
            (values[i] - (double)eight[i]) * (values[i] - (double)eight[i]);
    CHECK_NEAR(.9220875, energy, 1e-6);
}

/* Of 20 elements 10 % are two. */
static void t20_top_takes_the_known_places(void)
{
    static const unsigned char places[] = {3, 0, 7, 0};
    float values[20] = {0};
    unsigned char bytes[12];

    memcpy(values, eight, sizeof eight);
    codecs[CODEC_TOP10].encode(values, 0, 20, 20, bytes);
    CHECK(memcmp(places, bytes, sizeof places) == 0);
    CHECK_NEAR(1, (double)float_at(bytes + 4), 0);
    CHECK_NEAR((double)-.77F, (double)float_at(bytes + 8), 0);
}

static void of_equal_magnitudes_top_takes_the_first(void)
{
    static const unsigned char places[] = {2, 0, 3, 0, 9, 0};
    float values[30] = {0};
    unsigned char bytes[18];

    values[2] = -1;
    values[3] = values[17] = values[29] = 1;
    values[9] = 2;
    codecs[CODEC_TOP10].encode(values, 0, 30, 30, bytes);
    CHECK(memcmp(places, bytes, sizeof places) == 0);
    CHECK(codec_fits(CODEC_TOP10, bytes, sizeof bytes, 30));
}

static void top_refuses_places_out_of_order_or_beyond_the_block(void)
{
    static unsigned char bytes[ROOM];
    static float values[CODEC_GRAIN + 20];
    const size_t elements = CODEC_GRAIN + 20, last = (size_t)410 * 6;
    const size_t size = codecs[CODEC_TOP10].bound(elements);

    codecs[CODEC_TOP10].encode(values, 0, elements, elements, bytes);
    CHECK(codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[last + 2] = 19;
    CHECK(codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[last + 2] = 20;
    CHECK(!codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[last + 2] = 0;
    CHECK(!codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[last] = bytes[last + 2] = 1;
    CHECK(!codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[last] = 0;
    CHECK(codec_fits(CODEC_TOP10, bytes, size, elements));
    bytes[2 * 409 + 1] = CODEC_GRAIN >> 8;
    CHECK(!codec_fits(CODEC_TOP10, bytes, size, elements));
}

/* Of 65 elements two, of which -0.77 is -5 times 1/7 of the largest. */
static void sparse_gives_the_known_places_and_codes(void)
{
    static const unsigned char entries[] = {3, 0x70, 7, 0xb0};
    static unsigned char bytes[8];
    float values[65] = {0};
    double sums[65] = {0};

    memcpy(values, eight, sizeof eight);
    CHECK_EQUAL(8, codecs[CODEC_SPARSE].bound(65));
    codecs[CODEC_SPARSE].encode(values, 0, 65, 65, bytes);
    CHECK_NEAR((double)(1 / 7.0F), (double)float_at(bytes), 0);
    CHECK(memcmp(entries, bytes + 4, sizeof entries) == 0);
    codecs[CODEC_SPARSE].add(bytes, 0, 65, 65, 1, sums);
    CHECK_NEAR(1, sums[3], 1e-7);
    CHECK_NEAR(-5 / 7.0, sums[7], 1e-7);
    CHECK_NEAR(0, sums[1], 0);
    CHECK(codec_fits(CODEC_SPARSE, bytes, sizeof bytes, 65));
    bytes[6] = 65; /* beyond the block */
    CHECK(!codec_fits(CODEC_SPARSE, bytes, sizeof bytes, 65));
    bytes[6] = 3; /* twice */
    CHECK(!codec_fits(CODEC_SPARSE, bytes, sizeof bytes, 65));
}

static void t20_a_block_may_be_shorter(void)
{
    static const struct {
        enum codec_id codec;
        size_t elements, bytes;
    } sizes[] = {{CODEC_RAW, 3, 12},        {CODEC_F16, 257, 514},
                 {CODEC_BF16, 1, 2},        {CODEC_INT8, 1, 5},
                 {CODEC_INT8, 256, 260},    {CODEC_INT8, 257, 265},
                 {CODEC_INT4, 1, 5},        {CODEC_INT4, 3, 6},
                 {CODEC_INT4, 512, 264},    {CODEC_E3M0, 257, 137},
                 {CODEC_SIGN, 9, 6},        {CODEC_SIGN, 256, 36},
                 {CODEC_TOP1, 1, 6},        {CODEC_TOP1, 100, 6},
                 {CODEC_TOP1, 101, 12},     {CODEC_TOP1, 4096, 246},
                 {CODEC_TOP1, 4097, 252},   {CODEC_TOP10, 4096, 2460},
                 {CODEC_TOP10, 8192, 4920}, {CODEC_SPARSE, 1, 6},
                 {CODEC_SPARSE, 64, 6},     {CODEC_SPARSE, 65, 8},
                 {CODEC_SPARSE, 4096, 132}, {CODEC_SPARSE, 4097, 138}};

    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CHECK_EQUAL(sizes[i].bytes,
                    codecs[sizes[i].codec].bound(sizes[i].elements));
    for (int i = 0; i < CODEC_COUNT; i++)
        CHECK_EQUAL(0, codecs[i].bound(0));
}

/* So `bits` is what a long vector takes. */
static void the_bits_of_an_element_are_those_that_are_said(void)
{
    const size_t elements = (size_t)1 << 24;

    for (int i = 0; i < CODEC_COUNT; i++)
        CHECK_NEAR(codecs[i].bits,
                   8 * (double)codecs[i].bound(elements) / (double)elements,
                   0.006);
}

static void each_block_has_a_scale_of_its_own(void)
{
    static const enum codec_id scaled[] = {CODEC_INT8, CODEC_INT4, CODEC_E3M0,
                                           CODEC_SIGN};
    static unsigned char bytes[ROOM];
    float values[512];
    double decoded[512];

    for (int i = 0; i < 512; i++)
        values[i] = i < 256 ? 1000 : -.001F;
    for (unsigned i = 0; i < sizeof scaled / sizeof *scaled; i++) {
        codecs[scaled[i]].encode(values, 0, 512, 512, bytes);
        decode(scaled[i], bytes, 512, decoded);
        CHECK_NEAR(1000, decoded[0], 1e-3);
        CHECK_NEAR(1000, decoded[255], 1e-3);
        CHECK_NEAR(-.001, decoded[256], 1e-9);
        CHECK_NEAR(-.001, decoded[511], 1e-9);
    }
}

void add_codec_vectors_tests(CU_pSuite suite)
{
    TEST(t20_f16_rounds_to_the_nearest_and_ties_to_even);
    TEST(t20_bf16_rounds_to_the_nearest_and_ties_to_even);
    TEST(what_is_finite_stays_finite_in_two_bytes);
    TEST(t20_int8_gives_the_known_codes);
    TEST(t20_int4_gives_the_known_codes_in_two_planes);
    TEST(t20_e3m0_gives_the_known_values);
    TEST(e3m0_takes_the_larger_of_two_that_are_as_near);
    TEST(t20_sign_has_the_known_scale_and_leaves_the_known_energy);
    TEST(t20_top_takes_the_known_places);
    TEST(of_equal_magnitudes_top_takes_the_first);
    TEST(top_refuses_places_out_of_order_or_beyond_the_block);
    TEST(sparse_gives_the_known_places_and_codes);
    TEST(t20_a_block_may_be_shorter);
    TEST(the_bits_of_an_element_are_those_that_are_said);
    TEST(each_block_has_a_scale_of_its_own);
}
