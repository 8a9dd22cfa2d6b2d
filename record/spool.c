#include "record/spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/time.h"
#include "store/file.h"
#include "store/owner.h"

#define AGAIN (10 * SECOND)

enum { KEPT_BYTES = 8 << 20 }; /* of memory, from step to step */

struct spool {
    int file;
    char *path;
    struct spool_complaint complaint;
    unsigned char *step; /* what is to be written of it */
    size_t length, room;
    off_t whole;  /* bytes of the steps before it */
    bool goes_on; /* after steps that could not be written */
    bool skips;   /* this step */
    nanos failed; /* writing, last; 0: it works */
};

static nanos now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

/* What is recorded tells of sessions that go on: nobody else may read it. */
static int open_private(const char *path)
{
    int file =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    struct stat found;

    if (file < 0)
        return -1;
    owner_give(file, path);
    if (fstat(file, &found) == 0 &&
        (!S_ISREG(found.st_mode) || fchmod(file, S_IRUSR | S_IWUSR) == 0))
        return file;
    (void)close(file);
    return -1;
}

enum status spool_open(const char *path, struct spool_complaint complaint,
                       struct spool **out, struct why *why)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (!spool)
        return because(why, STATUS_NO_MEMORY, "no memory to record");
    spool->path = strdup(path);
    spool->complaint = complaint;
    spool->file = spool->path ? open_private(path) : -1;
    if (spool->file < 0) {
        enum status status = file_failed("record to", path, why);

        free(spool->path);
        free(spool);
        return status;
    }
    *out = spool;
    return STATUS_OK;
}

void spool_goes_on(struct spool *spool)
{
    spool->goes_on = true;
}

bool spool_works(const struct spool *spool)
{
    return !spool->failed || spool->goes_on;
}

/* Says why, once, and takes back what is there of the step. */
static void fail(struct spool *spool)
{
    struct why why;

    (void)file_failed("record to", spool->path, &why);
    if (!spool->failed && spool->complaint.tell)
        spool->complaint.tell(spool->complaint.of, why.text);
    spool->failed = now();
    spool->skips = true;
    spool->length = 0;
    if (ftruncate(spool->file, spool->whole) == 0)
        (void)lseek(spool->file, spool->whole, SEEK_SET);
}

void spool_write(struct spool *spool, const void *bytes, size_t size)
{
    size_t room = 2 * (spool->length + size);

    if (spool->skips || !size)
        return;
    if (spool->length + size > spool->room) {
        unsigned char *more = realloc(spool->step, room);

        if (!more) {
            fail(spool);
            return;
        }
        spool->step = more;
        spool->room = room;
    }
    memcpy(spool->step + spool->length, bytes, size);
    spool->length += size;
}

void spool_step(struct spool *spool)
{
    if (spool->length &&
        file_write_all(spool->file, spool->step, spool->length)) {
        spool->whole += (off_t)spool->length;
        spool->failed = 0;
    } else if (spool->length) {
        fail(spool);
    }
    spool->length = 0;
    if (spool->room > KEPT_BYTES) {
        free(spool->step);
        spool->step = NULL;
        spool->room = 0;
    }
    spool->skips =
        spool->failed && !(spool->goes_on && now() - spool->failed >= AGAIN);
}

void spool_close(struct spool **reference)
{
    struct spool *spool = *reference;

    *reference = NULL;
    if (!spool)
        return;
    spool_step(spool);
    (void)close(spool->file);
    free(spool->step);
    free(spool->path);
    free(spool);
}
