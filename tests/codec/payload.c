#include "codec/payload.h"

#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"

/* A bias in the middle, two next to each other, one alone between matrices, a
 * long one, a scalar at the end; the rest are matrices. */
static const struct {
    unsigned rank;
    uint64_t rows, columns;
} shapes[] = {{2, 100, 37}, {1, 37, 0},  {2, 37, 11}, {1, 11, 0},
              {1, 5, 0},    {2, 61, 83}, {1, 1, 0},   {2, 7, 13},
              {1, 5003, 0}, {2, 90, 50}, {0, 0, 0}};

enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    MOST = 20000,
    MOST_BYTES = 4 * MOST
};

struct model {
    struct schema *schema;
    struct exempt *exempt;
    uint64_t elements;
    float values[MOST];
    bool raw[MOST]; /* by asking each tensor */
};

static bool make(struct model *model)
{
    struct prng prng;

    model->schema = schema_new();
    for (unsigned i = 0; model->schema && i < SHAPES; i++) {
        const uint64_t shape[] = {shapes[i].rows, shapes[i].columns};
        char name[] = {(char)('a' + i), 0};

        (void)schema_add(model->schema, name, shapes[i].rank, shape, NULL);
    }
    CHECK(model->schema && model->schema->count == SHAPES);
    if (!model->schema)
        return false;
    model->exempt = exempt_new(model->schema);
    model->elements = model->schema->elements;
    for (unsigned i = 0; i < SHAPES; i++) {
        const struct tensor *tensor = &model->schema->tensors[i];

        for (uint64_t at = 0; at < tensor->elements; at++)
            model->raw[tensor->first + at] = tensor->rank < 2;
    }
    prng_seed(&prng, 3);
    for (uint64_t i = 0; i < model->elements; i++)
        model->values[i] = (float)prng_normal(&prng);
    return CHECK(model->exempt && model->elements <= MOST);
}

static void drop(struct model *model)
{
    exempt_destroy(&model->exempt);
    schema_destroy(&model->schema);
}

/* What the extent decodes to, tile by tile as jobs do it. */
static void decode(const struct extent *extent, enum codec_id codec,
                   const unsigned char *bytes, double *into)
{
    memset(into, 0, extent->elements * sizeof *into);
    for (size_t first = 0; first < extent->elements; first += CODEC_GRAIN) {
        size_t left = extent->elements - first;

        payload_add(extent, codec, bytes, first,
                    left < CODEC_GRAIN ? left : CODEC_GRAIN, 1, into + first);
    }
}

/* The same by hand: the elements that are encoded, end to end. */
static void expect(const struct model *model, const struct extent *extent,
                   enum codec_id codec, double *into)
{
    static float encoded[MOST];
    static unsigned char bytes[MOST_BYTES];
    static double decoded[MOST];
    size_t count = 0, next = 0;

    for (size_t i = 0; i < extent->elements; i++)
        if (!model->raw[extent->first + i])
            encoded[count++] = model->values[extent->first + i];
    for (size_t first = 0; first < count; first += CODEC_GRAIN)
        codecs[codec].encode(encoded + first, first,
                             count - first < CODEC_GRAIN ? count - first
                                                         : CODEC_GRAIN,
                             count, bytes);
    memset(decoded, 0, sizeof decoded);
    codecs[codec].add(bytes, 0, count, count, 1, decoded);
    for (size_t i = 0; i < extent->elements; i++)
        into[i] = model->raw[extent->first + i]
                      ? (double)model->values[extent->first + i]
                      : decoded[next++];
}

static size_t raw_in(const struct model *model, const struct extent *extent)
{
    size_t count = 0;

    for (size_t i = 0; i < extent->elements; i++)
        count += model->raw[extent->first + i];
    return count;
}

static bool check_chunk(const struct model *model, const struct extent *extent,
                        enum codec_id codec)
{
    static unsigned char bytes[MOST_BYTES + 16];
    static double expected[MOST], decoded[MOST];
    size_t size = payload_bytes(extent, codec), raw = raw_in(model, extent);
    bool held;

    memset(bytes, 0x5a, sizeof bytes);
    payload_encode(extent, codec, model->values + extent->first, bytes);
    decode(extent, codec, bytes, decoded);
    expect(model, extent, codec, expected);
    held = CHECK_EQUAL(codecs[codec].bound(extent->elements - raw) + 4 * raw,
                       size);
    for (int i = 0; i < 16; i++)
        held = CHECK_EQUAL(0x5a, bytes[size + (size_t)i]) && held;
    held = CHECK(memcmp(expected, decoded,
                        extent->elements * sizeof *decoded) == 0) &&
           held;
    held = CHECK(payload_fits(extent, codec, bytes, size)) && held;
    held = CHECK(!payload_fits(extent, codec, bytes, size - 1)) && held;
    return CHECK(!payload_fits(extent, codec, bytes, size + 1)) && held;
}

/* About 60 of the chunks, evenly. */
static bool check_chunks(const struct model *model, uint32_t chunk_elements,
                         enum codec_id codec)
{
    uint32_t count = chunks_of(model->elements, chunk_elements);

    for (uint32_t chunk = 0; chunk < count; chunk += 1 + count / 60) {
        struct extent extent =
            extent_of(model->exempt, model->elements, chunk_elements, chunk);

        if (!check_chunk(model, &extent, codec)) {
            CHECK_EQUAL(-1, chunk);
            return false;
        }
    }
    return true;
}

static void vectors_and_scalars_stay_raw_whatever_the_codec(void)
{
    static const uint32_t chunks[] = {MOST, 7777, 4096, 3737, 1024, 37, 5, 1};
    static struct model model;

    if (!make(&model))
        return;
    for (unsigned i = 0; i < sizeof chunks / sizeof *chunks; i++)
        for (unsigned codec = 0; codec < CODEC_COUNT; codec++)
            if (!check_chunks(&model, chunks[i], (enum codec_id)codec)) {
                CHECK_EQUAL(0, chunks[i]);
                CHECK_TEXT("", codecs[codec].name);
            }
    drop(&model);
}

static void adding_by_ranges_is_adding_the_whole(void)
{
    static struct model model;
    static unsigned char bytes[MOST_BYTES];
    static double whole[MOST], parts[MOST];
    struct extent extent;
    struct prng prng;

    if (!make(&model))
        return;
    prng_seed(&prng, 5);
    extent = extent_of(model.exempt, model.elements, 9999, 1);
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        payload_encode(&extent, (enum codec_id)codec,
                       model.values + extent.first, bytes);
        decode(&extent, (enum codec_id)codec, bytes, whole);
        memset(parts, 0, sizeof parts);
        for (size_t first = 0; first < extent.elements;) {
            size_t count = 1 + (size_t)prng_below(&prng, 700);

            if (count > extent.elements - first)
                count = extent.elements - first;
            payload_add(&extent, (enum codec_id)codec, bytes, first, count, 1,
                        parts + first);
            first += count;
        }
        CHECK(memcmp(whole, parts, extent.elements * sizeof *parts) == 0);
    }
    drop(&model);
}

static void no_exempt_elements_is_the_codec_alone(void)
{
    static const float values[] = {1, -2, 3};
    struct extent extent = {.first = 5, .elements = 3};
    unsigned char bytes[16];
    double sums[] = {10, 10, 10};

    CHECK_EQUAL(6, payload_bytes(&extent, CODEC_F16));
    payload_encode(&extent, CODEC_F16, values, bytes);
    payload_add(&extent, CODEC_F16, bytes, 1, 2, 2, sums + 1);
    CHECK_NEAR(10, sums[0], 0);
    CHECK_NEAR(6, sums[1], 0);
    CHECK_NEAR(16, sums[2], 0);
}

static void neighbours_are_one_range(void)
{
    static struct model model;

    if (!make(&model))
        return;
    CHECK_EQUAL(5, model.exempt->count);
    CHECK_EQUAL(3700, model.exempt->range[0].first);
    CHECK_EQUAL(3737, model.exempt->range[0].end);
    CHECK_EQUAL(16, model.exempt->range[1].end - model.exempt->range[1].first);
    CHECK_EQUAL(37 + 16 + 1, model.exempt->range[3].before);
    CHECK_EQUAL(model.elements, model.exempt->range[4].end);
    drop(&model);
}

/* All is exempt: nothing is left for the codec. */
static void a_model_of_vectors_is_raw(void)
{
    static const float values[] = {1e-30F, 1e30F, -1};
    const uint64_t shape[] = {3};
    struct schema *schema = schema_new();
    struct exempt *exempt;
    struct extent extent;
    unsigned char bytes[12];

    if (!CHECK(schema) || !CHECK_OK(schema_add(schema, "b", 1, shape, NULL)))
        return;
    exempt = exempt_new(schema);
    extent = extent_of(exempt, 3, 8, 0);
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        CHECK_EQUAL(sizeof bytes, payload_bytes(&extent, (enum codec_id)codec));
        payload_encode(&extent, (enum codec_id)codec, values, bytes);
        CHECK(same_bytes(values, bytes, sizeof bytes));
        CHECK(payload_fits(&extent, (enum codec_id)codec, bytes, sizeof bytes));
    }
    exempt_destroy(&exempt);
    schema_destroy(&schema);
}

/* A simulated model of 3,000 elements of which three are there. */
static void on_a_link_a_payload_counts_for_what_it_stands_for(void)
{
    struct extent extent = {.elements = 3, .scale = 1000};

    for (unsigned i = 0; i < CODEC_COUNT; i++)
        CHECK_EQUAL(codecs[i].bound(3000),
                    payload_wire_bytes(&extent, (enum codec_id)i));
    CHECK_EQUAL(12, payload_bytes(&extent, CODEC_RAW));
    extent.scale = 1;
    CHECK_EQUAL(12, payload_wire_bytes(&extent, CODEC_RAW));
}

static void a_codec_that_there_is_not_fits_nothing(void)
{
    struct extent extent = {.elements = 3};
    unsigned char bytes[12] = {0};

    CHECK(payload_fits(&extent, CODEC_RAW, bytes, 12));
    CHECK(!payload_fits(&extent, CODEC_COUNT, bytes, 12));
    CHECK(!payload_fits(&extent, CODEC_RAW, bytes, 0));
}

void add_codec_payload_tests(CU_pSuite suite)
{
    TEST(vectors_and_scalars_stay_raw_whatever_the_codec);
    TEST(adding_by_ranges_is_adding_the_whole);
    TEST(no_exempt_elements_is_the_codec_alone);
    TEST(neighbours_are_one_range);
    TEST(a_model_of_vectors_is_raw);
    TEST(on_a_link_a_payload_counts_for_what_it_stands_for);
    TEST(a_codec_that_there_is_not_fits_nothing);
}
