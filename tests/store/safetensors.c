#include "store/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/header.h"
#include "tests/check.h"
#include "tests/store/folder.h"

static const float values[7] = {1, 2, 3, 4, 5, 6, -0.5f};

/* The tensors w[2,3] and b[1]. */
static struct schema *small_schema(void)
{
    struct schema *schema = schema_new();

    CHECK_OK(schema_add(schema, "w", 2, (uint64_t[]){2, 3}, NULL));
    CHECK_OK(schema_add(schema, "b", 1, (uint64_t[]){1}, NULL));
    return schema;
}

/* Writes the small model; its values lie in two parts. */
static enum status write_small(const char *path, const struct pair *pairs,
                               size_t pair_count, struct why *why)
{
    struct schema *schema = small_schema();
    const struct part parts[] = {{values, 16}, {values + 4, 12}};
    const struct safetensors_source source = {schema, pairs, pair_count, parts,
                                              2};
    struct part *laid = NULL;
    size_t count = 0;
    enum status status = safetensors_parts(&source, &laid, &count, why);

    if (status == STATUS_OK)
        status = file_replace(path, laid, count, why);
    free(laid);

    schema_destroy(&schema);
    return status;
}

static void what_was_written_is_read(void)
{
    const struct pair pairs[] = {{"run", "7"}, {"state", "a \"b\"\n\\c\x01"}};
    struct schema *schema = small_schema();
    struct safetensors *file = NULL;
    struct folder folder;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(write_small(folder_file(&folder, "m"), pairs, 2, NULL));
    if (CHECK_OK(safetensors_read(folder_file(&folder, "m"), &file, NULL))) {
        CHECK_OK(schema_compare(schema, file->schema, NULL));
        for (int i = 0; i < 7; i++)
            CHECK_NEAR(values[i], file->values[i], 0);
        CHECK_TEXT("7", safetensors_value(file, "run"));
        CHECK_TEXT(pairs[1].value, safetensors_value(file, "state"));
        CHECK_TEXT(NULL, safetensors_value(file, "stat"));
    }
    safetensors_destroy(&file);
    schema_destroy(&schema);
    folder_remove(&folder);
}

static void an_independent_reader_finds_the_tensors(void)
{
    const struct pair pairs[] = {{"note", "\xc3\xa4 \"x\"\n"}};
    struct folder folder;
    char command[256], output[512] = "";
    FILE *reader;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(write_small(folder_file(&folder, "m"), pairs, 1, NULL));
    (void)snprintf(command, sizeof command,
                   "python3 tests/store/read_safetensors.py %s",
                   folder_file(&folder, "m"));
    /* No user has a say in this command. NOLINTNEXTLINE(cert-env33-c) */
    reader = popen(command, "r");
    if (CHECK(reader)) {
        (void)fread(output, 1, sizeof output - 1, reader);
        CHECK_EQUAL(0, pclose(reader));
    }
    CHECK_TEXT("metadata note \"\\u00e4 \\\"x\\\"\\n\"\n"
               "w F32 [2, 3] 21.0\nb F32 [1] -0.5\n",
               output);
    folder_remove(&folder);
}

/* The exact copy lets a sanitizer see what reads behind the end. */
static enum status parse(const void *bytes, size_t size, struct why *why)
{
    unsigned char *copy = calloc(1, size + (size == 0));
    struct safetensors *file = NULL;
    enum status status;

    if (size > 0)
        memcpy(copy, bytes, size);
    status = safetensors_parse(copy, size, &file, why);
    CHECK((status == STATUS_OK) == (file != NULL));
    safetensors_destroy(&file);
    free(copy);
    return status;
}

static void every_truncation_is_refused(void)
{
    const struct pair pairs[] = {{"run", "7"}};
    struct folder folder;
    struct why why;
    char *bytes;
    size_t size = 0;

    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_OK(write_small(folder_file(&folder, "m"), pairs, 1, NULL));
    bytes = file_content(folder_file(&folder, "m"), &size);
    if (CHECK(bytes) && bytes) {
        CHECK_OK(parse(bytes, size, &why));
        CHECK_STATUS(STATUS_MALFORMED, parse(bytes, size + 1, &why));
        for (size_t i = 0; i < size; i++)
            CHECK_STATUS(STATUS_MALFORMED, parse(bytes, i, &why));
    }
    free(bytes);
    folder_remove(&folder);
}

/* Parses a file of this header and `data_size` zeros. */
static enum status parse_header(const char *json, size_t data_size,
                                struct why *why)
{
    uint64_t length = strlen(json);
    size_t size = 8 + length + data_size;
    unsigned char *bytes = calloc(1, size);
    enum status status;

    memcpy(bytes, &length, 8);
    for (size_t i = 0; i < length; i++)
        bytes[8 + i] = (unsigned char)json[i];
    status = parse(bytes, size, why);
    free(bytes);
    return status;
}

#define TENSOR(name, dtype, shape, offsets)                                    \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape                  \
    "],\"data_offsets\":[" offsets "]}"

static void tensors_may_stand_in_any_order_and_need_no_metadata(void)
{
    CHECK_OK(parse_header("{" TENSOR("b", "F32", "1", "8,12") "," TENSOR(
                              "a", "F32", "2", "0,8") "}  ",
                          12, NULL));
    CHECK_OK(parse_header("{" TENSOR("s", "F32", "", "0,4") "}", 4, NULL));
    CHECK_OK(parse_header("{}", 0, NULL));
}

struct hostile {
    const char *json;
    size_t data_size;
    enum status status;
    const char *words;
};

static const struct hostile hostile[] = {
#define A_FILE(json, size, status, words) {json, size, STATUS_##status, words},
#include "tests/store/hostile.def"
#undef A_FILE
};

static void hostile_headers_are_refused_with_a_reason(void)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        const struct hostile *file = &hostile[i];
        struct why why = {""};

        CHECK_STATUS(file->status,
                     parse_header(file->json, file->data_size, &why));
        CHECK_CONTAINS(file->words, why.text);
        CHECK_CONTAINS("these bytes", why.text);
    }
}

static void a_header_longer_than_allowed_is_refused(void)
{
    size_t size = SAFETENSORS_MAX_HEADER + 2;
    char *json = malloc(size + 1);
    struct why why;

    memset(json, ' ', size);
    json[0] = '{';
    json[1] = '}';
    json[size] = '\0';
    CHECK_STATUS(STATUS_MALFORMED, parse_header(json, 0, &why));
    CHECK_CONTAINS("longer than", why.text);
    json[SAFETENSORS_MAX_HEADER] = '\0';
    CHECK_OK(parse_header(json, 0, &why));
    free(json);
}

static void metadata_that_is_too_long_is_not_written(void)
{
    static char long_text[SAFETENSORS_MAX_HEADER + 1];
    const struct pair pair = {"state", long_text};
    struct folder folder;
    struct why why;

    memset(long_text, 'x', SAFETENSORS_MAX_HEADER);
    if (!CHECK(folder_new(&folder)))
        return;
    CHECK_STATUS(STATUS_CONFIG,
                 write_small(folder_file(&folder, "m"), &pair, 1, &why));
    CHECK(!file_exists(folder_file(&folder, "m")));
    folder_remove(&folder);
}

static void what_cannot_be_read_is_named(void)
{
    struct safetensors *file = NULL;
    struct why why;

    CHECK_STATUS(STATUS_IO, safetensors_read("/nowhere", &file, &why));
    CHECK_TEXT("cannot read /nowhere: No such file or directory", why.text);
    CHECK_STATUS(STATUS_IO, safetensors_read("/tmp", &file, &why));
    CHECK_TEXT("/tmp is not a file", why.text);
    CHECK_STATUS(STATUS_IO, safetensors_read("/dev/zero", &file, &why));
    CHECK(!file);
}

/* The header alone: 2^33 elements in two tensors, the second one behind 2^32
 * elements and 2^34 bytes. */
static void offsets_of_a_large_model_are_read_exactly(void)
{
    static const char json[] =
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[65537,65536],"
        "\"data_offsets\":[0,17180131328]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[65535,65536],"
        "\"data_offsets\":[17180131328,34359738368]}}";
    struct safetensors *file = calloc(1, sizeof *file);
    struct why why;

    CHECK_OK(
        header_parse(json, sizeof json - 1, (uint64_t)1 << 35, file, &why));
    CHECK_EQUAL((uint64_t)1 << 33, file->schema->elements);
    CHECK_EQUAL(((uint64_t)1 << 32) + 65536, file->schema->tensors[1].first);
    safetensors_destroy(&file);
    file = calloc(1, sizeof *file);
    CHECK_STATUS(STATUS_MALFORMED,
                 header_parse(json, sizeof json - 1, 0, file, &why));
    safetensors_destroy(&file);
}

/* Bytes that nothing is written to are zero, and cost neither memory nor disk:
 * a file that says it has 2^33 values, and is too short by one byte. */
static void a_large_file_that_is_cut_is_refused_before_it_is_read(void)
{
    static const char json[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":["
                               "65536,131072],\"data_offsets\":[0,"
                               "34359738368]}}     ";
    struct folder folder;
    const char *path;
    uint64_t length = sizeof json - 1;
    struct safetensors *file = NULL;
    FILE *out;
    struct why why;

    if (!folder_new(&folder))
        return;
    path = folder_file(&folder, "large.safetensors");
    out = fopen(path, "wb");
    CHECK(out != NULL);
    if (!out)
        return;
    CHECK_EQUAL(1, fwrite(&length, sizeof length, 1, out));
    CHECK_EQUAL(1, fwrite(json, length, 1, out));
    CHECK_EQUAL(0, fclose(out));
    CHECK_EQUAL(0, truncate(path, (off_t)(8 + length) +
                                      (off_t)(((uint64_t)1 << 35) - 1)));
    CHECK_STATUS(STATUS_MALFORMED, safetensors_read(path, &file, &why));
    CHECK(!file);
    folder_remove(&folder);
}

void add_store_safetensors_tests(CU_pSuite suite)
{
    TEST(what_was_written_is_read);
    TEST(an_independent_reader_finds_the_tensors);
    TEST(every_truncation_is_refused);
    TEST(tensors_may_stand_in_any_order_and_need_no_metadata);
    TEST(hostile_headers_are_refused_with_a_reason);
    TEST(a_header_longer_than_allowed_is_refused);
    TEST(metadata_that_is_too_long_is_not_written);
    TEST(offsets_of_a_large_model_are_read_exactly);
    TEST(a_large_file_that_is_cut_is_refused_before_it_is_read);
    TEST(what_cannot_be_read_is_named);
}
