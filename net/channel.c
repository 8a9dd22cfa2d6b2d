#include "net/channel.h"

#include <string.h>

#include "net/trouble.h"

/* From the end of a connection until the machine is told: what it said last,
 * such as BYE on the other channel, is read first. Shorter than any reconnect.
 */
#define LAST_WORDS (20 * MILLISECOND)

/* So that a peer's channel follows from its number. */
_Static_assert(PEER_CONTROL % 2 == CHANNEL_CONTROL &&
                   PEER_BULK % 2 == CHANNEL_BULK,
               "control is even, bulk is odd");

enum status net_channel_open(struct net_channel *channel,
                             const struct channel_plan *plan, struct pool *pool,
                             struct admission *admission,
                             const struct bell *bell, struct why *why)
{
    memset(channel, 0, sizeof *channel);
    channel->plan = *plan;
    channel->admission = admission;
    channel->change_at = NEVER;
    return station_open(plan, pool, plan->binds ? admission : NULL, bell,
                        &channel->station, why);
}

void net_channel_stop(struct net_channel *channel)
{
    station_stop(channel->station);
}

void net_channel_close(struct net_channel *channel)
{
    station_close(&channel->station);
    peers_free(&channel->peers);
}

static void end(struct net_channel *channel, struct connection *connection,
                nanos when)
{
    connection_end(connection, when);
    if (channel->change_at > when)
        channel->change_at = when;
}

static void cut(struct net_channel *channel, nanos now,
                struct connection *connection, bool gently)
{
    connection->deaf = true;
    station_cut(channel->station, connection->number, gently);
    end(channel, connection, now);
}

void net_channel_drop(struct net_channel *channel, nanos now, peer_id peer)
{
    struct connection *connection = peers_by_id(&channel->peers, peer);

    if (connection)
        cut(channel, now, connection, channel->plan.binds);
}

bool net_channel_add_score(struct net_channel *channel, nanos now, peer_id peer)
{
    const struct connection *connection = peers_named(&channel->peers, peer);

    if (!connection || !channel->plan.binds)
        return false;
    admission_add_score(channel->admission, now, connection->key,
                        &connection->origin);
    return true;
}

/* May it be here: its key may have been revoked since it came. */
static bool is_welcome(struct net_channel *channel, nanos now, uint64_t key,
                       const struct origin *origin)
{
    return !channel->plan.binds ||
           (admission_knows(channel->admission, key) &&
            !admission_bans(channel->admission, now, key, origin));
}

void net_channel_sweep(struct net_channel *channel, nanos now)
{
    for (unsigned i = 0; i < channel->peers.count; i++) {
        struct connection *connection = channel->peers.list[i];

        if (is_welcome(channel, now, connection->key, &connection->origin))
            continue;
        connection->deaf = true;
        end(channel, connection, now);
    }
    station_sweep(channel->station);
}

void net_channel_limit(struct net_channel *channel, size_t payload_bytes)
{
    if (channel->plan.payload_bytes == payload_bytes)
        return;
    channel->plan.payload_bytes = payload_bytes;
    station_limit(channel->station, payload_bytes);
}

bool net_channel_is_connected(const struct net_channel *channel)
{
    for (unsigned i = 0; i < channel->peers.count; i++)
        if (channel->peers.list[i]->stage != STAGE_ENDING)
            return true;
    return false;
}

bool net_channel_is_served(const struct net_channel *channel)
{
    return channel->served && net_channel_is_connected(channel);
}

static void forget_trouble(struct net_channel *channel)
{
    memset(channel->hindered, 0, sizeof channel->hindered);
    memset(&channel->trouble, 0, sizeof channel->trouble);
}

void net_channel_move(struct net_channel *channel, nanos now,
                      const struct address *address)
{
    for (unsigned i = 0; i < channel->peers.count; i++) {
        channel->peers.list[i]->deaf = true;
        end(channel, channel->peers.list[i], now);
    }
    channel->plan.address = *address;
    forget_trouble(channel);
    station_connect(channel->station, address);
}

/* Our one connection is there. */
static void ready(struct net_channel *channel, nanos now,
                  const struct notice *notice)
{
    struct connection *connection;

    forget_trouble(channel);
    channel->met = true;
    channel->served = false;
    for (unsigned i = 0; i < channel->peers.count; i++)
        end(channel, channel->peers.list[i], now);
    connection = peers_add(&channel->peers,
                           channel->plan.channel == CHANNEL_BULK ? PEER_BULK
                                                                 : PEER_CONTROL,
                           notice->number);
    connection->origin = notice->origin;
    channel->change_at = now;
}

static void gone(struct net_channel *channel, nanos now,
                 const struct notice *notice)
{
    struct connection *connection =
        peers_by_number(&channel->peers, notice->number);

    if (notice->words)
        complain(&channel->admission->complaints, now, &notice->origin,
                 notice->words);
    if (notice->scores && channel->plan.binds)
        admission_add_score(channel->admission, now, notice->key,
                            &notice->origin);
    if (!connection)
        return;
    if (notice->scores)
        connection->deaf = true;
    end(channel, connection, now + LAST_WORDS);
}

static void failed(struct net_channel *channel, const struct notice *notice)
{
    channel->hindered[notice->hindrance]++;
    trouble_add(&channel->trouble, notice, &channel->plan.address);
}

/* Whom a message comes from; NULL: from one that is not heard. */
static struct connection *sender(struct net_channel *channel, nanos now,
                                 const struct notice *notice)
{
    struct connection *connection =
        peers_by_number(&channel->peers, notice->number);

    if (connection)
        return connection->deaf ? NULL : connection;
    if (!notice->first || !channel->plan.binds)
        return NULL;
    if (!is_welcome(channel, now, notice->key, &notice->origin)) {
        station_cut(channel->station, notice->number, false);
        return NULL;
    }
    connection = peers_add(&channel->peers, notice->number, notice->number);
    connection->origin = notice->origin;
    connection->key = notice->key;
    return connection;
}

static enum hearing message(struct net_channel *channel, nanos now,
                            struct notice *notice, struct heard *out)
{
    struct connection *connection = sender(channel, now, notice);

    if (!connection)
        return HEARD_NOISE;
    out->peer = connection->peer;
    out->origin = connection->origin;
    out->joins = connection->stage == STAGE_JOINING;
    if (out->joins)
        connection->stage = STAGE_JOINED;
    out->key = admission_event_key(channel->admission, connection->key);
    channel->served |= notice->msg.kind != MSG_BYE;
    out->msg = notice->msg;
    out->payload = notice->payload;
    notice->payload = NULL;
    return HEARD_MESSAGE;
}

enum hearing net_channel_receive(struct net_channel *channel, nanos now,
                                 struct heard *out)
{
    struct notice *notice = station_pop(channel->station);
    enum hearing hearing = HEARD_NOISE;

    if (!notice)
        return HEARD_NOTHING;
    switch (notice->kind) {
    case NOTICE_READY:
        ready(channel, now, notice);
        break;
    case NOTICE_MESSAGE:
        hearing = message(channel, now, notice, out);
        break;
    case NOTICE_NONSENSE:
        complain(&channel->admission->complaints, now, &notice->origin,
                 notice->words);
        break;
    case NOTICE_GONE:
        gone(channel, now, notice);
        break;
    case NOTICE_MEASURED: /* nobody here has asked */
        break;
    case NOTICE_FAILED:
        failed(channel, notice);
        break;
    }
    notice_destroy(&notice);
    return hearing;
}

bool net_channel_hears(struct net_channel *channel, peer_id peer)
{
    const struct connection *connection = peers_named(&channel->peers, peer);

    return connection && !connection->deaf;
}

void net_channel_send(struct net_channel *channel, peer_id peer,
                      const struct msg *msg, struct blob *payload)
{
    const struct connection *connection = peers_by_id(&channel->peers, peer);
    unsigned char header[MSG_MAX_BYTES];

    if (connection)
        station_send(channel->station, connection->number, header,
                     msg_encode(msg, header), payload);
}

/* Fills in the event that this connection is due, if any. */
static bool due(struct net_channel *channel, nanos now,
                struct connection *connection, struct event *out)
{
    bool joins = connection->stage == STAGE_JOINING;

    if (!joins &&
        (connection->stage != STAGE_ENDING || connection->leave_at > now))
        return false;
    memset(out, 0, sizeof *out);
    out->kind = joins ? EVENT_JOIN : EVENT_LEAVE;
    out->peer = connection->peer;
    out->channel = channel->plan.channel;
    channel->changed = connection->origin;
    if (joins)
        connection->stage =
            connection->leave_at == NEVER ? STAGE_JOINED : STAGE_ENDING;
    else
        peers_remove(&channel->peers, connection);
    return true;
}

bool net_channel_change(struct net_channel *channel, nanos now,
                        struct event *out)
{
    nanos next = NEVER;

    if (channel->change_at > now)
        return false;
    for (unsigned i = 0; i < channel->peers.count; i++) {
        struct connection *connection = channel->peers.list[i];

        if (due(channel, now, connection, out))
            return true;
        if (connection->stage == STAGE_ENDING && connection->leave_at < next)
            next = connection->leave_at;
    }
    channel->change_at = next;
    return false;
}

nanos net_channel_deadline(const struct net_channel *channel)
{
    return channel->change_at;
}
