/* A node's link, as a trace and options say it is at a time. */
#ifndef SIM_SHIM_LINK_H
#define SIM_SHIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "sim/trace/trace.h"

enum {
    SHIM_PACKET_BYTES = 1448,
    SHIM_MOST_BYTES = 64 << 20 /* a longer link carries less than its rate */
};

/* A rate without limit. */
#define SHIM_UNLIMITED INT64_MAX

/* Borrowed by the lines that follow it. What is behind the track counts where
 * the trace says nothing. */
struct shim_link {
    const struct trace *trace;       /* NULL: there is none */
    const struct trace_track *track; /* the node's; NULL: it has none */
    uint64_t bytes_per_second;       /* each way; 0: no limit */
    nanos latency, jitter;
    double loss;
    uint64_t message; /* bytes, > 0: see sim/shim/line.h */
};

/* One way of the link, from a time on until another. */
struct shim_state {
    nanos from, until;
    int64_t rate; /* bytes per second; 0: it is cut */
    nanos delay, jitter;
    double loss;
};

/* A rate of 0, also the other way, and a loss of 1 are a cut. Lost packets
 * bound the rate as sim/world.h says. */
struct shim_state shim_link_at(const struct shim_link *link, bool to_hub,
                               nanos now);
/* Without queues. */
nanos shim_round_trip(const struct shim_state *state);
/* The longest that something travels when no packet is lost. */
nanos shim_link_length(const struct shim_link *link);
/* The most bytes that it carries in this time, up to SHIM_MOST_BYTES; a link
 * without limit is taken for one of 10 Gbit. */
size_t shim_link_bytes(const struct shim_link *link, bool to_hub, nanos time);

#endif
