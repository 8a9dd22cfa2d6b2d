#include "keys/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "keys/places.h"
#include "store/owner.h"

enum {
    MOST_BESIDE = 4096,             /* of one PC and kind at once */
    HALF_BYTES = 16,                /* digits of a number */
    UUID_BYTES = 2 * HALF_BYTES + 1 /* and a line feed */
};

/* The host's name with room behind it for a number, as a file can have it. */
static void host_name(char out[KEY_NAME_BYTES])
{
    char host[KEY_NAME_BYTES] = "";

    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        (void)snprintf(host, sizeof host, "node");
    place_name(host, out);
    out[KEY_NAME_BYTES - 8] = '\0';
}

/* Random numbers are not to fail where there are none. */
static uint64_t some_number(void)
{
    struct timespec now;
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number)
        return number;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return XXH3_64bits_withSeed(&now, sizeof now, (uint64_t)getpid());
}

static bool read_number(const char *digits, uint64_t *out)
{
    char text[HALF_BYTES + 1] = "", *end;

    memcpy(text, digits, HALF_BYTES);
    *out = strtoull(text, &end, 16);
    return *end == '\0';
}

/* What the file says; one that says nothing, as it is new or was cut off when
 * the PC went down, is written. */
static bool take_uuid(struct identity *identity)
{
    char text[UUID_BYTES + 1] = "";

    if (pread(identity->lock, text, UUID_BYTES, 0) == UUID_BYTES &&
        read_number(text, &identity->high) &&
        read_number(text + HALF_BYTES, &identity->low))
        return true;
    identity->high = some_number();
    identity->low = some_number();
    (void)snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 "\n",
                   identity->high, identity->low);
    return pwrite(identity->lock, text, UUID_BYTES, 0) == UUID_BYTES &&
           fsync(identity->lock) == 0;
}

/* Takes the place with this name; AGAIN: somebody has it. */
static enum status take_place(struct identity *identity, const char *folder,
                              const char *kind, struct why *why)
{
    char path[FILE_PATH_BYTES];
    struct stat found;

    if (snprintf(path, sizeof path, "%s/%s.%s", folder, identity->name, kind) >=
        (int)sizeof path)
        return because(why, STATUS_IO, "the name of %.80s... is too long",
                       folder);
    identity->lock =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
             S_IRUSR | S_IWUSR);
    if (identity->lock < 0)
        return file_failed("open", path, why);
    owner_give(identity->lock, path);
    if (flock(identity->lock, LOCK_EX | LOCK_NB) == 0 &&
        fstat(identity->lock, &found) == 0 && S_ISREG(found.st_mode) &&
        take_uuid(identity))
        return STATUS_OK;
    if (errno != EWOULDBLOCK)
        return file_failed("use", path, why);
    (void)close(identity->lock);
    identity->lock = -1;
    return STATUS_AGAIN;
}

static enum status take_first_place(struct identity *identity, const char *host,
                                    const char *kind, struct why *why)
{
    char folder[FILE_PATH_BYTES];
    enum status status = place_of_state(folder, why);

    if (status == STATUS_OK)
        status = folder_make(folder, why);
    if (status == STATUS_OK)
        status = STATUS_AGAIN;
    for (unsigned i = 1; status == STATUS_AGAIN && i <= MOST_BESIDE; i++) {
        (void)snprintf(identity->name, sizeof identity->name,
                       i > 1 ? "%s-%u" : "%s", host, i);
        status = take_place(identity, folder, kind, why);
    }
    return status == STATUS_AGAIN
               ? because(why, status, "there are %d nodes on this PC",
                         MOST_BESIDE)
               : status;
}

enum status identity_check(const char *name, struct why *why)
{
    size_t length = name ? strlen(name) : 0;

    if (length >= KEY_NAME_BYTES)
        return because(why, STATUS_USAGE,
                       "the name %.16s... has %zu bytes: %d at most", name,
                       length, KEY_NAME_BYTES - 1);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return because(why, STATUS_USAGE,
                           "the name \"%.*s\" goes on with a control "
                           "character: leave it out",
                           (int)i, name);
    return STATUS_OK;
}

void identity_open(const char *name, const char *kind, struct identity *out)
{
    char host[KEY_NAME_BYTES];
    XXH128_hash_t hash;
    struct why why;

    *out = (struct identity){.lock = -1, .process = (int)getpid()};
    if (name && name[0]) {
        (void)snprintf(out->name, sizeof out->name, "%.*s", KEY_NAME_BYTES - 1,
                       name);
        hash = XXH3_128bits(out->name, strlen(out->name));
        out->high = hash.high64;
        out->low = hash.low64;
        return;
    }
    host_name(host);
    if (take_first_place(out, host, kind, &why) == STATUS_OK)
        return;
    identity_close(out);
    (void)snprintf(out->name, sizeof out->name, "%.*s-%d", KEY_NAME_BYTES - 12,
                   host, (int)getpid());
    out->high = some_number();
    out->low = some_number();
    explain(&out->doubt,
            "%.160s: each start is a node of its own; give it a --name",
            why.text);
}

void identity_close(struct identity *identity)
{
    if (identity->lock < 0)
        return;
    if (identity->process == (int)getpid()) /* or it would wait for children */
        (void)flock(identity->lock, LOCK_UN);
    (void)close(identity->lock);
    identity->lock = -1;
}
