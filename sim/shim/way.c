#include "sim/shim/way.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FAULTY_BYTES = 64 * 1024 }; /* that are read at a time */

static bool is_not_now(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void end_way(struct way *way, nanos now, enum shim_end how)
{
    way->ended = true;
    shim_line_end(way->line, now, how);
}

/* Puts what has come into the line; true: there may be more. */
static bool take_in(struct way *way, nanos now)
{
    struct iovec parts[2];
    unsigned count;
    ssize_t got;

    if (way->ended || !way->from->readable)
        return false;
    count = shim_line_room(way->line, parts);
    if (!count)
        return false;
    got = readv(way->from->fd, parts, (int)count);
    if (got > 0)
        shim_line_put(way->line, now, (size_t)got);
    else if (got == 0)
        end_way(way, now, SHIM_ENDED);
    else if (is_not_now())
        way->from->readable = errno == EINTR;
    else
        end_way(way, now, SHIM_BROKEN);
    return got >= 0 || way->ended;
}

/* ---- with faults ---- */

static size_t pour(const struct iovec *parts, unsigned count,
                   const unsigned char *bytes, size_t size)
{
    size_t done = 0;

    for (unsigned i = 0; i < count && done < size; i++) {
        size_t part = size - done;

        part = part < parts[i].iov_len ? part : parts[i].iov_len;
        memcpy(parts[i].iov_base, bytes + done, part);
        done += part;
    }
    return done;
}

/* Puts what the faults let go into the line; true: all of it. */
static bool move_on(struct way *way, nanos now)
{
    const void *bytes;
    size_t size;

    while ((size = shim_fault_ready(way->fault, now, &bytes)) > 0) {
        struct iovec parts[2];
        unsigned count = shim_line_room(way->line, parts);
        size_t done = pour(parts, count, bytes, size);

        if (!done)
            return false;
        shim_line_put(way->line, now, done);
        shim_fault_consume(way->fault, done);
    }
    return shim_fault_next(way->fault) == NEVER;
}

/* Takes from the socket; the end of the stream waits for what is before it. */
static bool read_faulty(struct way *way, nanos now)
{
    static unsigned char bytes[FAULTY_BYTES];
    ssize_t got = read(way->from->fd, bytes, sizeof bytes);

    if (got < 0 && is_not_now()) {
        way->from->readable = errno == EINTR;
        return false;
    }
    if (got > 0 && shim_fault_put(way->fault, now, bytes, (size_t)got))
        return true;
    way->ending = got == 0 ? SHIM_ENDED : SHIM_BROKEN;
    shim_fault_end(way->fault);
    return true;
}

static bool take_faulty(struct way *way, nanos now)
{
    bool moved;

    if (way->ended)
        return false;
    moved = move_on(way, now);
    if (moved && (way->ending != SHIM_OPEN || shim_fault_broken(way->fault))) {
        end_way(way, now,
                shim_fault_broken(way->fault) ? SHIM_BROKEN : way->ending);
        return true;
    }
    if (!way->from->readable || way->ending != SHIM_OPEN ||
        shim_fault_ready(way->fault, now, &(const void *){NULL}))
        return false;
    return read_faulty(way, now);
}

bool way_fill(struct way *way, nanos now)
{
    return way->fault ? take_faulty(way, now) : take_in(way, now);
}

bool way_give(struct way *way, struct way *back, nanos now)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    ssize_t given;

    if (way->closed || !way->to->writable)
        return false;
    message.msg_iovlen = shim_line_arrived(way->line, parts);
    if (!message.msg_iovlen)
        return false;
    given = sendmsg(way->to->fd, &message, MSG_NOSIGNAL);
    if (given >= 0) {
        shim_line_consume(way->line, (size_t)given);
        *way->bytes += (size_t)given;
    } else if (is_not_now()) {
        way->to->writable = errno == EINTR;
    } else {
        way->closed = true;
        if (!back->ended)
            end_way(back, now, SHIM_BROKEN);
    }
    return given >= 0 || way->closed;
}

bool way_pass_end(struct way *way)
{
    enum shim_end end = shim_line_ended(way->line);

    if (way->closed || end == SHIM_OPEN || end == SHIM_BROKEN)
        return !way->closed && end == SHIM_BROKEN;
    if (way->to->writable) {
        (void)shutdown(way->to->fd, SHUT_WR);
        way->closed = true;
    }
    return false;
}

nanos way_next(const struct way *way)
{
    nanos line = shim_line_next(way->line);
    nanos fault = way->fault ? shim_fault_next(way->fault) : NEVER;

    return line < fault ? line : fault;
}

void way_free(struct way *way)
{
    shim_line_destroy(&way->line);
    shim_fault_destroy(&way->fault);
}
