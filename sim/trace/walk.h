/* All that a trace says, one after the other: for what writes it. Inside of
 * trace/. */
#ifndef SIM_TRACE_WALK_H
#define SIM_TRACE_WALK_H

#include "sim/trace/trace.h"

struct walker {
    void *of;
    /* False ends the walk. */
    bool (*value)(void *of, const struct trace_track *track,
                  enum quantity quantity, const struct series_point *point);
    bool (*event)(void *of, const struct traced *event);
};

/* Values track by track, those of all nodes and the hub first, then events by
 * time. False when the walker has ended it. */
bool trace_walk(const struct trace *trace, const struct walker *walker);

/* Gives the sink what is in `text`. */
bool sink_put(const struct trace_sink *sink, const struct text *text);

#endif
