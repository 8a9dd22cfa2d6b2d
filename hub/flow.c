/* Uploads on credit, and the hub's rates.
 *
 * Credit is in bytes of payload. Whoever has some left, however little, may
 * send one more payload; what that takes beyond is owed. So no window is too
 * small for a payload, and none can make both sides wait for each other: when
 * nothing is on its way the whole window is left. A window of one payload's
 * size lets one at a time through. The hub gives credit back for what it is
 * done with, to the byte.
 *
 * What the hub is sent is limited where credit is given: never faster than the
 * rate, and a chunk's worth at a time, so that no window is saved up and then
 * sent at once. The oldest round comes first; in it, who has been given least,
 * as a chunk is merged when all have delivered it. What it sends goes to the
 * members in turn, a payload each. */
#include "hub/state.h"

static uint64_t chunk_bytes(const struct hub *hub)
{
    return (uint64_t)hub->config.chunk_elements * sizeof(float);
}

void flow_begin(struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    bucket_init(&hub->flow.up, config->up, chunk_bytes(hub), hub->now);
    bucket_init(&hub->flow.down, config->down, chunk_bytes(hub), hub->now);
    hub->flow.wake = NEVER;
}

void flow_limit(struct hub *hub, struct member *member, uint64_t down)
{
    struct bucket *bucket = &member->delivery.bucket;

    if (bucket->rate != down)
        bucket_init(bucket, down, chunk_bytes(hub), hub->now);
}

uint64_t flow_window(const struct hub *hub)
{
    return hub->config.window;
}

uint32_t flow_window_chunks(const struct hub *hub)
{
    uint64_t chunks = flow_window(hub) / chunk_bytes(hub);

    return chunks < 1                   ? 1
           : chunks < SCHEMA_MAX_CHUNKS ? (uint32_t)chunks
                                        : (uint32_t)SCHEMA_MAX_CHUNKS;
}

/* ---- credit ---- */

/* Bytes that it may be given now: up to the window, and no more than is still
 * to come, going by the chunks that have come. While chunks are left and all
 * credit is used up it is never 0. */
static uint64_t owed(const struct hub *hub, const struct loan *loan)
{
    int64_t chunk = (int64_t)chunk_bytes(hub), rest, room;

    if (loan->came)
        chunk = (loan->bytes + loan->came - 1) / loan->came;
    rest = loan->left * chunk - (loan->given - loan->bytes);
    room = (int64_t)flow_window(hub) - (loan->given - loan->done);
    if (!loan->left || rest <= 0 || (!loan->whole && room <= 0))
        return 0;
    return (uint64_t)(loan->whole || rest < room ? rest : room);
}

static void lend(struct hub *hub, struct loan *loan, uint64_t bytes)
{
    if (loan->given <= loan->bytes)
        loan->since = hub->now;
    loan->given += (int64_t)bytes;
}

static void credit(struct hub *hub, struct member *member, uint64_t exchange,
                   uint64_t bytes)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = exchange;
    msg.credit.more = bytes;
    if (bytes)
        member_send(hub, member, &msg);
}

void flow_open(struct hub *hub, struct member *member, uint64_t exchange,
               struct loan *loan)
{
    struct msg msg = {.kind = MSG_GRANT};

    if (hub->flow.down.rate)
        flow_stir(hub);
    else
        lend(hub, loan, owed(hub, loan));
    msg.grant.exchange = exchange;
    msg.grant.credit = (uint64_t)loan->given;
    member_send(hub, member, &msg);
}

void flow_return(struct hub *hub, struct member *member, uint64_t exchange,
                 struct loan *loan, uint64_t bytes)
{
    loan->done += (int64_t)bytes;
    if (hub->flow.down.rate) {
        flow_stir(hub);
        return;
    }
    bytes = owed(hub, loan);
    lend(hub, loan, bytes);
    credit(hub, member, exchange, bytes);
}

void flow_came(struct loan *loan, uint64_t bytes)
{
    loan->bytes += (int64_t)bytes;
    loan->came++;
    loan->left -= loan->left > 0;
}

nanos flow_still(const struct hub *hub,
                 const struct contribution *contribution)
{
    const struct loan *loan = &contribution->loan;

    if (loan->given <= loan->bytes)
        return 0;
    return hub->now - (loan->since > contribution->progress
                           ? loan->since
                           : contribution->progress);
}

/* Lends a chunk's worth, if the rate allows it; else says when. */
static bool lend_next(struct hub *hub, struct member *member,
                      uint64_t exchange, struct loan *loan)
{
    uint64_t bytes = owed(hub, loan), chunk = chunk_bytes(hub);
    nanos when;

    bytes = bytes < chunk ? bytes : chunk;
    when = bucket_when(&hub->flow.down, bytes, hub->now);
    if (when > hub->now) {
        if (when < hub->flow.wake)
            hub->flow.wake = when;
        return false;
    }
    (void)bucket_take(&hub->flow.down, bytes, hub->now);
    lend(hub, loan, bytes);
    credit(hub, member, exchange, bytes);
    return true;
}

/* Whose turn it is in a round; NULL: nobody is owed anything. */
static struct contribution *neediest(struct hub *hub,
                                     const struct round *round)
{
    struct contribution *found = NULL;

    for (unsigned i = 0; i < round->count; i++) {
        struct contribution *one = round->list[i];

        if (one->granted && one->delivered < hub->chunks &&
            contribution_member(hub, one) && owed(hub, &one->loan) &&
            (!found || one->loan.given < found->loan.given))
            found = one;
    }
    return found;
}

static void lend_all(struct hub *hub)
{
    struct member *founder =
        hub->founder >= 0 ? &hub->members[hub->founder] : NULL;
    struct contribution *one;

    while (founder && owed(hub, &hub->founding_loan))
        if (!lend_next(hub, founder, 0, &hub->founding_loan))
            return;
    for (struct round *round = hub->rounds; round; round = round->next)
        while ((one = neediest(hub, round)))
            if (!lend_next(hub, contribution_member(hub, one),
                           one->offer.exchange, &one->loan))
                return;
}

/* ---- results ---- */

static void send_all(struct hub *hub)
{
    for (unsigned idle = 0; idle < HUB_MAX_NODES; hub->flow.turn++) {
        struct member *member =
            &hub->members[hub->flow.turn % HUB_MAX_NODES];

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

void flow_stir(struct hub *hub)
{
    hub->flow.wake = hub->now;
}

void flow_advance(struct hub *hub)
{
    if (hub->flow.wake > hub->now)
        return;
    hub->flow.wake = NEVER;
    if (hub->flow.down.rate)
        lend_all(hub);
    send_all(hub);
}
