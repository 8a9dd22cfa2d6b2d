/* An offer arrives: may it wait for a round? */
#include <stdio.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"

/* Turns an offer down as a whole. */
static void offer_decline(struct hub *hub, struct member *member,
                          const struct msg_offer *offer, enum verdict verdict)
{
    hub->offers.offered += hub->centre.count;
    hub->offers.verdicts[verdict] += hub->centre.count;
    member->fates[verdict]++;
    (void)snprintf(member->why, sizeof member->why, "%s",
                   verdict_words[verdict].text);
    effects_note(hub->out, NOTE_DECLINED, member->name, "exchange %llu: %s",
                 (unsigned long long)offer->exchange,
                 verdict_words[verdict].doc);
    verdict_send(hub, member, offer->exchange, 0, hub->centre.count, verdict);
}

/* Whether it departs from parameters that the centre can be moved by. In the
 * tournament there is no centre yet. */
static enum verdict base_judge(const struct hub *hub,
                               const struct member *member,
                               const struct msg_offer *offer)
{
    bool apart = offer->kind == EXCHANGE_PARAMETERS && centre_is_apart(hub);

    if (tournament_goes_on(hub))
        return VERDICT_MERGED;
    if (offer->base_version > hub->centre.version + MAX_OFFERS)
        return VERDICT_FUTURE;
    if (!members_may_lag(hub, offer->base_version) ||
        (member->takes && offer->base_version < member->taken))
        return VERDICT_STALE;
    return !apart && offer->lineage != hub->centre.lineage ? VERDICT_LINEAGE
                                                           : VERDICT_MERGED;
}

/* Its offers in rounds. */
static unsigned open_count(const struct member *member)
{
    unsigned count = 0;

    for (const struct update *one = member->in_rounds; one; one = one->next)
        count++;
    return count;
}

/* Chunks of results that it is owed, of offers that it has made. */
static uint64_t chunks_owed(const struct hub *hub, const struct member *member)
{
    uint64_t chunks = member->delivery.count;

    for (unsigned i = 0; i < member->waiting_count; i++)
        chunks += hub->centre.count - member->waiting[i]->foreign;
    for (const struct update *one = member->in_rounds; one; one = one->next)
        chunks += hub->centre.count - one->foreign;
    return chunks;
}

/* How many it may be owed: what a node has in flight, d/k offers and one that
 * is late, twice, as results of a round under way count with it. Each keeps a
 * version of the centre in memory. */
static uint64_t most_results(const struct member *member)
{
    uint64_t every = member->every ? member->every : 1;
    uint64_t delay = member->delay;

    return 2 * (1 + delay / every + (delay % every != 0));
}

static bool has_made_its_last(const struct member *member)
{
    for (unsigned i = 0; i < member->waiting_count; i++)
        if (member->waiting[i]->offer.last)
            return true;
    for (const struct update *one = member->in_rounds; one; one = one->next)
        if (one->offer.last && one->connection == member->session)
            return true;
    return member->finished;
}

/* Whoever has been called for its last offer has no other update: that
 * one holds all that nobody has merged. A gradient is of a step that all make,
 * or nobody. */
static bool is_too_late(const struct hub *hub, const struct member *member,
                        const struct msg_offer *offer)
{
    return (run_is_ending(hub) || member->drained) && gate_gathers(hub) &&
           (!offer->last || offer->kind == EXCHANGE_GRADIENT);
}

/* Why the offer cannot be taken, or VERDICT_MERGED if it can. */
static enum verdict offer_judge(struct hub *hub, struct member *member,
                                const struct msg_offer *offer)
{
    enum verdict verdict = base_judge(hub, member, offer);

    if (offer->exchange <= member->last_exchange)
        return VERDICT_DUPLICATE;
    if (quarantine_holds(member))
        return VERDICT_QUARANTINED;
    if (verdict != VERDICT_MERGED)
        return verdict;
    if (member->start != START_GO || has_made_its_last(member) ||
        is_too_late(hub, member, offer) ||
        offer->kind != hub->policy->exchange ||
        (offer->fragment != FRAGMENT_ALL &&
         offer->fragment >= offers_fragments(hub)) ||
        member->waiting_count + open_count(member) >=
            MAX_OFFERS - (offer->last ? 0U : 1U) ||
        (!offer->last &&
         chunks_owed(hub, member) >= most_results(member) * hub->centre.count))
        return VERDICT_SUPERSEDED;
    return VERDICT_MERGED;
}

/* Chunks outside the fragment are done with. */
static void narrow(struct hub *hub, struct update *update)
{
    update->part = fragment_of(update->offer.fragment, offers_fragments(hub));
    update->foreign =
        hub->centre.count - fragment_chunks(update->part, hub->centre.count);
    update->delivered = update->answered = update->merged = update->foreign;
    hub->offers.verdicts[VERDICT_MERGED] += update->foreign;
}

/* Takes it out of those that wait; NULL: it is not one of them. */
static struct update *take_waiting(struct hub *hub, struct member *member,
                                   uint64_t exchange)
{
    struct update *update;
    unsigned i = 0;

    while (i < member->waiting_count &&
           member->waiting[i]->offer.exchange != exchange)
        i++;
    if (i == member->waiting_count)
        return NULL;
    update = member->waiting[i];
    member->waiting_count--;
    memmove(member->waiting + i, member->waiting + i + 1,
            (member->waiting_count - i) * sizeof *member->waiting);
    bitset_set(&hub->offers.waiting, member->place, member->waiting_count > 0);
    return update;
}

/* It is in no round: its node is told so. */
static void give_back(struct hub *hub, struct member *member,
                      struct update *update, enum verdict verdict)
{
    if (update->chunks)
        update_end(hub, update, verdict);
    else
        update_decline(hub, update, verdict);
    verdicts_tell(hub, member, update);
    update_retire(hub, update);
}

bool offers_withdraw(struct hub *hub, struct member *member, uint64_t exchange,
                     enum verdict verdict)
{
    struct update *update = take_waiting(hub, member, exchange);

    if (update)
        give_back(hub, member, update, verdict);
    return update != NULL;
}

void offers_withdraw_all(struct hub *hub, struct member *member,
                         enum verdict verdict)
{
    while (member->waiting_count)
        (void)offers_withdraw(hub, member, member->waiting[0]->offer.exchange,
                              verdict);
}

void offers_return(struct hub *hub, struct member *member)
{
    struct update *next;

    for (unsigned i = member->waiting_count; i-- > 0;)
        if (!member->waiting[i]->offer.last)
            (void)offers_withdraw(hub, member,
                                  member->waiting[i]->offer.exchange,
                                  VERDICT_SUPERSEDED);
    for (struct update *one = member->in_rounds; one; one = next) {
        next = one->next;
        if (one->offer.last || one->round->state != ROUND_OPEN ||
            !update_member(hub, one))
            continue;
        round_let_go(hub, one);
        give_back(hub, member, one, VERDICT_SUPERSEDED);
    }
}

/* Its last offer is no good: nobody waits for another one. */
static void member_finishes(struct hub *hub, struct member *member)
{
    member->finished = true;
    member_recount(hub, member);
}

/* Declines it, and tells its node what to do instead. */
static void offer_refuse(struct hub *hub, struct member *member,
                         const struct msg_offer *offer, enum verdict verdict)
{
    offer_decline(hub, member, offer, verdict);
    if (!member->takes && member->start != START_TAKE &&
        (verdict == VERDICT_STALE || verdict == VERDICT_FUTURE ||
         verdict == VERDICT_LINEAGE))
        member_start(hub, member, START_TAKE);
    if (offer->last && verdict != VERDICT_DUPLICATE)
        member_finishes(hub, member);
}

/* Puts it to those that wait for a round. What a node has offered before its
 * last offer, and is in no round that has closed, goes back to it. */
static void offer_accept(struct hub *hub, struct member *member,
                         const struct msg_offer *offer)
{
    struct update *update = need_memory(1, sizeof *update);

    update->member = member->place;
    update->incarnation = member->incarnation;
    update->connection = member->session;
    update->offer = *offer;
    update->arrived = hub->now;
    update->ordinal = ++member->conduct.offers;
    if (offer->iteration > member->offered)
        update->steps = offer->iteration - member->offered;
    update->steps += member->returned;
    member->returned = 0;
    member->offered = offer->iteration;
    narrow(hub, update);
    waits_offered(member);
    member->last_exchange = offer->exchange;
    member->base_version = offer->base_version;
    member->waiting[member->waiting_count++] = update;
    bitset_set(&hub->offers.waiting, member->place, true);
    hub->offers.offered += hub->centre.count;
    if (offer->last)
        offers_return(hub, member);
    hub->dirty |= DIRTY_ROUNDS;
}

void hub_on_offer(struct hub *hub, const struct incoming *in)
{
    const struct msg_offer *offer = &in->msg->offer;
    struct member *member = in->member;
    enum verdict verdict;

    /* Who took them would name none either, and found no run. */
    if (offer->kind == EXCHANGE_PARAMETERS && !offer->lineage) {
        member_offends(hub, member, "offered parameters without a lineage");
        return;
    }
    member_reaches(hub, member, offer->iteration);
    if (offer->exchange > member->last_exchange &&
        update_counts(offer, &member->sampled))
        member->here.samples += offer->samples;
    member_recount(hub, member);
    if ((!centre_is_founded(hub) && !tournament_goes_on(hub)) ||
        hub->run.phase == PHASE_RECOVERING || offer->exchange == 0) {
        verdict_send(hub, member, offer->exchange, 0, hub->centre.count,
                     VERDICT_SUPERSEDED);
        return;
    }
    verdict = offer_judge(hub, member, offer);
    if (verdict == VERDICT_QUARANTINED) {
        member->last_exchange = offer->exchange;
        quarantine_serve(hub, member);
    }
    if (offer->base_version >= member->taken && verdict != VERDICT_FUTURE)
        member->takes = false;
    if (verdict == VERDICT_MERGED)
        offer_accept(hub, member, offer);
    else
        offer_refuse(hub, member, offer, verdict);
}
