#include "net/lane.h"

#include <string.h>
#include <sys/socket.h>

/* From the end of a connection until the machine is told: what it said last,
 * such as BYE on the other socket, is read first. Shorter than any reconnect.
 */
#define LAST_WORDS (20 * MILLISECOND)
#define DROP_GRACE SECOND

enum { FIRST_PEER = 4 }; /* those below are taken: seam/machine.h */

/* So that a peer's lane follows from its number. */
_Static_assert(PEER_CONTROL % 2 == CHANNEL_CONTROL &&
                   PEER_BULK % 2 == CHANNEL_BULK,
               "control is even, bulk is odd");

enum status lane_open(struct lane *lane, void *context,
                      const struct socket_plan *plan, struct pool *pool,
                      struct door *door, struct why *why)
{
    memset(lane, 0, sizeof *lane);
    lane->context = context;
    lane->plan = *plan;
    lane->door = door;
    lane->pool = pool;
    lane->next_peer = FIRST_PEER + (plan->channel == CHANNEL_BULK ? 1 : 0);
    lane->connected_fd = -1;
    lane->change_at = lane->retry_at = lane->replace_at = NEVER;
    lane->held = lane->replace = plan->held;
    peers_init(&lane->peers);
    if (plan->held)
        return STATUS_OK;
    return sockets_open(context, plan, &lane->sockets, why);
}

void lane_close(struct lane *lane)
{
    sockets_close(&lane->sockets);
    peers_free(&lane->peers);
}

static void change_by(struct lane *lane, nanos when)
{
    if (lane->change_at > when)
        lane->change_at = when;
}

static void end(struct lane *lane, struct connection *connection, nanos when)
{
    connection_end(connection, when);
    change_by(lane, when);
}

/* A number that no other socket of this system ever has; 0 if it has none. */
static uint64_t cookie_of(int fd)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;

    (void)getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size);
    return cookie;
}

/* Never close(): libzmq will. Nor somebody else's: libzmq may have closed the
 * descriptor, and the system given it away, without our having heard yet. */
static void shut(struct connection *connection)
{
    connection->shut = true;
    if (connection->fd >= 0 && cookie_of(connection->fd) == connection->cookie)
        (void)shutdown(connection->fd, SHUT_RDWR);
}

void lane_cut(struct lane *lane, nanos now, struct connection *connection)
{
    connection->deaf = true;
    connection->cut_at = NEVER;
    if (!lane->plan.binds) {
        peers_close(&lane->peers, connection);
        lane->replace = true;
    } else {
        shut(connection);
    }
    end(lane, connection, now);
}

void lane_lost(struct lane *lane, nanos now, struct connection *connection)
{
    connection->cut_at = now;
    end(lane, connection, now + LAST_WORDS);
}

void lane_drop(struct lane *lane, nanos now, peer_id peer)
{
    struct connection *connection = peers_by_id(&lane->peers, peer);

    if (!connection)
        return;
    if (!lane->plan.binds) {
        lane_cut(lane, now, connection);
        return;
    }
    connection->deaf = true;
    connection->cut_at = now + DROP_GRACE;
    end(lane, connection, now);
}

bool lane_strike(struct lane *lane, nanos now, peer_id peer)
{
    const struct connection *connection = peers_named(&lane->peers, peer);

    if (!connection || !lane->plan.binds)
        return false;
    door_strike(lane->door, now, connection->key, &connection->origin);
    return true;
}

void lane_sweep(struct lane *lane, nanos now)
{
    for (unsigned i = 0; i < lane->peers.count; i++) {
        struct connection *connection = lane->peers.list[i];

        if (connection->key && !connection->shut &&
            (!door_knows(lane->door, connection->key) ||
             door_bans(lane->door, now, connection->key,
                       &connection->origin)))
            lane_cut(lane, now, connection);
    }
}

/* How many there are of this host that have said nothing. */
static unsigned silent_from(const struct peers *peers,
                            const struct origin *origin)
{
    uint64_t host = origin_host(origin);
    unsigned count = 0;

    for (unsigned i = 0; i < peers->count; i++)
        count += peers->list[i]->stage == STAGE_SILENT &&
                 origin_host(&peers->list[i]->origin) == host;
    return count;
}

static bool admit(struct lane *lane, nanos now, const struct origin *origin)
{
    enum net_refusal refusal = REFUSAL_CROWD;

    if (door_bans(lane->door, now, 0, origin))
        refusal = REFUSAL_BANNED;
    else if (lane->peers.count < lane->door->room &&
             (origin_is_local(origin) ||
              silent_from(&lane->peers, origin) < SILENT_MAX))
        return true;
    door_refuse(lane->door, now, refusal, origin);
    return false;
}

static void came(struct lane *lane, nanos now, int fd)
{
    struct connection *connection = NULL;
    struct origin origin;

    lane->connected_fd = fd;
    if (!lane->plan.binds)
        return;
    origin = origin_of(fd);
    if (admit(lane, now, &origin))
        connection = peers_add(&lane->peers, fd, now);
    if (!connection) {
        (void)shutdown(fd, SHUT_RDWR);
        return;
    }
    connection->cookie = cookie_of(fd);
    connection->origin = origin;
}

static void discard_all(struct lane *lane)
{
    struct arrival arrival;

    while (frames_receive(lane->sockets.socket, false, false, &arrival))
        frames_release(&arrival);
}

/* Our one connection is there. What is still in the socket came on another:
 * on this one nothing comes before we have said something. */
static void ready(struct lane *lane, nanos now)
{
    struct connection *connection;

    if (lane->plan.binds)
        return;
    memset(lane->ends, 0, sizeof lane->ends);
    discard_all(lane);
    for (unsigned i = 0; i < lane->peers.count; i++) {
        peers_close(&lane->peers, lane->peers.list[i]);
        end(lane, lane->peers.list[i], now);
    }
    connection = peers_add(&lane->peers, lane->connected_fd, now);
    if (!connection)
        return;
    connection->origin = origin_of(lane->connected_fd);
    peers_name(&lane->peers, connection,
               lane->plan.channel == CHANNEL_BULK ? PEER_BULK : PEER_CONTROL,
               0);
    connection->stage = STAGE_JOINING;
    change_by(lane, now);
}

bool lane_is_connected(const struct lane *lane)
{
    for (unsigned i = 0; i < lane->peers.count; i++)
        if (lane->peers.list[i]->stage == STAGE_JOINING ||
            lane->peers.list[i]->stage == STAGE_JOINED)
            return true;
    return false;
}

void lane_move(struct lane *lane, nanos now, const struct address *address)
{
    for (unsigned i = 0; i < lane->peers.count; i++)
        lane_cut(lane, now, lane->peers.list[i]);
    lane->plan.address = *address;
    memset(lane->ends, 0, sizeof lane->ends);
    lane->replace = true;
}

/* Where it connects, libzmq tries again by itself only after what is no
 * answer. */
static void failed(struct lane *lane, nanos now, enum sight sight)
{
    lane->ended = sight;
    lane->ends[sight]++;
    if (!lane->plan.binds && sight != SIGHT_BROKEN)
        lane->replace_at = now + SECOND;
}

/* What the ZAP thread has refused, it says itself. */
static void count_end(struct lane *lane, nanos now,
                      const struct connection *connection)
{
    if (connection->stage != STAGE_SILENT)
        return;
    if (lane->ended == SIGHT_MISMATCH)
        door_refuse(lane->door, now, REFUSAL_MECHANISM, &connection->origin);
    if (lane->ended == SIGHT_NONSENSE || lane->ended == SIGHT_BROKEN)
        door_refuse(lane->door, now, REFUSAL_MALFORMED, &connection->origin);
}

static void gone(struct lane *lane, nanos now, int fd)
{
    struct connection *connection = peers_by_fd(&lane->peers, fd);

    if (connection)
        count_end(lane, now, connection);
    lane->ended = SIGHT_NONE;
    if (!connection)
        return;
    peers_close(&lane->peers, connection);
    if (connection->stage == STAGE_SILENT || connection->stage == STAGE_CUT)
        peers_remove(&lane->peers, connection);
    else
        end(lane, connection, now + LAST_WORDS);
}

void lane_notice(struct lane *lane, nanos now)
{
    enum sight sight;
    int fd;

    if (!lane->sockets.monitor)
        return;
    while ((sight = monitor_look(lane->sockets.monitor, &fd)) != SIGHT_NONE) {
        if (sight == SIGHT_CAME)
            came(lane, now, fd);
        else if (sight == SIGHT_READY)
            ready(lane, now);
        else if (sight == SIGHT_GONE)
            gone(lane, now, fd);
        else
            failed(lane, now, sight);
    }
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
    if (joins)
        connection->stage =
            connection->leave_at == NEVER ? STAGE_JOINED : STAGE_ENDING;
    else if (connection->fd >= 0)
        connection->stage = STAGE_CUT;
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
    return lane->change_at < lane->retry_at ? lane->change_at : lane->retry_at;
}
