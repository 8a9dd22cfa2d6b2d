#include "policies/gates.h"

static int sync_closes(const struct gate_state *state)
{
    return state->live >= state->required && state->offered > 0 &&
           state->offered >= state->live;
}

static double total_of(const double *samples, unsigned count)
{
    double total = 0;

    for (unsigned i = 0; i < count; i++)
        total += samples[i];
    return total;
}

static double sync_share(const double *samples, unsigned count, unsigned i)
{
    return total_of(samples, count) > 0 ? samples[i] : 1;
}

static double sync_whole(const double *samples, unsigned count,
                         unsigned live)
{
    double total = total_of(samples, count);

    (void)live;
    return total > 0 ? total : count;
}

static int async_closes(const struct gate_state *state)
{
    return state->live >= state->required && state->offered > 0;
}

static double async_share(const double *samples, unsigned count, unsigned i)
{
    (void)samples;
    (void)count;
    (void)i;
    return 1;
}

static double async_whole(const double *samples, unsigned count,
                          unsigned live)
{
    (void)samples;
    (void)count;
    return live ? live : 1;
}

const struct gate_rule gate_sync = {"sync", GATE_SYNC, sync_closes,
                                    sync_share, sync_whole};
const struct gate_rule gate_async = {"async", GATE_ASYNC, async_closes,
                                     async_share, async_whole};
