/* An offer's chunks and their verdicts. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"

void contribution_destroy(struct hub *hub, struct contribution **reference)
{
    struct contribution *contribution = *reference;

    *reference = NULL;
    if (contribution)
        flow_upload(hub, contribution, false);
    for (uint32_t i = 0;
         contribution && contribution->chunks && i < hub->centre.count; i++)
        blob_unref(&contribution->chunks[i].payload);
    if (contribution)
        free(contribution->chunks);
    free(contribution);
}

/* What waits for a round costs next to nothing, however large the model is. */
void contribution_spread(struct hub *hub, struct contribution *contribution)
{
    assert(!contribution->chunks);
    contribution->chunks =
        need_memory(hub->centre.count, sizeof *contribution->chunks);
    for (uint32_t i = 0; contribution->foreign && i < hub->centre.count; i++)
        if (!fragment_holds(contribution->part, i))
            contribution->chunks[i] = (struct contribution_chunk){
                .state = CHUNK_CLOSED, .verdict = VERDICT_MERGED};
}

static void say_why(struct hub *hub, const struct contribution *contribution,
                    enum verdict verdict)
{
    struct member *member = hub->roll.members[contribution->member];

    if (member->session == contribution->connection)
        (void)snprintf(member->why, sizeof member->why, "%s",
                       verdict == VERDICT_MERGED ? ""
                                                 : verdict_words[verdict].text);
}

void contribution_decline(struct hub *hub, struct contribution *contribution,
                          enum verdict verdict)
{
    contribution->all = verdict;
    hub->offers.verdicts[verdict] += hub->centre.count - contribution->foreign;
    say_why(hub, contribution, verdict);
}

enum verdict contribution_fate(const struct contribution *contribution,
                               uint32_t chunk)
{
    return contribution->chunks ? contribution->chunks[chunk].verdict
                                : contribution->all;
}

/* What is remembered of one whose own chunks all had one fate is that. */
static void contribution_fold(const struct hub *hub,
                              struct contribution *contribution)
{
    const struct fragment part = contribution->part;

    for (uint32_t i = part.first + part.stride;
         contribution->chunks && i < hub->centre.count; i += part.stride)
        if (contribution->chunks[i].verdict !=
            contribution->chunks[part.first].verdict)
            return;
    contribution->all = contribution_fate(contribution, part.first);
    free(contribution->chunks);
    contribution->chunks = NULL;
}

/* What is forgotten was merged as its node was told. */
static void forget(struct hub *hub, struct member *member,
                   struct contribution **one)
{
    const struct contribution *old = *one;

    if (old && old->merged > old->foreign &&
        old->incarnation == member->incarnation &&
        old->offer.exchange > member->merged)
        member->merged = old->offer.exchange;
    contribution_destroy(hub, one);
}

/* Their numbers may be far apart: the oldest makes room. */
struct contribution **contribution_place(struct hub *hub, struct member *member,
                                         uint64_t exchange)
{
    struct contribution **place = &member->remembered[0];

    for (unsigned i = 0; i < MAX_REMEMBERED && *place; i++) {
        struct contribution **one = &member->remembered[i];

        if (!*one || (*one)->offer.exchange == exchange) {
            contribution_destroy(hub, one);
            return one;
        }
        if ((*one)->offer.exchange < (*place)->offer.exchange)
            place = one;
    }
    forget(hub, member, place);
    return place;
}

void contributions_forget(struct hub *hub, struct member *member)
{
    for (unsigned i = 0; i < MAX_REMEMBERED; i++)
        contribution_destroy(hub, &member->remembered[i]);
}

void contribution_grant(struct hub *hub, struct contribution *contribution)
{
    struct member *member = contribution_member(hub, contribution);
    bool whole = hub->policy->reduce->judge != NULL;

    if (contribution->granted || !member)
        return;
    contribution->granted = true;
    contribution->began = contribution->progress = hub->now;
    /* Where a rule must see the whole nothing is merged before all of it is
     * here, so that nobody may wait for more credit; nor where each node sends
     * its chunks in an order of its own, so that all hold back what others
     * wait for. */
    contribution->loan =
        (struct loan){.whole = whole,
                      .prompt = !whole && hub->config.miss == MISS_CUT &&
                                contribution->offer.kind == EXCHANGE_DELTA,
                      .left = hub->centre.count - contribution->foreign};
    flow_upload(hub, contribution, true);
    flow_open(hub, member, contribution->offer.exchange, &contribution->loan);
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

static bool is_awaited(const struct contribution *contribution, uint32_t chunk)
{
    enum chunk_state state = contribution->chunks[chunk].state;

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

void chunk_here(struct hub *hub, struct contribution *contribution,
                uint32_t chunk)
{
    struct round *round = contribution->round;

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

void contribution_close(struct hub *hub, struct contribution *contribution,
                        uint32_t chunk, enum verdict verdict)
{
    struct contribution_chunk *place = &contribution->chunks[chunk];

    assert(chunk < hub->centre.count);
    if (place->state == CHUNK_CLOSED)
        return;
    if (place->state != CHUNK_DELIVERED)
        chunk_here(hub, contribution, chunk);
    place->state = CHUNK_CLOSED;
    place->verdict = verdict;
    blob_unref(&place->payload);
    hub->offers.verdicts[verdict]++;
    contribution->merged += verdict == VERDICT_MERGED;
    say_why(hub, contribution, verdict);
}

struct contribution *contribution_find(struct hub *hub, int member,
                                       uint64_t exchange)
{
    struct contribution *one = hub->roll.members[member]->open;

    while (one &&
           (one->offer.exchange != exchange || !contribution_member(hub, one)))
        one = one->next;
    return one;
}

bool round_has(const struct round *round, const struct member *member)
{
    const struct contribution *one = member->open;

    while (one && one->round != round)
        one = one->next;
    return one != NULL;
}

void contribution_cut(struct hub *hub, struct contribution *contribution,
                      enum verdict verdict, bool gone)
{
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        enum chunk_state state = contribution->chunks[i].state;

        if (state == CHUNK_EXPECTED || (gone && state == CHUNK_CHECKING))
            contribution_close(hub, contribution, i, verdict);
    }
    contribution->delivered = hub->centre.count;
    hub->dirty |= DIRTY_ROUNDS;
}

void contribution_end(struct hub *hub, struct contribution *contribution,
                      enum verdict verdict)
{
    for (uint32_t i = 0; i < hub->centre.count; i++)
        contribution_close(hub, contribution, i, verdict);
    contribution->delivered = hub->centre.count;
    hub->dirty |= DIRTY_ROUNDS;
}

enum verdict contribution_verdict(const struct contribution *contribution,
                                  uint32_t chunk)
{
    if (!contribution->chunks)
        return contribution->all;
    if (contribution->chunks[chunk].state == CHUNK_CLOSED)
        return contribution->chunks[chunk].verdict;
    return contribution->merges ? VERDICT_MERGED : VERDICT_DECLINED;
}

void verdicts_tell(struct hub *hub, struct member *member,
                   const struct contribution *contribution)
{
    uint32_t first = 0;

    if (!contribution->chunks) {
        verdict_send(hub, member, contribution->offer.exchange, 0,
                     hub->centre.count, contribution->all);
        return;
    }
    for (uint32_t i = 0; i < hub->centre.count; i++) {
        enum verdict verdict = contribution_verdict(contribution, i);

        if (i + 1 < hub->centre.count &&
            verdict == contribution_verdict(contribution, i + 1))
            continue;
        verdict_send(hub, member, contribution->offer.exchange, first,
                     i + 1 - first, verdict);
        first = i + 1;
    }
}

void contribution_retire(struct hub *hub, struct contribution *contribution)
{
    struct member *member = hub->roll.members[contribution->member];
    uint64_t exchange = contribution->offer.exchange;

    flow_upload(hub, contribution, false);
    if (member->incarnation == contribution->incarnation) {
        if (contribution->merged > contribution->foreign)
            member->exchanges++;
        if (contribution_member(hub, contribution))
            member->finished |= contribution->offer.last;
        hub->memory.want_save |=
            contribution->offer.last && !run_is_ending(hub) &&
            hub->config.save; /* nobody can give it again */
        member_recount(hub, member);
        if (contribution->merged < hub->centre.count) {
            contribution_fold(hub, contribution);
            *contribution_place(hub, member, exchange) = contribution;
            return;
        }
        if (exchange > member->merged)
            member->merged = exchange;
    }
    contribution_destroy(hub, &contribution);
}

/* Whether a rule is still to see it as a whole. */
static bool is_unsettled(const struct hub *hub, const struct round *round)
{
    const struct policy *policy =
        round->state == ROUND_OPEN ? hub->policy : round->policy;

    return policy->reduce->judge && round->state != ROUND_SETTLED;
}

static bool is_to_merge(const struct hub *hub, const struct contribution *one)
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
    for (struct contribution *one = member->open; one; one = one->next) {
        if (one->incarnation != member->incarnation)
            continue;
        if (is_unsettled(hub, one->round))
            contribution_end(hub, one, VERDICT_LOST);
        one->round->told |= is_to_merge(hub, one);
        verdicts_tell(hub, member, one);
    }
}

void offers_forget(struct hub *hub, struct member *member, enum verdict verdict,
                   bool gone)
{
    for (unsigned i = 0; gone && i < member->waiting_count; i++) {
        contribution_decline(hub, member->waiting[i], verdict);
        contribution_retire(hub, member->waiting[i]);
    }
    if (gone) {
        member->waiting_count = 0;
        bitset_set(&hub->offers.waiting, member->place, false);
    }
    for (struct contribution *one = member->open; one; one = one->next)
        contribution_cut(hub, one, verdict, gone);
}

void rounds_discard(struct hub *hub)
{
    EACH_ROUND(hub, round)
        EACH_OFFER(round, one)
            contribution_end(hub, one, VERDICT_SUPERSEDED);
}
