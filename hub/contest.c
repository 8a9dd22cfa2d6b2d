/* The tournament: different first parameters, one lineage at its end.
 *
 * Nodes train alone and offer their parameters at 1/4, 1/2 and all of the
 * tournament's iterations T1; only scores travel. At the first two rungs the
 * worse half of the lineages dies (receive_halving), at the last one the best
 * node's parameters become everybody's. Averages across lineages are worth
 * nothing: gradients of different first parameters are orthogonal. */
#include "hub/state.h"

enum { LEAST = 50, RUNGS = 3 };

uint64_t contest_every(const struct hub *hub)
{
    uint64_t whole = hub->config.tournament;

    if (!whole)
        whole = hub->config.iterations / 100;
    if (!hub->config.tournament && whole < LEAST)
        whole = LEAST;
    return hub->rung < RUNGS - 1 ? (whole + 3) / 4 : (whole + 1) / 2;
}

void contest_open(struct hub *hub)
{
    struct policy *policy = &hub->contest_policy;

    *policy = (struct policy){.exchange = EXCHANGE_PARAMETERS,
                              .gate = &gate_sync,
                              .select = &select_best,
                              .reduce = &reduce_verified,
                              .merge = &merge_copy,
                              .receive = &receive_halving,
                              .damping = &damping_none,
                              .preempt = &preempt_off,
                              .numbers = hub->config.policy.numbers};
    hub->final_policy = *policy;
    hub->final_policy.receive = &receive_leader;
    hub->contest = true;
    hub->policy = policy;
}

static bool is_one_lineage(const struct round *round)
{
    for (unsigned i = 1; i < round->count; i++)
        if (round->list[i]->offer.lineage != round->list[0]->offer.lineage)
            return false;
    return true;
}

void contest_choose(struct hub *hub, const struct round *round)
{
    if (!hub->contest)
        return;
    hub->policy = hub->rung + 1 >= RUNGS || hub->ending ||
                          is_one_lineage(round)
                      ? &hub->final_policy
                      : &hub->contest_policy;
}

static const struct contribution *winner_of(const struct round *round)
{
    for (unsigned i = 0; i < round->count; i++)
        if (round->list[i]->merges)
            return round->list[i];
    return NULL;
}

static void take_part(const struct round *round, bool *here)
{
    for (unsigned i = 0; i < round->count; i++)
        here[round->list[i]->member] = true;
}

/* One lineage is left: the run begins. Whoever was not in the last round takes
 * the centre. */
static void decided(struct hub *hub, const struct round *round,
                    const struct contribution *winner)
{
    const struct member *member = &hub->members[winner->member];
    bool here[HUB_MAX_NODES] = {false};

    hub->contest = false;
    hub->founded = true;
    hub->lineage = winner->offer.lineage;
    hub->policy = &hub->config.policy;
    effects_note(hub->out, NOTE_FOUNDED, member->name,
                 "has the best first parameters of %u nodes: loss %.4f at "
                 "iteration %llu",
                 round->count, winner->candidate.score,
                 (unsigned long long)winner->offer.iteration);
    take_part(round, here);
    for (unsigned i = 0; i < HUB_MAX_NODES; i++)
        if (hub->members[i].present && !here[i])
            member_start(hub, &hub->members[i], START_TAKE);
    members_tune(hub);
}

void contest_judge(struct hub *hub, const struct round *round)
{
    const struct contribution *winner = winner_of(round);

    if (!hub->contest)
        return;
    if (round->policy == &hub->final_policy) {
        if (winner)
            decided(hub, round, winner);
        return;
    }
    if (++hub->rung == RUNGS - 1)
        members_tune(hub);
}
