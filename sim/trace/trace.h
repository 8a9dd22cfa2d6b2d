/* A trace: how a star's network and its PCs behaved, and what happened.
 *
 * The simulator follows it, importers make it of what other programs have
 * measured, and a recorded run is one. Its text is docs/man/starswitch-trace.5;
 * trace_parse reads it, trace_write writes it, and what is written reads as
 * the same trace.
 *
 *     starswitch-trace 1
 *     span 60s
 *     0s * up 100Mbit
 *     0s n3 delay 3ms
 *     12.5s n3 offer exchange=2 iteration=40
 *     end
 *
 * It has a track for each node, one for all nodes (`*`) and one for the hub's
 * port (`hub`); a track has a series for each quantity. Where a node's own
 * series says nothing, that of all nodes counts. A trace owns all that is in
 * it. Pure; one thread. */
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/time.h"
#include "sim/trace/measure.h"
#include "sim/trace/series.h"

#define TRACE_FORMAT "starswitch-trace 1"
#define TRACE_ALL "*"
#define TRACE_HUB "hub"
/* An iteration takes some time, or virtual time would stand still. */
#define TRACE_LEAST_STEP MICROSECOND

enum {
    TRACE_NAME_BYTES = 64, /* with its NUL */
    TRACE_MAX_NODES = 1 << 14,
    TRACE_MAX_ITEMS = 1 << 24, /* values and events */
    TRACE_NUMBERS = 3          /* of an event, at most */
};

enum quantity {
#define QUANTITY(NAME, name, measure, doc) QUANTITY_##NAME,
#include "sim/trace/quantities.def"
#undef QUANTITY
    QUANTITIES
};

struct quantity_info {
    const char *name;
    enum trace_measure measure;
    const char *doc;
};

extern const struct quantity_info quantities[QUANTITIES];

enum traced_kind {
#define TRACED(NAME, name, lasts, first, second, third, doc) TRACED_##NAME,
#include "sim/trace/traced.def"
#undef TRACED
    TRACED_KINDS
};

struct traced_info {
    const char *name;
    bool lasts;
    const char *numbers[TRACE_NUMBERS]; /* NULL behind the last */
    const char *doc;
};

extern const struct traced_info traced_kinds[TRACED_KINDS];

struct trace_track {
    char name[TRACE_NAME_BYTES];
    struct trace_series series[QUANTITIES];
};

/* Something that happened at a node. */
struct traced {
    nanos time, until; /* until: >= time; of kinds that do not last, time */
    enum traced_kind kind;
    const struct trace_track *track;
    uint64_t numbers[TRACE_NUMBERS]; /* 0 where it has none */
    uint32_t order;                  /* among those of the same time */
};

/* To be read; changed by the functions below. */
struct trace {
    nanos span; /* how long it is, > 0 once it was set */
    struct trace_track all, hub;
    struct trace_track **nodes; /* by name, as strcmp has it */
    size_t node_count, node_room;
    struct traced *events; /* by time, after trace_sort */
    size_t event_count, event_room;
    size_t items;
};

/* An empty trace, or NULL: no memory. */
struct trace *trace_new(void);
void trace_destroy(struct trace **trace);

/* How long it is, 0 < span < NEVER; all series repeat after it. */
void trace_set_span(struct trace *trace, nanos span);

/* The track of this name, or NULL: nothing is said of it. O(log n). */
struct trace_track *trace_find(const struct trace *trace, const char *name);
/* The same, made if it is not there. CONFIG: this is no name, or there are too
 * many; NO_MEMORY. */
enum status trace_track(struct trace *trace, const char *name,
                        struct trace_track **out, struct why *why) MUST_CHECK;

/* Says that from `time` on the quantity has this value. CONFIG: the time is
 * not after that of the series' last point, a step is shorter than
 * TRACE_LEAST_STEP, or there is too much. */
enum status trace_add_value(struct trace *trace, struct trace_track *track,
                            enum quantity quantity, nanos time, int64_t value,
                            struct why *why) MUST_CHECK;
/* Adds an event, copied but for its track. CONFIG: there is too much. */
enum status trace_add_event(struct trace *trace, const struct traced *event,
                            struct why *why) MUST_CHECK;
/* Brings events into the order of their times; those of one time stay as they
 * were added. */
void trace_sort(struct trace *trace);

/* The value that counts for a node at `now` >= 0: its own, else that of all
 * nodes, else SERIES_UNSET. `track` NULL: a node of which nothing is said. */
int64_t trace_at(const struct trace *trace, const struct trace_track *track,
                 enum quantity quantity, nanos now);
/* The next time after `now` at which that may be another, or NEVER. */
nanos trace_next_change(const struct trace *trace,
                        const struct trace_track *track, enum quantity quantity,
                        nanos now);

/* The place of one of its tracks: 0 that of all nodes, 1 the hub's, from 2 on
 * the nodes. O(log n). */
size_t trace_index(const struct trace *trace, const struct trace_track *track);

/* Whether both say the same. */
bool trace_equal(const struct trace *a, const struct trace *b);

/* Takes text piece by piece. False: it cannot, and wants no more. */
struct trace_sink {
    bool (*put)(void *of, const char *text, size_t length);
    void *of;
};

/* Reads the whole text, of any bytes. MALFORMED: it is no trace, and `why`
 * names the line and what to do; NO_MEMORY. The memory it takes is bounded by
 * the length of the text. */
enum status trace_parse(const char *text, size_t size, struct trace **out,
                        struct why *why) MUST_CHECK;
/* False: the sink did not take it. */
bool trace_write(const struct trace *trace, const struct trace_sink *sink);

#endif
