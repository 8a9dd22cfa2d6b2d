/* Results on their way to a node, never more than it has room for. */
#include <stdlib.h>

#include "hub/state.h"

void delivery_sent(struct hub *hub, struct member *member,
                   const struct msg *msg, struct blob *payload)
{
    member->delivery.out += payload->wire_bytes;
    member->down_bytes += payload->wire_bytes;
    effects_send(hub->out, member->bulk, msg, payload);
}

static void parcel_send(struct hub *hub, struct member *member,
                        const struct msg_result *result,
                        struct blob *payload)
{
    struct msg msg = {.kind = MSG_RESULT, .result = *result};

    delivery_sent(hub, member, &msg, payload);
}

/* Sends the next chunk of the centre as it is now to a node that takes it. */
static void take_send(struct hub *hub, struct member *member)
{
    struct msg_result result = {.verb = VERB_REPLACE, .weight = 1};
    uint32_t chunk = member->delivery.take_next++;
    struct centre_chunk *centre = &hub->centre[chunk];

    result.chunk = chunk;
    result.lineage = hub->lineage;
    result.version = result.base = centre->version;
    result.checksum = centre->theta->checksum;
    parcel_send(hub, member, &result, centre->theta);
    if (member->delivery.take_next == hub->chunks) {
        member->delivery.take_next = member->delivery.take_count = 0;
        member->start = START_GO;
    }
}

/* What comes next; NULL: nothing. */
static const struct blob *next_payload(struct hub *hub,
                                       const struct member *member)
{
    const struct delivery *delivery = &member->delivery;

    if (delivery->first)
        return delivery->first->payload;
    if (delivery->take_next < delivery->take_count)
        return hub->centre[delivery->take_next].theta;
    return review_next(hub, member);
}

static void parcel_next(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;
    struct parcel *parcel = delivery->first;

    delivery->first = parcel->next;
    delivery->count--;
    if (!delivery->first)
        delivery->last = NULL;
    parcel_send(hub, member, &parcel->result, parcel->payload);
    blob_unref(&parcel->payload);
    free(parcel);
}

enum passage delivery_next(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;
    const struct blob *payload;
    nanos hubs, own;

    if (member->bulk == PEER_NONE || delivery->out >= flow_window(hub, member))
        return PASSAGE_NOTHING;
    payload = next_payload(hub, member);
    if (!payload)
        return PASSAGE_NOTHING;
    hubs = bucket_when(&hub->flow.up, payload->wire_bytes, hub->now);
    own = bucket_when(&delivery->bucket, payload->wire_bytes, hub->now);
    if (own < hubs)
        own = hubs;
    if (own > hub->now) {
        if (own < hub->flow.wake)
            hub->flow.wake = own;
        return hubs > hub->now ? PASSAGE_SPENT : PASSAGE_NOTHING;
    }
    (void)bucket_take(&hub->flow.up, payload->wire_bytes, hub->now);
    (void)bucket_take(&delivery->bucket, payload->wire_bytes, hub->now);
    if (delivery->first)
        parcel_next(hub, member);
    else if (delivery->take_next < delivery->take_count)
        take_send(hub, member);
    else
        review_send(hub, member);
    return PASSAGE_SENT;
}

void delivery_flush(struct hub *hub, struct member *member)
{
    if (hub->flow.up.rate)
        flow_stir(hub); /* it must be its turn */
    else
        while (delivery_next(hub, member) == PASSAGE_SENT)
            continue;
}

void delivery_add(struct hub *hub, struct member *member,
                  const struct msg_result *result, struct blob *payload)
{
    struct delivery *delivery = &member->delivery;
    struct parcel *parcel = calloc(1, sizeof *parcel);

    if (!parcel)
        abort();
    parcel->result = *result;
    parcel->payload = blob_ref(payload);
    if (delivery->last)
        delivery->last->next = parcel;
    else
        delivery->first = parcel;
    delivery->last = parcel;
    delivery->count++;
    delivery_flush(hub, member);
}

void delivery_attach(struct hub *hub, struct member *member)
{
    struct delivery *delivery = &member->delivery;

    if (delivery->credited != member->bulk) {
        delivery->credited = member->bulk;
        delivery->out = 0;
    }
    delivery_flush(hub, member);
}

void delivery_clear(struct delivery *delivery)
{
    while (delivery->first) {
        struct parcel *parcel = delivery->first;

        delivery->first = parcel->next;
        blob_unref(&parcel->payload);
        free(parcel);
    }
    delivery->last = NULL;
    delivery->count = 0;
    delivery->take_next = delivery->take_count = 0;
}

/* A node that takes the centre asks for it, so that no chunk overtakes the
 * WELCOME that says so on the other connection. */
static void take_begin(struct hub *hub, struct member *member)
{
    if (member->start != START_TAKE)
        return;
    member->delivery.take_next = 0;
    member->delivery.take_count = hub->chunks;
    member->takes = true;
    member->taken = hub->version;
    delivery_flush(hub, member);
}

void hub_on_credit(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload)
{
    struct member *member = hub_member(hub, peer);

    (void)payload;
    if (msg->credit.exchange == 0 && msg->credit.more == 0) {
        take_begin(hub, member);
        return;
    }
    if (msg->credit.more > member->delivery.out) {
        effects_note(hub->out, NOTE_OFFENCE, member->name,
                     "gave more credit than it was sent bytes");
        member_gone(hub, member, "cut for an offence", false);
        return;
    }
    member->delivery.out -= msg->credit.more;
    delivery_flush(hub, member);
}
