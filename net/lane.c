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
                      struct complaints *complaints, struct why *why)
{
    memset(lane, 0, sizeof *lane);
    lane->context = context;
    lane->plan = *plan;
    lane->complaints = complaints;
    lane->pool = pool;
    lane->next_peer = FIRST_PEER + (plan->channel == CHANNEL_BULK ? 1 : 0);
    lane->connected_fd = -1;
    lane->change_at = lane->retry_at = NEVER;
    peers_init(&lane->peers);
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

static void came(struct lane *lane, nanos now, int fd)
{
    struct connection *connection;

    lane->connected_fd = fd;
    if (!lane->plan.binds)
        return;
    connection = peers_add(&lane->peers, fd, now);
    if (connection)
        connection->cookie = cookie_of(fd);
    else
        (void)shutdown(fd, SHUT_RDWR);
}

static void discard_all(struct lane *lane)
{
    struct arrival arrival;

    while (frames_receive(lane->sockets.socket, false, &arrival))
        frames_release(&arrival);
}

/* Our one connection is there. What is still in the socket came on another:
 * on this one nothing comes before we have said something. */
static void ready(struct lane *lane, nanos now)
{
    struct connection *connection;

    if (lane->plan.binds)
        return;
    discard_all(lane);
    for (unsigned i = 0; i < lane->peers.count; i++) {
        peers_close(&lane->peers, lane->peers.list[i]);
        end(lane, lane->peers.list[i], now);
    }
    connection = peers_add(&lane->peers, lane->connected_fd, now);
    if (!connection)
        return;
    peers_name(&lane->peers, connection,
               lane->plan.channel == CHANNEL_BULK ? PEER_BULK : PEER_CONTROL,
               0);
    connection->stage = STAGE_JOINING;
    change_by(lane, now);
}

static void gone(struct lane *lane, nanos now, int fd)
{
    struct connection *connection = peers_by_fd(&lane->peers, fd);

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
        else
            gone(lane, now, fd);
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
