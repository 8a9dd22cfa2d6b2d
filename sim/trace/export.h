/* Exporters: a trace for other programs.
 *
 * Times are seconds, rates bytes per second, losses parts of 1, exact as in
 * the trace. What a trace says of names is quoted as the format needs it. */
#ifndef SIM_TRACE_EXPORT_H
#define SIM_TRACE_EXPORT_H

#include "sim/trace/trace.h"

struct exporter {
    const char *name, *doc;
    /* IO: the sink did not take it; NO_MEMORY. */
    enum status (*export)(const struct trace *trace,
                          const struct trace_sink *sink, struct why *why);
};

extern const struct exporter exporters[];
extern const unsigned exporter_count;

/* By name, or NULL. */
const struct exporter *exporter_find(const char *name);

#define EXPORTER(name, doc)                                                    \
    enum status export_##name(const struct trace *trace,                       \
                              const struct trace_sink *sink, struct why *why)  \
        MUST_CHECK;
#include "sim/trace/exporters.def"
#undef EXPORTER

#endif
