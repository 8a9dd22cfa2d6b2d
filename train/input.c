#include "train/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FIRST_BYTES = 1 << 16, READ_BYTES_MAX = 1 << 30 };

void input_free(struct input *file)
{
    free(file->bytes);
    file->bytes = NULL;
    file->size = 0;
}

/* Room for at least one more byte and the final zero. */
static int grow(struct input *file, size_t *room)
{
    size_t wanted = *room ? *room * 2 : FIRST_BYTES;
    unsigned char *bytes = realloc(file->bytes, wanted);

    if (!bytes)
        return 0;
    file->bytes = bytes;
    *room = wanted;
    return 1;
}

static enum status gzip_failure(gzFile gz, const char *path, struct why *why)
{
    int code = Z_OK;
    const char *words = gzerror(gz, &code);

    if (code == Z_ERRNO)
        return because(why, STATUS_IO, "%s cannot be read: %s", path,
                       strerror(errno));
    return because(why, STATUS_MALFORMED,
                   "%s is damaged or cut off (%s); get it again", path, words);
}

static enum status read_all(gzFile gz, const char *path, struct input *out,
                            struct why *why)
{
    size_t room = 0;
    int got, code;

    do {
        size_t free_bytes;

        if (out->size + 1 >= room && !grow(out, &room))
            return because(why, STATUS_NO_MEMORY, "%s does not fit into memory",
                           path);
        free_bytes = room - out->size - 1;
        if (free_bytes > READ_BYTES_MAX)
            free_bytes = READ_BYTES_MAX;
        got = gzread(gz, out->bytes + out->size, (unsigned)free_bytes);
        if (got < 0)
            return gzip_failure(gz, path, why);
        out->size += (size_t)got;
        if (out->size > INPUT_BYTES_MAX)
            return because(why, STATUS_MALFORMED,
                           "%s holds more than 8 GiB; split it", path);
    } while (got > 0);
    (void)gzerror(gz, &code);
    return code == Z_OK ? STATUS_OK : gzip_failure(gz, path, why);
}

static enum status open_regular(const char *path, gzFile *out, struct why *why)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return because(why, STATUS_IO, "%s cannot be opened: %s", path,
                       strerror(errno));
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        (void)close(fd);
        return because(why, STATUS_IO, "%s is not a file", path);
    }
    *out = gzdopen(fd, "rb");
    if (*out)
        return STATUS_OK;
    (void)close(fd);
    return because(why, STATUS_NO_MEMORY, "no memory to read %s", path);
}

/* Gives back what doubling took too much. */
static void shrink(struct input *file)
{
    unsigned char *bytes = realloc(file->bytes, file->size + 1);

    if (bytes)
        file->bytes = bytes;
    file->bytes[file->size] = 0;
}

enum status input_read(const char *path, struct input *out, struct why *why)
{
    gzFile gz;
    enum status status = open_regular(path, &gz, why);

    if (status)
        return status;
    (void)gzbuffer(gz, 1 << 17);
    out->bytes = NULL;
    out->size = 0;
    status = read_all(gz, path, out, why);
    (void)gzclose_r(gz);
    if (!status && !out->size)
        status = because(why, STATUS_MALFORMED, "%s is empty", path);
    if (status)
        input_free(out);
    else
        shrink(out);
    return status;
}
