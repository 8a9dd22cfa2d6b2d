#include "store/header.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "store/json.h"

#define METADATA "__metadata__"

/* The file, a tensor, its shape, a number: nothing nests deeper. */
enum { MAX_DEPTH = 4 };

/* A tensor as the file has it. */
struct entry {
    const char *name;
    struct json_object *shape;
    uint64_t begin, end;
};

static enum status malformed(struct why *why, const char *name,
                             const char *words)
{
    return because(why, STATUS_MALFORMED, "tensor \"%.64s\" %s", name, words);
}

/* A whole number that is not negative. */
static bool read_number(struct json_object *json, uint64_t *out)
{
    if (!json_object_is_type(json, json_type_int) ||
        json_object_get_int64(json) < 0)
        return false;
    *out = (uint64_t)json_object_get_int64(json);
    return true;
}

static enum status read_entry(const char *name, struct json_object *json,
                              struct entry *out, struct why *why)
{
    struct json_object *dtype, *offsets;

    if (!json_object_is_type(json, json_type_object))
        return malformed(why, name, "is not described by an object");
    dtype = json_member(json, "dtype", json_type_string);
    offsets = json_member(json, "data_offsets", json_type_array);
    out->name = name;
    out->shape = json_member(json, "shape", json_type_array);
    if (!dtype || !offsets || !out->shape ||
        json_object_array_length(offsets) != 2)
        return malformed(why, name, "lacks its dtype, shape or data_offsets");
    if (strcmp(json_object_get_string(dtype), "F32") != 0)
        return because(why, STATUS_CONFIG,
                       "tensor \"%.64s\" is of dtype %.16s; only F32 is "
                       "supported",
                       name, json_object_get_string(dtype));
    if (!read_number(json_object_array_get_idx(offsets, 0), &out->begin) ||
        !read_number(json_object_array_get_idx(offsets, 1), &out->end) ||
        out->begin > out->end)
        return malformed(why, name, "has offsets that make no sense");
    return STATUS_OK;
}

static enum status add_tensor(struct schema *schema, const struct entry *entry,
                              struct why *why)
{
    uint64_t shape[SCHEMA_MAX_RANK] = {0};
    size_t rank = json_object_array_length(entry->shape);
    enum status status;

    if (rank > SCHEMA_MAX_RANK)
        return malformed(why, entry->name, "has too many dimensions");
    for (size_t i = 0; i < rank; i++)
        if (!read_number(json_object_array_get_idx(entry->shape, i), &shape[i]))
            return malformed(why, entry->name, "has a shape of no numbers");
    if (entry->begin != schema->elements * sizeof(float))
        return malformed(why, entry->name,
                         "overlaps another, or there is a hole before it");
    status = schema_add(schema, entry->name, (unsigned)rank, shape, why);
    if (status != STATUS_OK)
        return status;
    if (entry->end != schema->elements * sizeof(float))
        return malformed(why, entry->name, "has not the size of its shape");
    return STATUS_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Fills `entries` with what is not metadata, in the order of the data. */
static enum status collect(struct json_object *json, struct entry *entries,
                           struct why *why)
{
    size_t count = 0;

    json_object_object_foreach(json, name, value)
    {
        enum status status;

        if (strcmp(name, METADATA) == 0)
            continue;
        status = read_entry(name, value, &entries[count++], why);
        if (status != STATUS_OK)
            return status;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return STATUS_OK;
}

static enum status add_tensors(struct json_object *json, struct entry *entries,
                               size_t count, struct schema *schema,
                               struct why *why)
{
    enum status status = collect(json, entries, why);

    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = add_tensor(schema, &entries[i], why);
    return status;
}

static enum status read_tensors(struct json_object *json,
                                struct safetensors *out, struct why *why)
{
    size_t count = (size_t)json_object_object_length(json);
    struct entry *entries;
    enum status status;

    count -= json_object_object_get_ex(json, METADATA, NULL) ? 1 : 0;
    if (count > SCHEMA_MAX_TENSORS)
        return because(why, STATUS_CONFIG, "more than %d tensors",
                       SCHEMA_MAX_TENSORS);
    entries = calloc(count + 1, sizeof *entries);
    out->schema = schema_new();
    status = entries && out->schema
                 ? add_tensors(json, entries, count, out->schema, why)
                 : because(why, STATUS_NO_MEMORY, "no memory");
    free(entries);
    return status;
}

/* Strings in C end at a NUL; one that has it inside is none. */
static bool is_plain_string(struct json_object *json)
{
    return json_object_is_type(json, json_type_string) &&
           strlen(json_object_get_string(json)) ==
               (size_t)json_object_get_string_len(json);
}

static enum status read_pairs(struct json_object *json, struct safetensors *out,
                              struct why *why)
{
    size_t count = (size_t)json_object_object_length(json);

    if (count > SAFETENSORS_MAX_PAIRS)
        return because(why, STATUS_MALFORMED,
                       "more than %d entries of metadata",
                       SAFETENSORS_MAX_PAIRS);
    out->pairs = calloc(count + 1, sizeof *out->pairs);
    if (!out->pairs)
        return because(why, STATUS_NO_MEMORY, "no memory");
    json_object_object_foreach(json, key, value)
    {
        struct pair *pair = &out->pairs[out->pair_count];

        if (!is_plain_string(value))
            return because(why, STATUS_MALFORMED,
                           "the metadata \"%.64s\" is no text", key);
        out->pair_count++;
        pair->key = strdup(key);
        pair->value = strdup(json_object_get_string(value));
        if (!pair->key || !pair->value)
            return because(why, STATUS_NO_MEMORY, "no memory");
    }
    return STATUS_OK;
}

static enum status read_metadata(struct json_object *json,
                                 struct safetensors *out, struct why *why)
{
    struct json_object *metadata = NULL;

    if (!json_object_object_get_ex(json, METADATA, &metadata))
        return STATUS_OK;
    if (!json_object_is_type(metadata, json_type_object))
        return because(why, STATUS_MALFORMED, "the metadata is no object");
    return read_pairs(metadata, out, why);
}

/* NULL unless it is one JSON object, and blanks. */
static struct json_object *parse_object(const char *json, size_t size)
{
    struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    struct json_object *parsed;

    if (!tokener)
        return NULL;
    while (size > 0 && json[size - 1] == ' ')
        size--;
    json_tokener_set_flags(tokener,
                           JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    parsed = json_tokener_parse_ex(tokener, json, (int)size);
    if (parsed && (json_tokener_get_parse_end(tokener) != size ||
                   !json_object_is_type(parsed, json_type_object))) {
        json_object_put(parsed);
        parsed = NULL;
    }
    json_tokener_free(tokener);
    return parsed;
}

enum status header_parse(const char *json, size_t size, uint64_t data_size,
                         struct safetensors *out, struct why *why)
{
    struct json_object *parsed = parse_object(json, size);
    enum status status;

    if (!parsed)
        return because(why, STATUS_MALFORMED,
                       "its header is not a JSON object");
    status = read_tensors(parsed, out, why);
    if (status == STATUS_OK &&
        out->schema->elements * sizeof(float) != data_size)
        status =
            because(why, STATUS_MALFORMED,
                    "its tensors take %llu bytes, but it has %llu",
                    (unsigned long long)out->schema->elements * sizeof(float),
                    (unsigned long long)data_size);
    if (status == STATUS_OK)
        status = read_metadata(parsed, out, why);
    json_object_put(parsed);
    return status;
}
