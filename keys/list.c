#include "keys/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/file.h"

void list_free(struct list *list)
{
    free(list->entries);
    *list = (struct list){NULL, 0, 0};
}

/* NAME of NAME.key; false: it is another file. */
static bool name_of(const char *file, char name[KEY_NAME_BYTES])
{
    static const char suffix[] = ".key";
    size_t length = strlen(file);

    if (length <= strlen(suffix) ||
        strcmp(file + length - strlen(suffix), suffix) != 0 ||
        length - strlen(suffix) >= KEY_NAME_BYTES)
        return false;
    (void)snprintf(name, KEY_NAME_BYTES, "%.*s", (int)(length - strlen(suffix)),
                   file);
    return key_name_fits(name);
}

static enum status list_grow(struct list *list, struct why *why)
{
    unsigned room = list->room ? 2 * list->room : 16;
    struct list_entry *entries;

    if (list->count < list->room)
        return STATUS_OK;
    entries = realloc(list->entries, room * sizeof *entries);
    if (!entries)
        return because(why, STATUS_NO_MEMORY, "no memory for keys");
    list->entries = entries;
    list->room = room;
    return STATUS_OK;
}

static enum status list_add(struct list *list, const char *folder,
                            const char *name, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate read;
    enum status status = STATUS_OK;

    if (snprintf(path, sizeof path, "%s/%s.key", folder, name) >=
        (int)sizeof path)
        status = because(why, STATUS_IO, "the folder name %.80s... is too long",
                         folder);
    if (status == STATUS_OK && list->count == LIST_MOST)
        status = because(why, STATUS_CONFIG,
                         "there are more than %d files in %.150s", LIST_MOST,
                         folder);
    if (status == STATUS_OK)
        status = list_grow(list, why);
    if (status == STATUS_OK)
        status = certificate_read(path, &read, why);
    if (status != STATUS_OK)
        return status;
    list->entries[list->count].key = read.pair.shown;
    list->entries[list->count].line = read.line;
    memcpy(list->entries[list->count++].name, name, KEY_NAME_BYTES);
    certificate_wipe(&read);
    return STATUS_OK;
}

static int by_key(const void *one, const void *other)
{
    const struct list_entry *a = one, *b = other;

    return memcmp(&a->key, &b->key, sizeof a->key);
}

enum status list_read(const char *folder, struct list *out, struct why *why)
{
    char name[KEY_NAME_BYTES];
    const struct dirent *entry;
    enum status status;
    DIR *open = opendir(folder);

    if (!open)
        return errno == ENOENT ? STATUS_OK : file_failed("read", folder, why);
    do {
        status = folder_next(open, folder, &entry, why);
        if (status == STATUS_OK && entry && name_of(entry->d_name, name))
            status = list_add(out, folder, name, why);
    } while (status == STATUS_OK && entry);
    (void)closedir(open);
    if (out->count)
        qsort(out->entries, out->count, sizeof *out->entries, by_key);
    return status;
}

enum status list_check(const struct list *list, const char *folder,
                       struct why *why)
{
    for (unsigned i = 1; i < list->count; i++) {
        const struct list_entry *one = &list->entries[i - 1], *other = one + 1;

        if (keys_equal(&one->key, &other->key))
            return because(why, STATUS_CONFIG,
                           "%.80s: %s.key and %s.key are the same key; "
                           "remove one of them",
                           folder, one->name, other->name);
    }
    return STATUS_OK;
}

bool list_has(const struct list *list, const struct key *key)
{
    struct list_entry wanted = {.key = *key};

    return list->count &&
           bsearch(&wanted, list->entries, list->count, sizeof wanted, by_key);
}

/* Where it is, or would be. */
static unsigned place_of(const struct list *list, const struct key *key)
{
    unsigned low = 0, high = list->count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (memcmp(&list->entries[middle].key, key, sizeof *key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum status list_insert(struct list *list, const struct list_entry *entry,
                        struct why *why)
{
    unsigned place = place_of(list, &entry->key);
    enum status status;

    if (list_has(list, &entry->key))
        return STATUS_OK;
    status = list_grow(list, why);
    if (status != STATUS_OK)
        return status;
    memmove(list->entries + place + 1, list->entries + place,
            (list->count++ - place) * sizeof *entry);
    list->entries[place] = *entry;
    return STATUS_OK;
}

void list_remove(struct list *list, const struct key *key)
{
    unsigned place = place_of(list, key);

    if (!list_has(list, key))
        return;
    memmove(list->entries + place, list->entries + place + 1,
            (--list->count - place) * sizeof *list->entries);
}
