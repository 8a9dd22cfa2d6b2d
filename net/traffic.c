/* What a lane receives and sends; see net/lane.h. */
#include "net/lane.h"

#define RETRY_INTERVAL (10 * MILLISECOND)

/* Reads the header and says what is wrong with the message, or NULL. */
static const char *judge(const struct lane *lane, struct arrival *arrival,
                         struct msg *msg)
{
    const struct msg_info *info;
    size_t size = zmq_msg_size(&arrival->payload);

    if (!arrival->unnamed)
        return "has given itself a routing id";
    if (arrival->frames < 1 || arrival->frames > 2)
        return "sent a message of a wrong number of frames";
    if (msg_decode(zmq_msg_data(&arrival->header),
                   zmq_msg_size(&arrival->header), msg) != STATUS_OK)
        return "sent bytes that are no message";
    info = msg_info(msg->kind);
    if (info->channel != lane->plan.channel)
        return "sent a message on the wrong channel";
    if ((info->payload != PAYLOAD_NONE) != (arrival->frames == 2))
        return "sent a message without its payload, or with one too many";
    if (size > lane->plan.payload_bytes)
        return "sent a payload that is too large";
    return NULL;
}

/* Two routing ids for one descriptor. The system used it again after a
 * connection that was gone before we had read its first message, and that
 * message has been taken for the new one's. libzmq counts its ids up, so the
 * higher one is who is there now. */
static struct connection *tell_apart(struct lane *lane, nanos now,
                                     struct connection *old, routing_id routing)
{
    struct connection *connection;
    int fd = old->fd;

    if (old->shut || (int32_t)(routing - old->routing) < 0)
        return NULL;
    connection = peers_add(&lane->peers, fd, now);
    if (!connection)
        return NULL;
    connection->cookie = old->cookie;
    connection->origin = old->origin;
    peers_close(&lane->peers, old);
    lane_cut(lane, now, old);
    return connection;
}

/* Whom a message comes from; NULL: from a connection that is gone. */
static struct connection *sender(struct lane *lane, nanos now,
                                 const struct arrival *arrival)
{
    struct connection *connection;

    if (!lane->plan.binds)
        return lane->peers.count ? lane->peers.list[lane->peers.count - 1]
                                 : NULL;
    connection = peers_by_routing(&lane->peers, arrival->routing);
    if (connection && arrival->unnamed)
        return connection;
    /* An unknown one: has its descriptor been closed, and used again? */
    lane_notice(lane, now);
    if (arrival->unnamed && peers_was_here(&lane->peers, arrival->routing))
        return NULL;
    connection = peers_by_fd(&lane->peers, arrival->fd);
    if (connection && arrival->unnamed && connection->peer != PEER_NONE)
        return tell_apart(lane, now, connection, arrival->routing);
    return connection;
}

static enum hearing offend(struct lane *lane, nanos now,
                           struct connection *connection, const char *words)
{
    complain(&lane->door->complaints, now, &connection->origin, words);
    if (lane->plan.binds) {
        door_strike(lane->door, now, connection->key, &connection->origin);
        lane_cut(lane, now, connection);
    }
    return HEARD_NOISE;
}

/* Whose connection it is, says libzmq with each frame behind the routing id.
 * Since the handshake its key may have been revoked. */
static bool identify(struct lane *lane, nanos now, struct arrival *arrival,
                     struct connection *connection)
{
    struct door *door = lane->door;
    const char *user;

    if (!door->zap || connection->key)
        return true;
    user = zmq_msg_gets(&arrival->header, "User-Id");
    connection->key = user ? zap_user(user) : 0;
    if (connection->key && door_knows(door, connection->key) &&
        !door_bans(door, now, connection->key, &connection->origin))
        return true;
    door_refuse(door, now, REFUSAL_KEY, &connection->origin);
    lane_cut(lane, now, connection);
    return false;
}

static void join(struct lane *lane, const struct arrival *arrival,
                 struct connection *connection, struct heard *out)
{
    out->joins = connection->stage == STAGE_SILENT;
    if (out->joins) {
        connection->stage = STAGE_JOINED;
        peers_name(&lane->peers, connection, lane->next_peer,
                   arrival->routing);
        lane->next_peer += 2;
    }
    out->peer = connection->peer;
    out->key = door_event_key(lane->door, connection->key);
}

static bool hears(const struct connection *connection)
{
    return !connection->deaf && (connection->stage == STAGE_SILENT ||
                                 connection->stage == STAGE_JOINED ||
                                 connection->stage == STAGE_ENDING);
}

static enum hearing take_in(struct lane *lane, nanos now,
                            struct arrival *arrival, struct heard *out)
{
    struct connection *connection = sender(lane, now, arrival);
    const char *offence;

    if (!connection)
        return HEARD_NOISE;
    connection->delivered += (int64_t)arrival->bytes;
    if (!hears(connection) || !identify(lane, now, arrival, connection))
        return HEARD_NOISE;
    offence = judge(lane, arrival, &out->msg);
    if (offence)
        return offend(lane, now, connection, offence);
    out->payload = NULL;
    if (arrival->frames == 2) {
        out->payload = frames_payload(arrival, lane->pool);
        if (!out->payload) {
            complain(&lane->door->complaints, now, &connection->origin,
                     "was cut: there is no memory for what it sent");
            lane_cut(lane, now, connection);
            return HEARD_NOISE;
        }
    }
    join(lane, arrival, connection, out);
    return HEARD_MESSAGE;
}

enum hearing lane_receive(struct lane *lane, nanos now, struct heard *out)
{
    struct arrival arrival;
    enum hearing hearing;

    if (!lane->sockets.socket ||
        !frames_receive(lane->sockets.socket, lane->plan.binds,
                        lane->plan.keys != NULL, &arrival))
        return HEARD_NOTHING;
    hearing = take_in(lane, now, &arrival, out);
    frames_release(&arrival);
    return hearing;
}

bool lane_hears(struct lane *lane, peer_id peer)
{
    const struct connection *connection = peers_named(&lane->peers, peer);

    return connection && hears(connection);
}

/* AGAIN when there is no room; a peer that is gone is ended, and OK. */
static enum status put(struct lane *lane, nanos now,
                       struct connection *connection,
                       const struct parcel *parcel)
{
    enum status status = frames_send(
        lane->sockets.socket, lane->plan.binds ? &connection->routing : NULL,
        parcel->header, parcel->size, parcel->payload);

    if (status != STATUS_UNAVAILABLE)
        return status;
    lane_lost(lane, now, connection);
    return STATUS_OK;
}

void lane_send(struct lane *lane, nanos now, peer_id peer,
               const struct msg *msg, struct blob *payload)
{
    struct connection *connection = peers_by_id(&lane->peers, peer);
    struct parcel parcel, *kept;

    if (!connection)
        return;
    parcel.size = msg_encode(msg, parcel.header);
    parcel.payload = payload;
    if (!outbox_first(&connection->outbox) &&
        put(lane, now, connection, &parcel) == STATUS_OK)
        return;
    kept = outbox_add(&connection->outbox);
    if (!kept) {
        complain(&lane->door->complaints, now, &connection->origin,
                 "was cut: it does not take what it is sent");
        lane_cut(lane, now, connection);
        return;
    }
    *kept = parcel;
    (void)blob_ref(payload);
    if (lane->retry_at == NEVER)
        lane->retry_at = now + RETRY_INTERVAL;
}

static void retry(struct lane *lane, nanos now, struct connection *connection)
{
    struct parcel *parcel = outbox_first(&connection->outbox);

    while (parcel && connection->stage == STAGE_JOINED &&
           put(lane, now, connection, parcel) == STATUS_OK) {
        outbox_next(&connection->outbox);
        parcel = outbox_first(&connection->outbox);
    }
    if (parcel && connection->stage == STAGE_JOINED)
        lane->retry_at = now + RETRY_INTERVAL;
}

void lane_retry(struct lane *lane, nanos now)
{
    if (lane->retry_at == NEVER || !lane->sockets.socket)
        return;
    lane->retry_at = NEVER;
    for (unsigned i = 0; i < lane->peers.count; i++)
        retry(lane, now, lane->peers.list[i]);
}
