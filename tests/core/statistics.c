/* Tensors of a schema that are statistics. */
#include <string.h>

#include "core/schema.h"
#include "tests/check.h"

static const char text[] = "w f32 3\nmean f32 2 averaged\nvar f32 2 averaged\n"
                           "count f32 - largest\nb f32 2\n";

static void a_text_says_which_they_are(void)
{
    struct schema *schema = schema_parse(text, sizeof text - 1, NULL);
    struct schema *again = schema_new();

    CHECK(schema != NULL);
    CHECK_EQUAL(TENSOR_TRAINED, schema->tensors[0].kind);
    CHECK_EQUAL(TENSOR_AVERAGED, schema->tensors[1].kind);
    CHECK_EQUAL(TENSOR_LARGEST, schema->tensors[3].kind);
    for (unsigned i = 0; i < schema->count; i++)
        CHECK_OK(schema_add_tensor(again, &schema->tensors[i], NULL));
    CHECK_EQUAL(sizeof text - 1, again->text_bytes);
    CHECK(memcmp(text, again->text, sizeof text - 1) == 0);
    CHECK(again->hash == schema->hash);
    schema_destroy(&schema);
    schema_destroy(&again);
}

static void other_words_behind_a_shape_are_refused(void)
{
    static const char *const texts[] = {
        "w f32 3 \n",         "w f32 3 trained\n", "w f32 3 averaged \n",
        "w f32 3  largest\n", "w f32 averaged\n",  "w f32 3 Largest\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(schema_parse(texts[i], strlen(texts[i]), NULL) == NULL);
}

static void another_kind_is_another_model(void)
{
    static const char other[] =
        "w f32 3\nmean f32 2\nvar f32 2 averaged\ncount f32 - largest\n"
        "b f32 2\n";
    struct schema *ours = schema_parse(text, sizeof text - 1, NULL);
    struct schema *theirs = schema_parse(other, sizeof other - 1, NULL);
    struct why why = {""};

    CHECK(ours->hash != theirs->hash);
    CHECK_EQUAL(STATUS_CONFIG, schema_compare(ours, theirs, &why));
    CHECK_TEXT("tensor 1: \"mean\" f32 2 averaged in the run, \"mean\" f32 2 "
               "at the node",
               why.text);
    schema_destroy(&ours);
    schema_destroy(&theirs);
}

/* Wherever a part of the vector begins and ends. */
static void those_among_some_elements_are_found(void)
{
    static const char kinds[] = "tttaaaaltt";
    struct schema *schema = schema_parse(text, sizeof text - 1, NULL);

    for (size_t first = 0; first < 10; first++)
        for (size_t count = 0; first + count <= 10; count++) {
            struct statistic_part part = {0};
            char found[11] = "tttttttttt";

            while (statistics_next(&schema->statistics, first, count, &part)) {
                CHECK(part.count > 0 && part.at + part.count <= count);
                memset(found + first + part.at,
                       part.kind == TENSOR_LARGEST ? 'l' : 'a', part.count);
            }
            CHECK(memcmp(found + first, kinds + first, count) == 0);
        }
    schema_destroy(&schema);
}

static void elements_are_told_apart_by_their_tensors(void)
{
    const uint64_t w[] = {5, 2}, b[] = {1};
    struct schema *schema = schema_new();
    struct tensor_part part = {0};

    CHECK_OK(schema_add(schema, "w", 2, w, NULL));
    CHECK_OK(schema_add(schema, "b", 1, b, NULL));
    CHECK_OK(schema_add(schema, "v", 2, w, NULL));
    CHECK(schema_part(schema, 8, 10, &part));
    CHECK(part.tensor == &schema->tensors[0]);
    CHECK_EQUAL(0, part.at);
    CHECK_EQUAL(2, part.count);
    CHECK(schema_part(schema, 8, 10, &part));
    CHECK(part.tensor == &schema->tensors[1]);
    CHECK_EQUAL(1, part.count);
    CHECK(schema_part(schema, 8, 10, &part));
    CHECK(part.tensor == &schema->tensors[2]);
    CHECK_EQUAL(3, part.at);
    CHECK_EQUAL(7, part.count);
    CHECK(!schema_part(schema, 8, 10, &part));
    part = (struct tensor_part){0};
    CHECK(!schema_part(schema, 21, 1, &part));
    schema_destroy(&schema);
}

void add_core_statistics_tests(CU_pSuite suite)
{
    TEST(a_text_says_which_they_are);
    TEST(other_words_behind_a_shape_are_refused);
    TEST(another_kind_is_another_model);
    TEST(those_among_some_elements_are_found);
    TEST(elements_are_told_apart_by_their_tensors);
}
