#include "core/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "tests/check.h"

static const uint64_t one[] = {1};

/* A model of three layers, or with another second one. */
static struct schema *make_model(uint64_t width)
{
    const uint64_t w1[] = {784, 128}, w2[] = {width, 10}, b2[] = {10};
    struct schema *schema = schema_new();

    CHECK_OK(schema_add(schema, "w1", 2, w1, NULL));
    CHECK_OK(schema_add(schema, "scale", 0, NULL, NULL));
    CHECK_OK(schema_add(schema, "w2", 2, w2, NULL));
    CHECK_OK(schema_add(schema, "b2", 1, b2, NULL));
    return schema;
}

static const char model_text[] = "w1 f32 784,128\n"
                                 "scale f32 -\n"
                                 "w2 f32 128,10\n"
                                 "b2 f32 10\n";

static void tensors_lie_one_behind_the_other(void)
{
    struct schema *schema = make_model(128);

    CHECK_EQUAL(4, schema->count);
    CHECK_EQUAL(0, schema->tensors[0].first);
    CHECK_EQUAL(784 * 128, schema->tensors[0].elements);
    CHECK_EQUAL(784 * 128, schema->tensors[1].first);
    CHECK_EQUAL(1, schema->tensors[1].elements);
    CHECK_EQUAL(784 * 128 + 1, schema->tensors[2].first);
    CHECK_EQUAL(784 * 128 + 1 + 1280 + 10, schema->elements);
    schema_destroy(&schema);
    CHECK(schema == NULL);
    schema_destroy(&schema);
}

static void a_schema_is_printed_as_lines(void)
{
    struct schema *schema = make_model(128);
    char text[sizeof model_text];

    CHECK_EQUAL(sizeof text - 1, schema_print(schema, text, sizeof text - 1));
    CHECK(memcmp(model_text, text, sizeof text - 1) == 0);
    CHECK_EQUAL(0, schema_print(schema, text, sizeof text - 2));
    CHECK(schema->hash == XXH3_64bits(text, sizeof text - 1));
    schema_destroy(&schema);
}

static void what_is_printed_can_be_read(void)
{
    struct schema *ours = make_model(128);
    struct schema *theirs =
        schema_parse(model_text, sizeof model_text - 1, NULL);

    CHECK(theirs != NULL);
    if (theirs) {
        CHECK_OK(schema_compare(ours, theirs, NULL));
        CHECK(ours->hash == theirs->hash);
        CHECK_EQUAL(ours->elements, theirs->elements);
        CHECK_EQUAL(ours->tensors[3].first, theirs->tensors[3].first);
    }
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

/* Parses from exactly as many bytes, so that a sanitizer sees what is read
 * beyond them. */
static bool is_refused(const char *text, size_t size, struct why *why)
{
    char *exact = malloc(size ? size : 1);
    struct schema *schema;
    bool refused;

    memcpy(exact, text, size);
    schema = schema_parse(exact, size, why);
    refused = schema == NULL;
    schema_destroy(&schema);
    free(exact);
    return refused;
}

static void texts_that_are_not_a_schema_are_refused(void)
{
    static const char *const texts[] = {
        "",
        "\n",
        "w",
        "w\n",
        "w f32\n",
        "w f32 \n",
        "w f32 1",
        " w f32 1\n",
        "w  f32 1\n",
        "w f32  1\n",
        "w f32 1 \n",
        "w f32 1\r\n",
        "w f32 1\n\n",
        "w f32 0\n",
        "w f32 01\n",
        "w f32 +1\n",
        "w f32 -1\n",
        "w f32 --\n",
        "w f32 1,\n",
        "w f32 ,1\n",
        "w f32 1,,1\n",
        "w f32 1,-\n",
        "w f32 1.0\n",
        "w f32 0x1\n",
        "w f32 1,1,1,1,1,1,1,1,1\n",
        "w f64 1\n",
        "w F32 1\n",
        "w f321 1\n",
        " f32 1\n",
        "w f32 1\nw f32 1\n",
        "w\t f32 1\n",
        "w\x80 f32 1\n",
        "w\x7f f32 1\n",
        "w f32 68719476737\n",
        "w f32 262144,262145\n",
        "w f32 18446744073709551617\n",
        "w f32 68719476736,268435457\n",
        "w f32 99999999999999999999999999999999999999\n",
        "v f32 68719476736\nw f32 1\n",
        ("w123456789012345678901234567890123456789012345678901234567890123 "
         "f32 1\n"),
    };

    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct why why = {""};

        if (!CHECK(is_refused(texts[i], strlen(texts[i]), &why)))
            (void)printf("    \"%s\"\n", texts[i]);
        CHECK(strlen(why.text) > 0);
    }
}

static void a_nul_is_refused_anywhere(void)
{
    for (size_t i = 0; i < sizeof model_text - 1; i++) {
        char text[sizeof model_text];

        memcpy(text, model_text, sizeof text);
        text[i] = '\0';
        CHECK(is_refused(text, sizeof text - 1, NULL));
    }
}

static void a_part_of_a_line_is_refused(void)
{
    for (size_t size = 0; size < sizeof model_text - 1; size++)
        CHECK_EQUAL(size == 0 || model_text[size - 1] != '\n',
                    is_refused(model_text, size, NULL));
}

/* What is read is what is printed. */
static bool is_refused_or_the_same(const char *text, size_t size)
{
    struct schema *schema = schema_parse(text, size, NULL);
    char again[sizeof model_text];
    bool same = true;

    if (schema)
        same = schema_print(schema, again, sizeof again) == size &&
               memcmp(text, again, size) == 0;
    schema_destroy(&schema);
    return same;
}

static void a_changed_byte_is_refused_or_another_schema(void)
{
    char text[sizeof model_text];

    memcpy(text, model_text, sizeof text);
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (int byte = 0; byte < 256; byte++) {
            text[i] = (char)byte;
            CHECK(is_refused_or_the_same(text, sizeof text - 1));
        }
        text[i] = model_text[i];
    }
}

static void the_largest_and_the_longest_are_read(void)
{
    CHECK(!is_refused("w f32 68719476736\n", 18, NULL));
    CHECK(!is_refused("w f32 1,1,1,1,1,1,1,68719476736\n", 32, NULL));
    CHECK(!is_refused("w12345678901234567890123456789012345678901234567890"
                      "123456789012 f32 1\n",
                      63 + 7, NULL));
}

/* "0 f32 1\n" and so on, up to `count` tensors. */
static size_t print_many(char *text, size_t size, unsigned count)
{
    size_t length = 0;

    for (unsigned i = 0; i < count; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%x f32 1\n", i);
    return length;
}

static void there_are_at_most_4096_tensors(void)
{
    static char text[SCHEMA_MAX_TEXT_BYTES];
    struct why why;
    size_t size = print_many(text, sizeof text, SCHEMA_MAX_TENSORS);

    CHECK(!is_refused(text, size, &why));
    size = print_many(text, sizeof text, SCHEMA_MAX_TENSORS + 1);
    CHECK(is_refused(text, size, &why));
    CHECK_TEXT("a model has at most 4096 tensors", why.text);
}

static void the_list_of_tensors_is_bounded(void)
{
    struct schema *schema = schema_new();
    enum status status = STATUS_OK;
    struct why why;
    unsigned count;
    size_t bytes = 0;

    for (count = 0; !status; count++) {
        char name[SCHEMA_NAME_BYTES];

        bytes = schema->text_bytes;
        (void)snprintf(name, sizeof name, "%063u", count);
        status = schema_add(schema, name, 1, one, &why);
    }
    CHECK_STATUS(STATUS_CONFIG, status);
    CHECK_CONTAINS("longer than 61440 bytes", why.text);
    CHECK_EQUAL(count - 1, schema->count);
    CHECK_EQUAL(bytes, schema->text_bytes);
    CHECK(bytes + 70 > SCHEMA_MAX_TEXT_BYTES);
    CHECK(is_refused(schema->text, SCHEMA_MAX_TEXT_BYTES + 1, &why));
    schema_destroy(&schema);
}

static void what_cannot_be_added_changes_nothing(void)
{
    const uint64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const uint64_t zero[] = {4, 0}, huge[] = {UINT64_MAX, UINT64_MAX};
    struct schema *schema = make_model(128);
    uint64_t hash = schema->hash;
    struct why why;

    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "", 1, one, &why));
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "a b", 1, one, &why));
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "\xc3\xbc", 1, one, &why));
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "x", 9, nine, &why));
    CHECK_TEXT("tensor 4 \"x\" has 9 dimensions, at most 8 are allowed",
               why.text);
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "x", 2, zero, &why));
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "x", 2, huge, &why));
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "w2", 1, one, &why));
    CHECK_TEXT("tensor 4: the name \"w2\" is taken", why.text);
    CHECK_EQUAL(4, schema->count);
    CHECK(hash == schema->hash);
    CHECK_OK(schema_add(schema, "x", 8, nine, &why));
    schema_destroy(&schema);
}

static void the_first_difference_is_named(void)
{
    struct schema *ours = make_model(128), *theirs = make_model(64);
    struct why why;

    CHECK_STATUS(STATUS_CONFIG, schema_compare(ours, theirs, &why));
    CHECK_TEXT("tensor 2: \"w2\" f32 128,10 in the run, "
               "\"w2\" f32 64,10 at the node",
               why.text);
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

static void a_missing_tensor_is_named(void)
{
    struct schema *ours = make_model(128), *theirs = make_model(128);
    struct why why;

    CHECK_OK(schema_add(ours, "b3", 1, one, NULL));
    CHECK_STATUS(STATUS_CONFIG, schema_compare(ours, theirs, &why));
    CHECK_TEXT("tensor 4 \"b3\" is missing at the node", why.text);
    CHECK_STATUS(STATUS_CONFIG, schema_compare(theirs, ours, &why));
    CHECK_TEXT("tensor 4 \"b3\" is missing in the run", why.text);
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

static void names_and_order_count(void)
{
    struct schema *ours = schema_new(), *theirs = schema_new();
    struct why why;

    CHECK_OK(schema_add(ours, "a", 1, one, NULL));
    CHECK_OK(schema_add(ours, "b", 0, NULL, NULL));
    CHECK_OK(schema_add(theirs, "b", 0, NULL, NULL));
    CHECK_OK(schema_add(theirs, "a", 1, one, NULL));
    CHECK_STATUS(STATUS_CONFIG, schema_compare(ours, theirs, &why));
    CHECK_TEXT("tensor 0: \"a\" f32 1 in the run, \"b\" f32 - at the node",
               why.text);
    CHECK(ours->hash != theirs->hash);
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

static void chunks_cover_a_model_exactly(void)
{
    for (uint64_t elements = 1; elements < 40; elements++)
        for (uint32_t size = 1; size < 12; size++) {
            uint32_t chunks = chunks_of(elements, size);
            uint64_t sum = 0;

            for (uint32_t i = 0; i < chunks; i++) {
                CHECK(chunk_length(elements, size, i) > 0);
                sum += chunk_length(elements, size, i);
            }
            CHECK_EQUAL(elements, sum);
        }
}

/* 2^36 elements; a chunk that begins behind 2^32 elements, one that ends the
 * model, and the sum of all. */
static void chunks_of_the_largest_models_do_not_overflow(void)
{
    const uint64_t elements = SCHEMA_MAX_ELEMENTS - 5;
    const uint32_t size = (uint32_t)1 << 24;
    uint32_t chunks = chunks_of(elements, size);
    uint64_t sum = 0;

    CHECK(chunks_fit(elements, size));
    CHECK_EQUAL(4096, chunks);
    for (uint32_t i = 0; i < chunks; i++)
        sum += chunk_length(elements, size, i);
    CHECK_EQUAL(elements, sum);
    CHECK_EQUAL(size, chunk_length(elements, size, 4094));
    CHECK_EQUAL(size - 5, chunk_length(elements, size, 4095));
    CHECK(chunks_fit(SCHEMA_MAX_ELEMENTS, 1 << 16));
    CHECK_EQUAL(SCHEMA_MAX_CHUNKS, chunks_of(SCHEMA_MAX_ELEMENTS, 1 << 16));
    CHECK(!chunks_fit(SCHEMA_MAX_ELEMENTS, (1 << 16) - 1));
}

/* Products that would be small again beyond 2^64. */
static void a_shape_whose_product_wraps_is_refused(void)
{
    const uint64_t wraps[2] = {(uint64_t)1 << 33, (uint64_t)1 << 32};
    const uint64_t third[1] = {SCHEMA_MAX_ELEMENTS / 3 + 1};
    struct schema *schema = schema_new();

    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "w", 2, wraps, NULL));
    CHECK_OK(schema_add(schema, "a", 1, third, NULL));
    CHECK_OK(schema_add(schema, "b", 1, third, NULL));
    CHECK_EQUAL(third[0], schema->tensors[1].first);
    CHECK_STATUS(STATUS_CONFIG, schema_add(schema, "c", 1, third, NULL));
    schema_destroy(&schema);
}

void add_core_schema_tests(CU_pSuite suite)
{
    TEST(tensors_lie_one_behind_the_other);
    TEST(a_schema_is_printed_as_lines);
    TEST(what_is_printed_can_be_read);
    TEST(texts_that_are_not_a_schema_are_refused);
    TEST(a_nul_is_refused_anywhere);
    TEST(a_part_of_a_line_is_refused);
    TEST(a_changed_byte_is_refused_or_another_schema);
    TEST(the_largest_and_the_longest_are_read);
    TEST(there_are_at_most_4096_tensors);
    TEST(the_list_of_tensors_is_bounded);
    TEST(what_cannot_be_added_changes_nothing);
    TEST(chunks_of_the_largest_models_do_not_overflow);
    TEST(a_shape_whose_product_wraps_is_refused);
    TEST(the_first_difference_is_named);
    TEST(a_missing_tensor_is_named);
    TEST(names_and_order_count);
    TEST(chunks_cover_a_model_exactly);
}
