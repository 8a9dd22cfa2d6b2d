/* A timeline in the trace event format, which ui.perfetto.dev and
 * chrome://tracing show (Duca and Sinclair, "Trace Event Format"): a process
 * for each node, in it a row for each kind of event and a curve for each
 * quantity. What lasts, and the iterations from one event to the next, are
 * bars. Equal events have equal names, so that they can be added up; which
 * one it was is among the arguments. Times are microseconds. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/quote.h"
#include "sim/trace/export.h"
#include "sim/trace/walk.h"

enum { OBJECT_BYTES = 1024 };

/* What was shown of a track. */
struct shown_track {
    bool named;
    uint32_t rows; /* bits: kinds of events whose row has its name */
    bool has_done;
    nanos at; /* of its last event `iteration` */
    uint64_t done;
};

struct timeline {
    const struct trace *trace;
    const struct trace_sink *sink;
    struct shown_track *tracks;
    bool first; /* no object was written yet */
};

/* Begins an object: {"ph":"X","pid":3 */
static void begin(struct timeline *of, struct text *out, const char *phase,
                  size_t track)
{
    text_add(out, "%s{\"ph\":\"%s\",\"pid\":%zu", of->first ? "" : ",\n", phase,
             track + 1);
    of->first = false;
}

static void add_micros(struct text *out, const char *key, nanos time)
{
    text_add(out, ",\"%s\":%" PRId64 ".%03d", key, time / MICROSECOND,
             (int)(time % MICROSECOND));
}

/* Names a process, once. */
static bool name_track(struct timeline *of, size_t index,
                       const struct trace_track *track)
{
    char bytes[OBJECT_BYTES];
    struct text out;

    if (of->tracks[index].named)
        return true;
    of->tracks[index].named = true;
    text_init(&out, bytes, sizeof bytes);
    begin(of, &out, "M", index);
    text_add(&out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    quote_json(&out, track == &of->trace->all ? "all nodes" : track->name);
    text_add(&out, "}}");
    return sink_put(of->sink, &out);
}

/* Names the row of a kind of events, once. */
static bool name_row(struct timeline *of, size_t index, enum traced_kind kind)
{
    char bytes[OBJECT_BYTES];
    struct text out;

    if (of->tracks[index].rows & 1U << kind)
        return true;
    of->tracks[index].rows |= 1U << kind;
    text_init(&out, bytes, sizeof bytes);
    begin(of, &out, "M", index);
    text_add(&out,
             ",\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
             "\"%s\"}}",
             (unsigned)kind + 1, traced_kinds[kind].name);
    return sink_put(of->sink, &out);
}

static bool add_value(void *context, const struct trace_track *track,
                      enum quantity quantity, const struct series_point *point)
{
    struct timeline *of = context;
    size_t index = trace_index(of->trace, track);
    char bytes[OBJECT_BYTES];
    struct text out;

    if (!name_track(of, index, track))
        return false;
    text_init(&out, bytes, sizeof bytes);
    begin(of, &out, "C", index);
    text_add(&out, ",\"name\":\"%s\"", quantities[quantity].name);
    add_micros(&out, "ts", point->time);
    text_add(&out, ",\"args\":{\"%s\":", quantities[quantity].name);
    trace_plain_print(quantities[quantity].measure, point->value, &out);
    text_add(&out, "}}");
    return sink_put(of->sink, &out);
}

/* When the bar of an event begins, or -1: it is a point. */
static nanos bar_of(struct shown_track *track, const struct traced *event)
{
    nanos begins = track->at;
    bool bar = track->has_done && event->numbers[0] >= track->done;

    if (traced_kinds[event->kind].lasts)
        return event->time;
    if (event->kind == TRACED_JOIN)
        track->has_done = false;
    if (event->kind != TRACED_ITERATION)
        return -1;
    track->has_done = true;
    track->at = event->time;
    track->done = event->numbers[0];
    return bar ? begins : -1;
}

static bool add_event(void *context, const struct traced *event)
{
    const struct traced_info *info = &traced_kinds[event->kind];
    struct timeline *of = context;
    size_t index = trace_index(of->trace, event->track);
    nanos begins = bar_of(&of->tracks[index], event);
    char bytes[OBJECT_BYTES];
    struct text out;

    if (!name_track(of, index, event->track) ||
        !name_row(of, index, event->kind))
        return false;
    text_init(&out, bytes, sizeof bytes);
    begin(of, &out, begins < 0 ? "i" : "X", index);
    text_add(&out, ",\"tid\":%u,\"name\":\"%s\"", (unsigned)event->kind + 1,
             info->name);
    add_micros(&out, "ts", begins < 0 ? event->time : begins);
    if (begins < 0)
        text_add(&out, ",\"s\":\"t\"");
    else
        add_micros(&out, "dur", event->until - begins);
    text_add(&out, ",\"args\":{");
    for (unsigned i = 0; i < TRACE_NUMBERS && info->numbers[i]; i++)
        text_add(&out, "%s\"%s\":%" PRIu64, i ? "," : "", info->numbers[i],
                 event->numbers[i]);
    text_add(&out, "}}");
    return sink_put(of->sink, &out);
}

enum status export_timeline(const struct trace *trace,
                            const struct trace_sink *sink, struct why *why)
{
    static const char head[] = "{\"displayTimeUnit\":\"ms\","
                               "\"traceEvents\":[\n";
    struct timeline of = {.trace = trace, .sink = sink, .first = true};
    const struct walker walker = {&of, add_value, add_event};
    bool taken;

    of.tracks = calloc(trace->node_count + 2, sizeof *of.tracks);
    if (!of.tracks)
        return because(why, STATUS_NO_MEMORY, "no memory for the timeline");
    taken = sink->put(sink->of, head, sizeof head - 1) &&
            trace_walk(trace, &walker) &&
            sink->put(sink->of, "\n]}\n", sizeof "\n]}\n" - 1);
    free(of.tracks);
    if (taken)
        return STATUS_OK;
    return because(why, STATUS_IO, "the timeline cannot be written");
}
