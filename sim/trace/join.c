#include "sim/trace/join.h"

/* What a series says, again and again until the new trace ends. */
static enum status add_series(struct trace *trace, struct trace_track *track,
                              enum quantity quantity,
                              const struct trace_series *series,
                              struct why *why)
{
    enum status status = STATUS_OK;

    for (nanos base = 0; base < trace->span && status == STATUS_OK;
         base += series->span)
        for (size_t i = 0; i < series->count && status == STATUS_OK; i++)
            if (base + series->points[i].time < trace->span)
                status = trace_add_value(trace, track, quantity,
                                         base + series->points[i].time,
                                         series->points[i].value, why);
    return status;
}

static enum status add_track(struct trace *trace,
                             const struct trace_track *from, const char *name,
                             struct why *why)
{
    struct trace_track *to = NULL;
    enum status status = trace_track(trace, name, &to, why);

    for (unsigned i = 0; i < QUANTITIES && status == STATUS_OK; i++) {
        if (!from->series[i].count)
            continue;
        if (to->series[i].count)
            return because(why, STATUS_CONFIG,
                           "both traces say something of "
                           "%s of %s: say --node or --quantity",
                           quantities[i].name, name);
        status = add_series(trace, to, (enum quantity)i, &from->series[i], why);
    }
    return status;
}

static enum status add_events(struct trace *trace, const struct trace *from,
                              struct why *why)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < from->event_count && status == STATUS_OK; i++) {
        struct traced event = from->events[i];
        struct trace_track *track = NULL;

        status = trace_track(trace, event.track->name, &track, why);
        event.track = track;
        if (status == STATUS_OK)
            status = trace_add_event(trace, &event, why);
    }
    return status;
}

static enum status add_all(struct trace *trace, const struct trace *from,
                           struct why *why)
{
    enum status status = add_track(trace, &from->all, TRACE_ALL, why);

    if (status == STATUS_OK)
        status = add_track(trace, &from->hub, TRACE_HUB, why);
    for (size_t i = 0; i < from->node_count && status == STATUS_OK; i++)
        status = add_track(trace, from->nodes[i], from->nodes[i]->name, why);
    return status == STATUS_OK ? add_events(trace, from, why) : status;
}

enum status trace_join(const struct trace *one, const struct trace *other,
                       struct trace **out, struct why *why)
{
    struct trace *trace = trace_new();
    enum status status;

    if (!trace)
        return because(why, STATUS_NO_MEMORY, "no memory for the trace");
    trace_set_span(trace, one->span > other->span ? one->span : other->span);
    status = add_all(trace, one, why);
    if (status == STATUS_OK)
        status = add_all(trace, other, why);
    if (status == STATUS_OK) {
        trace_sort(trace);
        *out = trace;
    } else {
        trace_destroy(&trace);
    }
    return status;
}
