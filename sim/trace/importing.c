#include "sim/trace/importing.h"

enum status importing_begin(const struct import_options *options,
                            struct importing *out, struct why *why)
{
    enum status status;

    *out = (struct importing){.trace = trace_new(), .options = options};
    if (!out->trace)
        return because(why, STATUS_NO_MEMORY, "no memory for the trace");
    status = trace_track(out->trace, options->node, &out->track, why);
    if (status != STATUS_OK)
        trace_destroy(&out->trace);
    return status;
}

enum status importing_add(struct importing *importing, enum quantity quantity,
                          nanos time, int64_t value, unsigned long line,
                          struct why *why)
{
    const struct trace_series *series = &importing->track->series[quantity];
    const struct series_point *last =
        series->count ? &series->points[series->count - 1] : NULL;
    struct why reason;
    enum status status;

    if (last && last->time >= time)
        return because(why, STATUS_MALFORMED,
                       "line %lu: its time is not after that of the line "
                       "before: sort the file, or cut it where a new "
                       "measurement begins",
                       line);
    if (last && last->value == value)
        return STATUS_OK;
    status = trace_add_value(importing->trace, importing->track, quantity, time,
                             value, &reason);
    return status == STATUS_OK
               ? status
               : because(why, status, "line %lu: %s", line, reason.text);
}

enum status importing_add_each(struct importing *importing, unsigned bits,
                               nanos time, int64_t value, unsigned long line,
                               struct why *why)
{
    for (unsigned i = 0; i < QUANTITIES; i++) {
        enum status status = STATUS_OK;

        if (bits & 1U << i)
            status = importing_add(importing, (enum quantity)i, time, value,
                                   line, why);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status importing_end(struct importing *importing, enum status status,
                          struct trace **out)
{
    if (status != STATUS_OK) {
        trace_destroy(&importing->trace);
        return status;
    }
    trace_sort(importing->trace);
    *out = importing->trace;
    return STATUS_OK;
}
