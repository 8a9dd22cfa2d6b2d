/* The round of all that are live. */
#include "policies/policy.h"

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

static double share(const double *samples, unsigned count, unsigned i)
{
    return total_of(samples, count) > 0 ? samples[i] : 1;
}

static double whole(const double *samples, unsigned count, unsigned live)
{
    double total = total_of(samples, count);

    (void)live;
    return total > 0 ? total : count;
}

const struct gate_rule gate_sync = {
    .name = "sync",
    .doc = "A round closes when every live node has offered.",
    .batch = true,
    .closes = sync_closes,
    .share = share,
    .whole = whole,
};
