/* Uploads on credit, and the hub's rates.
 *
 * Credit is in bytes of payload. Whoever has some left, however little, may
 * send one more payload; what that takes beyond is owed. So no window is too
 * small for a payload, and none can make both sides wait for each other: when
 * nothing is on its way the whole window is left. A window of one payload's
 * size lets one at a time through. The hub gives credit back for what it is
 * done with, to the byte.
 *
 * The window of a node is what its link holds and half of that again (rate
 * times round trip), at least 4 chunks: zguide's credit-based flow control,
 * with a pipeline that follows the link. What nodes are ahead of the slowest by
 * is how much later the last result comes than the last upload, so for uploads
 * 2 chunks are enough where they last for as long as the hub takes to give
 * credit back: on links that many share. The uploads under way share the
 * budget, so that what the hub must hold does not grow with the nodes; each has
 * one chunk at least. What a rule must see as a whole is outside of it: the hub
 * holds all of that anyway.
 *
 * With --miss cut each node sends its chunks in an order of its own. Credit for
 * what has come is then given back at once, since with a window of what is not
 * merged each could hold back what all others wait for. The window is what is
 * on its way, 2 chunks at least, so that a slow node is soon through once it
 * sends no more. The price is memory: the hub may have to hold all of the model
 * once for each node, instead of once and the windows.
 *
 * What the hub is sent is limited where credit is given: never faster than the
 * rate, and a chunk's worth at a time, so that no window is saved up and then
 * sent at once. The oldest round comes first; in it, who has been given least,
 * as a chunk is merged when all have delivered it. What it sends goes to the
 * members in turn, a payload each. */
#include <math.h>

#include "hub/state.h"

enum { LEAST_CHUNKS = 4, LEAST_AHEAD = 2 };
#define MOST_WINDOW ((uint64_t)64 << 20)
#define SPARE 1.5
#define UNKNOWN_TRIP 0.01 /* seconds */
#define CREDIT_TAKES 0.02 /* seconds of a busy hub: to check, merge, tell */
#define SLOWLY (1.0 / 16)
#define SHOWN 5.0 /* seconds, of which people see the mean rate */

static uint64_t chunk_bytes(const struct hub *hub)
{
    uint64_t scale = hub->config.scale ? hub->config.scale : 1;

    return scale * hub->config.chunk_elements * sizeof(float);
}

void flow_begin(struct hub *hub)
{
    const struct hub_config *config = &hub->config;

    bucket_init(&hub->flow.sending, config->up, chunk_bytes(hub), hub->now);
    bucket_init(&hub->flow.receiving, config->down, chunk_bytes(hub), hub->now);
    hub->flow.wake = NEVER;
}

void flow_limit(struct hub *hub, struct member *member, uint64_t down)
{
    struct bucket *bucket = &member->delivery.bucket;

    if (bucket->rate != down)
        bucket_init(bucket, down, chunk_bytes(hub), hub->now);
}

/* ---- windows ---- */

uint64_t flow_most(const struct hub *hub)
{
    uint64_t least = LEAST_CHUNKS * chunk_bytes(hub);

    if (hub->config.window)
        return hub->config.window;
    return least > MOST_WINDOW ? least : MOST_WINDOW;
}

static uint64_t window_of(const struct hub *hub, const struct member *member,
                          const struct pace *pace, uint64_t least)
{
    double held = SPARE * pace->rate * member->trip;

    if (hub->config.window)
        return hub->config.window;
    if (held <= (double)least)
        return least;
    return held < (double)MOST_WINDOW ? (uint64_t)held : flow_most(hub);
}

uint64_t flow_window(const struct hub *hub, const struct member *member)
{
    return window_of(hub, member, &member->down,
                     LEAST_CHUNKS * chunk_bytes(hub));
}

/* A chunk, and what comes until there is credit for the next one. */
static uint64_t least_ahead(const struct hub *hub, const struct pace *pace)
{
    uint64_t chunk = chunk_bytes(hub), least = LEAST_AHEAD * chunk;
    double wanted = (double)chunk + CREDIT_TAKES * pace->rate;

    if (pace->rate <= 0 || wanted >= (double)(LEAST_CHUNKS * chunk))
        return LEAST_CHUNKS * chunk;
    return wanted > (double)least ? (uint64_t)wanted : least;
}

/* Its window, or its share of the budget, in whole chunks. */
static uint64_t upload_window(const struct hub *hub,
                              const struct member *member, uint64_t least)
{
    uint64_t window = window_of(hub, member, &member->up, least);
    unsigned live = members_live(hub), uploads = hub->flow.uploads;
    unsigned sharers = uploads > live ? uploads : live;
    uint64_t share = hub->config.budget / (sharers ? sharers : 1);

    if (!hub->config.budget || window <= share)
        return window;
    share -= share % chunk_bytes(hub);
    if (share < chunk_bytes(hub))
        share = chunk_bytes(hub);
    return window < share ? window : share;
}

uint32_t flow_chunks_ahead(const struct hub *hub, const struct member *member)
{
    uint64_t chunks =
        upload_window(hub, member, least_ahead(hub, &member->up)) /
        chunk_bytes(hub);

    return chunks < 1                   ? 1
           : chunks < SCHEMA_MAX_CHUNKS ? (uint32_t)chunks
                                        : (uint32_t)SCHEMA_MAX_CHUNKS;
}

/* A slow look means that there was little to send, more often than not. */
static void pace_look(struct pace *pace, uint64_t bytes, double seconds)
{
    double rate = (double)(bytes - pace->counted) / seconds;

    pace->counted = bytes;
    pace->looked += seconds;
    pace->mean += (rate - pace->mean) * expm1(-seconds / SHOWN) /
                  expm1(-pace->looked / SHOWN);
    if (rate > pace->rate)
        pace->rate = rate;
    else if (rate > 0)
        pace->rate += SLOWLY * (rate - pace->rate);
}

void flow_tick(struct hub *hub)
{
    double span = (double)(hub->now - hub->flow.looked) / (double)SECOND;

    if (span <= 0)
        return;
    hub->flow.looked = hub->now;
    EACH_HERE(hub, member) {
        double trip = (double)member->stats.round_trip / (double)SECOND;

        pace_look(&member->up, member->here.up_bytes, span);
        pace_look(&member->down, member->here.down_bytes, span);
        if (trip > 0 && (member->trip <= 0 || trip < member->trip))
            member->trip = trip;
        else if (trip > 0)
            member->trip += SLOWLY * (trip - member->trip);
    }
}

void flow_upload(struct hub *hub, struct update *update, bool begins)
{
    if (update->uploads == begins || (begins && update->credit.all_at_once))
        return;
    update->uploads = begins;
    if (begins)
        hub->flow.uploads++;
    else
        hub->flow.uploads--;
}

/* ---- credit ---- */

/* Most bytes that a chunk can come in: a codec may make short ones longer. */
static int64_t longest_payload(const struct hub *hub)
{
    struct extent extent = centre_extent(hub, 0);
    uint64_t raw = payload_wire_bytes(&extent, CODEC_RAW);
    uint64_t encoded = payload_wire_bytes(&extent, hub->config.codec_up);

    return (int64_t)(encoded > raw ? encoded : raw);
}

/* Under a rate, bytes that a node may have leave for and not have sent: one
 * that is held up must not save up a window and then send it at once. */
static int64_t ahead(const struct hub *hub, const struct member *member)
{
    double trip = member->trip > 0 ? member->trip : UNKNOWN_TRIP;
    double held = SPARE * (double)hub->flow.receiving.rate * trip;

    if (!hub->flow.receiving.rate)
        return INT64_MAX;
    return held > (double)chunk_bytes(hub) ? (int64_t)held
                                           : (int64_t)chunk_bytes(hub);
}

/* Bytes that it may be given now: up to the window, and no more than is still
 * to come, going by the chunks that have come. While chunks are left and all
 * credit is used up it is never 0. */
static uint64_t credit_due(const struct hub *hub, const struct member *member,
                           const struct upload_credit *credit)
{
    uint64_t least = credit->prompt ? LEAST_AHEAD * chunk_bytes(hub)
                                    : least_ahead(hub, &member->up);
    int64_t chunk = credit->came
                        ? (credit->bytes + credit->came - 1) / credit->came
                        : longest_payload(hub);
    int64_t rest = credit->left * chunk, room, most;

    most = ahead(hub, member);
    rest = (rest < most ? rest : most) - (credit->given - credit->bytes);
    room = (int64_t)upload_window(hub, member, least) -
           (credit->given - credit->done);
    if (!credit->left || rest <= 0 || (!credit->all_at_once && room <= 0))
        return 0;
    return (uint64_t)(credit->all_at_once || rest < room ? rest : room);
}

static void give_credit(struct hub *hub, struct upload_credit *credit,
                        uint64_t bytes)
{
    if (credit->given <= credit->bytes)
        credit->since = hub->now;
    credit->given += (int64_t)bytes;
}

static void send_credit(struct hub *hub, struct member *member,
                        uint64_t exchange, uint64_t bytes)
{
    struct msg msg = {.kind = MSG_CREDIT};

    msg.credit.exchange = exchange;
    msg.credit.more = bytes;
    if (bytes)
        member_send(hub, member, &msg);
}

void flow_open(struct hub *hub, struct member *member, uint64_t exchange,
               struct upload_credit *credit)
{
    struct msg msg = {.kind = MSG_GRANT};

    if (hub->flow.receiving.rate)
        flow_stir(hub);
    else
        give_credit(hub, credit, credit_due(hub, member, credit));
    msg.grant.exchange = exchange;
    msg.grant.credit = (uint64_t)credit->given;
    member_send(hub, member, &msg);
}

void flow_return(struct hub *hub, struct member *member, uint64_t exchange,
                 struct upload_credit *credit, uint64_t bytes)
{
    credit->done += (int64_t)bytes;
    if (hub->flow.receiving.rate) {
        flow_stir(hub);
        return;
    }
    bytes = credit_due(hub, member, credit);
    give_credit(hub, credit, bytes);
    send_credit(hub, member, exchange, bytes);
}

void flow_came(const struct hub *hub, struct member *member,
               struct upload_credit *credit, uint64_t bytes)
{
    bool waited = credit->given > credit->bytes;

    credit->bytes += (int64_t)bytes;
    credit->came++;
    credit->left -= credit->left > 0;
    if (waited && credit->given <= credit->bytes)
        traffic_sent(hub, member, credit->since);
}

bool flow_allows(const struct hub *hub, const struct upload_credit *credit)
{
    return credit->bytes < credit->given + longest_payload(hub);
}

nanos flow_still(const struct hub *hub, const struct update *update)
{
    const struct upload_credit *credit = &update->credit;

    if (credit->given <= credit->bytes)
        return 0;
    return hub->now - (credit->since > update->progress ? credit->since
                                                        : update->progress);
}

/* Lends a chunk's worth, if the rate allows it; else says when. */
static bool give_next(struct hub *hub, struct member *member, uint64_t exchange,
                      struct upload_credit *credit)
{
    uint64_t bytes = credit_due(hub, member, credit), chunk = chunk_bytes(hub);
    nanos when;

    bytes = bytes < chunk ? bytes : chunk;
    when = bucket_when(&hub->flow.receiving, bytes, hub->now);
    if (when > hub->now) {
        if (when < hub->flow.wake)
            hub->flow.wake = when;
        return false;
    }
    (void)bucket_spend(&hub->flow.receiving, bytes, hub->now);
    give_credit(hub, credit, bytes);
    send_credit(hub, member, exchange, bytes);
    return true;
}

/* Whose turn it is in a round; NULL: nobody is owed anything. */
static struct update *neediest(struct hub *hub, const struct round *round)
{
    struct update *found = NULL;

    EACH_OFFER(round, one) {
        if (one->granted && one->delivered < hub->centre.count &&
            update_member(hub, one) &&
            credit_due(hub, hub->roll.members[one->member], &one->credit) &&
            (!found || one->credit.given < found->credit.given))
            found = one;
    }
    return found;
}

static void give_all(struct hub *hub)
{
    struct member *source = hub->centre.state_source >= 0
                                ? hub->roll.members[hub->centre.state_source]
                                : NULL;
    struct update *one;

    while (source && credit_due(hub, source, &hub->centre.transfer.credit))
        if (!give_next(hub, source, 0, &hub->centre.transfer.credit))
            return;
    EACH_ROUND(hub, round)
        while ((one = neediest(hub, round)))
            if (!give_next(hub, update_member(hub, one), one->offer.exchange,
                           &one->credit))
                return;
}

void delivery_stir(struct hub *hub, struct member *member)
{
    if (hub->flow.sending.rate)
        flow_stir(hub);
    else
        bitset_set(&hub->flow.stirred, member->place, true);
    hub->dirty |= DIRTY_DELIVERY;
}

void flow_stir(struct hub *hub)
{
    if (hub->flow.sending.rate || hub->flow.receiving.rate)
        hub->flow.wake = hub->now;
    hub->dirty |= DIRTY_DELIVERY;
}

bool flow_advance(struct hub *hub)
{
    if (hub->flow.wake > hub->now)
        return false;
    hub->flow.wake = NEVER;
    if (hub->flow.receiving.rate)
        give_all(hub);
    return true;
}
