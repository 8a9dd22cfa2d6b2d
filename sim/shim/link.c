#include "sim/shim/link.h"

#include <math.h>

/* What a link without limit is taken for, where its length must be bounded. */
static const uint64_t fastest = UINT64_C(1250000000);

static int64_t traced(const struct shim_link *link, enum quantity quantity,
                      nanos now, int64_t otherwise)
{
    int64_t value = SERIES_UNSET;

    if (link->trace)
        value = trace_at(link->trace, link->track, quantity, now);
    return value == SERIES_UNSET ? otherwise : value;
}

/* What congestion avoidance reaches, by Mathis and others. */
static int64_t capped(int64_t rate, double loss, nanos round_trip)
{
    double most;

    if (loss <= 0 || round_trip <= 0)
        return rate;
    most = 1.22 * SHIM_PACKET_BYTES * (double)SECOND /
           ((double)round_trip * sqrt(loss));
    return most < (double)rate ? (int64_t)most + 1 : rate;
}

nanos shim_round_trip(const struct shim_state *state)
{
    return 2 * state->delay + state->jitter;
}

struct shim_state shim_link_at(const struct shim_link *link, bool to_hub,
                               nanos now)
{
    static const enum quantity watched[] = {QUANTITY_UP, QUANTITY_DOWN,
                                            QUANTITY_DELAY, QUANTITY_JITTER,
                                            QUANTITY_LOSS};
    int64_t usual = link->bytes_per_second ? (int64_t)link->bytes_per_second
                                           : SHIM_UNLIMITED;
    int64_t up = traced(link, QUANTITY_UP, now, usual);
    int64_t down = traced(link, QUANTITY_DOWN, now, usual);
    struct shim_state state = {.from = now, .until = NEVER};

    state.delay = traced(link, QUANTITY_DELAY, now, link->latency);
    state.jitter = traced(link, QUANTITY_JITTER, now, link->jitter);
    state.loss = (double)traced(link, QUANTITY_LOSS, now,
                                llround(link->loss * (double)PART_WHOLE)) /
                 (double)PART_WHOLE;
    if (up > 0 && down > 0 && state.loss < 1)
        state.rate =
            capped(to_hub ? up : down, state.loss, shim_round_trip(&state));
    for (size_t i = 0; link->trace && i < sizeof watched / sizeof *watched;
         i++) {
        nanos next =
            trace_next_change(link->trace, link->track, watched[i], now);

        state.until = next < state.until ? next : state.until;
    }
    return state;
}

/* The most that a quantity comes to. */
static int64_t largest(const struct shim_link *link, enum quantity quantity,
                       int64_t otherwise)
{
    const struct trace_track *tracks[] = {
        link->trace ? &link->trace->all : NULL, link->track};
    int64_t most = otherwise;

    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++) {
        const struct trace_series *series;

        if (!tracks[i])
            continue;
        series = &tracks[i]->series[quantity];
        for (size_t k = 0; k < series->count; k++)
            if (series->points[k].value > most)
                most = series->points[k].value;
    }
    return most;
}

nanos shim_link_length(const struct shim_link *link)
{
    return largest(link, QUANTITY_DELAY, link->latency) +
           largest(link, QUANTITY_JITTER, link->jitter);
}

size_t shim_link_bytes(const struct shim_link *link, bool to_hub, nanos time)
{
    uint64_t usual = link->bytes_per_second ? link->bytes_per_second : fastest;
    double rate = (double)largest(link, to_hub ? QUANTITY_UP : QUANTITY_DOWN,
                                  (int64_t)usual);
    double bytes = rate * (double)time / (double)SECOND;

    return bytes < SHIM_MOST_BYTES ? (size_t)bytes : SHIM_MOST_BYTES;
}
