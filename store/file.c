#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.h"
#include "store/owner.h"

/* Linux writes at most 2 GiB at once; smaller steps cost nothing. */
#define WRITE_AT_ONCE ((size_t)1 << 28)
#define READ_AT_ONCE ((size_t)1 << 16)

/* Whether a file must be on the disk, or only be whole for who reads it. */
enum care { CARE_LITTLE, CARE_FULL };

enum status file_failed(const char *verb, const char *path, struct why *why)
{
    char words[128];

    return because(why, STATUS_IO, "cannot %s %s: %s", verb, path,
                   strerror_r(errno, words, sizeof words));
}

bool file_write_all(int file, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    while (size > 0) {
        size_t step = size < WRITE_AT_ONCE ? size : WRITE_AT_ONCE;
        ssize_t written = write(file, at, step);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* So that a full disk is known before anything is written, and the file lies
 * in one piece. Not every file system can. */
static bool reserve(int file, const struct part *parts, size_t count)
{
    off_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += (off_t)parts[i].size;
    return size == 0 || fallocate(file, 0, 0, size) == 0 ||
           errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR;
}

static bool write_parts(int file, const struct part *parts, size_t count,
                        enum care care)
{
    if (!reserve(file, parts, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!file_write_all(file, parts[i].bytes, parts[i].size))
            return false;
    return care == CARE_LITTLE || fsync(file) == 0;
}

/* Writes and closes an open file. */
static enum status fill(int file, const char *path, const struct part *parts,
                        size_t count, enum care care, struct why *why)
{
    enum status status = STATUS_OK;

    if (file < 0)
        return file_failed("write", path, why);
    owner_give(file, path);
    if (!write_parts(file, parts, count, care))
        status = file_failed("write", path, why);
    if (close(file) != 0 && status == STATUS_OK)
        status = file_failed("write", path, why);
    return status;
}

/* A new file, never what somebody has put there under its name: a link leads
 * elsewhere, and a FIFO blocks. */
static int file_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

enum status file_write(const char *path, const struct part *parts, size_t count,
                       struct why *why)
{
    (void)unlink(path);
    return fill(file_new(path), path, parts, count, CARE_FULL, why);
}

enum status folder_sync(const char *path, struct why *why)
{
    enum status status = STATUS_OK;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return file_failed("open", path, why);
    if (fsync(folder) != 0 && errno != EINVAL)
        status = file_failed("write", path, why);
    (void)close(folder);
    return status;
}

static enum status sync_folder_of(const char *path, struct why *why)
{
    char folder[FILE_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;

    (void)snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    return folder_sync(folder, why);
}

static enum status name_beside(const char *path, char name[FILE_PATH_BYTES],
                               struct why *why)
{
    int length = snprintf(name, FILE_PATH_BYTES, "%s.tmp", path);

    if (length < FILE_PATH_BYTES)
        return STATUS_OK;
    return because(why, STATUS_IO, "the file name %.80s... is too long", path);
}

static enum status move(const char *from, const char *to, struct why *why)
{
    if (rename(from, to) != 0)
        return file_failed("write", to, why);
    return sync_folder_of(to, why);
}

/* Whether what is at `path`, links followed, is to be written to as it is: a
 * pipe or a device without a size. IO: a folder, a disk or a socket. */
static enum status look(const char *path, bool *stream, struct why *why)
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
    return because(why, STATUS_IO,
                   "cannot write %s: it is a disk or a "
                   "socket, name a file",
                   path);
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

/* Nobody who would read from a pipe: IO. */
static enum status write_stream(const char *path, const struct part *parts,
                                size_t count, struct why *why)
{
    int file = stream_open(path);
    enum status status = STATUS_OK;

    if (file < 0 && errno == ENXIO)
        return because(why, STATUS_IO,
                       "cannot write %s: it is a pipe that "
                       "nobody reads",
                       path);
    if (file < 0)
        return file_failed("write", path, why);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (!file_write_all(file, parts[i].bytes, parts[i].size))
            status = file_failed("write", path, why);
    if (close(file) != 0 && status == STATUS_OK)
        status = file_failed("write", path, why);
    return status;
}

static enum status replace(const char *path, const struct part *parts,
                           size_t count, enum care care, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    bool stream;
    enum status status = look(path, &stream, why);

    if (status == STATUS_OK && stream)
        return write_stream(path, parts, count, why);
    if (status == STATUS_OK)
        status = name_beside(path, beside, why);
    if (status != STATUS_OK)
        return status;
    (void)unlink(beside);
    status = fill(file_new(beside), path, parts, count, care, why);
    if (status == STATUS_OK && rename(beside, path) != 0)
        status = file_failed("write", path, why);
    if (status != STATUS_OK)
        (void)unlink(beside);
    else if (care == CARE_FULL)
        status = sync_folder_of(path, why);
    return status;
}

enum status file_replace(const char *path, const struct part *parts,
                         size_t count, struct why *why)
{
    return replace(path, parts, count, CARE_FULL, why);
}

enum status file_replace_lightly(const char *path, const struct part *parts,
                                 size_t count, struct why *why)
{
    return replace(path, parts, count, CARE_LITTLE, why);
}

/* Writes a file of mode 0600 beside `path`, under a name that no other writer
 * has. */
static enum status write_private(const char *path, const struct part *parts,
                                 size_t count, char beside[FILE_PATH_BYTES],
                                 struct why *why)
{
    int length = snprintf(beside, FILE_PATH_BYTES, "%s.XXXXXX", path);
    enum status status;
    int file;

    if (length >= FILE_PATH_BYTES)
        return because(why, STATUS_IO, "the file name %.80s... is too long",
                       path);
    file = mkostemp(beside, O_CLOEXEC);
    status = fill(file, path, parts, count, CARE_FULL, why);
    if (status != STATUS_OK && file >= 0)
        (void)unlink(beside);
    return status;
}

enum status file_replace_private(const char *path, const struct part *parts,
                                 size_t count, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    enum status status = write_private(path, parts, count, beside, why);

    if (status != STATUS_OK)
        return status;
    status = move(beside, path, why);
    if (status != STATUS_OK)
        (void)unlink(beside);
    return status;
}

enum status file_create_private(const char *path, const struct part *parts,
                                size_t count, bool *made, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    enum status status = write_private(path, parts, count, beside, why);

    if (status != STATUS_OK)
        return status;
    *made = link(beside, path) == 0;
    if (!*made && errno != EEXIST)
        status = file_failed("write", path, why);
    (void)unlink(beside);
    return status == STATUS_OK ? sync_folder_of(path, why) : status;
}

/* The folder that is not there is what has to be made. */
static enum status cannot(const char *path, struct why *why)
{
    const char *slash = strrchr(path, '/');

    if (errno != ENOENT || !slash)
        return file_failed("write", path, why);
    return because(why, STATUS_IO,
                   "cannot write %s: there is no folder "
                   "%.*s, make it first",
                   path, (int)(slash - path), path);
}

enum status file_try(const char *path, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    bool stream;
    enum status status = look(path, &stream, why);
    int file;

    if (status != STATUS_OK)
        return status;
    if (stream)
        return access(path, W_OK) == 0 ? STATUS_OK
                                       : file_failed("write", path, why);
    status = name_beside(path, beside, why);
    if (status != STATUS_OK)
        return status;
    (void)unlink(beside);
    file = file_new(beside);
    if (file < 0)
        return cannot(path, why);
    (void)close(file);
    (void)unlink(beside);
    return STATUS_OK;
}

enum status file_make_way(const char *path, struct why *why)
{
    char to[FILE_PATH_BYTES];
    struct stat found;
    unsigned number = 1;
    int length;

    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || !found.st_size)
        return STATUS_OK;
    do {
        length = snprintf(to, sizeof to, "%s.%u", path, number++);
        if (length < 0 || (size_t)length >= sizeof to) {
            errno = ENAMETOOLONG;
            return file_failed("keep", path, why);
        }
    } while (access(to, F_OK) == 0);
    return rename(path, to) == 0 ? STATUS_OK : file_failed("keep", path, why);
}

bool link_is(const char *path, const char *target)
{
    char found[FILE_PATH_BYTES];
    ssize_t length = readlink(path, found, sizeof found);

    return length == (ssize_t)strlen(target) &&
           memcmp(found, target, (size_t)length) == 0;
}

enum status link_replace(const char *path, const char *target, struct why *why)
{
    char beside[FILE_PATH_BYTES];
    enum status status = name_beside(path, beside, why);

    if (status != STATUS_OK)
        return status;
    (void)unlink(beside);
    if (symlink(target, beside) != 0)
        return file_failed("write", path, why);
    status = move(beside, path, why);
    if (status != STATUS_OK)
        (void)unlink(beside);
    return status;
}

void path_join(char path[FILE_PATH_BYTES], const char *folder, const char *name)
{
    struct text text;

    text_init(&text, path, FILE_PATH_BYTES);
    text_add(&text, "%s/%s", folder, name);
}

static enum status too_long(size_t most, struct why *why)
{
    enum { MIB = 1 << 20 };

    if (most < MIB)
        return because(why, STATUS_CONFIG, "it is longer than %zu bytes", most);
    return because(why, STATUS_CONFIG,
                   "it is longer than %zu MiB: cut it in parts", most / MIB);
}

/* Grows by doubling, so that pipes can be read, too. */
static enum status read_stream(FILE *stream, size_t most, char **bytes,
                               size_t *size, struct why *why)
{
    size_t room = 0, length = 0, more = 1;

    for (*bytes = NULL; more > 0; length += more) {
        if (length > most)
            return too_long(most, why);
        if (room - length < READ_AT_ONCE) {
            char *grown = realloc(*bytes, 2 * room + READ_AT_ONCE + 1);

            if (!grown)
                return because(why, STATUS_NO_MEMORY,
                               "not enough memory for it");
            *bytes = grown;
            room = 2 * room + READ_AT_ONCE;
        }
        more = fread(*bytes + length, 1, READ_AT_ONCE, stream);
    }
    if (ferror(stream))
        return because(why, STATUS_IO, "%s", strerror(errno));
    (*bytes)[length] = '\0';
    *size = length;
    return STATUS_OK;
}

/* Reads and closes it, unless it is standard input. */
static enum status read_all(FILE *stream, const char *path, size_t most,
                            char **bytes, size_t *size, struct why *why)
{
    struct why reason = {""};
    char *text = NULL;
    enum status status = read_stream(stream, most, &text, size, &reason);

    if (stream != stdin)
        (void)fclose(stream);
    if (status == STATUS_OK)
        *bytes = text;
    else
        free(text);
    if (status != STATUS_OK)
        return because(why, status, "cannot read %.150s: %s", path,
                       reason.text);
    return STATUS_OK;
}

enum status file_read(const char *path, size_t most, char **bytes, size_t *size,
                      struct why *why)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");

    if (!stream)
        return file_failed("read", path, why);
    return read_all(stream, path, most, bytes, size, why);
}

enum status file_open_saved(const char *path, FILE **out, struct why *why)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat found;

    *out = NULL;
    if (file < 0)
        return file_failed("read", path, why);
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        *out = fdopen(file, "rb");
    if (*out)
        return STATUS_OK;
    (void)close(file);
    return because(why, STATUS_IO, "cannot read %.150s: it is no plain file",
                   path);
}

enum status file_read_saved(const char *path, size_t most, char **bytes,
                            size_t *size, struct why *why)
{
    FILE *stream;
    enum status status = file_open_saved(path, &stream, why);

    return status == STATUS_OK ? read_all(stream, path, most, bytes, size, why)
                               : status;
}

static bool make_folder(const char *path)
{
    struct stat found;

    if (owner_make_folder(path))
        return true;
    if (errno != EEXIST || stat(path, &found) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(found.st_mode);
}

enum status folder_make(const char *path, struct why *why)
{
    char folder[FILE_PATH_BYTES];

    for (size_t i = 1; path[i - 1] && i < sizeof folder; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        (void)snprintf(folder, sizeof folder, "%.*s", (int)i, path);
        if (!make_folder(folder))
            return file_failed("make the folder", folder, why);
    }
    return STATUS_OK;
}

enum status folder_next(DIR *folder, const char *path,
                        const struct dirent **entry, struct why *why)
{
    errno = 0;
    *entry = readdir(folder);
    return *entry || errno == 0 ? STATUS_OK
                                : file_failed("read the folder", path, why);
}

void folder_discard(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (!folder)
        return;
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(path);
}
