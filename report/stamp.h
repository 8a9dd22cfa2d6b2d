/* Time as people and their tools read it. */
#ifndef REPORT_STAMP_H
#define REPORT_STAMP_H

#include "core/text.h"
#include "core/time.h"

/* Adds `wall`, nanoseconds since 1970 UTC, as 2026-11-21T13:00:00Z. */
void stamp_add(struct text *out, nanos wall);

/* Adds a length of time: 31 s, 12 min 5 s, 3 h 20 min. */
void stamp_add_span(struct text *out, nanos span);

#endif
