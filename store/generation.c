#include "store/generation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.h"

#define PREFIX "generation-"
#define HALF_MADE ".tmp"

static void name_of(uint64_t number, char name[GENERATION_NAME_BYTES])
{
    (void)snprintf(name, GENERATION_NAME_BYTES, PREFIX "%" PRIu64, number);
}

void generation_path(const char *directory, uint64_t number, const char *name,
                     char path[FILE_PATH_BYTES])
{
    char folder[GENERATION_NAME_BYTES];
    struct text text;

    name_of(number, folder);
    text_init(&text, path, FILE_PATH_BYTES);
    text_add(&text, "%s/%s%s%s", directory, folder, *name ? "/" : "", name);
}

void generation_half_path(const char *directory, uint64_t number,
                          char path[FILE_PATH_BYTES])
{
    char folder[GENERATION_NAME_BYTES];
    struct text text;

    name_of(number, folder);
    text_init(&text, path, FILE_PATH_BYTES);
    text_add(&text, "%s/%s" HALF_MADE, directory, folder);
}

/* ---- which there are ---- */

/* The number in a name such as generation-12, or 0; `end` is behind it. */
static uint64_t number_in(const char *name, const char **end)
{
    char again[GENERATION_NAME_BYTES];
    uint64_t number;
    char *stop;

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return 0;
    number = strtoull(name + strlen(PREFIX), &stop, 10);
    name_of(number, again);
    *end = stop;
    return strncmp(again, name, strlen(again)) == 0 ? number : 0;
}

static void insert(struct generations *list, uint64_t number)
{
    uint64_t *numbers = list->numbers;
    unsigned at =
        list->count < GENERATION_LIST ? list->count++ : GENERATION_LIST;

    for (; at > 0 && numbers[at - 1] < number; at--)
        if (at < GENERATION_LIST)
            numbers[at] = numbers[at - 1];
    if (at < GENERATION_LIST)
        numbers[at] = number;
}

enum status generation_list(const char *directory, struct generations *out,
                            struct why *why)
{
    DIR *folder = opendir(directory);
    enum status status;
    const struct dirent *entry;

    *out = (struct generations){.count = 0};
    if (!folder)
        return file_failed("read the folder", directory, why);
    while ((status = folder_next(folder, directory, &entry, why)) ==
               STATUS_OK &&
           entry) {
        const char *end = "";
        uint64_t number = number_in(entry->d_name, &end);

        if (number && !*end)
            insert(out, number);
    }
    if (status != STATUS_OK)
        out->count = 0;
    (void)closedir(folder);
    return status;
}

uint64_t generation_current(const char *directory)
{
    char name[GENERATION_NAME_BYTES] = "", path[FILE_PATH_BYTES];
    const char *end = "";
    uint64_t number;

    path_join(path, directory, GENERATION_CURRENT);
    if (readlink(path, name, sizeof name - 1) < 0)
        return 0;
    number = number_in(name, &end);
    generation_path(directory, number, "", path);
    return number && !*end && access(path, F_OK) == 0 ? number : 0;
}

enum status generation_point(const char *directory, uint64_t number,
                             struct why *why)
{
    char name[GENERATION_NAME_BYTES], path[FILE_PATH_BYTES];

    name_of(number, name);
    path_join(path, directory, GENERATION_CURRENT);
    return link_replace(path, name, why);
}

/* ---- reading ---- */

enum status generation_open(const char *directory, uint64_t number,
                            struct inventory *out, struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status;
    size_t size = 0;
    char *text = NULL;

    generation_path(directory, number, GENERATION_MANIFEST, path);
    status = file_read_saved(path, INVENTORY_MOST_BYTES, &text, &size, why);
    if (status == STATUS_OK)
        status = inventory_parse(text, size, out, why);
    free(text);
    return status;
}

static enum status check_size(FILE *stream, const struct inventory_file *file,
                              struct why *why)
{
    struct stat found;

    if (fstat(fileno(stream), &found) != 0)
        return because(why, STATUS_IO, "%s: %s", file->name, strerror(errno));
    if ((uint64_t)found.st_size == file->size)
        return STATUS_OK;
    return because(why, STATUS_MALFORMED, "%s has %llu bytes instead of %llu",
                   file->name, (unsigned long long)found.st_size,
                   (unsigned long long)file->size);
}

static enum status check_blocks(FILE *stream, const struct inventory_file *file,
                                char *bytes, struct why *why)
{
    uint64_t at = 0;

    for (uint64_t i = 0; i < inventory_blocks(file->size); i++) {
        uint64_t rest = file->size - at;
        size_t size = rest < INVENTORY_BLOCK ? (size_t)rest : INVENTORY_BLOCK;

        if (fread(bytes, 1, size, stream) != size)
            return because(why, STATUS_IO, "%s cannot be read at byte %llu: %s",
                           file->name, (unsigned long long)at,
                           ferror(stream) ? strerror(errno) : "it ends");
        if (inventory_sum(bytes, size) != file->sums[i])
            return because(why, STATUS_MALFORMED,
                           "%s: its bytes %llu to %llu are not what was "
                           "written",
                           file->name, (unsigned long long)at,
                           (unsigned long long)(at + size - 1));
        at += size;
    }
    return STATUS_OK;
}

enum status generation_check(const char *directory, uint64_t number,
                             const struct inventory_file *file, struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status;
    char *bytes;
    FILE *stream;

    generation_path(directory, number, file->name, path);
    status = file_open_saved(path, &stream, why);
    if (status != STATUS_OK)
        return status;
    bytes = malloc(INVENTORY_BLOCK);
    status = check_size(stream, file, why);
    if (!bytes)
        status = because(why, STATUS_NO_MEMORY, "no memory to read a file");
    if (status == STATUS_OK)
        status = check_blocks(stream, file, bytes, why);
    free(bytes);
    (void)fclose(stream);
    return status;
}

/* ---- removing ---- */

void generation_remove(const char *directory, uint64_t number)
{
    char path[FILE_PATH_BYTES], doomed[FILE_PATH_BYTES];

    generation_path(directory, number, "", path);
    generation_half_path(directory, number, doomed);
    (void)rename(path, doomed);
    folder_discard(doomed);
}

void generation_clear(const char *directory)
{
    DIR *folder = opendir(directory);
    const struct dirent *entry;
    char path[FILE_PATH_BYTES];

    while (folder && (entry = readdir(folder))) {
        const char *end = "";

        if (!number_in(entry->d_name, &end) || strcmp(end, HALF_MADE) != 0)
            continue;
        path_join(path, directory, entry->d_name);
        folder_discard(path);
    }
    if (folder)
        (void)closedir(folder);
}

void generation_prune(const char *directory, uint64_t newest, uint64_t before)
{
    struct generations all;

    if (generation_list(directory, &all, NULL) != STATUS_OK)
        return;
    for (unsigned i = 0; i < all.count; i++)
        if (all.numbers[i] != newest && all.numbers[i] != before)
            generation_remove(directory, all.numbers[i]);
}
