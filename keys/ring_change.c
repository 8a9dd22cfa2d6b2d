/* The folder of a hub's keys as it changes: who comes in, and who goes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keys/ring_inside.h"

/* ---- who is let in ---- */

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
        status = ring_path(path, folder, ring_revoked, revoked->entries[i].name,
                           ".key", why);
        if (status == STATUS_OK && unlink(path) != 0)
            status = file_failed("remove", path, why);
    }
    return status == STATUS_OK ? ring_sync_folder(folder, ring_revoked, why)
                               : status;
}

/* ---- asking ---- */

static const struct list_entry *entry_named(const struct list *list,
                                            const char *name)
{
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return &list->entries[i];
    return NULL;
}

/* The name, or if another key has it, that with digits of this key behind it:
 * nobody can take a name from somebody else by being first. */
static void free_name(const struct ring *ring, const char *name,
                      const struct key *key, char out[KEY_NAME_BYTES])
{
    (void)snprintf(out, KEY_NAME_BYTES, "%s", name);
    for (unsigned digits = 4; digits <= 16 && entry_named(&ring->allowed, out);
         digits += 4)
        (void)snprintf(out, KEY_NAME_BYTES, "%.*s-%0*" PRIx64,
                       (int)(KEY_NAME_BYTES - 2 - digits), name, (int)digits,
                       key_hash(key) >> (64 - 4 * digits));
}

/* REFUSED, or AGAIN: the folder is to be read again first. */
static enum status check_key(const struct ring *ring, const struct key *key,
                             bool forgives, struct why *why)
{
    if (ring->allowed.count >= LIST_MOST)
        return no_room(why);
    if (!forgives && list_has(&ring->revoked, key))
        return is_revoked(why);
    return STATUS_OK;
}

static enum status check_line(const struct ring *ring, struct why *why)
{
    if (ring_line_serves(ring))
        return STATUS_OK;
    return because(why, STATUS_REFUSED,
                   ring->most && ring->used >= ring->most
                       ? "this key for nodes has let in as many nodes as it "
                         "may: ask for the one that starswitch-hub keygen "
                         "prints now"
                       : "this key for nodes has expired: ask for the one "
                         "that starswitch-hub keygen prints now");
}

enum status ring_ask(struct ring *ring, const char *name, const struct key *key,
                     struct list_entry *out, struct why *why)
{
    enum status status = STATUS_OK;

    out->name[0] = '\0';
    if (!key_name_fits(name))
        return bad_name(name, why);
    if (!ring->writing && ring_is_stale(ring))
        status = ring_reload(ring, why);
    if (status != STATUS_OK || list_has(&ring->allowed, key))
        return status;
    status = check_key(ring, key, false, why);
    if (status == STATUS_OK)
        status = check_line(ring, why);
    if (status != STATUS_OK)
        return status;
    free_name(ring, name, key, out->name);
    out->key = *key;
    out->line = key_hash(&ring->enrolment.shown);
    status = list_insert(&ring->allowed, out, why);
    ring->used += status == STATUS_OK;
    ring->writing += status == STATUS_OK;
    return status;
}

enum status ring_write(const char *folder, const struct list_entry *entry,
                       struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate node = {.pair.shown = entry->key, .line = entry->line};
    enum status status =
        ring_path(path, folder, ring_allowed, entry->name, ".key", why);

    if (status == STATUS_OK && ring_has(path))
        status = because(why, STATUS_REFUSED,
                         "the name %s belongs to another key: give this node "
                         "another --name, or revoke the other",
                         entry->name);
    (void)snprintf(node.name, sizeof node.name, "%s", entry->name);
    certificate_date(&node);
    return status == STATUS_OK ? certificate_write(path, &node, why) : status;
}

enum status ring_written(struct ring *ring, const struct list_entry *entry,
                         bool well, struct why *why)
{
    enum status status = STATUS_OK;

    ring->writing--;
    if (well)
        status = list_insert(&ring->allowed, entry, why);
    else
        list_remove(&ring->allowed, &entry->key);
    if (!ring->writing)
        ring_stamp(ring);
    ring_count_used(ring);
    return status;
}

enum status ring_admit(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    struct list_entry entry;
    enum status status = ring_ask(ring, name, key, &entry, why), ended;

    if (status != STATUS_OK || !entry.name[0])
        return status;
    status = ring_write(ring->folder, &entry, why);
    ended = ring_written(ring, &entry, status == STATUS_OK, why);
    return status == STATUS_OK ? ended : status;
}

enum status ring_enrol(struct ring *ring, const char *name,
                       const struct key *key, struct why *why)
{
    struct list_entry entry = {.key = *key};
    enum status status;

    if (!key_name_fits(name))
        return bad_name(name, why);
    status = ring_reload(ring, why);
    if (status == STATUS_OK && !list_has(&ring->allowed, key)) {
        (void)snprintf(entry.name, sizeof entry.name, "%s", name);
        status = check_key(ring, key, true, why);
        if (status == STATUS_OK)
            status = ring_write(ring->folder, &entry, why);
        if (status == STATUS_OK)
            status = list_insert(&ring->allowed, &entry, why);
    }
    return status == STATUS_OK ? forgive(ring->folder, &ring->revoked, key, why)
                               : status;
}

/* ---- revoking ---- */

/* Moves a file from allowed/ to revoked/, where no other is written over: the
 * first free of NAME, NAME-2, NAME-3 and so on is taken. */
static enum status move_to_revoked(const char *folder, const char *from,
                                   const char *name, struct why *why)
{
    char to[FILE_PATH_BYTES], other[KEY_NAME_BYTES];
    enum status status = ring_path(to, folder, ring_revoked, name, ".key", why);
    unsigned next = 2;

    while (status == STATUS_OK && link(from, to) != 0) {
        if (errno != EEXIST || next > LIST_MOST)
            return file_failed("move", from, why);
        (void)snprintf(other, sizeof other, "%.*s-%u", KEY_NAME_BYTES - 7, name,
                       next++);
        status = ring_path(to, folder, ring_revoked, other, ".key", why);
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
    status = ring_path(from, folder, ring_allowed, name, ".key", why);
    if (status == STATUS_OK && !ring_has(from))
        return because(why, STATUS_USAGE,
                       "there is no node %s in %.100s/%s: its files say who "
                       "is let in",
                       name, folder, ring_allowed);
    if (status == STATUS_OK)
        status = ring_make_folder(folder, ring_revoked, why);
    if (status == STATUS_OK)
        status = move_to_revoked(folder, from, name, why);
    if (status == STATUS_OK)
        status = ring_sync_folder(folder, ring_revoked, why);
    return status == STATUS_OK ? ring_sync_folder(folder, ring_allowed, why)
                               : status;
}
