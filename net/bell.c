#include "net/bell.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum status bell_init(struct bell *bell, struct why *why)
{
    bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (bell->fd < 0)
        return because(why, STATUS_UNAVAILABLE,
                       "the system gives no event descriptor: %s",
                       strerror(errno));
    return STATUS_OK;
}

void bell_free(struct bell *bell)
{
    if (bell->fd >= 0)
        (void)close(bell->fd);
    bell->fd = -1;
}

void bell_ring(const struct bell *bell)
{
    int before = errno; /* belongs to whom a signal handler interrupts */
    uint64_t one = 1;
    ssize_t written = write(bell->fd, &one, sizeof one);

    /* EAGAIN: it has been rung 2^64 - 2 times, and is readable. */
    assert(written == (ssize_t)sizeof one || errno == EAGAIN);
    errno = before;
}

void bell_hush(const struct bell *bell)
{
    uint64_t count;

    if (read(bell->fd, &count, sizeof count) < 0)
        assert(errno == EAGAIN);
}
