/* docs/vectors.json, which others test themselves with, against what hub and
 * nodes read and write. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "codec/manifest.h"
#include "codec/payload.h"
#include "tests/check.h"

enum { ROOM = 32768 };

static struct json_object *page(const char *part)
{
    static struct json_object *whole;
    struct json_object *found = NULL;

    if (!whole)
        whole = json_object_from_file("docs/vectors.json");
    if (!CHECK(json_object_object_get_ex(whole, part, &found)))
        exit(1);
    return found;
}

static struct json_object *of(struct json_object *object, const char *key)
{
    struct json_object *found = NULL;

    (void)json_object_object_get_ex(object, key, &found);
    return found;
}

static const char *text_of(struct json_object *object, const char *key)
{
    const char *text = json_object_get_string(of(object, key));

    return text ? text : "";
}

static uint64_t number_of(struct json_object *object, const char *key)
{
    return json_object_get_uint64(of(object, key));
}

/* The bytes of a member in hex, until the next call. */
static const unsigned char *bytes_of(struct json_object *object,
                                     const char *key, size_t *size)
{
    static unsigned char bytes[ROOM];
    const char *text = text_of(object, key);
    char pair[3] = "";

    *size = 0;
    for (; text[0] && text[1] && *size < ROOM; text += 2) {
        memcpy(pair, text, 2);
        bytes[(*size)++] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return bytes;
}

/* ---- messages ---- */

static void check_field(const struct msg *msg, const struct msg_field *field,
                        struct json_object *row)
{
    struct json_object *value = json_object_array_get_idx(row, 2);
    const void *at = (const char *)msg + field->offset;
    uint64_t u64 = 0;
    double f64;

    CHECK_TEXT(field->name,
               json_object_get_string(json_object_array_get_idx(row, 0)));
    if (field->type == FIELD_TEXT) {
        CHECK_TEXT(json_object_get_string(value), at);
    } else if (field->type == FIELD_F64) {
        memcpy(&f64, at, sizeof f64);
        CHECK_NEAR(json_object_get_double(value), f64, 0);
    } else {
        memcpy(&u64, at, field->type == FIELD_U32 ? 4 : 8);
        CHECK(json_object_get_uint64(value) == u64);
    }
}

static void check_message(struct json_object *vector)
{
    struct json_object *fields = of(vector, "fields");
    unsigned char again[MSG_MAX_BYTES];
    size_t size;
    const unsigned char *bytes = bytes_of(vector, "header", &size);
    struct msg msg;

    if (!CHECK_OK(msg_decode(bytes, size, &msg)))
        return;
    CHECK_EQUAL(number_of(vector, "kind"), msg.kind);
    CHECK_TEXT(text_of(vector, "name"), msg_info(msg.kind)->name);
    if (!CHECK_EQUAL(json_object_array_length(fields),
                     msg_info(msg.kind)->field_count))
        return;
    for (unsigned i = 0; i < msg_info(msg.kind)->field_count; i++)
        check_field(&msg, &msg_info(msg.kind)->fields[i],
                    json_object_array_get_idx(fields, i));
    CHECK_EQUAL(size, msg_encode(&msg, again));
    CHECK(memcmp(bytes, again, size) == 0);
}

static void every_message_says_what_its_vector_says(void)
{
    struct json_object *list = page("messages");
    unsigned kinds = 0;

    for (unsigned kind = 0; kind < MSG_KINDS; kind++)
        kinds += msg_info(kind)->channel != CHANNEL_LOCAL;
    CHECK_EQUAL(2 * kinds, json_object_array_length(list));
    for (size_t i = 0; i < json_object_array_length(list); i++)
        check_message(json_object_array_get_idx(list, i));
}

static void forms_of_msgpack_are_read_as_the_vectors_say(void)
{
    struct json_object *list = page("forms");

    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *form = json_object_array_get_idx(list, i);
        struct msg msg;
        size_t size;
        const unsigned char *bytes = bytes_of(form, "header", &size);

        if (!CHECK_EQUAL(json_object_get_boolean(of(form, "read")),
                         msg_decode(bytes, size, &msg) == STATUS_OK))
            CHECK_TEXT("", text_of(form, "what"));
    }
}

/* ---- chunks ---- */

static struct schema *schema_of(struct json_object *model)
{
    const char *text = text_of(model, "schema");
    struct schema *schema = schema_parse(text, strlen(text), NULL);

    if (!CHECK(schema != NULL))
        exit(1);
    return schema;
}

static void a_models_hash_is_its_vectors(void)
{
    struct json_object *list = page("models");

    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *model = json_object_array_get_idx(list, i);
        struct schema *schema = schema_of(model);

        CHECK(number_of(model, "hash") == schema->hash);
        CHECK(number_of(model, "elements") == schema->elements);
        schema_destroy(&schema);
    }
}

static void check_chunk(struct json_object *vector)
{
    struct json_object *model = json_object_array_get_idx(
        page("models"), (size_t)number_of(vector, "model"));
    const struct codec *codec = codec_find(text_of(vector, "codec"));
    struct schema *schema = schema_of(model);
    struct exempt *exempt = exempt_new(schema);
    struct extent extent = extent_of(
        exempt, schema->elements, (uint32_t)number_of(model, "chunk_elements"),
        (uint32_t)number_of(vector, "chunk"));
    double values[CODEC_GRAIN] = {0};
    float decoded[CODEC_GRAIN];
    size_t size;
    const unsigned char *payload = bytes_of(vector, "payload", &size);

    if (size && CHECK(codec != NULL) &&
        CHECK(payload_fits(&extent, (enum codec_id)(codec - codecs), payload,
                           size))) {
        CHECK(number_of(vector, "checksum") == XXH3_64bits(payload, size));
        payload_add(&extent, (enum codec_id)(codec - codecs), payload, 0,
                    extent.elements, 1, values);
        for (size_t i = 0; i < extent.elements; i++)
            decoded[i] = (float)values[i];
        payload = bytes_of(vector, "decoded", &size);
        CHECK_EQUAL(extent.elements * sizeof *decoded, size);
        CHECK(memcmp(decoded, payload, size) == 0);
    }
    exempt_destroy(&exempt);
    schema_destroy(&schema);
}

static void every_payload_is_decoded_to_what_its_vector_says(void)
{
    struct json_object *list = page("chunks");

    CHECK_EQUAL(3 * CODEC_COUNT, json_object_array_length(list));
    for (size_t i = 0; i < json_object_array_length(list); i++)
        check_chunk(json_object_array_get_idx(list, i));
}

static void the_manifest_is_genuine_by_its_key(void)
{
    struct json_object *vector = page("manifest");
    unsigned char key[MANIFEST_KEY_BYTES];
    struct manifest manifest;
    const unsigned char *bytes;
    size_t size;

    memcpy(key, bytes_of(vector, "key", &size), sizeof key);
    CHECK_EQUAL(sizeof key, size);
    bytes = bytes_of(vector, "bytes", &size);
    if (CHECK(manifest_read(&manifest, bytes, size)))
        CHECK(manifest_is_genuine(&manifest, key));
}

void add_codec_vectors_file_tests(CU_pSuite suite)
{
    TEST(every_message_says_what_its_vector_says);
    TEST(forms_of_msgpack_are_read_as_the_vectors_say);
    TEST(a_models_hash_is_its_vectors);
    TEST(every_payload_is_decoded_to_what_its_vector_says);
    TEST(the_manifest_is_genuine_by_its_key);
}
