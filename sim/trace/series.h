/* A value that changes at known times, and begins again after its span.
 *
 * Each point holds from its time on. At time t + span the value is that of t;
 * before its first point, and at the same time of every repetition, it is
 * unset. The points have rising times below the span. */
#ifndef SIM_TRACE_SERIES_H
#define SIM_TRACE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

/* Nothing is said; values are never negative. */
#define SERIES_UNSET INT64_C(-1)

struct series_point {
    nanos time;
    int64_t value;
};

/* Zeroed at first; series_free frees its points. */
struct trace_series {
    struct series_point *points;
    size_t count, room;
    nanos span; /* 0: it does not repeat */
};

/* Adds a point behind the others, which `time` >= 0 must be after. False,
 * and nothing has changed, when there is no memory. */
bool series_append(struct trace_series *series, nanos time, int64_t value);
void series_free(struct trace_series *series);

/* The value at `now` >= 0, or SERIES_UNSET; O(log n). */
int64_t series_at(const struct trace_series *series, nanos now);
/* The next time after `now` >= 0 at which the value may be another, or NEVER;
 * O(log n). */
nanos series_next_change(const struct trace_series *series, nanos now);

#endif
