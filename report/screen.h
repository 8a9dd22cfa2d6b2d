/* Where the table and the log meet: standard output and standard error.
 *
 * On a terminal the table is redrawn in place, and lines of the log appear
 * above it. Elsewhere a line about the run is printed every 5 s. Whatever
 * happens to the reader (a terminal that is stopped, a pipe that is full or
 * closed), the hub goes on: after a short wait what is said is dropped, and
 * the number of lost lines is said later. The caller ignores SIGPIPE.
 *
 * One thread: the loop's. */
#ifndef REPORT_SCREEN_H
#define REPORT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "report/table.h"

/* The kinds of standard output and error. */
struct screen_setup {
    int out, err;  /* descriptors */
    bool json;     /* lines of JSON, never a table */
    bool live;     /* `out` is a terminal that can redraw */
    bool together; /* `out` and `err` are shown in the same place */
    bool colour;
};

/* Looks at the two streams and at TERM and NO_COLOR. */
struct screen_setup screen_look_around(bool json);

struct screen {
    struct screen_setup setup;
    unsigned rows, width; /* of the table that is there; 0: none */
    nanos next;           /* when the table is due again */
    uint64_t lost;        /* lines of the log that nobody took */
    bool stuck;           /* the last write found no room */
    char drawn[TABLE_BYTES];
};

/* Prints nothing yet. */
void screen_init(struct screen *screen, const struct screen_setup *setup);

/* Shows the table if it is due (a terminal: 4 times a second; else every
 * 5 s), or if `now_or_never`: then it is the last time. */
void screen_show(struct screen *screen, const struct table *table, nanos now,
                 bool now_or_never);

/* Prints a line of the log, its line end included, on `err`. `screen` is a
 * struct screen, as log_config.write wants it. */
void screen_say(void *screen, const char *line);

#endif
