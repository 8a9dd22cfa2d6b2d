#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "keys/ring_inside.h"
#include "net/net.h"

const char ring_allowed[] = "allowed", ring_revoked[] = "revoked";

enum status ring_path(char path[FILE_PATH_BYTES], const char *folder,
                      const char *sub, const char *name, const char *suffix,
                      struct why *why)
{
    int length = snprintf(path, FILE_PATH_BYTES, "%s/%s%s%s%s", folder, sub,
                          *sub && *name ? "/" : "", name, suffix);

    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_IO, "the folder name %.80s... is too long",
                   folder);
}

bool ring_has(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0;
}

bool ring_is_there(const char *folder)
{
    char path[FILE_PATH_BYTES];

    return ring_path(path, folder, "", "hub", ".key_secret", NULL) ==
               STATUS_OK &&
           ring_has(path);
}

/* ---- the ring ---- */

/* Takes out what is in the other, too. */
static void leave_out(struct list *list, const struct list *other)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < list->count; i++)
        if (!list_has(other, &list->entries[i].key))
            list->entries[kept++] = list->entries[i];
    list->count = kept;
}

/* Both lists of a folder; to be freed on failure, too. */
struct lists {
    struct list allowed, revoked;
};

static enum status lists_read(const char *folder, struct lists *out,
                              struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = ring_path(path, folder, ring_allowed, "", "", why);

    if (status == STATUS_OK)
        status = list_read(path, &out->allowed, why);
    if (status == STATUS_OK)
        status = list_check(&out->allowed, path, why);
    if (status == STATUS_OK)
        status = ring_path(path, folder, ring_revoked, "", "", why);
    return status == STATUS_OK ? list_read(path, &out->revoked, why) : status;
}

static void lists_free(struct lists *lists)
{
    list_free(&lists->allowed);
    list_free(&lists->revoked);
}

/* One's own key, which must be there, or need not (UNAVAILABLE). */
static enum status read_own(const char *folder, const char *name,
                            struct certificate *out, struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = ring_path(path, folder, "", name, ".key_secret", why);

    if (status == STATUS_OK)
        status = certificate_read(path, out, why);
    if (status == STATUS_OK && !out->has_secret)
        status = because(why, STATUS_MALFORMED,
                         "%.120s: there is no secret key in it", path);
    return status;
}

void ring_stamp(struct ring *ring)
{
    const char *const folders[] = {ring_allowed, ring_revoked};

    for (unsigned i = 0; i < 2; i++) {
        char path[FILE_PATH_BYTES];
        struct stat found;

        ring->stamp[i] = (struct timespec){0, 0};
        if (ring_path(path, ring->folder, folders[i], "", "", NULL) ==
                STATUS_OK &&
            stat(path, &found) == 0)
            ring->stamp[i] = found.st_mtim;
    }
}

bool ring_is_stale(const struct ring *ring)
{
    struct ring now = *ring;

    ring_stamp(&now);
    return memcmp(now.stamp, ring->stamp, sizeof now.stamp) != 0;
}

void ring_count_used(struct ring *ring)
{
    const struct list *const lists[] = {&ring->allowed, &ring->revoked};
    uint64_t line = key_hash(&ring->enrolment.shown);

    ring->used = 0;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < lists[i]->count; j++)
            ring->used += lists[i]->entries[j].line == line;
}

enum status ring_reload(struct ring *ring, struct why *why)
{
    static const struct list none = {NULL, 0, 0};
    struct lists lists = {none, none};
    struct certificate line = {.has_secret = false};
    enum status status;

    ring_stamp(ring);
    status = lists_read(ring->folder, &lists, why);
    if (status == STATUS_OK)
        status = read_own(ring->folder, "enrolment", &line, why);
    if (status != STATUS_OK && status != STATUS_UNAVAILABLE) {
        lists_free(&lists);
        return status;
    }
    ring->enrols = status == STATUS_OK;
    ring->enrolment = line.pair;
    ring->until = line.until;
    ring->most = line.most;
    certificate_wipe(&line);
    leave_out(&lists.revoked, &lists.allowed);
    list_free(&ring->allowed);
    list_free(&ring->revoked);
    ring->allowed = lists.allowed;
    ring->revoked = lists.revoked;
    ring_count_used(ring);
    return STATUS_OK;
}

bool ring_line_serves(const struct ring *ring)
{
    return ring->enrols &&
           (!ring->until || net_wall() / SECOND < ring->until) &&
           (!ring->most || ring->used < ring->most);
}

enum status ring_make_folder(const char *folder, const char *sub,
                             struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = ring_path(path, folder, sub, "", "", why);

    if (status == STATUS_OK && !ring_has(path)) {
        status = folder_make(path, why);
        if (status == STATUS_OK && chmod(path, S_IRWXU) != 0)
            status = file_failed("protect", path, why);
    }
    return status;
}

enum status ring_sync_folder(const char *folder, const char *sub,
                             struct why *why)
{
    char path[FILE_PATH_BYTES];
    enum status status = ring_path(path, folder, sub, "", "", why);

    return status == STATUS_OK ? folder_sync(path, why) : status;
}

/* The hub's public key in a file of its own. */
static enum status show_hub(const char *folder, const struct certificate *own,
                            struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate shown = *own;
    enum status status = ring_path(path, folder, "", "hub", ".key", why);

    shown.has_secret = false;
    explicit_bzero(&shown.pair.secret, sizeof shown.pair.secret);
    return status == STATUS_OK && !ring_has(path)
               ? certificate_write(path, &shown, why)
               : status;
}

struct invitation ring_invitation(const struct ring *ring)
{
    return (struct invitation){.hub = ring->hub.shown,
                               .enrols = ring->enrols,
                               .enrolment = ring->enrolment};
}

/* The file that a node is given. */
static enum status invite(const char *folder, struct why *why)
{
    char path[FILE_PATH_BYTES], word[INVITATION_BYTES + 1];
    struct ring ring = {.enrols = false};
    struct invitation invitation;
    struct part part = {.bytes = word};
    enum status status = ring_open(folder, &ring, why);

    if (status == STATUS_OK)
        status = ring_path(path, folder, "", "invitation", "", why);
    if (status != STATUS_OK)
        return status;
    invitation = ring_invitation(&ring);
    invitation_print(&invitation, word);
    part.size = strlen(word);
    word[part.size++] = '\n';
    status = file_replace_private(path, &part, 1, why);
    explicit_bzero(word, sizeof word);
    invitation_wipe(&invitation);
    ring_close(&ring);
    return status;
}

enum status ring_renew(const char *folder, const struct ring_line *line,
                       struct why *why)
{
    static const struct ring_line usual = {RING_LINE_SECONDS, RING_LINE_NODES};
    struct certificate own = {.has_secret = true, .name = "enrolment"};
    char path[FILE_PATH_BYTES];
    enum status status =
        ring_path(path, folder, "", own.name, ".key_secret", why);

    line = line ? line : &usual;
    own.until = line->seconds ? net_wall() / SECOND + line->seconds : 0;
    own.most = line->nodes;
    certificate_date(&own);
    if (status == STATUS_OK)
        status = key_pair_make(&own.pair, why);
    if (status == STATUS_OK)
        status = certificate_write(path, &own, why);
    certificate_wipe(&own);
    return status == STATUS_OK ? invite(folder, why) : status;
}

static bool ring_has_line(const char *folder)
{
    char path[FILE_PATH_BYTES];

    return ring_path(path, folder, "", "enrolment", ".key_secret", NULL) ==
               STATUS_OK &&
           ring_has(path);
}

enum status ring_make(const char *folder, bool *made, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct certificate own = {.has_secret = false};
    enum status status = ring_make_folder(folder, "", why);

    if (status == STATUS_OK)
        status = ring_make_folder(folder, ring_allowed, why);
    if (status == STATUS_OK)
        status = ring_make_folder(folder, ring_revoked, why);
    if (status == STATUS_OK)
        status = ring_path(path, folder, "", "hub", ".key_secret", why);
    if (status == STATUS_OK)
        status = certificate_own(path, "hub", &own, made, why);
    if (status == STATUS_OK)
        status = show_hub(folder, &own, why);
    certificate_wipe(&own);
    return status == STATUS_OK && !ring_has_line(folder)
               ? ring_renew(folder, NULL, why)
               : status;
}

enum status ring_open(const char *folder, struct ring *out, struct why *why)
{
    struct ring ring = {.enrols = false};
    struct certificate own = {.has_secret = false};
    enum status status;

    if (snprintf(ring.folder, sizeof ring.folder, "%s", folder) >=
        (int)sizeof ring.folder)
        return because(why, STATUS_IO, "the folder name %.80s... is too long",
                       folder);
    status = read_own(folder, "hub", &own, why);
    ring.hub = own.pair;
    certificate_wipe(&own);
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
    list_free(&ring->allowed);
    list_free(&ring->revoked);
    explicit_bzero(ring, sizeof *ring);
}
