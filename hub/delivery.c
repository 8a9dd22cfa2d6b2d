/* Results on their way to a node, never more than it has room for. */
#include <assert.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"

/* NULL: its receiver knows it. */
static uint64_t bytes_of(const struct blob *payload)
{
    return payload ? payload->wire_bytes : 0;
}

static void delivery_sent(struct hub *hub, struct member *member,
                          const struct msg *msg, struct blob *payload)
{
    if (!member->delivery.out && payload)
        waits_sent(hub, member, false);
    member->delivery.out += bytes_of(payload);
    member->delivery.moved = hub->now;
    member->here.down_bytes += bytes_of(payload);
    effects_send(hub->out, member->bulk, msg, payload);
}

static void review_send(struct hub *hub, struct member *member,
                        const struct review_chunk *chunk)
{
    review_sent(hub, member, chunk);
    delivery_sent(hub, member, &chunk->msg, chunk->payload);
}

static void queue_entry_send(struct hub *hub, struct member *member,
                             const struct msg_result *result,
                             struct blob *payload)
{
    struct msg msg = {.kind = MSG_RESULT, .result = *result};

    delivery_sent(hub, member, &msg, payload);
}

/* Once all of the centre is sent, the node goes on from that. */
static void take_ends(struct hub *hub, struct member *member)
{
    if (member->delivery.take_next < hub->centre.count)
        return;
    member->delivery.take_next = member->delivery.take_count = 0;
    member->start = START_GO;
    member_recount(hub, member);
}

/* Sends the next chunk of the centre as it is now to a node that takes it. */
static void take_send(struct hub *hub, struct member *member)
{
    struct msg_result result = {.verb = VERB_REPLACE, .weight = 1};
    uint32_t chunk = member->delivery.take_next++;
    struct centre_chunk *centre = &hub->centre.chunk[chunk];
    struct blob *payload = last_sent_of(centre);

    result.chunk = chunk;
    result.lineage = hub->centre.lineage;
    result.version = result.base = centre->version;
    result.checksum = payload->checksum;
    last_sent_shorten(hub, member, NULL, &result, &payload);
    queue_entry_send(hub, member, &result, payload);
    take_ends(hub, member);
}

/* Whether something comes next, and how many bytes; *review: if it is that. */
static bool has_next(struct hub *hub, const struct member *member,
                     struct review_chunk *review, uint64_t *bytes)
{
    const struct delivery *delivery = &member->delivery;
    struct blob *payload = NULL;
    bool any = true;

    if (delivery->first) {
        payload = delivery->first->payload;
    } else if (delivery->take_next < delivery->take_count) {
        payload = last_sent_next(hub, member, delivery->take_next);
    } else {
        any = review_next(hub, member, review);
        payload = any ? review->payload : NULL;
    }
    *bytes = bytes_of(payload);
    return any;
}

static void queue_entry_free(struct queue_entry *entry)
{
    blob_unref(&entry->payload);
    free(entry);
}

static void queue_entry_next(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;
    struct queue_entry *entry = delivery->first;

    delivery->first = entry->next;
    delivery->count--;
    if (!delivery->first)
        delivery->last = NULL;
    queue_entry_send(hub, member, &entry->result, entry->payload);
    queue_entry_free(entry);
}

/* Sends the next payload, if there is one, the member has credit, and the
 * rates allow it; else the hub wakes when they do. SPENT: it is the hub's. */
enum passage { PASSAGE_SENT, PASSAGE_NOTHING, PASSAGE_SPENT };

static enum passage delivery_next(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;
    struct review_chunk review = {.payload = NULL};
    uint64_t bytes;
    nanos hubs, own;

    if (member->bulk == PEER_NONE || delivery->out >= flow_window(hub, member))
        return PASSAGE_NOTHING;
    if (!has_next(hub, member, &review, &bytes))
        return PASSAGE_NOTHING;
    hubs = bucket_when(&hub->flow.sending, bytes, hub->now);
    own = bucket_when(&delivery->bucket, bytes, hub->now);
    if (own < hubs)
        own = hubs;
    if (own > hub->now) {
        if (own < hub->flow.wake)
            hub->flow.wake = own;
        return hubs > hub->now ? PASSAGE_SPENT : PASSAGE_NOTHING;
    }
    (void)bucket_spend(&hub->flow.sending, bytes, hub->now);
    (void)bucket_spend(&delivery->bucket, bytes, hub->now);
    if (delivery->first)
        queue_entry_next(hub, member);
    else if (delivery->take_next < delivery->take_count)
        take_send(hub, member);
    else
        review_send(hub, member, &review);
    return PASSAGE_SENT;
}

/* To those of whom something has changed. Under a rate each has its turn. */
static void send_to_stirred(struct hub *hub)
{
    for (int i = bitset_next(&hub->flow.stirred, 0); i >= 0;
         i = bitset_next(&hub->flow.stirred, i + 1)) {
        bitset_set(&hub->flow.stirred, i, false);
        while (delivery_next(hub, hub->roll.members[i]) == PASSAGE_SENT)
            continue;
    }
}

/* In turn, a payload each. */
static void send_in_turn(struct hub *hub)
{
    for (int idle = 0; idle < hub->roll.count; hub->flow.next_member++) {
        struct member *member =
            hub->roll
                .members[hub->flow.next_member % (unsigned)hub->roll.count];

        switch (delivery_next(hub, member)) {
        case PASSAGE_SENT:
            idle = 0;
            break;
        case PASSAGE_NOTHING:
            idle++;
            break;
        case PASSAGE_SPENT:
            return;
        }
    }
}

void delivery_settle(struct hub *hub)
{
    bool due = flow_advance(hub);

    send_to_stirred(hub);
    if (due)
        send_in_turn(hub);
}

/* ---- newest wins ---- */

/* Whether the next result makes up for it: the node is set to values, or pulled
 * to them, wherever it is. A change of what came before, a replacement and a
 * part that nodes conserve (REBASE with a < 1) do not come again. */
static bool is_made_up_for(const struct msg_result *result)
{
    return result->base == result->version &&
           (result->verb == VERB_PULL ||
            (result->verb == VERB_REBASE && result->weight == 1));
}

/* The oldest result that this one makes superfluous, 0: none. */
static uint64_t superfluous(const struct delivery *delivery,
                            const struct queue_entry *newer)
{
    for (const struct queue_entry *entry = delivery->first; entry;
         entry = entry->next)
        if (entry->opens && is_made_up_for(&entry->result) &&
            entry->result.exchange < newer->result.exchange &&
            entry->part.first == newer->part.first &&
            entry->part.stride == newer->part.stride)
            return entry->result.exchange;
    return 0;
}

/* Per chunk the newest version in the queue that is a change of another. */
static uint64_t *newest_changes(const struct hub *hub,
                                const struct delivery *delivery)
{
    uint64_t *newest = need_memory(hub->centre.count, sizeof *newest);

    for (const struct queue_entry *entry = delivery->first; entry;
         entry = entry->next)
        if (entry->result.base != entry->result.version)
            newest[entry->result.chunk] = entry->result.version;
    return newest;
}

/* Takes the entries of an exchange out of the queue, but for those that a later
 * one may be a change of; returns them, in order. */
static struct queue_entry *
take_out(const struct hub *hub, struct delivery *delivery, uint64_t exchange)
{
    struct queue_entry **link = &delivery->first, *out = NULL, **end = &out;
    uint64_t *newest = newest_changes(hub, delivery);

    delivery->last = NULL;
    while (*link) {
        struct queue_entry *entry = *link;

        if (entry->result.exchange != exchange ||
            newest[entry->result.chunk] > entry->result.version) {
            delivery->last = entry;
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        entry->next = NULL;
        *end = entry;
        end = &entry->next;
        delivery->count--;
    }
    free(newest);
    return out;
}

/* Instead of a verdict: the chunk is of another part of the model; the node was
 * sent it. */
enum { ANY_VERDICT = VERDICT_COUNT, TOLD_VERDICT };

/* Tells the verdicts of a result, run by run: chunks come merged in any order,
 * and control takes few messages at a time. */
static void tell(struct hub *hub, struct member *member, uint64_t exchange,
                 const unsigned *verdicts)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i <= hub->centre.count; i++) {
        if (i < hub->centre.count &&
            (verdicts[i] == verdicts[first] || verdicts[i] == ANY_VERDICT))
            continue;
        if (verdicts[first] < VERDICT_COUNT)
            verdict_send(hub, member, exchange, first, i - first,
                         (enum verdict)verdicts[first]);
        first = i;
    }
}

/* Sends no more of a result, and tells the verdicts instead; those of a round
 * under way when that is over. None may overtake what has been sent of it, and
 * would make that void: there is nothing, or it is void. */
static void pass_over(struct hub *hub, struct member *member, uint64_t exchange)
{
    struct update *update = update_find(hub, member->place, exchange);
    struct queue_entry *list = take_out(hub, &member->delivery, exchange);
    unsigned *verdicts = need_memory(hub->centre.count, sizeof *verdicts);

    for (uint32_t i = 0; i < hub->centre.count; i++)
        verdicts[i] =
            list && fragment_holds(list->part, i) ? TOLD_VERDICT : ANY_VERDICT;
    while (list) {
        struct queue_entry *entry = list;

        list = entry->next;
        verdicts[entry->result.chunk] = entry->result.verdict;
        if (member->delivery.holds)
            member->delivery.holds[entry->result.chunk] = NO_VERSION;
        queue_entry_free(entry);
    }
    if (update) {
        update->passed_over = true;
        update->answered = update->foreign;
    } else {
        tell(hub, member, exchange, verdicts);
    }
    free(verdicts);
}

void delivery_end(struct hub *hub, struct member *member)
{
    const struct queue_entry *entry;

    while (!hub->flow.sending.rate &&
           delivery_next(hub, member) == PASSAGE_SENT)
        continue;
    entry = member->delivery.first;
    while (entry) {
        const struct msg_result *first = &entry->result;
        uint32_t count = 0;

        while (entry && entry->result.exchange == first->exchange &&
               entry->result.verdict == first->verdict &&
               entry->result.chunk == first->chunk + count) {
            entry = entry->next;
            count++;
        }
        if (first->exchange)
            verdict_send(hub, member, first->exchange, first->chunk, count,
                         (enum verdict)first->verdict);
    }
    delivery_clear(&member->delivery);
}

void delivery_add(struct hub *hub, struct update *update,
                  const struct msg_result *result, struct blob *payload)
{
    struct member *member = hub->roll.members[update->member];
    struct delivery *delivery = &member->delivery;
    struct queue_entry *entry = need_memory(1, sizeof *entry);
    uint64_t older;

    assert(result->chunk < hub->centre.count);
    entry->result = *result;
    entry->payload = blob_ref(payload);
    entry->part = update->part;
    entry->opens = update->answered == update->foreign;
    if (entry->opens && is_made_up_for(result) &&
        (older = superfluous(delivery, entry)) != 0)
        pass_over(hub, member, older);
    if (delivery->last)
        delivery->last->next = entry;
    else
        delivery->first = entry;
    delivery->last = entry;
    delivery->count++;
    delivery_stir(hub, member);
}

static void forget_known(struct delivery *delivery)
{
    free(delivery->holds);
    free(delivery->tested);
    delivery->holds = delivery->tested = NULL;
}

void delivery_attach(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;

    if (delivery->credited != member->bulk) {
        delivery->credited = member->bulk;
        delivery->out = 0;
        forget_known(delivery);
    }
    delivery_stir(hub, member);
}

void delivery_clear(struct delivery *delivery)
{
    while (delivery->first) {
        struct queue_entry *entry = delivery->first;

        delivery->first = entry->next;
        queue_entry_free(entry);
    }
    delivery->last = NULL;
    delivery->count = 0;
    delivery->take_next = delivery->take_count = 0;
    forget_known(delivery);
}

/* Chunks that it need not be sent again after a break: what it says it has, and
 * has given credit for, unless the hub has gone back since. */
static uint32_t take_resumes(struct hub *hub, struct member *member)
{
    uint32_t has =
        member->claims < member->took ? member->claims : member->took;

    member->claims = 0;
    return member->took_version >= hub->memory.back.turned ? has : 0;
}

void delivery_claimed(struct member *member, const struct msg_close *close)
{
    member->claims = close->first ? 0 : close->chunks;
}

/* A node that takes the centre asks for it, so that no chunk overtakes the
 * WELCOME that says so on the other connection. */
static void take_begin(struct hub *hub, struct member *member)
{
    if (member->start != START_TAKE)
        return;
    member->forgotten = member->last_exchange;
    member->took = member->delivery.take_next = take_resumes(hub, member);
    member->delivery.take_count = hub->centre.count;
    if (member->took)
        verdict_send(hub, member, 0, 0, member->took, VERDICT_MERGED);
    else
        member->took_version = hub->centre.version;
    member->takes = true;
    member->taken = member->took_version;
    take_ends(hub, member);
    delivery_stir(hub, member);
}

void hub_on_credit(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;

    if (in->msg->credit.exchange == 0 && in->msg->credit.more == 0) {
        take_begin(hub, member);
        return;
    }
    /* For what a former hub has sent, on a connection that is no more. */
    if (member->bulk == PEER_NONE)
        return;
    if (in->msg->credit.more > member->delivery.out) {
        member_offends(hub, member, "gave more credit than it was sent bytes");
        return;
    }
    member->delivery.out -= in->msg->credit.more;
    if (in->msg->credit.exchange == 0 && member->took < hub->centre.count)
        member->took++;
    member->delivery.moved = hub->now;
    delivery_stir(hub, member);
    if (!member->delivery.out && in->msg->credit.more)
        waits_sent(hub, member, true);
}

void hub_on_waive(struct hub *hub, const struct incoming *in)
{
    struct member *member = in->member;

    if (!offers_withdraw(hub, member, in->msg->waive.exchange, VERDICT_EXPIRED))
        pass_over(hub, member, in->msg->waive.exchange);
}
