#include "store/safetensors.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/quote.h"
#include "store/header.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The format is little-endian, and so must this machine be."
#endif

enum { LENGTH_BYTES = 8, ALIGNMENT = 8 };

void safetensors_destroy(struct safetensors **reference)
{
    struct safetensors *file = *reference;

    *reference = NULL;
    if (!file)
        return;
    for (size_t i = 0; i < file->pair_count; i++) {
        free((char *)file->pairs[i].key);
        free((char *)file->pairs[i].value);
    }
    free(file->pairs);
    free(file->values);
    schema_destroy(&file->schema);
    free(file);
}

const char *safetensors_value(const struct safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->pair_count; i++)
        if (strcmp(file->pairs[i].key, key) == 0)
            return file->pairs[i].value;
    return NULL;
}

/* ---- writing ---- */

static void add_metadata(struct text *out,
                         const struct safetensors_source *source)
{
    text_add(out, "\"__metadata__\":{");
    for (size_t i = 0; i < source->pair_count; i++) {
        text_add(out, i ? "," : "");
        quote_json(out, source->pairs[i].key);
        text_add(out, ":");
        quote_json(out, source->pairs[i].value);
    }
    text_add(out, "}");
}

static void add_tensor(struct text *out, const struct tensor *tensor)
{
    uint64_t begin = tensor->first * sizeof(float);
    uint64_t end = begin + tensor->elements * sizeof(float);

    text_add(out, ",");
    quote_json(out, tensor->name);
    text_add(out, ":{\"dtype\":\"F32\",\"shape\":[");
    for (unsigned i = 0; i < tensor->rank; i++)
        text_add(out, "%s%llu", i ? "," : "",
                 (unsigned long long)tensor->shape[i]);
    text_add(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
             (unsigned long long)end);
}

/* Where the data begins, the length in front included, at a multiple of 8. */
static void add_header(struct text *out,
                       const struct safetensors_source *source)
{
    text_add(out, "{");
    add_metadata(out, source);
    for (unsigned i = 0; i < source->schema->count; i++)
        add_tensor(out, &source->schema->tensors[i]);
    text_add(out, "}");
    while ((LENGTH_BYTES + out->length) % ALIGNMENT && !out->cut)
        text_add(out, " ");
}

static bool parts_fit(const struct safetensors_source *source)
{
    uint64_t size = 0;

    for (size_t i = 0; i < source->part_count; i++)
        size += source->parts[i].size;
    return size == source->schema->elements * sizeof(float);
}

enum status safetensors_parts(const struct safetensors_source *source,
                              struct part **out, size_t *count, struct why *why)
{
    size_t parts = source->part_count + 1;
    struct part *list =
        malloc(parts * sizeof *list + LENGTH_BYTES + SAFETENSORS_MAX_HEADER);
    struct text header;
    uint64_t length;
    char *bytes;

    assert(parts_fit(source) && source->pair_count <= SAFETENSORS_MAX_PAIRS);
    if (!list)
        return because(why, STATUS_NO_MEMORY, "no memory to write a model");
    bytes = (char *)(list + parts);
    text_init(&header, bytes + LENGTH_BYTES, SAFETENSORS_MAX_HEADER);
    add_header(&header, source);
    if (header.cut) {
        free(list);
        return because(why, STATUS_CONFIG,
                       "cannot write a model: its metadata is too long");
    }
    length = header.length;
    memcpy(bytes, &length, LENGTH_BYTES);
    list[0] = (struct part){bytes, LENGTH_BYTES + header.length};
    for (size_t i = 1; i < parts; i++)
        list[i] = source->parts[i - 1];
    *out = list;
    *count = parts;
    return STATUS_OK;
}

/* ---- reading ---- */

/* Where the bytes come from: memory or a file. */
struct reader {
    const char *name; /* for sentences */
    uint64_t size;    /* of all, what was taken included */
    int file;         /* or -1 */
    const unsigned char *bytes;
};

static enum status take(struct reader *reader, void *to, size_t size,
                        struct why *why)
{
    unsigned char *at = to;

    if (reader->file < 0) {
        memcpy(to, reader->bytes, size);
        reader->bytes += size;
        return STATUS_OK;
    }
    while (size > 0) {
        ssize_t got = read(reader->file, at, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_failed("read", reader->name, why);
        if (got == 0)
            return because(why, STATUS_IO,
                           "%s became shorter while it was "
                           "read",
                           reader->name);
        at += got;
        size -= (size_t)got;
    }
    return STATUS_OK;
}

static enum status take_length(struct reader *reader, uint64_t *length,
                               struct why *why)
{
    if (reader->size < LENGTH_BYTES)
        return because(why, STATUS_MALFORMED,
                       "%s is too short for a safetensors file", reader->name);
    if (take(reader, length, LENGTH_BYTES, why) != STATUS_OK)
        return STATUS_IO;
    if (*length > reader->size - LENGTH_BYTES)
        return because(why, STATUS_MALFORMED,
                       "%s is cut, or no safetensors file: its header ends "
                       "behind the file",
                       reader->name);
    if (*length > SAFETENSORS_MAX_HEADER)
        return because(why, STATUS_MALFORMED,
                       "%s: its header is longer than "
                       "%d bytes",
                       reader->name, SAFETENSORS_MAX_HEADER);
    return STATUS_OK;
}

static enum status take_header(struct reader *reader, size_t length,
                               struct safetensors *out, struct why *why)
{
    char *json = malloc(length + 1);
    struct why inner;
    enum status status;

    if (!json)
        return because(why, STATUS_NO_MEMORY, "no memory to read %s",
                       reader->name);
    status = take(reader, json, length, why);
    if (status == STATUS_OK) {
        json[length] = '\0';
        status = header_parse(
            json, length, reader->size - LENGTH_BYTES - length, out, &inner);
        if (status != STATUS_OK)
            (void)because(why, status, "%s: %s", reader->name, inner.text);
    }
    free(json);
    return status;
}

static enum status take_values(struct reader *reader, struct safetensors *out,
                               struct why *why)
{
    size_t size = out->schema->elements * sizeof(float);

    out->values = malloc(size ? size : 1);
    if (!out->values)
        return because(why, STATUS_NO_MEMORY,
                       "no memory for the %zu bytes of %s", size, reader->name);
    return take(reader, out->values, size, why);
}

static enum status take_all(struct reader *reader, struct safetensors **out,
                            struct why *why)
{
    struct safetensors *file = calloc(1, sizeof *file);
    uint64_t length = 0;
    enum status status = STATUS_NO_MEMORY;

    if (!file)
        return because(why, status, "no memory to read %s", reader->name);
    status = take_length(reader, &length, why);
    if (status == STATUS_OK)
        status = take_header(reader, (size_t)length, file, why);
    if (status == STATUS_OK)
        status = take_values(reader, file, why);
    if (status == STATUS_OK)
        *out = file;
    else
        safetensors_destroy(&file);
    return status;
}

enum status safetensors_parse(const unsigned char *bytes, size_t size,
                              struct safetensors **out, struct why *why)
{
    struct reader reader = {"these bytes", size, -1, bytes};

    return take_all(&reader, out, why);
}

enum status safetensors_read(const char *path, struct safetensors **out,
                             struct why *why)
{
    struct reader reader = {.name = path};
    struct stat found;
    enum status status;

    reader.file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (reader.file < 0)
        return file_failed("read", path, why);
    if (fstat(reader.file, &found) != 0) {
        status = file_failed("read", path, why);
    } else if (!S_ISREG(found.st_mode)) {
        status = because(why, STATUS_IO, "%s is not a file", path);
    } else {
        reader.size = (uint64_t)found.st_size;
        status = take_all(&reader, out, why);
    }
    (void)close(reader.file);
    return status;
}
