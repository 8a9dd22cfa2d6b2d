#include "keys/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys/list.h"

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

/* ---- the ring ---- */

/* The keys of a list that are not in the other, in place of those in *out. */
static enum status keys_of(const struct list *list, const struct list *other,
                           struct key **out, unsigned *count, struct why *why)
{
    struct key *keys = malloc((list->count + 1u) * sizeof *keys);

    if (!keys)
        return because(why, STATUS_NO_MEMORY, "no memory for keys");
    free(*out);
    *out = keys;
    *count = 0;
    for (unsigned i = 0; i < list->count; i++)
        if (!list_has(other, &list->entries[i].key))
            keys[(*count)++] = list->entries[i].key;
    return STATUS_OK;
}

/* Both lists of a folder; to be freed on failure, too. */
struct lists {
    struct list allowed, revoked;
};

static enum status lists_read(const char *folder, struct lists *out,
                              struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = path_in(path, folder, allowed_folder, "", "", why);

    if (status == STATUS_OK)
        status = list_read(path, &out->allowed, why);
    if (status == STATUS_OK)
        status = list_check(&out->allowed, path, why);
    if (status == STATUS_OK)
        status = path_in(path, folder, revoked_folder, "", "", why);
    return status == STATUS_OK ? list_read(path, &out->revoked, why) : status;
}

static void lists_free(struct lists *lists)
{
    list_free(&lists->allowed);
    list_free(&lists->revoked);
}

enum status ring_reload(struct ring *ring, struct why *why)
{
    static const struct list none = {NULL, 0, 0};
    struct lists lists = {none, none};
    enum status status = lists_read(ring->folder, &lists, why);

    if (status == STATUS_OK)
        status = keys_of(&lists.revoked, &lists.allowed, &ring->revoked,
                         &ring->revoked_count, why);
    if (status == STATUS_OK)
        status = keys_of(&lists.allowed, &none, &ring->allowed,
                         &ring->allowed_count, why);
    lists_free(&lists);
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

static enum status sync_folder(const char *folder, const char *sub,
                               struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = path_in(path, folder, sub, "", "", why);

    return status == STATUS_OK ? folder_sync(path, why) : status;
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

static enum status no_room(struct why *why)
{
    return because(why, STATUS_REFUSED,
                   "the hub knows %d nodes and takes no more: revoke some",
                   LIST_MOST);
}

static enum status is_revoked(struct why *why)
{
    return because(why, STATUS_REFUSED,
                   "this node's key has been revoked; the hub's operator may "
                   "let it in again");
}

/* Removes the files in revoked/ that have this key, whatever their names. */
static enum status forgive(const char *folder, const struct list *revoked,
                           const struct key *key, struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = STATUS_OK;

    if (!list_has(revoked, key))
        return STATUS_OK;
    for (unsigned i = 0; status == STATUS_OK && i < revoked->count; i++) {
        if (!keys_equal(&revoked->entries[i].key, key))
            continue;
        status = path_in(path, folder, revoked_folder,
                         revoked->entries[i].name, ".key", why);
        if (status == STATUS_OK && unlink(path) != 0)
            status = file_failed("remove", path, why);
    }
    return status == STATUS_OK ? sync_folder(folder, revoked_folder, why)
                               : status;
}

static enum status write_node(const char *folder, const char *name,
                              const struct key *key, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate node = {.pair.shown = *key};
    enum status status = path_in(path, folder, allowed_folder, name, ".key",
                                 why);

    if (status == STATUS_OK && is_there(path))
        status = because(why, STATUS_REFUSED,
                         "the name %s belongs to another key: give this node "
                         "another --name, or revoke the other",
                         name);
    (void)snprintf(node.name, sizeof node.name, "%s", name);
    certificate_date(&node);
    return status == STATUS_OK ? certificate_write(path, &node, why) : status;
}

/* Decides by what the folder holds now: others may have changed it since it was
 * read, and a ring that nobody can open is never written. */
static enum status let_in(struct ring *ring, const char *name,
                          const struct key *key, bool forgives,
                          struct why *why)
{
    struct lists lists = {{NULL, 0, 0}, {NULL, 0, 0}};
    enum status status = lists_read(ring->folder, &lists, why);

    if (status == STATUS_OK && !list_has(&lists.allowed, key)) {
        if (lists.allowed.count == LIST_MOST)
            status = no_room(why);
        else if (!forgives && list_has(&lists.revoked, key))
            status = is_revoked(why);
        else
            status = write_node(ring->folder, name, key, why);
    }
    if (status == STATUS_OK)
        status = forgive(ring->folder, &lists.revoked, key, why);
    if (status == STATUS_OK)
        status = ring_add(ring, key, why);
    lists_free(&lists);
    return status;
}

enum status ring_enrol(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    if (!key_name_fits(name))
        return bad_name(name, why);
    if (has(ring->allowed, ring->allowed_count, key))
        return STATUS_OK;
    return let_in(ring, name, key, true, why);
}

enum status ring_admit(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    if (!key_name_fits(name))
        return bad_name(name, why);
    if (has(ring->allowed, ring->allowed_count, key))
        return STATUS_OK;
    if (has(ring->revoked, ring->revoked_count, key))
        return is_revoked(why);
    if (ring->allowed_count >= LIST_MOST)
        return no_room(why);
    return let_in(ring, name, key, false, why);
}

/* Moves a file from allowed/ to revoked/, where no other is written over: the
 * first free of NAME, NAME-2, NAME-3 and so on is taken. */
static enum status move_to_revoked(const char *folder, const char *from,
                                   const char *name, struct why *why)
{
    char to[FILE_PATH_BYTES], other[KEY_NAME_BYTES];
    enum status status = path_in(to, folder, revoked_folder, name, ".key", why);
    unsigned next = 2;

    while (status == STATUS_OK && link(from, to) != 0) {
        if (errno != EEXIST || next > LIST_MOST)
            return file_failed("move", from, why);
        (void)snprintf(other, sizeof other, "%.*s-%u", KEY_NAME_BYTES - 7, name,
                       next++);
        status = path_in(to, folder, revoked_folder, other, ".key", why);
    }
    if (status == STATUS_OK && unlink(from) != 0)
        status = file_failed("move", from, why);
    return status;
}

enum status ring_revoke(const char *folder, const char *name, struct why *why)
{
    char from[FILE_PATH_BYTES];
    enum status status;

    if (!key_name_fits(name))
        return bad_name(name, why);
    status = path_in(from, folder, allowed_folder, name, ".key", why);
    if (status == STATUS_OK && !is_there(from))
        return because(why, STATUS_USAGE,
                       "there is no node %s in %.100s/%s: its files say who "
                       "is let in",
                       name, folder, allowed_folder);
    if (status == STATUS_OK)
        status = make_folder(folder, revoked_folder, why);
    if (status == STATUS_OK)
        status = move_to_revoked(folder, from, name, why);
    if (status == STATUS_OK)
        status = sync_folder(folder, revoked_folder, why);
    return status == STATUS_OK ? sync_folder(folder, allowed_folder, why)
                               : status;
}
