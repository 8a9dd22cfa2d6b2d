#include "store/centre.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/owner.h"
#include "store/seal.h"

#define LOCK_FILE "lock"
#define LIVES_FILE "lives"

const char *const centre_slots[SAVED_SLOTS] = {"outer.safetensors",
                                               "outer2.safetensors"};

enum {
    LIVES_BYTES = 32,
    BLIND_STEP = 1 << 16, /* lives left out at most: the last is not known */
    LIFE_SHIFT = 32       /* an epoch is life << 32 and what is counted in it */
};

bool centre_is_best(const char *name, uint64_t *version)
{
    char *end;

    if (strncmp(name, CENTRE_BEST, strlen(CENTRE_BEST)) != 0)
        return false;
    *version = strtoull(name + strlen(CENTRE_BEST), &end, 10);
    return strcmp(end, ".safetensors") == 0;
}

const struct inventory_file *centre_best(const struct inventory *manifest)
{
    const struct inventory_file *best = NULL;
    uint64_t newest = 0, version;

    for (unsigned i = 0; i < manifest->count; i++)
        if (centre_is_best(manifest->files[i].name, &version) &&
            (!best || version > newest)) {
            best = &manifest->files[i];
            newest = version;
        }
    return best;
}

/* ---- the directory ---- */

static enum status lock_directory(struct centre_store *store, struct why *why)
{
    char path[FILE_PATH_BYTES];

    path_join(path, store->directory, LOCK_FILE);
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                       S_IRUSR | S_IWUSR);
    if (store->lock < 0)
        return file_failed("open", path, why);
    /* Whoever could read it could lock it. */
    (void)fchmod(store->lock, S_IRUSR | S_IWUSR);
    owner_give(store->lock, path);
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0)
        return STATUS_OK;
    if (errno == EWOULDBLOCK)
        return because(why, STATUS_UNAVAILABLE,
                       "another hub is using the folder %s: give each hub "
                       "its own",
                       store->directory);
    return file_failed("lock", path, why);
}

/* The last life that the generations know of: `lives` may be damaged. */
static uint64_t last_life(const char *directory)
{
    struct generations all;
    uint64_t last = 0;

    if (generation_list(directory, &all, NULL) != STATUS_OK)
        return 0;
    for (unsigned i = 0; i < all.count; i++) {
        struct inventory manifest = {0};

        if (generation_open(directory, all.numbers[i], &manifest, NULL) ==
                STATUS_OK &&
            manifest.epoch >> LIFE_SHIFT > last)
            last = manifest.epoch >> LIFE_SHIFT;
        inventory_free(&manifest);
    }
    return last;
}

/* A hub that is taken for lost and the one that took over count on from one
 * life, each by itself: so that they do not come to the same. */
static uint64_t random_step(unsigned most)
{
    uint32_t number = 0;

    (void)!getrandom(&number, sizeof number, 0);
    return 1 + number % most;
}

static uint64_t later(uint64_t life, unsigned most)
{
    life += random_step(most);
    return life < UINT32_MAX ? life : UINT32_MAX; /* an epoch holds no more */
}

/* In the place that the file has, where a full disk has none for another. Of so
 * few bytes the disk has the old ones or the new ones. */
static bool write_over(const char *path, const char *text, size_t size)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool written = file >= 0 && pwrite(file, text, size, 0) == (ssize_t)size &&
                   ftruncate(file, (off_t)size) == 0 && fsync(file) == 0;

    if (file >= 0)
        (void)close(file);
    return written;
}

static enum status write_life(const char *path, uint64_t life, struct why *why)
{
    char text[LIVES_BYTES];
    size_t size = (size_t)snprintf(text, sizeof text, "%" PRIu64 "\n", life);
    enum status status = file_replace(path, &(struct part){text, size}, 1, why);

    return status != STATUS_OK && write_over(path, text, size) ? STATUS_OK
                                                               : status;
}

/* 0: not known. */
static uint64_t life_counted(const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    uint64_t life = 0;

    if (file_read_saved(path, LIVES_BYTES, &bytes, &size, NULL) == STATUS_OK)
        life = strtoull(bytes, NULL, 10) & UINT32_MAX;
    free(bytes);
    return life;
}

/* A hub whose disk is full must serve all the same. It cannot
 * count this life, so it takes one that the next will hardly hit. */
static void begin_life(struct centre_store *store)
{
    uint64_t counted, last = last_life(store->directory);
    char path[FILE_PATH_BYTES];
    struct why why;

    path_join(path, store->directory, LIVES_FILE);
    counted = life_counted(path);
    last = counted > last ? counted : last;
    store->life = later(last, UINT8_MAX + 1);
    if (write_life(path, store->life, &why) == STATUS_OK)
        return;
    store->life = later(last, BLIND_STEP);
    explain(&store->trouble,
            "%.200s; the hub starts all the same, but can "
            "save nothing: make room",
            why.text);
}

void centre_make_good(const struct centre_store *store)
{
    char path[FILE_PATH_BYTES];

    path_join(path, store->directory, LIVES_FILE);
    if (life_counted(path) != store->life)
        (void)!write_life(path, store->life, NULL);
    if (store->seals)
        (void)!seal_keep(store->directory, store->seal, NULL);
}

enum status centre_open(struct centre_store *store, const char *directory,
                        struct why *why)
{
    enum status status;

    *store = (struct centre_store){.lock = -1, .best = CENTRE_BEST_DEFAULT};
    if (strlen(directory) > GENERATION_DIRECTORY_BYTES)
        return because(why, STATUS_IO, "the name of the folder is too long");
    (void)snprintf(store->directory, sizeof store->directory, "%s",
                   *directory ? directory : ".");
    status = folder_make(store->directory, why);
    if (status == STATUS_OK)
        status = lock_directory(store, why);
    if (status == STATUS_OK) {
        generation_clear(store->directory);
        begin_life(store);
    }
    if (status != STATUS_OK)
        centre_close(store);
    return status;
}

void centre_close(struct centre_store *store)
{
    if (store->directory[0] && store->lock >= 0)
        (void)close(store->lock);
    explicit_bzero(store->seal, sizeof store->seal);
    *store = (struct centre_store){.lock = -1};
}

/* ---- loading ---- */

void centre_loaded_destroy(struct centre_loaded **reference)
{
    struct centre_loaded *loaded = *reference;

    *reference = NULL;
    if (!loaded)
        return;
    safetensors_destroy(&loaded->centre);
    for (unsigned i = 0; i < SAVED_SLOTS; i++)
        safetensors_destroy(&loaded->outer[i]);
    free(loaded->state);
    free(loaded);
}

static enum status read_model(const char *folder, const char *name,
                              struct safetensors **out, struct why *why)
{
    char path[FILE_PATH_BYTES];

    path_join(path, folder, name);
    return safetensors_read(path, out, why);
}

/* Reads the files, whose checksums are right. */
static enum status read_files(const char *folder,
                              const struct inventory *manifest,
                              struct centre_loaded *out, struct why *why)
{
    enum status status = read_model(folder, CENTRE_FILE, &out->centre, why);
    const struct inventory_file *state = inventory_find(manifest, CENTRE_STATE);
    char path[FILE_PATH_BYTES];
    size_t size = 0;

    if (!state)
        return because(why, STATUS_MALFORMED, "it has no " CENTRE_STATE);
    for (unsigned i = 0; i < SAVED_SLOTS && status == STATUS_OK; i++)
        if (inventory_find(manifest, centre_slots[i]))
            status = read_model(folder, centre_slots[i], &out->outer[i], why);
    path_join(path, folder, CENTRE_STATE);
    if (status == STATUS_OK)
        status =
            file_read_saved(path, (size_t)state->size, &out->state, &size, why);
    return status;
}

/* Sets what a hub goes on from. */
static enum status describe(struct centre_loaded *out, struct why *why)
{
    const struct schema *schema = out->centre->schema;

    if (schema->elements == 0)
        return because(why, STATUS_MALFORMED, "its centre is empty");
    out->saved.schema = out->centre->schema;
    out->saved.theta = out->centre->values;
    out->saved.state = out->state;
    for (unsigned i = 0; i < SAVED_SLOTS; i++) {
        if (!out->outer[i])
            continue;
        if (out->outer[i]->schema->hash != schema->hash)
            return because(why, STATUS_MALFORMED, "%s is of another model",
                           centre_slots[i]);
        out->saved.slot[i] = out->outer[i]->values;
    }
    return STATUS_OK;
}

/* So that the next generation has no link to it. */
static void move_aside(const char *directory, uint64_t number, const char *name)
{
    char path[FILE_PATH_BYTES], aside[FILE_PATH_BYTES + 16];

    generation_path(directory, number, name, path);
    (void)snprintf(aside, sizeof aside, "%s.damaged", path);
    (void)rename(path, aside);
}

/* A best centre is none that a hub goes on from, so one that is damaged is done
 * without. */
static enum status check_files(const char *directory, uint64_t number,
                               const struct inventory *manifest,
                               void (*complain)(const char *sentence),
                               struct why *why)
{
    enum status status = STATUS_OK;
    uint64_t version;

    for (unsigned i = 0; i < manifest->count && status == STATUS_OK; i++) {
        const struct inventory_file *file = &manifest->files[i];

        status = generation_check(directory, number, file, why);
        if (status != STATUS_OK && centre_is_best(file->name, &version)) {
            struct why sentence;

            explain(&sentence,
                    "generation-%" PRIu64 ": %.200s; the run goes on without",
                    number, why->text);
            complain(sentence.text);
            if (status == STATUS_MALFORMED)
                move_aside(directory, number, file->name);
            status = STATUS_OK;
        }
    }
    return status;
}

/* Reads one generation; `why` is set when that fails. */
static enum status load_one(const struct centre_store *store, uint64_t number,
                            void (*complain)(const char *sentence),
                            struct centre_loaded *out, struct why *why)
{
    struct inventory manifest = {0};
    char folder[FILE_PATH_BYTES];
    enum status status =
        generation_open(store->directory, number, &manifest, why);

    out->run = manifest.run;
    out->version = manifest.version;
    out->generation = number;
    generation_path(store->directory, number, "", folder);
    if (status == STATUS_OK)
        status =
            check_files(store->directory, number, &manifest, complain, why);
    if (status == STATUS_OK)
        status = read_files(folder, &manifest, out, why);
    if (status == STATUS_OK)
        status = describe(out, why);
    inventory_free(&manifest);
    return status;
}

/* Says which generation is damaged, and returns its version; 0: not known. */
static uint64_t lose(struct centre_loaded **loaded, const struct why *why,
                     void (*complain)(const char *sentence))
{
    uint64_t version = (*loaded)->version;
    struct why sentence;

    explain(&sentence, "generation-%" PRIu64 " is damaged: %.240s",
            (*loaded)->generation, why->text);
    complain(sentence.text);
    centre_loaded_destroy(loaded);
    return version;
}

static void say_what_is_lost(uint64_t from, uint64_t to,
                             void (*complain)(const char *sentence))
{
    struct why sentence;

    if (from)
        explain(&sentence,
                "the run goes back from version %" PRIu64 " to %" PRIu64
                ", unless a node keeps the newer one",
                from, to);
    else
        explain(&sentence,
                "the run goes back to version %" PRIu64
                ", what was learnt after it is lost",
                to);
    complain(sentence.text);
}

/* Tells readers, unless the link is right; a run can go on without it. */
static void repair_current(const struct centre_store *store, uint64_t number,
                           void (*complain)(const char *sentence))
{
    struct why why;

    if (generation_current(store->directory) != number &&
        generation_point(store->directory, number, &why) != STATUS_OK)
        complain(why.text);
}

/* Loads the newest that is whole; `lost` is the newest version of those that
 * are not. */
static enum status load_newest(const struct centre_store *store,
                               const struct generations *all,
                               void (*complain)(const char *sentence),
                               struct centre_loaded **out, uint64_t *lost)
{
    enum status status = STATUS_UNAVAILABLE;

    for (unsigned i = 0; i < all->count; i++) {
        struct why reason = {""};
        uint64_t version;

        *out = calloc(1, sizeof **out);
        if (!*out)
            return STATUS_NO_MEMORY;
        status = load_one(store, all->numbers[i], complain, *out, &reason);
        if (status == STATUS_OK && i > 0)
            say_what_is_lost(*lost, (*out)->version, complain);
        if (status == STATUS_OK)
            return status;
        version = lose(out, &reason, complain);
        *lost = version > *lost ? version : *lost;
        if (status == STATUS_NO_MEMORY)
            return status;
    }
    return status;
}

enum status centre_load(const struct centre_store *store,
                        void (*complain)(const char *sentence),
                        struct centre_loaded **out, struct why *why)
{
    struct centre_loaded *loaded = NULL;
    uint64_t lost = 0;
    struct generations all;
    enum status status = generation_list(store->directory, &all, why);

    if (status != STATUS_OK)
        return status;
    status = load_newest(store, &all, complain, &loaded, &lost);
    if (status == STATUS_UNAVAILABLE)
        return because(why, status, "%s holds no run", store->directory);
    if (status == STATUS_NO_MEMORY)
        return because(why, status, "no memory to load the centre");
    if (status != STATUS_OK)
        return because(why, status,
                       "nothing in %.100s is whole (starswitch-hub verify "
                       "says where): bring a generation back from a copy, or "
                       "begin in another --directory",
                       store->directory);
    repair_current(store, loaded->generation, complain);
    *out = loaded;
    return STATUS_OK;
}
