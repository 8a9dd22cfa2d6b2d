/* The quorum whose grace is what no node would otherwise use (the adaptive
 * grace of Decoupled DiLoCo, 2604.21428).
 *
 * A node needs its result d of its iterations after its offer. Of these the
 * exchange itself takes a part, T; the rest is slack, in which others may come
 * without anybody's waiting for them. With t_quorum the time from the first
 * offer to the quorum,
 *
 *     slack = d t_step - (t_quorum + T),  grace = gamma slack
 *
 * after the quorum. Here all of it is counted from the first offer, which is
 * the one that is due first: the round closes gamma (d t_step - T) after it,
 * but with a quorum at the earliest. With gamma = 1 the two are the same. As
 * long as nothing has been measured, it is quorum's `grace`. */
#include "policies/policy.h"

/* What has been measured may be a bit more the next time. */
#define GAMMA 0.8

static nanos longest(const struct gate_state *state)
{
    if (state->slack < 0)
        return gate_quorum.longest(state);
    return (nanos)(GAMMA * (double)state->slack);
}

static int closes(const struct gate_state *state)
{
    struct policy_numbers numbers = *state->numbers;
    struct gate_state timed = *state;

    numbers.grace = (double)longest(state) / (double)SECOND;
    timed.numbers = &numbers;
    return gate_quorum.closes(&timed);
}

static double share(double samples, double total)
{
    return gate_quorum.share(samples, total);
}

static double divisor(double total, unsigned count, unsigned live)
{
    return gate_quorum.divisor(total, count, live);
}

const struct gate_rule gate_slack = {
    .name = "slack",
    .doc = "As quorum; the grace period is what nodes do not wait for "
           "results.",
    .batch = true,
    .partial = true,
    .closes = closes,
    .share = share,
    .divisor = divisor,
    .longest = longest,
};
