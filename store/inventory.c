#include "store/inventory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/hex.h"
#include "core/text.h"

#define FIRST_LINE "starswitch-generation " INVENTORY_LAYOUT "\n"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-."

enum {
    END_BYTES = 4 + HEX_DIGITS + 1,
    HEAD_BYTES = 160,
    LINE_BYTES = 80 /* of a file, without its sums */
};

uint64_t inventory_sum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

uint64_t inventory_blocks(uint64_t size)
{
    return size / INVENTORY_BLOCK + (size % INVENTORY_BLOCK ? 1 : 0);
}

/* ---- making ---- */

static uint64_t size_of(const struct part *parts, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    return size;
}

/* Sums up the parts in a row, block by block. */
static void sum_up(XXH3_state_t *state, const struct part *parts, size_t count,
                   uint64_t *sums)
{
    size_t filled = 0;

    (void)XXH3_64bits_reset(state);
    for (size_t i = 0; i < count; i++) {
        const char *bytes = parts[i].bytes;
        size_t left = parts[i].size;

        while (left > 0) {
            size_t room = INVENTORY_BLOCK - filled;
            size_t step = left < room ? left : room;

            (void)XXH3_64bits_update(state, bytes, step);
            bytes += step;
            left -= step;
            filled += step;
            if (filled < INVENTORY_BLOCK)
                continue;
            *sums++ = XXH3_64bits_digest(state);
            (void)XXH3_64bits_reset(state);
            filled = 0;
        }
    }
    if (filled)
        *sums = XXH3_64bits_digest(state);
}

/* The next file, with room for its sums; NULL: no memory. */
static struct inventory_file *new_file(struct inventory *manifest,
                                       const char *name, uint64_t size)
{
    struct inventory_file *file = &manifest->files[manifest->count];

    assert(manifest->count < INVENTORY_FILES);
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    file->size = size;
    file->sums = calloc(inventory_blocks(size) + 1, sizeof *file->sums);
    manifest->count += file->sums != NULL;
    return file->sums ? file : NULL;
}

enum status inventory_add(struct inventory *manifest, const char *name,
                          const struct part *parts, size_t count,
                          struct why *why)
{
    struct inventory_file *file =
        new_file(manifest, name, size_of(parts, count));
    XXH3_state_t *state = XXH3_createState();

    if (file && state)
        sum_up(state, parts, count, file->sums);
    (void)XXH3_freeState(state);
    if (!file || !state)
        return because(why, STATUS_NO_MEMORY, "no memory for a checksum");
    return STATUS_OK;
}

enum status inventory_copy(struct inventory *manifest,
                           const struct inventory_file *file, struct why *why)
{
    struct inventory_file *copy = new_file(manifest, file->name, file->size);

    if (!copy)
        return because(why, STATUS_NO_MEMORY, "no memory for a checksum");
    memcpy(copy->sums, file->sums,
           inventory_blocks(file->size) * sizeof *copy->sums);
    return STATUS_OK;
}

const struct inventory_file *inventory_find(const struct inventory *manifest,
                                            const char *name)
{
    for (unsigned i = 0; i < manifest->count; i++)
        if (strcmp(manifest->files[i].name, name) == 0)
            return &manifest->files[i];
    return NULL;
}

void inventory_free(struct inventory *manifest)
{
    for (unsigned i = 0; i < manifest->count; i++)
        free(manifest->files[i].sums);
    *manifest = (struct inventory){0};
}

/* ---- as text ---- */

static size_t room_for(const struct inventory *manifest)
{
    size_t room = HEAD_BYTES + END_BYTES;

    for (unsigned i = 0; i < manifest->count; i++)
        room += LINE_BYTES +
                inventory_blocks(manifest->files[i].size) * (HEX_DIGITS + 1);
    return room;
}

char *inventory_print(const struct inventory *manifest, size_t *size)
{
    size_t room = room_for(manifest);
    char *bytes = malloc(room);
    struct text text;

    if (!bytes)
        return NULL;
    text_init(&text, bytes, room);
    text_add(&text,
             FIRST_LINE "run %016" PRIx64 "\nversion %" PRIu64
                        "\nepoch %" PRIu64 "\n",
             manifest->run, manifest->version, manifest->epoch);
    for (unsigned i = 0; i < manifest->count; i++) {
        const struct inventory_file *file = &manifest->files[i];

        text_add(&text, "file %s %" PRIu64, file->name, file->size);
        for (uint64_t j = 0; j < inventory_blocks(file->size); j++)
            text_add(&text, " %016" PRIx64, file->sums[j]);
        text_add(&text, "\n");
    }
    text_add(&text, "end %016" PRIx64 "\n",
             inventory_sum(text.bytes, text.length));
    assert(!text.cut);
    *size = text.length;
    return bytes;
}

/* ---- reading ---- */

/* What is left of the text. */
struct cursor {
    const char *at, *end;
};

static size_t left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* Goes over `word`, if it stands there. */
static bool take(struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);

    if (left(cursor) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* A number as it is printed: without zeros in front. */
static bool take_number(struct cursor *cursor, uint64_t *out)
{
    const char *first = cursor->at;
    uint64_t value = 0;

    for (; left(cursor) && *cursor->at >= '0' && *cursor->at <= '9';
         cursor->at++) {
        unsigned digit = (unsigned)(*cursor->at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *out = value;
    return cursor->at > first && (*first != '0' || cursor->at == first + 1);
}

static bool take_sum(struct cursor *cursor, uint64_t *out)
{
    if (left(cursor) < HEX_DIGITS || !hex_read(cursor->at, out))
        return false;
    cursor->at += HEX_DIGITS;
    return true;
}

static bool take_name(struct cursor *cursor, char name[INVENTORY_NAME_BYTES])
{
    size_t length = 0;

    while (length < left(cursor) && cursor->at[length] &&
           strchr(NAME_LETTERS, cursor->at[length]))
        length++;
    if (!length || length >= INVENTORY_NAME_BYTES || *cursor->at == '.')
        return false;
    memcpy(name, cursor->at, length);
    name[length] = '\0';
    cursor->at += length;
    return true;
}

static enum status damaged(struct why *why, const char *what)
{
    return because(why, STATUS_MALFORMED, "its MANIFEST %s", what);
}

/* One line of a file, behind the word. */
static enum status take_file(struct cursor *cursor, struct inventory *out,
                             struct why *why)
{
    char name[INVENTORY_NAME_BYTES];
    struct inventory_file *file;
    uint64_t size;

    if (!take_name(cursor, name) || !take(cursor, " ") ||
        !take_number(cursor, &size) ||
        inventory_blocks(size) > left(cursor) / (HEX_DIGITS + 1))
        return damaged(why, "has a line that makes no sense");
    if (out->count == INVENTORY_FILES || inventory_find(out, name))
        return damaged(why, "has too many files, or one twice");
    file = new_file(out, name, size);
    if (!file)
        return because(why, STATUS_NO_MEMORY, "no memory for a checksum");
    for (uint64_t i = 0; i < inventory_blocks(size); i++)
        if (!take(cursor, " ") || !take_sum(cursor, &file->sums[i]))
            return damaged(why, "lacks a checksum");
    return take(cursor, "\n") ? STATUS_OK
                              : damaged(why, "has a checksum too many");
}

/* Cuts off the last line, whose sum must be right. */
static bool take_end(struct cursor *cursor)
{
    struct cursor line = *cursor;
    uint64_t sum;

    if (left(cursor) < END_BYTES)
        return false;
    line.at = cursor->end -= END_BYTES;
    return take(&line, "end ") && take_sum(&line, &sum) && take(&line, "\n") &&
           sum == inventory_sum(cursor->at, left(cursor));
}

enum status inventory_parse(const char *text, size_t size,
                            struct inventory *out, struct why *why)
{
    struct cursor cursor = {text, text + size};
    enum status status = STATUS_OK;

    if (!take_end(&cursor))
        return damaged(why, "is not what was written");
    if (!take(&cursor, FIRST_LINE))
        return damaged(why, "is of another version of starswitch-hub");
    if (!take(&cursor, "run ") || !take_sum(&cursor, &out->run) ||
        !take(&cursor, "\nversion ") || !take_number(&cursor, &out->version) ||
        !take(&cursor, "\nepoch ") || !take_number(&cursor, &out->epoch) ||
        !take(&cursor, "\n"))
        return damaged(why, "does not say what it is of");
    while (status == STATUS_OK && take(&cursor, "file "))
        status = take_file(&cursor, out, why);
    if (status == STATUS_OK && left(&cursor))
        status = damaged(why, "has a line that makes no sense");
    return status;
}
