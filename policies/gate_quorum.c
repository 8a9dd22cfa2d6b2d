/* The round of those who come in time (the grace period of asynchronous DiLoCo,
 * Liu et al. 2024, algorithm 5).
 *
 * It closes when all live nodes have offered, or when `quorum` of them have and
 * `grace` seconds have passed since its first offer. quorum = 0 waits for
 * nobody but the first.
 *
 * Shares are by samples, as in the round of all. Their sum is divided by what
 * it would be if all live nodes had offered like these, so that n of N move the
 * centre n/N as far; of all N, it is the same mean to the last bit. */
#include "policies/policy.h"

static nanos longest(const struct gate_state *state)
{
    return (nanos)(state->numbers->grace * (double)SECOND);
}

static int closes(const struct gate_state *state)
{
    double needed = state->numbers->quorum * state->live - 1e-9;

    if (state->live < state->required || !state->offered)
        return 0;
    if (state->offered >= state->live)
        return 1;
    return state->offered >= needed && state->waited >= longest(state);
}

static double divisor(double total, unsigned count, unsigned live)
{
    double sum = gate_sync.divisor(total, count, live);

    return live > count ? sum * live / count : sum;
}

static double share(double samples, double total)
{
    return gate_sync.share(samples, total);
}

const struct gate_rule gate_quorum = {
    .name = "quorum",
    .doc = "A round closes when a share of the nodes has offered and a grace "
           "period is over, or all have.",
    .batch = true,
    .partial = true,
    .closes = closes,
    .share = share,
    .divisor = divisor,
    .longest = longest,
};
