/* The course of a run as the page draws it: points that all curves share.
 *
 * A point is taken each `interval`, at first each second. Once there are
 * TIMELINE_POINTS, each two neighbours become one and the interval doubles, so
 * that memory (some 1.5 MB) and what is sent stay as they are however long the
 * run is. Of a pair the later one's counts stand, and the mean of what is
 * measured. */
#ifndef HUB_PAGE_TIMELINE_H
#define HUB_PAGE_TIMELINE_H

#include <stdint.h>

#include "core/text.h"
#include "core/time.h"
#include "hub/page/feed.h"

enum { TIMELINE_POINTS = 600, TIMELINE_NODES = 64 };

/* What is told of a node, or of the centre; NAN: not known then. */
enum timeline_row {
    TIMELINE_ITERATIONS,
    TIMELINE_SAMPLES,
    TIMELINE_LOSS,
    TIMELINE_LAG,
    TIMELINE_UP, /* bytes per second, over the interval */
    TIMELINE_DOWN,
    TIMELINE_ROWS
};

struct timeline_node {
    char name[NODE_NAME_BYTES];    /* empty: nobody yet */
    uint64_t up_bytes, down_bytes; /* at the last point */
    float row[TIMELINE_ROWS][TIMELINE_POINTS];
};

struct timeline {
    unsigned count;
    nanos interval, next;
    double seconds[TIMELINE_POINTS]; /* since the run began */
    float loss[TIMELINE_POINTS], accuracy[TIMELINE_POINTS]; /* of the centre */
    float version[TIMELINE_POINTS];
    unsigned nodes; /* that have curves: the first of the view */
    struct timeline_node node[TIMELINE_NODES];
};

void timeline_init(struct timeline *timeline);
/* Takes a point, if it is time for one. */
void timeline_look(struct timeline *timeline, const struct snapshot *now);

/* Bytes that are enough for timeline_write. */
size_t timeline_room(const struct timeline *timeline);
/* One object of JSON: {"interval":1,"seconds":[...],"centre":{...},"nodes":
 * [{"name":..,"iterations":[...],...}]}; null where nothing is known. */
void timeline_write(const struct timeline *timeline, struct text *out);

#endif
