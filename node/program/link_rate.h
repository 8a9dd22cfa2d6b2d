/* How fast bytes arrived at the receiver: from samples of what had arrived by
 * which moment, as the receiver's kernel counts it, so that it does not matter
 * when a program comes to read.
 *
 * A shaper lets a burst through at once, buffers take more, and TCP begins
 * slowly: the steady part is what comes after LINK_SKIP_SHARE of the bytes, and
 * after LINK_SKIP_BYTES. Where that takes too little time to tell, all of it
 * is taken from the last sample before to the first one after, which gives a
 * rate that was reached at least. */
#ifndef NODE_PROGRAM_LINK_RATE_H
#define NODE_PROGRAM_LINK_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

#define LINK_SKIP_SHARE 0.25
#define LINK_SKIP_BYTES ((uint64_t)160 << 10)
#define LINK_STEADY_LEAST (20 * MILLISECOND) /* shorter does not tell */

struct link_sample {
    nanos at;
    uint64_t bytes; /* that have arrived since some moment */
};

struct link_rate {
    double rate;   /* bytes a second; 0: not known */
    bool at_least; /* that, or more */
    nanos steady;  /* how long the steady part took */
};

/* Of samples in the order of time, the first from before anything was sent,
 * the last from when everything had come. Pure. */
struct link_rate link_rate(const struct link_sample *samples, size_t count);

#endif
