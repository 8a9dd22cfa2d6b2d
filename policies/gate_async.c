/* Each offer is a round; its weight is 1/N, so that N equal nodes move the
 * centre as far as one synchronous round does. Dividing by the shares in the
 * round would cancel any discount. */
#include "policies/policy.h"

static int closes(const struct gate_state *state)
{
    return state->live >= state->required && state->offered > 0;
}

static double share(double samples, double total)
{
    (void)samples;
    (void)total;
    return 1;
}

static double divisor(double total, unsigned count, unsigned live)
{
    (void)total;
    (void)count;
    return live ? live : 1;
}

const struct gate_rule gate_async = {
    .name = "async",
    .doc = "Each offer is a round of its own.",
    .closes = closes,
    .share = share,
    .divisor = divisor,
};
