#include "sim/trace/walk.h"

static bool walk_series(const struct trace_track *track, enum quantity quantity,
                        const struct walker *walker)
{
    const struct trace_series *series = &track->series[quantity];

    for (size_t i = 0; i < series->count; i++)
        if (!walker->value(walker->of, track, quantity, &series->points[i]))
            return false;
    return true;
}

static bool walk_track(const struct trace_track *track,
                       const struct walker *walker)
{
    for (unsigned i = 0; i < QUANTITIES; i++)
        if (!walk_series(track, (enum quantity)i, walker))
            return false;
    return true;
}

bool trace_walk(const struct trace *trace, const struct walker *walker)
{
    if (!walk_track(&trace->all, walker) || !walk_track(&trace->hub, walker))
        return false;
    for (size_t i = 0; i < trace->node_count; i++)
        if (!walk_track(trace->nodes[i], walker))
            return false;
    for (size_t i = 0; i < trace->event_count; i++)
        if (!walker->event(walker->of, &trace->events[i]))
            return false;
    return true;
}

bool sink_put(const struct trace_sink *sink, const struct text *text)
{
    return sink->put(sink->of, text->bytes, text->length);
}
