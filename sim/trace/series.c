#include "sim/trace/series.h"

#include <assert.h>
#include <stdlib.h>

bool series_append(struct trace_series *series, nanos time, int64_t value)
{
    assert(time >= 0 && value >= 0);
    assert(!series->count || series->points[series->count - 1].time < time);
    if (series->count == series->room) {
        size_t room = series->room ? 2 * series->room : 4;
        struct series_point *points =
            realloc(series->points, room * sizeof *points);

        if (!points)
            return false;
        series->points = points;
        series->room = room;
    }
    series->points[series->count++] = (struct series_point){time, value};
    return true;
}

void series_free(struct trace_series *series)
{
    free(series->points);
    *series = (struct trace_series){.points = NULL};
}

/* How many points are not after `time`. */
static size_t points_until(const struct trace_series *series, nanos time)
{
    size_t low = 0, high = series->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (series->points[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static nanos phase(const struct trace_series *series, nanos now)
{
    return series->span ? now % series->span : now;
}

int64_t series_at(const struct trace_series *series, nanos now)
{
    size_t count;

    assert(now >= 0);
    count = points_until(series, phase(series, now));
    return count ? series->points[count - 1].value : SERIES_UNSET;
}

nanos series_next_change(const struct trace_series *series, nanos now)
{
    nanos begin, next = series->span;
    size_t count;

    assert(now >= 0);
    begin = now - phase(series, now);
    count = points_until(series, now - begin);
    if (count < series->count)
        next = series->points[count].time;
    else if (!next || !count || (count == 1 && !series->points[0].time))
        return NEVER;
    return time_after(begin, next);
}
