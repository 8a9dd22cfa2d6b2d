/* The tournament: different first parameters, one lineage at its end.
 *
 * Nodes train alone and offer their parameters at 1/4, 1/2 and all of the
 * tournament's iterations T1; only scores travel. At the first two halving
 * rounds the worse half of the lineages dies (receive_halving), at the last
 * one, or where two are left, the best node's parameters become everybody's.
 * Averages across lineages are worth nothing: gradients of different first
 * parameters are orthogonal. */
#include <stdio.h>

#include "hub/state.h"

enum {
    TESTS = 3, /* of a halving round: one may boast */
    CHOICE_BYTES = 96
};

void tournament_open(struct hub *hub)
{
    struct policy *policy = &hub->rounds.tournament_policy;

    *policy = (struct policy){.exchange = EXCHANGE_PARAMETERS,
                              .gate = &gate_sync,
                              .select = &select_best,
                              .reduce = &reduce_verified,
                              .merge = &merge_copy,
                              .receive = &receive_halving,
                              .damping = &damping_none,
                              .preempt = &preempt_off,
                              .numbers = hub->config.policy.numbers};
    hub->rounds.final_policy = *policy;
    hub->rounds.final_policy.receive = &receive_leader;
    hub->centre.founding = FOUNDING_TOURNAMENT;
    hub->policy = policy;
}

/* Of two lineages one is left now whatever comes later: another halving round
 * would cost everybody all of the model, and minutes on a slow link. */
static bool is_decided(const struct round *round)
{
    uint64_t first = round->list[0]->offer.lineage, second = first;

    for (unsigned i = 1; i < round->count; i++) {
        uint64_t lineage = round->list[i]->offer.lineage;

        if (second == first)
            second = lineage;
        if (lineage != first && lineage != second)
            return false;
    }
    return true;
}

void tournament_choose(struct hub *hub, const struct round *round)
{
    if (!tournament_goes_on(hub))
        return;
    hub->policy = hub->rounds.halving_round + 1 >= HALVING_ROUNDS ||
                          run_is_ending(hub) || is_decided(round)
                      ? &hub->rounds.final_policy
                      : &hub->rounds.tournament_policy;
}

int round_best(const struct round *round, bool tested)
{
    int best = -1;

    for (unsigned i = 0; i < round->count; i++) {
        const struct candidate *one = &round->list[i]->candidate;

        if (round->list[i]->merges && round->list[i]->judged &&
            (one->verified || !tested) &&
            (best < 0 || one->score < round->list[best]->candidate.score))
            best = (int)i;
    }
    return best;
}

static unsigned tested_of(const struct round *round)
{
    unsigned tested = 0;

    EACH_OFFER(round, one)
        tested += one->merges && one->judged && one->candidate.verified;
    return tested;
}

/* Of one that nobody could test, what its own node says counts. */
unsigned tournament_wants(const struct hub *hub, const struct round *round)
{
    unsigned tested = tested_of(round);
    int best = round_best(round, false);

    if (tournament_goes_on(hub) && best >= 0 && tested == round->wanted &&
        tested < TESTS &&
        claims_belied(&round->claims, round->list[best]->candidate.score))
        return tested + 1;
    return round->wanted;
}

int tournament_best(const struct hub *hub, const struct round *round)
{
    return tournament_goes_on(hub) ? round_best(round, false) : -1;
}

/* Who was merged as a whole, or NULL. */
static const struct update *winner_of(const struct hub *hub,
                                      const struct round *round)
{
    EACH_OFFER(round, one)
        if (one->merged == hub->centre.count)
            return one;
    return NULL;
}

/* Whether the member has the winner's parameters, or is sent them. */
static bool has_them(const struct round *round, const struct update *winner,
                     int member)
{
    for (unsigned i = 0; winner && i < round->count; i++) {
        const struct update *one = round->list[i];

        if (one->member == member &&
            (one == winner ||
             (one->donor >= 0 && round->list[one->donor] == winner)))
            return true;
    }
    return false;
}

/* What a member has offered for the next halving round is of no use any more.
 */
static void turn_down(struct hub *hub, struct member *member)
{
    for (unsigned i = 0; i < member->waiting_count; i++) {
        const struct msg_offer *offer = &member->waiting[i]->offer;

        member->finished |= offer->last;
        member_recount(hub, member);
        verdict_send(hub, member, offer->exchange, 0, hub->centre.count,
                     VERDICT_SUPERSEDED);
    }
    offers_forget(hub, member, VERDICT_SUPERSEDED, true);
    member_changes(hub, member, CHANGE_SILENT);
}

/* By what the winner was chosen. Where there is no loss the candidates stand in
 * another order (policies/order.h): who is pinned, then who came first. */
static void tell_choice(const struct hub *hub, const struct update *winner,
                        unsigned among, char text[CHOICE_BYTES])
{
    bool pinned = hub->run.pinned == winner->member;
    double score = winner->candidate.score;

    if (score_known(score) && among > 1)
        (void)snprintf(text, CHOICE_BYTES, ", the best of %u: loss %.4f", among,
                       score);
    else if (score_known(score))
        (void)snprintf(text, CHOICE_BYTES, ": loss %.4f", score);
    else if (among > 1)
        (void)snprintf(text, CHOICE_BYTES,
                       ": no losses were reported, and of %u nodes it %s",
                       among, pinned ? "is pinned" : "came first");
    else
        (void)snprintf(text, CHOICE_BYTES, ": it reported no loss");
}

static void tell_winner(struct hub *hub, const struct round *round,
                        const struct update *winner)
{
    char choice[CHOICE_BYTES];

    if (!winner) {
        effects_note(hub->out, NOTE_FOUNDED, "",
                     "nobody has better parameters than the best of the round "
                     "before: all take those");
        return;
    }
    tell_choice(hub, winner, round->count, choice);
    effects_note(hub->out, NOTE_FOUNDED,
                 hub->roll.members[winner->member]->name,
                 "the run starts from its parameters at iteration %llu%s",
                 (unsigned long long)winner->offer.iteration, choice);
}

/* One lineage is left: the run begins. Whoever does not have it takes the
 * centre. Without a winner the one of the halving round before stays. */
static void decided(struct hub *hub, const struct round *round,
                    const struct update *winner)
{
    hub->centre.founding = FOUNDING_DONE;
    hub->policy = &hub->config.policy;
    for (uint32_t i = 0; i < hub->centre.count; i++)
        hub->centre.chunk[i].updates_before = 0;
    tell_winner(hub, round, winner);
    EACH_HERE(hub, member) {
        member->patience.proved = true;
        turn_down(hub, member);
        if (!has_them(round, winner, member->place))
            member_start(hub, member, START_TAKE);
    }
    members_tune(hub);
}

void tournament_decide(struct hub *hub, const struct round *round)
{
    const struct update *winner = winner_of(hub, round);

    if (!tournament_goes_on(hub))
        return;
    if (winner)
        hub->centre.lineage = winner->offer.lineage;
    if (round->policy == &hub->rounds.final_policy) {
        if (hub->centre.lineage)
            decided(hub, round, winner);
        return;
    }
    if (++hub->rounds.halving_round == HALVING_ROUNDS - 1)
        members_tune(hub);
}
