/* Time as a number. Machines never read a clock: time comes in with events. */
#ifndef CORE_TIME_H
#define CORE_TIME_H

#include <stdint.h>

typedef int64_t nanos; /* nanoseconds since an epoch of the driver's choice */

#define MICROSECOND ((nanos)1000)
#define MILLISECOND ((nanos)1000000)
#define SECOND ((nanos)1000000000)
#define NEVER INT64_MAX

/* For time and pause >= 0; NEVER: beyond what a time can be. */
static inline nanos time_after(nanos time, nanos pause)
{
    return time < NEVER - pause ? time + pause : NEVER;
}

static inline nanos time_earlier(nanos one, nanos other)
{
    return one < other ? one : other;
}

static inline nanos time_later(nanos one, nanos other)
{
    return one > other ? one : other;
}

#endif
