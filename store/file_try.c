#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"

enum status file_look(const char *path, bool *stream, struct why *why)
{
    struct stat there;

    *stream = false;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return STATUS_OK;
    *stream = S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode);
    if (*stream)
        return STATUS_OK;
    if (S_ISDIR(there.st_mode)) {
        errno = EISDIR;
        return file_failed("write", path, why);
    }
    return because(why, STATUS_IO, "cannot write %s: it is a disk or a "
                   "socket, name a file", path);
}

/* Opened without waiting for who reads a pipe, written with it. */
static int stream_open(const char *path)
{
    int file = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int flags = file < 0 ? -1 : fcntl(file, F_GETFL);

    if (flags >= 0)
        (void)fcntl(file, F_SETFL, flags & ~O_NONBLOCK);
    return file;
}

enum status file_stream(const char *path, const struct part *parts,
                        size_t count, struct why *why)
{
    int file = stream_open(path);
    enum status status = STATUS_OK;

    if (file < 0 && errno == ENXIO)
        return because(why, STATUS_IO, "cannot write %s: it is a pipe that "
                       "nobody reads", path);
    if (file < 0)
        return file_failed("write", path, why);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (!file_write_all(file, &parts[i]))
            status = file_failed("write", path, why);
    if (close(file) != 0 && status == STATUS_OK)
        status = file_failed("write", path, why);
    return status;
}

/* The folder that is not there is what has to be made. */
static enum status cannot(const char *path, struct why *why)
{
    const char *slash = strrchr(path, '/');

    if (errno != ENOENT || !slash)
        return file_failed("write", path, why);
    return because(why, STATUS_IO, "cannot write %s: there is no folder "
                   "%.*s, make it first", path, (int)(slash - path), path);
}

enum status file_try(const char *path, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    bool stream;
    enum status status = file_look(path, &stream, why);
    int file;

    if (status != STATUS_OK)
        return status;
    if (stream)
        return access(path, W_OK) == 0 ? STATUS_OK
                                       : file_failed("write", path, why);
    if (snprintf(beside, sizeof beside, "%s.tmp", path) >=
        (int)sizeof beside)
        return because(why, STATUS_IO, "the file name %.80s... is too long",
                       path);
    (void)unlink(beside);
    file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return cannot(path, why);
    (void)close(file);
    (void)unlink(beside);
    return STATUS_OK;
}
