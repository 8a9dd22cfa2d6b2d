/* The round of those who come in time (the grace period of asynchronous DiLoCo,
 * Liu et al. 2024, algorithm 5).
 *
 * It closes when all live nodes have offered, or when `quorum` of them have and
 * `grace` seconds have passed since its first offer. quorum = 0 waits for
 * nobody but the first.
 *
 * Shares are by samples, as in the round of all. What they come to is divided
 * by N/n where n of N nodes are in the round (`partial`), so that these move
 * the centre n/N as far; of all N, it is the same mean to the last bit.
 *
 * `slack` is the quorum whose grace is what no node would otherwise use (the
 * adaptive grace of Decoupled DiLoCo, 2604.21428). A node needs its result d of
 * its iterations after its offer. Of these the exchange itself takes a part, T;
 * the rest is slack, in which others may come without anybody's waiting for
 * them. With t_quorum the time from the first offer to the quorum,
 *
 *     slack = d t_step - (t_quorum + T),  grace = gamma slack
 *
 * after the quorum. Here all of it is counted from the first offer, which is
 * the one that is due first: the round closes gamma (d t_step - T) after it,
 * but with a quorum at the earliest. With gamma = 1 the two are the same. As
 * long as nothing has been measured, it is quorum's `grace`. */
#include "policies/policy.h"

/* Of slack: what has been measured may be a bit more the next time. */
#define GAMMA 0.8

static nanos longest_slack(const struct gate_state *state)
{
    return state->slack < 0 ? gate_grace(state)
                            : (nanos)(GAMMA * (double)state->slack);
}

static int closes_after(const struct gate_state *state, nanos grace)
{
    double needed = state->numbers->quorum * state->live - 1e-9;

    if (state->live < state->required || !state->offered)
        return 0;
    if (state->offered >= state->live)
        return 1;
    return state->offered >= needed && state->waited >= grace;
}

static int closes(const struct gate_state *state)
{
    return closes_after(state, gate_grace(state));
}

static int closes_slack(const struct gate_state *state)
{
    return closes_after(state, longest_slack(state));
}

const struct gate_rule gate_quorum = {
    .name = "quorum",
    .doc = "A round closes when a share of the nodes has offered and a grace "
           "period is over, or all have.",
    .batch = true,
    .partial = true,
    .closes = closes,
    .share = gate_share,
    .divisor = gate_divisor,
    .longest = gate_grace,
};
const struct gate_rule gate_slack = {
    .name = "slack",
    .doc = "As quorum; the grace period is what nodes do not wait for "
           "results.",
    .batch = true,
    .partial = true,
    .slack = true,
    .closes = closes_slack,
    .share = gate_share,
    .divisor = gate_divisor,
    .longest = longest_slack,
};
