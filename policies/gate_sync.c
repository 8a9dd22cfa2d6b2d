/* The round of all that are live. */
#include "policies/policy.h"

static int sync_closes(const struct gate_state *state)
{
    return state->live >= state->required && state->offered > 0 &&
           state->offered >= state->live;
}

double gate_share(double samples, double total)
{
    return total > 0 ? samples : 1;
}

double gate_divisor(double total, unsigned count, unsigned live)
{
    (void)live;
    return total > 0 ? total : count;
}

nanos gate_grace(const struct gate_state *state)
{
    return (nanos)(state->numbers->grace * (double)SECOND);
}

const struct gate_rule gate_sync = {
    .name = "sync",
    .doc = "A round closes when every live node has offered.",
    .batch = true,
    .closes = sync_closes,
    .share = gate_share,
    .divisor = gate_divisor,
};
