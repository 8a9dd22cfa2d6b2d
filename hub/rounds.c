/* From an offer to its last verdict: who takes part in which round. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hub/state.h"

static struct round *round_open(struct hub *hub)
{
    struct round *round = calloc(1, sizeof *round);
    struct round **end = &hub->rounds;

    if (round)
        round->done = calloc(hub->chunks, sizeof *round->done);
    if (!round || !round->done)
        abort();
    round->number = ++hub->next_round;
    round->opened = hub->now;
    while (*end)
        end = &(*end)->next;
    *end = round;
    return round;
}

static void round_add(struct hub *hub, struct round *round,
                      struct member *member, unsigned place)
{
    struct contribution *contribution = member->waiting[place];

    member->waiting_count--;
    memmove(member->waiting + place, member->waiting + place + 1,
            (member->waiting_count - place) * sizeof *member->waiting);
    if (!round->count)
        round->part = contribution->part;
    round->list[round->count++] = contribution;
    contribution->merges = choice_takes_all(hub);
    if (contribution->merges)
        contribution_grant(hub, contribution);
}

static bool round_has(const struct round *round, int member)
{
    for (unsigned i = 0; i < round->count; i++)
        if (round->list[i]->member == member)
            return true;
    return false;
}

/* The place of the member's oldest offer of what the round merges, or of none
 * (waiting_count). The last round takes all that there is. */
static unsigned offer_for(const struct hub *hub, const struct round *round,
                          const struct member *member)
{
    unsigned place = 0;

    while (!hub->ending && round && place < member->waiting_count &&
           !fragments_meet(round->part, member->waiting[place]->part))
        place++;
    return place;
}

static bool is_sync(const struct hub *hub)
{
    return hub->policy->gate->batch;
}

/* A node that has gone on to another fragment will not offer this one. */
static unsigned round_passed(const struct hub *hub, const struct round *round)
{
    unsigned passed = 0;

    for (int i = 0; !hub->ending && i < HUB_MAX_NODES; i++) {
        const struct member *member = &hub->members[i];

        passed += member_live(member) && member->waiting_count &&
                  !round_has(round, i) &&
                  offer_for(hub, round, member) == member->waiting_count;
    }
    return passed;
}

/* How many live nodes have offered. What a node offered before it came back
 * counts too: its next offer goes into the next round. Once the run is ending
 * only last offers count, so that all of them are merged in one round: one
 * node's progress alone would be the noise of one node. */
static unsigned round_offered(const struct hub *hub,
                              const struct round *round)
{
    unsigned offered = is_sync(hub) ? round_passed(hub, round) : 0;

    for (unsigned i = 0; i < round->count; i++)
        offered += member_live(&hub->members[round->list[i]->member]) &&
                   (is_sync(hub) && hub->ending ? round->list[i]->offer.last
                                                : true);
    return offered;
}

static int by_member(const void *one, const void *other)
{
    const struct contribution *a = *(struct contribution *const *)one;
    const struct contribution *b = *(struct contribution *const *)other;

    if (a->member != b->member)
        return a->member < b->member ? -1 : 1;
    return a->offer.exchange < b->offer.exchange ? -1 : 1;
}

struct standing hub_standing(const struct hub *hub, unsigned live)
{
    return (struct standing){.numbers = &hub->policy->numbers,
                             .live = live,
                             .score = hub->score,
                             .error = hub->error,
                             .round = hub->rounds_done,
                             .seed = hub->config.seed,
                             .pinned = hub->pinned};
}

/* Of all nodes together, as far as they have said. */
static uint64_t iterations_of(const struct hub *hub)
{
    uint64_t iterations = 0;

    for (unsigned i = 0; i < HUB_MAX_NODES; i++)
        iterations += hub->members[i].iteration;
    return iterations;
}

nanos rounds_deadline(const struct hub *hub, nanos latest)
{
    const struct policy *policy = hub->policy;
    const struct round *round = hub->rounds;

    while (policy->gate->longest && round && round->closed)
        round = round->next;
    if (policy->gate->longest && round) {
        nanos until =
            round->opened + policy->gate->longest(&policy->numbers);

        if (until > hub->now && until < latest)
            return until;
    }
    return latest;
}

/* The offer as the policy sees it. */
static void candidate_fill(const struct hub *hub,
                           struct contribution *contribution)
{
    const struct msg_offer *offer = &contribution->offer;

    contribution->candidate = (struct candidate){
        .node = (unsigned)contribution->member,
        .lineage = offer->lineage,
        .version = offer->base_version,
        .lag = members_lag(hub, offer->base_version),
        .iteration = offer->iteration,
        .score = offer->score,
        .samples = (double)offer->samples,
        .norm = offer->norm};
}

void rounds_settle(struct hub *hub)
{
    bool settled = false;

    for (struct round *round = hub->rounds; round; round = round->next)
        if (round->closed && !round->settled) {
            choice_advance(hub, round);
            settled |= round->settled;
        }
    if (settled)
        merge_try_all(hub);
}

/* Nodes that there must be before the first round; those that diverged in the
 * tournament have been here. */
static unsigned nodes_awaited(const struct hub *hub)
{
    unsigned awaited = hub->config.nodes;

    for (unsigned i = 0; hub->contest && i < HUB_MAX_NODES; i++)
        awaited -= awaited > 1 && hub->members[i].present &&
                   hub->members[i].start == START_HOLD;
    return awaited;
}

/* In the last round, all last offers are waited for. */
static bool may_close(const struct hub *hub, const struct gate_state *state)
{
    if (!state->live)
        return true;
    if (hub->ending && is_sync(hub) && state->offered < state->live)
        return false;
    return hub->policy->gate->closes(state);
}

/* Closes the round if its gate says so: from now on chunks may merge, in the
 * rank order of the members. */
static void round_try_close(struct hub *hub, struct round *round)
{
    struct gate_state state = {
        .live = members_live(hub),
        .offered = round_offered(hub, round),
        .required = hub->rounds_here ? 1 : nodes_awaited(hub),
        .waited = hub->now - round->opened,
        .iterations = iterations_of(hub) - hub->iterations,
        .every = hub->config.every,
        .numbers = &hub->policy->numbers,
    };

    if (hub->ending && state.required > state.live)
        state.required = state.live;
    if (round->closed || !round->count)
        return;
    if (!may_close(hub, &state))
        return;
    round->closed = true;
    round->live = members_counted(hub);
    qsort(round->list, round->count, sizeof *round->list, by_member);
    for (unsigned i = 0; i < round->count; i++)
        candidate_fill(hub, round->list[i]);
    hub->iterations = iterations_of(hub);
    contest_choose(hub, round);
    choice_make(hub, round);
    merge_try_all(hub);
}

/* Puts a member's waiting offers into the round that is open: one, or all of
 * them if it is the last round. */
static void fill_sync(struct hub *hub, int place)
{
    struct member *member = &hub->members[place];

    while (member->waiting_count) {
        struct round *round = hub->rounds;
        unsigned next = offer_for(hub, round, member);

        if (next == member->waiting_count ||
            (round && (round->closed || round->count == MAX_IN_ROUND ||
                       (!hub->ending && round_has(round, place)))))
            return;
        round_add(hub, round ? round : round_open(hub), member, next);
    }
}

/* Puts waiting offers into rounds: one of each member into one round (sync),
 * or each into a round of its own (async). */
static void rounds_fill(struct hub *hub)
{
    for (int i = 0; i < HUB_MAX_NODES && !hub->fence; i++) {
        struct member *member = &hub->members[i];

        if (member->silent)
            continue;
        if (is_sync(hub))
            fill_sync(hub, i);
        while (!is_sync(hub) && member->waiting_count)
            round_add(hub, round_open(hub), member, 0);
    }
}

void rounds_advance(struct hub *hub)
{
    struct round *next;

    rounds_fill(hub);
    for (struct round *round = hub->rounds; round; round = next) {
        next = round->next;
        if (!round->closed)
            round_try_close(hub, round);
    }
}

void rounds_forget(struct hub *hub, int place, enum verdict verdict,
                   bool gone)
{
    struct member *member = &hub->members[place];

    for (unsigned i = 0; gone && i < member->waiting_count; i++) {
        contribution_cut(hub, member->waiting[i], verdict, true);
        contribution_destroy(hub, &member->waiting[i]);
    }
    if (gone)
        member->waiting_count = 0;
    for (struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; i < round->count; i++)
            if (round->list[i]->member == place)
                contribution_cut(hub, round->list[i], verdict, gone);
    rounds_settle(hub);
    merge_try_all(hub);
}

/* Whether a rule is still to see it as a whole. */
static bool is_unsettled(const struct hub *hub, const struct round *round)
{
    const struct policy *policy = round->closed ? round->policy : hub->policy;

    return policy->reduce->judge && !round->settled;
}

void rounds_recall(struct hub *hub, struct member *member)
{
    int place = (int)(member - hub->members);

    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        if (member->remembered[i])
            verdicts_tell(hub, member, member->remembered[i]);
    for (struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; i < round->count; i++)
            if (round->list[i]->member == place &&
                round->list[i]->incarnation == member->incarnation) {
                if (is_unsettled(hub, round))
                    contribution_lose(hub, round->list[i]);
                verdicts_tell(hub, member, round->list[i]);
            }
}

/* Whether everybody else in the round is a window ahead of this one, or all
 * the others wait for it: behind the fence of a snapshot. */
static bool is_behind(const struct hub *hub, const struct round *round,
                      const struct contribution *slow)
{
    for (unsigned i = 0; i < round->count; i++) {
        const struct contribution *other = round->list[i];

        if (other != slow && other->granted &&
            other->delivered < hub->chunks &&
            other->delivered < slow->delivered + hub->config.window)
            return false;
    }
    return round->count > 1 || hub->fence;
}

void rounds_tick(struct hub *hub)
{
    for (struct round *round = hub->rounds; round; round = round->next)
        for (unsigned i = 0; round->closed && i < round->count; i++) {
            struct contribution *slow = round->list[i];
            nanos still = hub->now - slow->progress;

            if (slow->delivered >= hub->chunks || !slow->granted ||
                still < PATIENCE ||
                (still < STUCK && !is_behind(hub, round, slow)))
                continue;
            contribution_cut(hub, slow, VERDICT_EXPIRED, false);
        }
    rounds_settle(hub);
    merge_try_all(hub);
    rounds_advance(hub);
}

/* Tells those who got no result what became of their offers. A verdict may
 * overtake results, which it would make void. */
static void round_tell(struct hub *hub, struct round *round)
{
    for (unsigned i = 0; i < round->count; i++) {
        struct contribution *contribution = round->list[i];
        struct member *member = contribution_member(hub, contribution);

        if (member && contribution->answered < hub->chunks)
            verdicts_tell(hub, member, contribution);
    }
}

static void round_finish(struct hub *hub, struct round *round)
{
    double scores = 0, samples = 0;
    unsigned merged = 0;

    hub->version += !round->empty;
    hub->rounds_done++;
    hub->rounds_here++;
    for (unsigned i = 0; i < round->count; i++) {
        const struct msg_offer *offer = &round->list[i]->offer;

        merged += round->list[i]->merged > 0;
        if (offer->score < NO_SCORE && offer->samples) {
            scores += offer->score * (double)offer->samples;
            samples += (double)offer->samples;
        }
    }
    if (samples > 0)
        hub->hint = scores / samples;
    effects_note(hub->out, NOTE_ROUND, "", "version %llu merged %u of %u",
                 (unsigned long long)hub->version, merged, round->count);
    round_tell(hub, round);
    contest_judge(hub, round);
    preempt_round(hub, round);
    members_pace(hub);
    for (unsigned i = 0; i < round->count; i++)
        contribution_retire(hub, round->list[i]);
    free(round->done);
    free(round);
}

void rounds_sweep(struct hub *hub)
{
    struct round **link = &hub->rounds;
    bool finished = false;

    while (*link) {
        struct round *round = *link;

        if (round->merged < hub->chunks) {
            link = &round->next;
            continue;
        }
        *link = round->next;
        round_finish(hub, round);
        finished = true;
    }
    if (!finished)
        return;
    snapshot_try(hub);
    finish_judge(hub);
    rounds_advance(hub);
}
