/* What can go wrong with a disk or a process, at a call that is chosen: to be
 * loaded before the C library (LD_PRELOAD).
 *
 *     STAR_FAULT=fsync:7:kill    the process is killed at its 7th fsync
 *     STAR_FAULT=fsync:7:5       its 7th fsync fails with errno 5 (EIO)
 *     STAR_CALLS=FILE            how many calls of each kind there were, as
 *                                lines `fsync 12`, written when it ends
 *
 * Kinds are those of the table. A write to a file that is killed is half done
 * before; `signal` is a write to anything else. Whoever brings a file to the
 * disk again after that failed, instead of closing it, is killed, too. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KINDS(KIND)                                                            \
    KIND(WRITE, "write")                                                       \
    KIND(SIGNAL, "signal")                                                     \
    KIND(FSYNC, "fsync")                                                       \
    KIND(FALLOCATE, "fallocate")                                               \
    KIND(RENAME, "rename")                                                     \
    KIND(UNLINK, "unlink")                                                     \
    KIND(LINK, "link")                                                         \
    KIND(SYMLINK, "symlink")                                                   \
    KIND(MKDIR, "mkdir")                                                       \
    KIND(RMDIR, "rmdir")                                                       \
    KIND(SEND, "send")

#define KIND(NAME, name) KIND_##NAME,
enum kind { KINDS(KIND) KIND_COUNT };
#undef KIND

#define KIND(NAME, name) name,
static const char *const names[KIND_COUNT] = {KINDS(KIND)};
#undef KIND

#define SHOWN __attribute__((visibility("default")))

static struct {
    enum kind kind;
    unsigned long at; /* from 1; 0: nothing goes wrong */
    int error;        /* 0: it is killed */
} fault;

static atomic_ulong calls[KIND_COUNT];
static atomic_int lost = -1; /* the file whose fsync failed */

static void die(void)
{
    (void)syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

/* Counts a call; whether it is the chosen one. */
static bool is_chosen(enum kind kind)
{
    unsigned long number = atomic_fetch_add(&calls[kind], 1) + 1;

    return fault.at == number && fault.kind == kind;
}

/* Whether the call is to fail, errno being set; if it is to be killed, it
 * does not return. */
static bool fails(enum kind kind)
{
    if (!is_chosen(kind))
        return false;
    if (!fault.error)
        die();
    errno = fault.error;
    return true;
}

static void __attribute__((constructor)) choose(void)
{
    const char *text = getenv("STAR_FAULT");
    unsigned kind = 0;
    char *end;

    if (!text)
        return;
    while (kind < KIND_COUNT &&
           (strncmp(text, names[kind], strlen(names[kind])) != 0 ||
            text[strlen(names[kind])] != ':'))
        kind++;
    if (kind == KIND_COUNT)
        abort();
    fault.kind = kind;
    fault.at = strtoul(text + strlen(names[kind]) + 1, &end, 10);
    fault.error = (int)strtol(end + (*end == ':'), NULL, 10);
}

static void __attribute__((destructor)) tell(void)
{
    const char *path = getenv("STAR_CALLS");
    FILE *file = path ? fopen(path, "we") : NULL;

    for (unsigned i = 0; file && i < KIND_COUNT; i++)
        (void)fprintf(file, "%s %lu\n", names[i], atomic_load(&calls[i]));
    if (file)
        (void)fclose(file);
}

/* ---- the calls ---- */

static bool is_file(int fd)
{
    int before = errno;
    struct stat found;
    bool file = fstat(fd, &found) == 0 && S_ISREG(found.st_mode);

    errno = before;
    return file;
}

SHOWN ssize_t write(int fd, const void *bytes, size_t size)
{
    enum kind kind = is_file(fd) ? KIND_WRITE : KIND_SIGNAL;

    if (is_chosen(kind)) {
        if (fault.error) {
            errno = fault.error;
            return -1;
        }
        (void)syscall(SYS_write, fd, bytes, size / 2);
        die();
    }
    return syscall(SYS_write, fd, bytes, size);
}

SHOWN int fsync(int fd)
{
    if (atomic_load(&lost) == fd)
        die();
    if (fails(KIND_FSYNC)) {
        atomic_store(&lost, fd);
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

SHOWN int close(int fd)
{
    int same = fd;

    (void)atomic_compare_exchange_strong(&lost, &same, -1);
    return (int)syscall(SYS_close, fd);
}

SHOWN int fallocate(int fd, int mode, off_t from, off_t size)
{
    return fails(KIND_FALLOCATE)
               ? -1
               : (int)syscall(SYS_fallocate, fd, mode, from, size);
}

SHOWN int rename(const char *from, const char *to)
{
    return fails(KIND_RENAME)
               ? -1
               : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

SHOWN int unlinkat(int folder, const char *path, int flags)
{
    return fails(KIND_UNLINK) ? -1
                              : (int)syscall(SYS_unlinkat, folder, path, flags);
}

SHOWN int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

SHOWN int link(const char *from, const char *to)
{
    return fails(KIND_LINK)
               ? -1
               : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

SHOWN int symlink(const char *target, const char *path)
{
    return fails(KIND_SYMLINK)
               ? -1
               : (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
}

SHOWN int mkdir(const char *path, mode_t mode)
{
    return fails(KIND_MKDIR) ? -1
                             : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

SHOWN int rmdir(const char *path)
{
    return fails(KIND_RMDIR)
               ? -1
               : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

SHOWN ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    return fails(KIND_SEND)
               ? -1
               : syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

SHOWN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails(KIND_SEND) ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}
