/* One direction of a connection through the shim: from a socket, past faults,
 * through a line, to a socket. */
#ifndef SIM_SHIM_WAY_H
#define SIM_SHIM_WAY_H

#include "sim/shim/fault.h"
#include "sim/shim/line.h"

/* A descriptor, and what is known of it: epoll tells it once. */
struct source {
    int fd;
    bool readable, writable;
};

struct way {
    struct shim_line *line;
    struct shim_fault *fault; /* NULL: none */
    struct source *from, *to;
    uint64_t *bytes;      /* the figure that counts them */
    bool ended;           /* nothing more is put into the line */
    bool closed;          /* nothing more is given to `to` */
    enum shim_end ending; /* with faults: how `from` has ended */
};

/* Puts what has come into the line; true: there may be more. */
bool way_fill(struct way *way, nanos now);
/* Gives away what has arrived; true: there may be more to do. When nobody takes
 * it any more, `back` is broken. */
bool way_give(struct way *way, struct way *back, nanos now);
/* Passes the end of a stream on; true: it is broken, and so both ways are. */
bool way_pass_end(struct way *way);
/* When there is something to do though no socket says so; or NEVER. */
nanos way_next(const struct way *way);
void way_free(struct way *way);

#endif
