#include "train/corpus.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static enum status append(struct input *whole, const struct input *part,
                          const char *path, struct why *why)
{
    unsigned char *bytes;

    if (part->size > INPUT_BYTES_MAX - whole->size)
        return because(why, STATUS_MALFORMED,
                       "with %s there are more than 8 GiB; give fewer files",
                       path);
    bytes = realloc(whole->bytes, whole->size + part->size + 1);
    if (!bytes)
        return because(why, STATUS_NO_MEMORY, "%s does not fit into memory",
                       path);
    memcpy(bytes + whole->size, part->bytes, part->size + 1);
    whole->bytes = bytes;
    whole->size += part->size;
    return STATUS_OK;
}

static enum status append_file(struct input *whole, const char *path,
                               struct why *why)
{
    struct input part;
    enum status status = input_read(path, &part, why);

    if (status)
        return status;
    if (!whole->bytes) {
        *whole = part;
        return STATUS_OK;
    }
    status = append(whole, &part, path, why);
    input_free(&part);
    return status;
}

enum status corpus_read(const char *paths, struct input *out, struct why *why)
{
    struct input whole = {NULL, 0};
    enum status status = STATUS_OK;
    char path[PATH_BYTES];

    while (!status) {
        size_t size = strcspn(paths, ",");

        if (size == 0 || size >= sizeof path) {
            status = because(why, STATUS_USAGE,
                             "the names of the data are empty or too long");
            break;
        }
        memcpy(path, paths, size);
        path[size] = 0;
        status = append_file(&whole, path, why);
        if (!paths[size])
            break;
        paths += size + 1;
    }
    if (status)
        input_free(&whole);
    else
        *out = whole;
    return status;
}
