/* The round of all that are live, once they have done enough iterations
 * together (policies/counted.h). Where nodes differ in how many they do between
 * offers, the sum decides and not the slowest; when everybody has offered, it
 * is waited for `grace` seconds at most, so that a run can end between two
 * phases. */
#include "policies/counted.h"
#include "policies/policy.h"

/* Whether `live` nodes that should do `every` iterations each have done enough
 * of them together. */
static bool counted_enough(uint64_t iterations, unsigned live, uint64_t every)
{
    return iterations >= live * every;
}

enum counted_answer counted_ask(struct counted *phase, unsigned nodes,
                                uint64_t every, bool over)
{
    if (over && !phase->iterations)
        return COUNTED_STOP;
    if (!counted_enough(phase->iterations, nodes, every)) {
        phase->iterations++;
        return COUNTED_LOCAL;
    }
    if (++phase->told >= nodes)
        *phase = (struct counted){0, 0};
    return COUNTED_COMMUNICATE;
}

static int closes(const struct gate_state *state)
{
    if (!gate_sync.closes(state))
        return 0;
    return counted_enough(state->iterations, state->live, state->every) ||
           state->waited >= gate_grace(state);
}

const struct gate_rule gate_counted = {
    .name = "counted",
    .doc = "A round closes when every live node has offered and all together "
           "have done their iterations.",
    .batch = true,
    .closes = closes,
    .share = gate_share,
    .divisor = gate_divisor,
    .longest = gate_grace,
};
