/* When a round closes: what the gate is told, and what it makes of it. */
#include "hub/state.h"

bool round_has(const struct round *round, const struct member *member)
{
    const struct contribution *one = member->open;

    while (one && one->round != round)
        one = one->next;
    return one != NULL;
}

unsigned round_wants(const struct round *round, const struct member *member)
{
    unsigned place = 0;

    while (round && place < member->waiting_count &&
           !fragments_meet(round->part, member->waiting[place]->part))
        place++;
    return place;
}

/* A node that has gone on to another fragment will not offer this one. */
static unsigned round_passed(const struct hub *hub, const struct round *round)
{
    unsigned passed = 0;

    for (int i = bitset_next(&hub->waiting, 0); i >= 0;
         i = bitset_next(&hub->waiting, i + 1)) {
        const struct member *member = hub->members[i];

        passed += member_live(member) && !round_has(round, member) &&
                  round_wants(round, member) == member->waiting_count;
    }
    return passed;
}

/* How many live nodes have offered. What a node offered before it came back
 * counts too: its next offer goes into the next round. */
static unsigned round_offered(const struct hub *hub,
                              const struct round *round)
{
    return round->offers +
           (gate_gathers(hub) ? round_passed(hub, round) : 0);
}

uint64_t gate_iterations(const struct hub *hub)
{
    return hub->tally.iterations;
}

nanos gate_deadline(const struct hub *hub, nanos latest)
{
    const struct policy *policy = hub->policy;
    const struct round *round = hub->open;

    if (policy->gate->longest && round) {
        nanos until =
            round->opened + policy->gate->longest(&policy->numbers);

        if (until > hub->now && until < latest)
            return until;
    }
    return latest;
}

/* Once all have been here, the first round is one as any other: a node that has
 * diverged at once, or is gone again, keeps nobody from it. */
unsigned gate_nodes(const struct hub *hub)
{
    unsigned arrived = 0;

    if (hub->rounds_here)
        return 1;
    EACH_MEMBER(hub, member)
        arrived += member->arrived;
    return arrived < hub->config.nodes ? hub->config.nodes : 1;
}

/* In the last round, all last offers are waited for, but not for ever: one
 * node's progress alone would be the noise of one node. Nor is an offer a round
 * of one because nobody has attached yet. */
static bool may_close(const struct hub *hub, const struct gate_state *state)
{
    if (hub->phase >= PHASE_LATE)
        return true;
    if (run_is_ending(hub) && gate_gathers(hub) && members_return(hub))
        return false;
    if (!state->live)
        return !hub->tally.attaching;
    if (run_is_ending(hub) && gate_gathers(hub) && state->offered < state->live)
        return false;
    return hub->policy->gate->closes(state);
}

/* Whether some node leaves with it, and does not wait for others to come. */
static bool has_last(const struct round *round)
{
    EACH_OFFER(round, one)
        if (one->offer.last)
            return true;
    return false;
}

bool gate_closes(const struct hub *hub, const struct round *round)
{
    struct gate_state state = {
        .live = members_live(hub),
        .offered = round_offered(hub, round),
        .required = gate_nodes(hub),
        .waited = hub->now - round->opened,
        .iterations = gate_iterations(hub) - hub->iterations,
        .every = hub->config.every,
        .numbers = &hub->policy->numbers,
    };

    if ((run_is_ending(hub) || has_last(round)) && state.required > state.live)
        state.required = state.live;
    return hub->phase != PHASE_STOPPING && round->count &&
           may_close(hub, &state);
}
