/* What importers share. Inside of trace/. */
#ifndef SIM_TRACE_IMPORTING_H
#define SIM_TRACE_IMPORTING_H

#include "sim/trace/import.h"

/* A trace that is being made. */
struct importing {
    struct trace *trace;
    struct trace_track *track; /* of options.node, once it has a value */
    const struct import_options *options;
};

enum status importing_begin(const struct import_options *options,
                            struct importing *out, struct why *why) MUST_CHECK;

/* Adds a value to the track of options.node, unless it is the one that holds
 * already. `line` is named if the time does not rise. */
enum status importing_add(struct importing *importing, enum quantity quantity,
                          nanos time, int64_t value, unsigned long line,
                          struct why *why) MUST_CHECK;
/* The same for each quantity of `bits`. */
enum status importing_add_each(struct importing *importing, unsigned bits,
                               nanos time, int64_t value, unsigned long line,
                               struct why *why) MUST_CHECK;

/* Ends it: `status` OK gives the trace to `out`, else it is destroyed. Returns
 * `status`. */
enum status importing_end(struct importing *importing, enum status status,
                          struct trace **out);

#endif
