/* The log: the notes of machines, as lines for people or programs.
 *
 *     2026-11-21T13:00:00Z INFO node_joined n1: at iteration 0
 *     {"time":"...","level":"info","event":"node_joined","subject":"n1",...}
 *
 * A kind of note that comes more than LOG_MOST times within LOG_INTERVAL is
 * counted instead, and the count is said when that is over: nobody can fill a
 * disk by offending the hub. Of nodes that come and go at one address no more
 * than LOG_OF_ADDRESS are said within LOG_ADDRESS_INTERVAL, and the others
 * counted, so that they hide nobody else. Time is an argument. One thread. */
#ifndef REPORT_LOG_H
#define REPORT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"
#include "core/time.h"
#include "seam/machine.h"

enum { LOG_MOST = 30, LOG_LINE_BYTES = 2048 };
#define LOG_INTERVAL (10 * SECOND)
/* Addresses beyond so many at a time are held to the first rule alone. */
enum { LOG_OF_ADDRESS = 60, LOG_ADDRESSES = 64 };
#define LOG_ADDRESS_INTERVAL (60 * SECOND)

struct log_config {
    enum level least; /* lower ones are not logged */
    bool json;
    /* Takes each line, its line end included; borrowed for the call. */
    void (*write)(void *of, const char *line);
    void *of;
};

/* What was said of one kind, or of one address, since `since`. */
struct log_count {
    nanos since;
    unsigned said;
    uint64_t withheld;
};

struct log_address {
    char address[ADDRESS_BYTES]; /* empty: this place is free */
    struct log_count count;
};

struct logger {
    struct log_config config;
    struct log_count kinds[NOTE_KINDS];
    struct log_address addresses[LOG_ADDRESSES];
    uint64_t notes[NOTE_KINDS]; /* of each kind, also those not said */
};

void log_init(struct logger *logger, const struct log_config *config);

/* `wall`: nanoseconds since 1970 UTC. */
void log_note(struct logger *logger, nanos wall, const struct note *note);

/* Says how many were withheld, for each interval that is over; to be called
 * now and then. With NEVER: for all, at the end. */
void log_tick(struct logger *logger, nanos wall);

#endif
