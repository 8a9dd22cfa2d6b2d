#include <inttypes.h>

#include "sim/trace/walk.h"

enum { ENTRY_BYTES = 320 };

static bool write_value(void *of, const struct trace_track *track,
                        enum quantity quantity,
                        const struct series_point *point)
{
    char bytes[ENTRY_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    trace_time_print(point->time, &line);
    text_add(&line, " %s %s ", track->name, quantities[quantity].name);
    trace_measure_print(quantities[quantity].measure, point->value, &line);
    text_add(&line, "\n");
    return sink_put(of, &line);
}

static bool write_event(void *of, const struct traced *event)
{
    const struct traced_info *info = &traced_kinds[event->kind];
    char bytes[ENTRY_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    trace_time_print(event->time, &line);
    text_add(&line, " %s %s", event->track->name, info->name);
    for (unsigned i = 0; i < TRACE_NUMBERS && info->numbers[i]; i++)
        text_add(&line, " %s=%" PRIu64, info->numbers[i], event->numbers[i]);
    if (info->lasts) {
        text_add(&line, " until=");
        trace_time_print(event->until, &line);
    }
    text_add(&line, "\n");
    return sink_put(of, &line);
}

bool trace_write(const struct trace *trace, const struct trace_sink *sink)
{
    const struct walker walker = {(void *)sink, write_value, write_event};
    char bytes[ENTRY_BYTES];
    struct text line;

    text_init(&line, bytes, sizeof bytes);
    text_add(&line, TRACE_FORMAT "\nspan ");
    trace_time_print(trace->span, &line);
    text_add(&line, "\n");
    return sink_put(sink, &line) && trace_walk(trace, &walker) &&
           sink->put(sink->of, "end\n", sizeof "end\n" - 1);
}
