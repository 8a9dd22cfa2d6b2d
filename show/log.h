/* The log: what machines have to say, as lines for people or programs.
 *
 *     2026-11-21T13:00:00Z INFO node_joined n1: at iteration 0
 *     {"time":"...","level":"info","event":"node_joined","subject":"n1",...}
 *
 * A kind of note that comes more than LOG_MOST times within LOG_INTERVAL is
 * counted instead, and the count is said when that is over: nobody can fill a
 * disk by offending the hub. Time is an argument. One thread. */
#ifndef SHOW_LOG_H
#define SHOW_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"
#include "core/time.h"
#include "seam/machine.h"

enum { LOG_MOST = 30, LOG_LINE_BYTES = 2048 };
#define LOG_INTERVAL (10 * SECOND)

struct log_config {
    enum level least; /* what is below is not said */
    bool json;
    /* Takes each line, its line end included; borrowed for the call. */
    void (*write)(void *of, const char *line);
    void *of;
};

/* What was said of one kind since `since`. */
struct log_kind {
    nanos since;
    unsigned said;
    uint64_t withheld;
};

struct logger {
    struct log_config config;
    struct log_kind kinds[NOTE_KINDS];
    uint64_t notes[NOTE_KINDS]; /* of each kind, also those not said */
};

void log_init(struct logger *logger, const struct log_config *config);

/* `wall`: nanoseconds since 1970 UTC. */
void log_note(struct logger *logger, nanos wall, const struct note *note);

/* Says how many were withheld, for each interval that is over; to be called
 * now and then. With NEVER: for all, at the end. */
void log_tick(struct logger *logger, nanos wall);

#endif
