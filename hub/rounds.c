/* Which offers go together: they are put into rounds, the gate closes those,
 * and once their chunks are done they are over. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"

static struct round *round_open(struct hub *hub)
{
    struct round *round = need_memory(1, sizeof *round);

    round->chunks = need_memory(hub->centre.count, sizeof *round->chunks);
    round->number = ++hub->rounds.opened;
    round->opened = hub->now;
    round->previous = hub->rounds.last;
    if (hub->rounds.last)
        hub->rounds.last->next = round;
    else
        hub->rounds.first = round;
    hub->rounds.last = round;
    if (!hub->rounds.open)
        hub->rounds.open = round;
    return round;
}

void round_destroy(struct hub *hub, struct round **reference)
{
    struct round *round = *reference;

    *reference = NULL;
    review_destroy(hub, &round->review);
    free((void *)round->list);
    free(round->order);
    free(round->chunks);
    free(round);
}

/* It is none of its member's in rounds any more. */
static void unlink_from_member(struct hub *hub, struct update *one)
{
    struct update **link = &hub->roll.members[one->member]->in_rounds;

    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    one->next = NULL;
    one->round = NULL;
}

/* Takes it out of the list of rounds, and what is in it from its members. */
static void round_remove(struct hub *hub, struct round *round)
{
    if (hub->rounds.open == round)
        hub->rounds.open = round->next;
    if (round->previous)
        round->previous->next = round->next;
    else
        hub->rounds.first = round->next;
    if (round->next)
        round->next->previous = round->previous;
    else
        hub->rounds.last = round->previous;
    EACH_OFFER(round, one)
        unlink_from_member(hub, one);
}

void round_let_go(struct hub *hub, struct update *update)
{
    struct round *round = update->round;
    unsigned at = 0;

    assert(round->state == ROUND_OPEN);
    while (round->list[at] != update)
        at++;
    round->count--;
    round->lasts -= update->offer.last;
    memmove((void *)(round->list + at), (void *)(round->list + at + 1),
            (round->count - at) * sizeof *round->list);
    round->offers -= member_live(hub->roll.members[update->member]);
    unlink_from_member(hub, update);
    if (round->count)
        return;
    round_remove(hub, round);
    round_destroy(hub, &round);
}

/* A place behind the others. */
static void round_list(struct round *round, struct update *update)
{
    if (round->count == round->room) {
        round->room = round->room ? 2 * round->room : 1;
        round->list =
            need_more((void *)round->list, round->room * sizeof *round->list);
    }
    round->list[round->count++] = update;
    round->lasts += update->offer.last;
}

static void round_add(struct hub *hub, struct round *round,
                      struct member *member, unsigned place)
{
    struct update *update = member->waiting[place];
    struct update **link = &member->in_rounds;

    member->waiting_count--;
    memmove(member->waiting + place, member->waiting + place + 1,
            (member->waiting_count - place) * sizeof *member->waiting);
    bitset_set(&hub->offers.waiting, member->place, member->waiting_count > 0);
    if (!round->count || update->part.stride < round->part.stride)
        round->part = update->part;
    round_list(round, update);
    update_spread(hub, update);
    update->round = round;
    while (*link)
        link = &(*link)->next;
    *link = update;
    round->offers += member_live(member);
    update->merges = choice_grants_all(hub);
    if (update->merges)
        update_grant(hub, update);
}

static int by_member(const void *one, const void *other)
{
    const struct update *a = *(struct update *const *)one;
    const struct update *b = *(struct update *const *)other;

    if (a->member != b->member)
        return a->member < b->member ? -1 : 1;
    return a->offer.exchange < b->offer.exchange ? -1 : 1;
}

/* People are told how much of it is lost. */
static void say_late(struct hub *hub, const struct update *update)
{
    uint64_t lag = update->candidate.lag, most = hub->config.staleness;

    /* Before what was rolled back: it counts for nothing, and is told so. */
    if (tournament_goes_on(hub) || !most || lag <= most || lag == UINT64_MAX ||
        update->offer.kind != EXCHANGE_DELTA)
        return;
    effects_note(hub->out, NOTE_DECLINED,
                 hub->roll.members[update->member]->name,
                 "exchange %llu departs from %llu version%s ago, --staleness "
                 "is %llu: it counts for %.2g %%",
                 (unsigned long long)update->offer.exchange,
                 (unsigned long long)lag, plural(lag), (unsigned long long)most,
                 100 * (double)most / (double)lag);
}

/* The offer as the policy sees it. */
static void candidate_fill(struct hub *hub, struct update *update)
{
    const struct msg_offer *offer = &update->offer;

    update->candidate =
        (struct candidate){.node = (unsigned)update->member,
                           .lineage = offer->lineage,
                           .version = offer->base_version,
                           .lag = members_lag(hub, offer->base_version),
                           .iteration = offer->iteration,
                           .score = offer->score,
                           .samples = (double)offer->samples,
                           .steps = update->steps,
                           .norm = fabs(offer->norm)};
    say_late(hub, update);
}

/* ---- when a round closes ---- */

/* The place of the member's oldest offer of what the round merges, or of none
 * (waiting_count). */
static unsigned round_wants(const struct round *round,
                            const struct member *member)
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

    for (int i = bitset_next(&hub->offers.waiting, 0); i >= 0;
         i = bitset_next(&hub->offers.waiting, i + 1)) {
        const struct member *member = hub->roll.members[i];

        passed += member_live(member) && !round_has(round, member) &&
                  round_wants(round, member) == member->waiting_count;
    }
    return passed;
}

/* How many live nodes have offered. What a node offered before it came back
 * counts too: its next offer goes into the next round. */
static unsigned round_offered(const struct hub *hub, const struct round *round)
{
    return round->offers + (gate_gathers(hub) ? round_passed(hub, round) : 0);
}

/* In the last round, all last offers are waited for, but not for ever: one
 * node's progress alone would be the noise of one node. Nor is an offer a round
 * of one because nobody has attached yet. */
static bool may_close(const struct hub *hub, const struct gate_state *state)
{
    if (hub->run.phase >= PHASE_LATE)
        return true;
    if (run_is_ending(hub) && gate_gathers(hub) && members_return(hub))
        return false;
    if (!state->live)
        return !hub->roll.tally.attaching;
    if (run_is_ending(hub) && gate_gathers(hub) && state->offered < state->live)
        return false;
    return hub->policy->gate->closes(state);
}

static struct gate_state gate_look(const struct hub *hub,
                                   const struct round *round)
{
    return (struct gate_state){
        .live = members_live(hub),
        .offered = round_offered(hub, round),
        .required = gate_nodes(hub),
        .waited = hub->now - round->opened,
        .iterations = hub->rounds.steps,
        .every = hub->adapt.every / offers_fragments(hub),
        .slack = hub->policy->gate->slack ? waits_slack(hub) : -1,
        .numbers = &hub->policy->numbers,
    };
}

static bool gate_closes(const struct hub *hub, const struct round *round)
{
    struct gate_state state = gate_look(hub, round);

    /* A node that leaves with it does not wait for others to come. */
    if ((run_is_ending(hub) || round->lasts) && state.required > state.live)
        state.required = state.live;
    return !run_is_stopping(hub) && round->count && may_close(hub, &state);
}

nanos gate_deadline(const struct hub *hub, nanos latest)
{
    const struct policy *policy = hub->policy;
    const struct round *round = hub->rounds.open;

    if (policy->gate->longest && round) {
        struct gate_state state = gate_look(hub, round);
        nanos until = round->opened + policy->gate->longest(&state);

        if (until > hub->now && until < latest)
            return until;
    }
    return latest;
}

/* Closes the round if its gate says so: from now on chunks may merge, in the
 * rank order of the members. */
static void round_try_close(struct hub *hub, struct round *round)
{
    if (round->state != ROUND_OPEN || !gate_closes(hub, round))
        return;
    round->state = ROUND_CLOSED;
    round->last = run_is_ending(hub);
    hub->rounds.undecided++;
    round->live = members_counted(hub);
    round->usual_norm = norm_history_median(hub, round);
    qsort(round->list, round->count, sizeof *round->list, by_member);
    EACH_OFFER(round, one)
        candidate_fill(hub, one);
    hub->rounds.steps = 0;
    tournament_choose(hub, round);
    choice_make(hub, round);
    waits_skip(hub, round);
}

/* Puts a member's oldest offer of what the open round merges into it: one, so
 * that nobody has two votes. */
static void fill_sync(struct hub *hub, struct member *member)
{
    struct round *round = hub->rounds.first;
    unsigned next = round_wants(round, member);

    if (next < member->waiting_count &&
        !(round && (round->state != ROUND_OPEN || round_has(round, member))))
        round_add(hub, round ? round : round_open(hub), member, next);
}

/* Puts waiting offers into rounds: one of each member into one round (sync),
 * or each into a round of its own (async). */
static void rounds_fill(struct hub *hub)
{
    for (int i = bitset_next(&hub->offers.waiting, 0);
         i >= 0 && !hub->memory.fence;
         i = bitset_next(&hub->offers.waiting, i + 1)) {
        struct member *member = hub->roll.members[i];

        if (member->state == MEMBER_SILENT)
            continue;
        if (gate_gathers(hub))
            fill_sync(hub, member);
        while (!gate_gathers(hub) && member->waiting_count)
            round_add(hub, round_open(hub), member, 0);
    }
}

/* Goes on with rounds whose data have come, or will not come any more. */
static void rounds_choose(struct hub *hub)
{
    for (struct round *round = hub->rounds.first;
         round && hub->rounds.undecided && !run_is_stopping(hub);
         round = round->next)
        choice_advance(hub, round);
}

void rounds_settle(struct hub *hub)
{
    struct round *next;

    rounds_choose(hub);
    rounds_fill(hub);
    for (struct round *round = hub->rounds.open; round; round = next) {
        next = round->next;
        if (round->state == ROUND_OPEN)
            round_try_close(hub, round);
    }
    while (hub->rounds.open && hub->rounds.open->state != ROUND_OPEN)
        hub->rounds.open = hub->rounds.open->next;
}

/* Tells those who got no result what became of their offers. A verdict may
 * overtake results, which it would make void. */
static void round_tell(struct hub *hub, struct round *round)
{
    EACH_OFFER(round, update) {
        struct member *member = update_member(hub, update);

        if (member && update->answered < hub->centre.count)
            verdicts_tell(hub, member, update);
    }
}

/* The score that its node has told with it. */
static void told_score(struct hub *hub, const struct update *update)
{
    struct conduct *conduct = &hub->roll.members[update->member]->conduct;

    if (!update->offer.samples || !score_known(update->offer.score))
        return;
    conduct->tells = true;
    conduct->told = update->offer.score;
}

/* What the nodes that are here have told last, which nobody can check: the
 * upper median, once more than half of them have; else NO_SCORE. Of two or more
 * no one alone decides what the centre is judged by. */
static double told_median(const struct hub *hub)
{
    double *list = need_memory((size_t)hub->roll.count, sizeof *list);
    double found = NO_SCORE;
    unsigned count = 0;

    EACH_HERE(hub, member)
        if (member->conduct.tells)
            list[count++] = member->conduct.told;
    values_sort(list, count);
    if (count > hub->roll.tally.present / 2)
        found = list[count / 2];
    free(list);
    return found;
}

/* What was merged stands for samples that were trained on, as far as the nodes
 * that say so are believed. */
static void count_samples(struct hub *hub, const struct round *round)
{
    struct candidate *list = need_memory(round->count, sizeof *list);
    double *samples = need_memory(round->count, sizeof *samples);
    double left = (double)(MOST_SAMPLES - hub->rounds.samples);
    unsigned count = 0;

    EACH_OFFER(round, one)
        if (one->merged > one->foreign)
            list[count++] = one->candidate;
    policy_samples(list, count, samples);
    count = 0;
    EACH_OFFER(round, one) {
        if (one->merged <= one->foreign)
            continue;
        if (update_counts(&one->offer,
                          &hub->roll.members[one->member]->learnt) &&
            samples[count] < left)
            hub->rounds.samples += (uint64_t)samples[count];
        count++;
    }
    free(list);
    free(samples);
}

/* Says so once, as long as it goes on. */
static void found_alike(struct hub *hub, struct member *member,
                        const struct update *other)
{
    if (!other)
        member->alike = 0;
    else if (member->alike < COPY_ROUNDS && ++member->alike == COPY_ROUNDS)
        effects_note(hub->out, NOTE_ALIKE, member->name,
                     "offers what %s does, or did a round before, for %d "
                     "rounds: a copy, or the same data in the same order",
                     hub->roll.members[other->member]->name, COPY_ROUNDS);
}

/* What is compared next time is kept. */
static void look_for_copies(struct hub *hub, const struct round *round)
{
    struct offered *list = need_memory(round->count, sizeof *list);
    int *of = need_memory(round->count, sizeof *of);

    for (unsigned i = 0; i < round->count; i++) {
        const struct update *one = round->list[i];

        list[i].before = hub->roll.members[one->member]->sketch;
        if (one->merged > one->foreign)
            list[i].now = one->sketch;
    }
    copies_find(list, round->count, of);
    for (unsigned i = 0; i < round->count; i++) {
        struct update *one = round->list[i];
        struct member *member = hub->roll.members[one->member];

        if (!list[i].now)
            continue;
        found_alike(hub, member, of[i] < 0 ? NULL : round->list[of[i]]);
        free(member->sketch);
        member->sketch = one->sketch;
        one->sketch = NULL;
    }
    free(list);
    free(of);
}

static void round_finish(struct hub *hub, struct round *round)
{
    unsigned merged = 0;

    hub->centre.version += !round->empty;
    hub->rounds.done++;
    hub->rounds.here++;
    EACH_OFFER(round, one) {
        merged += one->merged > 0;
        waits_round_over(hub, one);
        told_score(hub, one);
    }
    count_samples(hub, round);
    hub->memory.hint = told_median(hub);
    effects_note(hub->out, NOTE_ROUND, "", "version %llu merged %u of %u",
                 (unsigned long long)hub->centre.version, merged, round->count);
    waits_barren(hub, round, merged > 0);
    round_tell(hub, round);
    tournament_decide(hub, round);
    norm_history_learn(hub, round);
    look_for_copies(hub, round);
    preempt_round(hub, round);
    adapt_round(hub);
    EACH_OFFER(round, one)
        update_retire(hub, one);
    round_destroy(hub, &round);
}

void rounds_finish(struct hub *hub)
{
    while (hub->rounds.over) {
        struct round *round = hub->rounds.over;

        hub->rounds.over = round->next_over;
        hub->rounds.merging--;
        round_remove(hub, round);
        round_finish(hub, round);
        hub->dirty |= DIRTY_PHASE | DIRTY_MEMORY | DIRTY_ROUNDS;
    }
}
