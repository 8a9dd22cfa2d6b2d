#include "keys/ring.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char allowed_folder[] = "allowed", revoked_folder[] = "revoked";

/* PATH = FOLDER/WORDS...; IO: it is too long. */
static enum status path_in(char path[FILE_PATH_BYTES], const char *folder,
                           const char *sub, const char *name,
                           const char *suffix, struct why *why)
{
    int length = snprintf(path, FILE_PATH_BYTES, "%s/%s%s%s%s", folder, sub,
                          *sub && *name ? "/" : "", name, suffix);

    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_IO, "the folder name %.80s... is too long",
                   folder);
}

static bool is_there(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0;
}

bool ring_is_there(const char *folder)
{
    char path[FILE_PATH_BYTES];

    return path_in(path, folder, "", "hub", ".key_secret", NULL) ==
               STATUS_OK &&
           is_there(path);
}

/* ---- lists ---- */

/* A file of a folder. */
struct entry {
    struct key key; /* first: entries are sorted by it */
    char name[KEY_NAME_BYTES];
};

struct list {
    struct entry *entries;
    unsigned count, room;
};

static void list_free(struct list *list)
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
    (void)snprintf(name, KEY_NAME_BYTES, "%.*s",
                   (int)(length - strlen(suffix)), file);
    return key_name_fits(name);
}

static enum status list_grow(struct list *list, struct why *why)
{
    unsigned room = list->room ? 2 * list->room : 16;
    struct entry *entries;

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
                            const char *sub, const char *name,
                            struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate read;
    enum status status = path_in(path, folder, sub, name, ".key", why);

    if (status == STATUS_OK && list->count == RING_NODES)
        status = because(why, STATUS_CONFIG,
                         "there are more than %d files in %.100s/%s",
                         RING_NODES, folder, sub);
    if (status == STATUS_OK)
        status = list_grow(list, why);
    if (status == STATUS_OK)
        status = certificate_read(path, &read, why);
    if (status != STATUS_OK)
        return status;
    list->entries[list->count].key = read.pair.shown;
    memcpy(list->entries[list->count++].name, name, KEY_NAME_BYTES);
    certificate_wipe(&read);
    return STATUS_OK;
}

static int by_key(const void *one, const void *other)
{
    return memcmp(one, other, sizeof(struct key));
}

static enum status list_check(struct list *list, const char *folder,
                              const char *sub, struct why *why)
{
    if (list->count)
        qsort(list->entries, list->count, sizeof *list->entries, by_key);
    for (unsigned i = 1; i < list->count; i++) {
        const struct entry *one = &list->entries[i - 1], *other = one + 1;

        if (keys_equal(&one->key, &other->key))
            return because(why, STATUS_CONFIG,
                           "%.60s/%s: %s.key and %s.key are the same key; "
                           "remove one of them",
                           folder, sub, one->name, other->name);
    }
    return STATUS_OK;
}

/* A folder that is not there is empty. */
static enum status list_read(const char *folder, const char *sub,
                             struct list *out, struct why *why)
{
    char path[FILE_PATH_BYTES], name[KEY_NAME_BYTES];
    const struct dirent *entry;
    enum status status = path_in(path, folder, sub, "", "", why);
    DIR *open;

    if (status != STATUS_OK)
        return status;
    open = opendir(path);
    if (!open)
        return errno == ENOENT ? STATUS_OK : file_failed("read", path, why);
    while (status == STATUS_OK && (entry = readdir(open)) != NULL)
        if (name_of(entry->d_name, name))
            status = list_add(out, folder, sub, name, why);
    (void)closedir(open);
    return status == STATUS_OK ? list_check(out, folder, sub, why) : status;
}

/* ---- the ring ---- */

/* The keys of a list, in place of those in *out. */
static enum status keys_of(const struct list *list, struct key **out,
                           struct why *why)
{
    struct key *keys = malloc((list->count + 1u) * sizeof *keys);

    if (!keys)
        return because(why, STATUS_NO_MEMORY, "no memory for keys");
    for (unsigned i = 0; i < list->count; i++)
        keys[i] = list->entries[i].key;
    free(*out);
    *out = keys;
    return STATUS_OK;
}

enum status ring_reload(struct ring *ring, struct why *why)
{
    struct list allowed = {NULL, 0, 0}, revoked = {NULL, 0, 0};
    enum status status =
        list_read(ring->folder, allowed_folder, &allowed, why);

    if (status == STATUS_OK)
        status = list_read(ring->folder, revoked_folder, &revoked, why);
    if (status == STATUS_OK)
        status = keys_of(&revoked, &ring->revoked, why);
    if (status == STATUS_OK)
        ring->revoked_count = revoked.count;
    if (status == STATUS_OK)
        status = keys_of(&allowed, &ring->allowed, why);
    if (status == STATUS_OK)
        ring->allowed_count = allowed.count;
    list_free(&allowed);
    list_free(&revoked);
    return status;
}

/* Adds a key that has just been written. */
static enum status ring_add(struct ring *ring, const struct key *key,
                            struct why *why)
{
    struct key *keys =
        realloc(ring->allowed, (ring->allowed_count + 1) * sizeof *keys);

    if (!keys)
        return because(why, STATUS_NO_MEMORY, "no memory for keys");
    ring->allowed = keys;
    keys[ring->allowed_count++] = *key;
    return STATUS_OK;
}

static enum status make_folder(const char *folder, const char *sub,
                               struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = path_in(path, folder, sub, "", "", why);

    if (status == STATUS_OK && !is_there(path)) {
        status = folder_make(path, why);
        if (status == STATUS_OK && chmod(path, S_IRWXU) != 0)
            status = file_failed("protect", path, why);
    }
    return status;
}

/* The hub's public key in a file of its own. */
static enum status show_hub(const char *folder, const struct certificate *own,
                            struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate shown = *own;
    enum status status = path_in(path, folder, "", "hub", ".key", why);

    shown.has_secret = false;
    explicit_bzero(&shown.pair.secret, sizeof shown.pair.secret);
    return status == STATUS_OK && !is_there(path)
               ? certificate_write(path, &shown, why)
               : status;
}

enum status ring_make(const char *folder, bool *made, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate own = {.has_secret = false};
    enum status status = make_folder(folder, "", why);

    if (status == STATUS_OK)
        status = make_folder(folder, allowed_folder, why);
    if (status == STATUS_OK)
        status = make_folder(folder, revoked_folder, why);
    if (status == STATUS_OK)
        status = path_in(path, folder, "", "hub", ".key_secret", why);
    if (status == STATUS_OK)
        status = certificate_own(path, "hub", &own, made, why);
    if (status == STATUS_OK)
        status = show_hub(folder, &own, why);
    if (status == STATUS_OK)
        status = path_in(path, folder, "", "enrolment", ".key_secret", why);
    if (status == STATUS_OK)
        status = certificate_own(path, "enrolment", &own, NULL, why);
    certificate_wipe(&own);
    return status;
}

/* One's own key, which must be there, or need not. */
static enum status read_pair(const char *folder, const char *name,
                             struct key_pair *out, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate own;
    enum status status = path_in(path, folder, "", name, ".key_secret", why);

    if (status == STATUS_OK)
        status = certificate_read(path, &own, why);
    if (status == STATUS_OK && !own.has_secret)
        status = because(why, STATUS_MALFORMED,
                         "%.120s: there is no secret key in it", path);
    if (status == STATUS_OK)
        *out = own.pair;
    certificate_wipe(&own);
    return status;
}

enum status ring_open(const char *folder, struct ring *out, struct why *why)
{
    struct ring ring = {.enrols = false};
    enum status status = path_in(ring.folder, folder, "", "", "", why);

    if (status == STATUS_OK)
        status = read_pair(folder, "hub", &ring.hub, why);
    if (status == STATUS_OK) {
        status = read_pair(folder, "enrolment", &ring.enrolment, why);
        ring.enrols = status == STATUS_OK;
        if (status == STATUS_UNAVAILABLE)
            status = STATUS_OK;
    }
    if (status == STATUS_OK)
        status = ring_reload(&ring, why);
    if (status == STATUS_OK)
        *out = ring;
    else
        ring_close(&ring);
    return status;
}

void ring_close(struct ring *ring)
{
    free(ring->allowed);
    free(ring->revoked);
    explicit_bzero(ring, sizeof *ring);
}

/* ---- who is let in ---- */

static bool has(const struct key *keys, unsigned count, const struct key *key)
{
    for (unsigned i = 0; i < count; i++)
        if (keys_equal(&keys[i], key))
            return true;
    return false;
}

static enum status bad_name(const char *name, struct why *why)
{
    return because(why, STATUS_USAGE,
                   "%.40s cannot be a node's name here: take at most %d "
                   "letters, digits, . _ and -",
                   name, KEY_NAME_BYTES - 1);
}

enum status ring_enrol(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate node = {.pair.shown = *key}, other;
    enum status status;

    if (!key_name_fits(name))
        return bad_name(name, why);
    if (has(ring->allowed, ring->allowed_count, key))
        return STATUS_OK;
    status = path_in(path, ring->folder, revoked_folder, name, ".key", why);
    if (status == STATUS_OK &&
        certificate_read(path, &other, why) == STATUS_OK &&
        keys_equal(&other.pair.shown, key) && unlink(path) != 0)
        return file_failed("remove", path, why);
    if (status == STATUS_OK)
        status = path_in(path, ring->folder, allowed_folder, name, ".key", why);
    if (status == STATUS_OK && is_there(path))
        status = because(why, STATUS_REFUSED,
                         "the name %s belongs to another key: give this node "
                         "another --name, or revoke the other",
                         name);
    (void)snprintf(node.name, sizeof node.name, "%s", name);
    certificate_date(&node);
    if (status == STATUS_OK)
        status = certificate_write(path, &node, why);
    return status == STATUS_OK ? ring_add(ring, key, why) : status;
}

enum status ring_admit(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    if (has(ring->revoked, ring->revoked_count, key) &&
        !has(ring->allowed, ring->allowed_count, key))
        return because(why, STATUS_REFUSED,
                       "this node's key has been revoked; the hub's operator "
                       "may let it in again");
    if (ring->allowed_count == RING_NODES)
        return because(why, STATUS_REFUSED,
                       "the hub knows %d nodes and takes no more: revoke some",
                       RING_NODES);
    return ring_enrol(ring, name, key, why);
}

enum status ring_revoke(const char *folder, const char *name, struct why *why)
{
    char from[FILE_PATH_BYTES], to[FILE_PATH_BYTES];
    enum status status;

    if (!key_name_fits(name))
        return bad_name(name, why);
    status = path_in(from, folder, allowed_folder, name, ".key", why);
    if (status == STATUS_OK)
        status = path_in(to, folder, revoked_folder, name, ".key", why);
    if (status == STATUS_OK)
        status = make_folder(folder, revoked_folder, why);
    if (status != STATUS_OK || rename(from, to) == 0)
        return status;
    if (errno == ENOENT)
        return because(why, STATUS_USAGE,
                       "there is no node %s in %.100s/%s: its files say who "
                       "is let in",
                       name, folder, allowed_folder);
    return file_failed("move", from, why);
}
