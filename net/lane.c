#include "net/lane.h"

#include <string.h>

#include "net/trouble.h"

/* From the end of a connection until the machine is told: what it said last,
 * such as BYE on the other channel, is read first. Shorter than any reconnect.
 */
#define LAST_WORDS (20 * MILLISECOND)

/* So that a peer's lane follows from its number. */
_Static_assert(PEER_CONTROL % 2 == CHANNEL_CONTROL &&
                   PEER_BULK % 2 == CHANNEL_BULK,
               "control is even, bulk is odd");

enum status lane_open(struct lane *lane, const struct channel_plan *plan,
                      struct pool *pool, struct door *door,
                      const struct bell *bell, struct why *why)
{
    memset(lane, 0, sizeof *lane);
    lane->plan = *plan;
    lane->door = door;
    lane->change_at = NEVER;
    return station_open(plan, pool, plan->binds ? door : NULL, bell,
                        &lane->station, why);
}

void lane_stop(struct lane *lane)
{
    station_stop(lane->station);
}

void lane_close(struct lane *lane)
{
    station_close(&lane->station);
    peers_free(&lane->peers);
}

static void end(struct lane *lane, struct connection *connection, nanos when)
{
    connection_end(connection, when);
    if (lane->change_at > when)
        lane->change_at = when;
}

static void cut(struct lane *lane, nanos now, struct connection *connection,
                bool gently)
{
    connection->deaf = true;
    station_cut(lane->station, connection->number, gently);
    end(lane, connection, now);
}

void lane_drop(struct lane *lane, nanos now, peer_id peer)
{
    struct connection *connection = peers_by_id(&lane->peers, peer);

    if (connection)
        cut(lane, now, connection, lane->plan.binds);
}

bool lane_strike(struct lane *lane, nanos now, peer_id peer)
{
    const struct connection *connection = peers_named(&lane->peers, peer);

    if (!connection || !lane->plan.binds)
        return false;
    door_strike(lane->door, now, connection->key, &connection->origin);
    return true;
}

/* May it be here: its key may have been revoked since it came. */
static bool is_welcome(struct lane *lane, nanos now, uint64_t key,
                       const struct origin *origin)
{
    return !lane->plan.binds || (door_knows(lane->door, key) &&
                                 !door_bans(lane->door, now, key, origin));
}

void lane_sweep(struct lane *lane, nanos now)
{
    for (unsigned i = 0; i < lane->peers.count; i++) {
        struct connection *connection = lane->peers.list[i];

        if (is_welcome(lane, now, connection->key, &connection->origin))
            continue;
        connection->deaf = true;
        end(lane, connection, now);
    }
    station_sweep(lane->station);
}

void lane_limit(struct lane *lane, size_t payload_bytes)
{
    if (lane->plan.payload_bytes == payload_bytes)
        return;
    lane->plan.payload_bytes = payload_bytes;
    station_limit(lane->station, payload_bytes);
}

bool lane_is_connected(const struct lane *lane)
{
    for (unsigned i = 0; i < lane->peers.count; i++)
        if (lane->peers.list[i]->stage != STAGE_ENDING)
            return true;
    return false;
}

bool lane_is_served(const struct lane *lane)
{
    return lane->served && lane_is_connected(lane);
}

static void forget_trouble(struct lane *lane)
{
    memset(lane->hindered, 0, sizeof lane->hindered);
    memset(&lane->trouble, 0, sizeof lane->trouble);
}

void lane_move(struct lane *lane, nanos now, const struct address *address)
{
    for (unsigned i = 0; i < lane->peers.count; i++) {
        lane->peers.list[i]->deaf = true;
        end(lane, lane->peers.list[i], now);
    }
    lane->plan.address = *address;
    forget_trouble(lane);
    station_connect(lane->station, address);
}

/* Our one connection is there. */
static void ready(struct lane *lane, nanos now, const struct notice *notice)
{
    struct connection *connection;

    forget_trouble(lane);
    lane->met = true;
    lane->served = false;
    for (unsigned i = 0; i < lane->peers.count; i++)
        end(lane, lane->peers.list[i], now);
    connection =
        peers_add(&lane->peers,
                  lane->plan.channel == CHANNEL_BULK ? PEER_BULK : PEER_CONTROL,
                  notice->number);
    connection->origin = notice->origin;
    lane->change_at = now;
}

static void gone(struct lane *lane, nanos now, const struct notice *notice)
{
    struct connection *connection =
        peers_by_number(&lane->peers, notice->number);

    if (notice->words)
        complain(&lane->door->complaints, now, &notice->origin, notice->words);
    if (notice->strikes && lane->plan.binds)
        door_strike(lane->door, now, notice->key, &notice->origin);
    if (!connection)
        return;
    if (notice->strikes)
        connection->deaf = true;
    end(lane, connection, now + LAST_WORDS);
}

static void failed(struct lane *lane, const struct notice *notice)
{
    lane->hindered[notice->hindrance]++;
    trouble_add(&lane->trouble, notice, &lane->plan.address);
}

/* Whom a message comes from; NULL: from one that is not heard. */
static struct connection *sender(struct lane *lane, nanos now,
                                 const struct notice *notice)
{
    struct connection *connection =
        peers_by_number(&lane->peers, notice->number);

    if (connection)
        return connection->deaf ? NULL : connection;
    if (!notice->first || !lane->plan.binds)
        return NULL;
    if (!is_welcome(lane, now, notice->key, &notice->origin)) {
        station_cut(lane->station, notice->number, false);
        return NULL;
    }
    connection = peers_add(&lane->peers, notice->number, notice->number);
    connection->origin = notice->origin;
    connection->key = notice->key;
    return connection;
}

static enum hearing message(struct lane *lane, nanos now, struct notice *notice,
                            struct heard *out)
{
    struct connection *connection = sender(lane, now, notice);

    if (!connection)
        return HEARD_NOISE;
    out->peer = connection->peer;
    out->origin = connection->origin;
    out->joins = connection->stage == STAGE_JOINING;
    if (out->joins)
        connection->stage = STAGE_JOINED;
    out->key = door_event_key(lane->door, connection->key);
    lane->served |= notice->msg.kind != MSG_BYE;
    out->msg = notice->msg;
    out->payload = notice->payload;
    notice->payload = NULL;
    return HEARD_MESSAGE;
}

enum hearing lane_receive(struct lane *lane, nanos now, struct heard *out)
{
    struct notice *notice = station_take(lane->station);
    enum hearing hearing = HEARD_NOISE;

    if (!notice)
        return HEARD_NOTHING;
    switch (notice->kind) {
    case NOTICE_READY:
        ready(lane, now, notice);
        break;
    case NOTICE_MESSAGE:
        hearing = message(lane, now, notice, out);
        break;
    case NOTICE_NONSENSE:
        complain(&lane->door->complaints, now, &notice->origin, notice->words);
        break;
    case NOTICE_GONE:
        gone(lane, now, notice);
        break;
    case NOTICE_FAILED:
        failed(lane, notice);
        break;
    }
    notice_destroy(&notice);
    return hearing;
}

bool lane_hears(struct lane *lane, peer_id peer)
{
    const struct connection *connection = peers_named(&lane->peers, peer);

    return connection && !connection->deaf;
}

void lane_send(struct lane *lane, peer_id peer, const struct msg *msg,
               struct blob *payload)
{
    const struct connection *connection = peers_by_id(&lane->peers, peer);
    unsigned char header[MSG_MAX_BYTES];

    if (connection)
        station_send(lane->station, connection->number, header,
                     msg_encode(msg, header), payload);
}

/* Fills in the event that this connection is due, if any. */
static bool due(struct lane *lane, nanos now, struct connection *connection,
                struct event *out)
{
    bool joins = connection->stage == STAGE_JOINING;

    if (!joins &&
        (connection->stage != STAGE_ENDING || connection->leave_at > now))
        return false;
    memset(out, 0, sizeof *out);
    out->kind = joins ? EVENT_JOIN : EVENT_LEAVE;
    out->peer = connection->peer;
    out->channel = lane->plan.channel;
    lane->changed = connection->origin;
    if (joins)
        connection->stage =
            connection->leave_at == NEVER ? STAGE_JOINED : STAGE_ENDING;
    else
        peers_remove(&lane->peers, connection);
    return true;
}

bool lane_change(struct lane *lane, nanos now, struct event *out)
{
    nanos next = NEVER;

    if (lane->change_at > now)
        return false;
    for (unsigned i = 0; i < lane->peers.count; i++) {
        struct connection *connection = lane->peers.list[i];

        if (due(lane, now, connection, out))
            return true;
        if (connection->stage == STAGE_ENDING && connection->leave_at < next)
            next = connection->leave_at;
    }
    lane->change_at = next;
    return false;
}

nanos lane_deadline(const struct lane *lane)
{
    return lane->change_at;
}
