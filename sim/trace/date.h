/* Dates as ISO 8601 writes them: 2026-11-22T15:04:05.25Z. Inside of trace/. */
#ifndef SIM_TRACE_DATE_H
#define SIM_TRACE_DATE_H

#include <stdbool.h>

#include "core/time.h"

/* The time since 1970, UTC, of a whole text: a day, `T` or a blank, hours,
 * minutes and seconds, a point or comma with decimals, then nothing or `Z`
 * (UTC) or an offset, +01:00 or +0100. False: it is none, from 1970 to 2200. */
bool date_read(const char *text, nanos *out);

#endif
