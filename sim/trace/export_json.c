/* JSON lines: the first says what this is and how long, each other one is a
 * value or an event. */
#include <inttypes.h>

#include "core/quote.h"
#include "sim/trace/export.h"
#include "sim/trace/walk.h"

enum { OBJECT_BYTES = 1024 };

static void begin(struct text *line, nanos time,
                  const struct trace_track *track, const char *what)
{
    text_add(line, "{\"time\":");
    trace_plain_print(MEASURE_TIME, time, line);
    text_add(line, ",\"node\":");
    quote_json(line, track->name);
    text_add(line, ",\"what\":\"%s\"", what);
}

static bool add_value(void *of, const struct trace_track *track,
                      enum quantity quantity, const struct series_point *point)
{
    char bytes[OBJECT_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    begin(&line, point->time, track, quantities[quantity].name);
    text_add(&line, ",\"value\":");
    trace_plain_print(quantities[quantity].measure, point->value, &line);
    text_add(&line, "}\n");
    return sink_put(of, &line);
}

static bool add_event(void *of, const struct traced *event)
{
    const struct traced_info *info = &traced_kinds[event->kind];
    char bytes[OBJECT_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    begin(&line, event->time, event->track, info->name);
    if (info->lasts) {
        text_add(&line, ",\"until\":");
        trace_plain_print(MEASURE_TIME, event->until, &line);
    }
    for (unsigned i = 0; i < TRACE_NUMBERS && info->numbers[i]; i++)
        text_add(&line, ",\"%s\":%" PRIu64, info->numbers[i],
                 event->numbers[i]);
    text_add(&line, "}\n");
    return sink_put(of, &line);
}

enum status export_json(const struct trace *trace,
                        const struct trace_sink *sink, struct why *why)
{
    const struct walker walker = {(void *)sink, add_value, add_event};
    char bytes[OBJECT_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, "{\"format\":\"" TRACE_FORMAT "\",\"span\":");
    trace_plain_print(MEASURE_TIME, trace->span, &line);
    text_add(&line, "}\n");
    if (sink_put(sink, &line) && trace_walk(trace, &walker))
        return STATUS_OK;
    return because(why, STATUS_IO, "the lines cannot be written");
}
