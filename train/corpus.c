#include "train/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, HELD_OUT_SHARE = 10 };

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

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Not alphasort, which depends on the machine's locale. */
static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum status append_entry(struct input *whole, const char *folder,
                                const char *name, struct why *why)
{
    char path[PATH_BYTES];
    struct stat file;
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (size < 0 || (size_t)size >= sizeof path)
        return because(why, STATUS_USAGE, "%s has names that are too long",
                       folder);
    if (stat(path, &file) == 0 && (!S_ISREG(file.st_mode) || file.st_size == 0))
        return STATUS_OK;
    return append_file(whole, path, why);
}

static enum status append_folder(struct input *whole, const char *folder,
                                 struct why *why)
{
    struct dirent **entries;
    enum status status = STATUS_OK;
    size_t before = whole->size;
    int count = scandir(folder, &entries, is_shown, compare);

    if (count < 0)
        return because(why, STATUS_IO, "%s cannot be read: %s", folder,
                       strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = append_entry(whole, folder, entries[i]->d_name, why);
        free(entries[i]);
    }
    free(entries);
    if (!status && whole->size == before)
        return because(why, STATUS_MALFORMED, "%s is a folder without files",
                       folder);
    return status;
}

static enum status append_path(struct input *whole, const char *path,
                               struct why *why)
{
    struct stat file;

    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return append_folder(whole, path, why);
    return append_file(whole, path, why);
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
        status = append_path(&whole, path, why);
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

enum status corpus_split(const struct input *corpus, const char *paths,
                         size_t context, size_t *split, struct why *why)
{
    size_t held_out = corpus->size / HELD_OUT_SHARE;

    if (held_out <= context)
        return because(why, STATUS_CONFIG,
                       "%s has %zu bytes, too few for a context of %zu; give "
                       "at least %zu or shorten the context",
                       paths, corpus->size, context,
                       HELD_OUT_SHARE * (context + 1));
    *split = corpus->size - held_out;
    return STATUS_OK;
}
