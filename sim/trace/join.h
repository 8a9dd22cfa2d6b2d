/* Two measurements of one star as one trace: up and down of a link, or nodes
 * one by one. */
#ifndef SIM_TRACE_JOIN_H
#define SIM_TRACE_JOIN_H

#include "sim/trace/trace.h"

/* A trace that says what both say, as long as the longer one; the shorter one
 * begins again until then, its events do not. CONFIG: both say something of
 * the same quantity of a track, or it is too much; NO_MEMORY. */
enum status trace_join(const struct trace *one, const struct trace *other,
                       struct trace **out, struct why *why) MUST_CHECK;

#endif
