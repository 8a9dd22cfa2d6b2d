#include "node/program/link_rate.h"

/* The end is left out: it may have waited for an acknowledgement. */
#define END_SHARE 0.97

static double per_second(const struct link_sample *from,
                         const struct link_sample *to)
{
    return (double)(to->bytes - from->bytes) * (double)SECOND /
           (double)(to->at - from->at);
}

/* The last before anything came and the first when all had: what lies between
 * them took less. */
static struct link_rate at_least(const struct link_sample *samples,
                                 size_t count)
{
    const struct link_sample *from = samples, *to = samples + count - 1;

    while (from[1].bytes == samples->bytes)
        from++;
    while (to[-1].bytes == samples[count - 1].bytes)
        to--;
    return (struct link_rate){
        .rate = to->at > from->at ? per_second(from, to) : 0, .at_least = true};
}

/* From there on, of those before `end`, the one most ahead of the rate: bytes
 * behind a gap are counted when it is filled, and lumps when they are whole. */
static const struct link_sample *ahead(const struct link_sample *from,
                                       const struct link_sample *end,
                                       double rate)
{
    const struct link_sample *best = from;

    for (const struct link_sample *at = from + 1; at < end; at++)
        if ((double)(at->bytes - best->bytes) * (double)SECOND >
            rate * (double)(at->at - best->at))
            best = at;
    return best;
}

/* Between the most advanced of its first third and that of its last: a gap may
 * be filled late. */
static double steady_rate(const struct link_sample *from,
                          const struct link_sample *to)
{
    const struct link_sample *first = from, *last = to;
    nanos part = (to->at - from->at) / 3;
    double rate = per_second(from, to);

    while (first->at < from->at + part)
        first++;
    while (last->at > to->at - part)
        last--;
    from = ahead(from, first, rate);
    to = ahead(last, to + 1, rate);
    return to->at > from->at ? per_second(from, to) : rate;
}

struct link_rate link_rate(const struct link_sample *samples, size_t count)
{
    const struct link_sample *from = samples, *to;
    struct link_rate out = {.rate = 0};
    uint64_t all, skip;

    if (count < 2 || samples[count - 1].bytes == samples->bytes)
        return out;
    to = samples + count - 1;
    all = to->bytes - samples->bytes;
    skip = (uint64_t)((double)all * LINK_SKIP_SHARE);
    if (skip < LINK_SKIP_BYTES)
        skip = LINK_SKIP_BYTES;
    while (from < to && from->bytes - samples->bytes < skip)
        from++;
    while (to > from &&
           (double)(to->bytes - samples->bytes) > END_SHARE * (double)all)
        to--;
    /* Bytes come by lumps, and both ends are to be just behind one. */
    while (to > from && to[-1].bytes == to->bytes)
        to--;
    if (to->at - from->at < LINK_STEADY_LEAST)
        return at_least(samples, count);
    out.rate = steady_rate(from, to);
    out.steady = to->at - from->at;
    return out;
}
