/* The values of a trace as people write them: 100Mbit, 3ms, 0.1%, 2.31.
 *
 * A value is a whole number of the measure's smallest unit, so that writing
 * and reading again gives the same one:
 *
 *     RATE  bytes per second: 0, 100Mbit, 12.5MB, 900KiB
 *     TIME  nanoseconds: 0s, 50ms, 1.5s, 3min
 *     PART  billionths of the whole, at most all of it: 0.001, 0.1%
 *     NUMBER  billionths: 0.25, 3.5
 *
 * Nothing here allocates or keeps what it is given. */
#ifndef SIM_TRACE_MEASURE_H
#define SIM_TRACE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/decimal.h"
#include "core/status.h"
#include "core/text.h"
#include "core/time.h"

enum trace_measure {
    MEASURE_RATE,
    MEASURE_TIME,
    MEASURE_PART,
    MEASURE_NUMBER,
    MEASURES
};

/* All of a PART, and 1 as a NUMBER. */
#define PART_WHOLE INT64_C(1000000000)

/* Reads the whole of `text`, exactly. USAGE if it is no such value; then `why`
 * says what was expected, and `out` is unchanged. */
enum status trace_measure_read(enum trace_measure measure, const char *text,
                               int64_t *out, struct why *why) MUST_CHECK;

/* Adds a value >= 0 as it is read: rates in the shortest form, times in the
 * largest unit that divides them. */
void trace_measure_print(enum trace_measure measure, int64_t value,
                         struct text *out);

/* Adds a time >= 0 in seconds, with as many decimals as there are: 0.25s. */
void trace_time_print(nanos time, struct text *out);

/* Adds a value >= 0 as a plain number: seconds, bytes per second, parts. */
void trace_plain_print(enum trace_measure measure, int64_t value,
                       struct text *out);

/* Rounds decimal * 10^power to a whole number, half up. False when it is
 * negative or not below INT64_MAX. For numbers that programs have printed,
 * which may have more decimals than a trace. */
bool trace_round(struct decimal decimal, int power, int64_t *out);

#endif
