/* An offer's chunks and their verdicts. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"

void update_destroy(struct hub *hub, struct update **reference)
{
    struct update *update = *reference;

    *reference = NULL;
    if (update)
        flow_upload(hub, update, false);
    for (uint32_t i = 0; update && update->chunks && i < hub->centre.count; i++)
        blob_unref(&update->chunks[i].payload);
    if (update) {
        free(update->chunks);
        free(update->sketch);
    }
    free(update);
}

/* What waits for a round costs next to nothing, however large the model is. */
void update_spread(struct hub *hub, struct update *update)
{
    assert(!update->chunks);
    update->chunks = need_memory(hub->centre.count, sizeof *update->chunks);
    if (update->offer.kind != EXCHANGE_PARAMETERS)
        update->sketch = need_memory(1, sizeof *update->sketch);
    for (uint32_t i = 0; update->foreign && i < hub->centre.count; i++)
        if (!fragment_holds(update->part, i))
            update->chunks[i] = (struct update_chunk){
                .state = CHUNK_CLOSED, .verdict = VERDICT_MERGED};
}

static void say_why(struct hub *hub, const struct update *update,
                    enum verdict verdict)
{
    struct member *member = hub->roll.members[update->member];

    if (member->session == update->connection)
        (void)snprintf(member->why, sizeof member->why, "%s",
                       verdict == VERDICT_MERGED ? ""
                                                 : verdict_words[verdict].text);
}

void update_decline(struct hub *hub, struct update *update,
                    enum verdict verdict)
{
    update->all = verdict;
    hub->offers.verdicts[verdict] += hub->centre.count - update->foreign;
    say_why(hub, update, verdict);
}

enum verdict update_fate(const struct update *update, uint32_t chunk)
{
    return update->chunks ? update->chunks[chunk].verdict : update->all;
}

/* What is remembered of one whose own chunks all had one fate is that. */
static void update_fold(const struct hub *hub, struct update *update)
{
    const struct fragment part = update->part;

    for (uint32_t i = part.first + part.stride;
         update->chunks && i < hub->centre.count; i += part.stride)
        if (update->chunks[i].verdict != update->chunks[part.first].verdict)
            return;
    update->all = update_fate(update, part.first);
    free(update->chunks);
    update->chunks = NULL;
}

/* Who has not been told of it takes all of it for merged. */
static void forget(struct hub *hub, struct member *member, struct update **one)
{
    const struct update *old = *one;

    if (old && old->merged > old->foreign &&
        old->incarnation == member->incarnation &&
        old->offer.exchange > member->merged)
        member->merged = old->offer.exchange;
    update_destroy(hub, one);
}

/* Their numbers may be far apart: the oldest makes room. */
struct update **update_place(struct hub *hub, struct member *member,
                             uint64_t exchange)
{
    struct update **place = &member->remembered[0];

    for (unsigned i = 0; i < MAX_REMEMBERED && *place; i++) {
        struct update **one = &member->remembered[i];

        if (!*one || (*one)->offer.exchange == exchange) {
            update_destroy(hub, one);
            return one;
        }
        if ((*one)->offer.exchange < (*place)->offer.exchange)
            place = one;
    }
    forget(hub, member, place);
    return place;
}

/* The oldest of those whose chunks have several fates, and *count of them;
 * NULL: there is none. */
static struct update **oldest_split(struct member *member, unsigned *count)
{
    struct update **oldest = NULL;

    *count = 0;
    for (unsigned i = 0; i < MAX_REMEMBERED; i++) {
        struct update **one = &member->remembered[i];

        if (!*one || !(*one)->chunks)
            continue;
        ++*count;
        if (!oldest || (*one)->offer.exchange < (*oldest)->offer.exchange)
            oldest = one;
    }
    return oldest;
}

/* They are kept without gaps. */
void updates_shorten(struct hub *hub, struct member *member, size_t bytes)
{
    size_t most = bytes / (32 + (size_t)hub->centre.count);
    unsigned count;
    struct update **one;

    while ((one = oldest_split(member, &count)) && count > 1 && count > most) {
        struct update **last = &member->remembered[MAX_REMEMBERED - 1];

        while (!*last)
            last--;
        forget(hub, member, one);
        *one = *last;
        *last = NULL;
    }
}

void updates_forget(struct hub *hub, struct member *member)
{
    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        update_destroy(hub, &member->remembered[i]);
}

void update_grant(struct hub *hub, struct update *update)
{
    struct member *member = update_member(hub, update);
    bool whole = hub->policy->reduce->judge != NULL;

    if (update->granted || !member)
        return;
    update->granted = true;
    update->began = update->progress = hub->now;
    /* Where a rule must see the whole nothing is merged before all of it is
     * here, so that nobody may wait for more credit; nor where each node sends
     * its chunks in an order of its own, so that all hold back what others
     * wait for. */
    update->credit = (struct upload_credit){
        .all_at_once = whole,
        .prompt = !whole && hub->config.miss == MISS_CUT &&
                  update->offer.kind == EXCHANGE_DELTA,
        .left = hub->centre.count - update->foreign};
    flow_upload(hub, update, true);
    flow_open(hub, member, update->offer.exchange, &update->credit);
}

/* ---- which round merges a chunk next ----
 * Each chunk has its own queue of rounds, so that it takes no longer with a
 * thousand rounds under way than with one. */

/* A round may merge the chunk: it stands behind older ones. */
static void enqueue(struct hub *hub, struct round *round, uint32_t chunk)
{
    struct round **link = &hub->centre.chunk[chunk].ready;

    while (*link && (*link)->number < round->number)
        link = &(*link)->chunks[chunk].next;
    round->chunks[chunk].next = *link;
    *link = round;
    bitset_set(&hub->centre.ready, (int)chunk, true);
    hub->dirty |= DIRTY_CENTRE;
}

static bool is_awaited(const struct update *update, uint32_t chunk)
{
    enum chunk_state state = update->chunks[chunk].state;

    return state == CHUNK_EXPECTED || state == CHUNK_CHECKING;
}

void round_gather(struct hub *hub, struct round *round)
{
    EACH_OFFER(round, one)
        for (uint32_t j = 0; j < hub->centre.count; j++)
            round->chunks[j].awaited += is_awaited(one, j);
    assert(round->state == ROUND_CLOSED);
    for (uint32_t j = 0; j < hub->centre.count; j++)
        if (!round->chunks[j].awaited)
            enqueue(hub, round, j);
    round->state = ROUND_SETTLED;
}

void chunk_here(struct hub *hub, struct update *update, uint32_t chunk)
{
    struct round *round = update->round;

    if (round && round->state == ROUND_SETTLED &&
        !--round->chunks[chunk].awaited)
        enqueue(hub, round, chunk);
}

struct round *chunk_next(struct hub *hub, uint32_t chunk)
{
    struct round *round = hub->centre.chunk[chunk].ready;

    if (!round)
        return NULL;
    hub->centre.chunk[chunk].ready = round->chunks[chunk].next;
    return round;
}

void chunk_done(struct hub *hub, struct round *round, uint32_t chunk)
{
    struct round **link = &hub->rounds.over;

    assert(round->state == ROUND_SETTLED && !round->chunks[chunk].done);
    round->chunks[chunk].done = true;
    hub->rounds.merging += !round->merged++;
    if (round->merged < hub->centre.count)
        return;
    while (*link && (*link)->number < round->number)
        link = &(*link)->next_over;
    round->next_over = *link;
    *link = round;
    hub->dirty |= DIRTY_CENTRE;
}

/* ---- verdicts ---- */

void update_close(struct hub *hub, struct update *update, uint32_t chunk,
                  enum verdict verdict)
{
    struct update_chunk *place = &update->chunks[chunk];

    assert(chunk < hub->centre.count);
    if (place->state == CHUNK_CLOSED)
        return;
    if (place->state != CHUNK_DELIVERED)
        chunk_here(hub, update, chunk);
    place->state = CHUNK_CLOSED;
    place->verdict = verdict;
    blob_unref(&place->payload);
    hub->offers.verdicts[verdict]++;
    update->merged += verdict == VERDICT_MERGED;
    say_why(hub, update, verdict);
}

struct update *update_find(struct hub *hub, int member, uint64_t exchange)
{
    struct update *one = hub->roll.members[member]->in_rounds;

    while (one && (one->offer.exchange != exchange || !update_member(hub, one)))
        one = one->next;
    return one;
}

bool round_has(const struct round *round, const struct member *member)
{
    const struct update *one = member->in_rounds;

    while (one && one->round != round)
        one = one->next;
    return one != NULL;
}

void update_cut(struct hub *hub, struct update *update, enum verdict verdict,
                bool gone)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        enum chunk_state state = update->chunks[i].state;

        if (state == CHUNK_EXPECTED || (gone && state == CHUNK_CHECKING))
            update_close(hub, update, i, verdict);
    }
    update->delivered = hub->centre.count;
    hub->dirty |= DIRTY_ROUNDS;
}

void update_end(struct hub *hub, struct update *update, enum verdict verdict)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        update_close(hub, update, i, verdict);
    update->delivered = hub->centre.count;
    hub->dirty |= DIRTY_ROUNDS;
}

enum verdict update_verdict(const struct update *update, uint32_t chunk)
{
    if (!update->chunks)
        return update->all;
    if (update->chunks[chunk].state == CHUNK_CLOSED)
        return update->chunks[chunk].verdict;
    return update->merges ? VERDICT_MERGED : VERDICT_DECLINED;
}

void verdicts_tell(struct hub *hub, struct member *member,
                   const struct update *update)
{
    uint32_t first = 0;

    if (!update->chunks) {
        verdict_send(hub, member, update->offer.exchange, 0, hub->centre.count,
                     update->all);
        return;
    }
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        enum verdict verdict = update_verdict(update, i);

        if (i + 1 < hub->centre.count &&
            verdict == update_verdict(update, i + 1))
            continue;
        verdict_send(hub, member, update->offer.exchange, first, i + 1 - first,
                     verdict);
        first = i + 1;
    }
}

const double hub_durations[HUB_DURATION_COUNT] = {
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

/* Counts it by how it ended, and how long that took. */
static void count_end(struct hub *hub, struct member *member,
                      const struct update *update)
{
    struct hub_durations *durations = &hub->offers.durations;
    double seconds = (double)(hub->now - update->arrived) / (double)SECOND;
    unsigned i = 0;

    while (i < HUB_DURATION_COUNT && seconds > hub_durations[i])
        i++;
    durations->within[i]++;
    durations->seconds += seconds;
    member->fates[update->merged > update->foreign
                      ? VERDICT_MERGED
                      : update_fate(update, update->part.first)]++;
}

bool update_counts(const struct msg_offer *offer, uint64_t *last)
{
    bool counts = offer->fragment == FRAGMENT_ALL || offer->iteration != *last;

    *last = offer->iteration;
    return counts;
}

void update_retire(struct hub *hub, struct update *update)
{
    struct member *member = hub->roll.members[update->member];
    uint64_t exchange = update->offer.exchange;

    flow_upload(hub, update, false);
    if (member->incarnation == update->incarnation) {
        count_end(hub, member, update);
        if (update->merged > update->foreign)
            member->here.exchanges++;
        else /* its node offers its samples again */
            member->returned += update->steps;
        if (update_member(hub, update))
            member->finished |= update->offer.last;
        hub->memory.want_save |=
            update->offer.last && !run_is_ending(hub) &&
            hub->config.save; /* nobody can give it again */
        member_recount(hub, member);
        if (update->merged < hub->centre.count) {
            update_fold(hub, update);
            *update_place(hub, member, exchange) = update;
            return;
        }
        if (exchange > member->merged)
            member->merged = exchange;
    }
    update_destroy(hub, &update);
}

/* Whether a rule is still to see it as a whole. */
static bool is_unsettled(const struct hub *hub, const struct round *round)
{
    const struct policy *policy =
        round->state == ROUND_OPEN ? hub->policy : round->policy;

    return policy->reduce->judge && round->state != ROUND_SETTLED;
}

static bool is_to_merge(const struct hub *hub, const struct update *one)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        if (one->chunks[i].state != CHUNK_CLOSED)
            return one->merges;
    return false;
}

void rounds_recall(struct hub *hub, struct member *member)
{
    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        if (member->remembered[i])
            verdicts_tell(hub, member, member->remembered[i]);
    for (struct update *one = member->in_rounds; one; one = one->next) {
        if (one->incarnation != member->incarnation)
            continue;
        if (is_unsettled(hub, one->round))
            update_end(hub, one, VERDICT_LOST);
        one->round->told |= is_to_merge(hub, one);
        verdicts_tell(hub, member, one);
    }
}

void offers_forget(struct hub *hub, struct member *member, enum verdict verdict,
                   bool gone)
{
    for (unsigned i = 0; gone && i < member->waiting_count; i++) {
        update_decline(hub, member->waiting[i], verdict);
        update_retire(hub, member->waiting[i]);
    }
    if (gone) {
        member->waiting_count = 0;
        bitset_set(&hub->offers.waiting, member->place, false);
    }
    for (struct update *one = member->in_rounds; one; one = one->next)
        update_cut(hub, one, verdict, gone);
}

void rounds_discard(struct hub *hub)
{
    EACH_ROUND(hub, round)
        EACH_OFFER(round, one)
            update_end(hub, one, VERDICT_SUPERSEDED);
}
