#include "record/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "store/owner.h"

enum { BUFFER_BYTES = 1 << 18 };

struct spool {
    FILE *file; /* NULL once writing has failed */
    char *path;
    struct spool_complaint complaint;
    char buffer[BUFFER_BYTES];
};

/* What is recorded tells of sessions that go on: nobody else may read it. */
static FILE *open_private(const char *path)
{
    int file =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    struct stat found;
    FILE *stream = NULL;

    if (file < 0)
        return NULL;
    owner_give(file, path);
    if (fstat(file, &found) == 0 &&
        (!S_ISREG(found.st_mode) || fchmod(file, S_IRUSR | S_IWUSR) == 0))
        stream = fdopen(file, "w");
    if (!stream)
        (void)close(file);
    return stream;
}

enum status spool_open(const char *path, struct spool_complaint complaint,
                       struct spool **out, struct why *why)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (!spool)
        return because(why, STATUS_NO_MEMORY, "no memory to record");
    spool->path = strdup(path);
    spool->complaint = complaint;
    spool->file = spool->path ? open_private(path) : NULL;
    if (!spool->file) {
        enum status status = file_failed("record to", path, why);

        free(spool->path);
        free(spool);
        return status;
    }
    (void)setvbuf(spool->file, spool->buffer, _IOFBF, BUFFER_BYTES);
    *out = spool;
    return STATUS_OK;
}

bool spool_works(const struct spool *spool)
{
    return spool->file != NULL;
}

/* Ends the file, and says why. */
static void give_up(struct spool *spool)
{
    struct why why;

    (void)file_failed("record to", spool->path, &why);
    (void)fclose(spool->file);
    spool->file = NULL;
    if (spool->complaint.tell)
        spool->complaint.tell(spool->complaint.of, why.text);
}

void spool_write(struct spool *spool, const void *bytes, size_t size)
{
    if (spool->file && size && fwrite(bytes, size, 1, spool->file) != 1)
        give_up(spool);
}

void spool_step(struct spool *spool)
{
    if (spool->file && fflush(spool->file) != 0)
        give_up(spool);
}

void spool_close(struct spool **reference)
{
    struct spool *spool = *reference;

    *reference = NULL;
    if (!spool)
        return;
    spool_step(spool);
    if (spool->file)
        (void)fclose(spool->file);
    free(spool->path);
    free(spool);
}
