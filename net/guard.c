/* Looks after the connections of a lane; see net/lane.h. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "net/lane.h"

#define SILENCE_LIMIT (30 * SECOND)

enum { FRAMES_UNREAD = 16 /* of the largest size, that may wait */ };

/* What may have come on a connection and not been taken: libzmq holds it. */
#define UNREAD_SPARE_BYTES ((int64_t)64 << 20)
/* The same of all together: of those that have said nothing yet, and of the
 * others, which have a frame each besides. */
#define SILENT_BYTES ((int64_t)32 << 20)
#define KNOWN_BYTES ((int64_t)256 << 20)

struct share {
    unsigned count;
    int64_t unread, limit; /* of all, of each */
};

/* Bytes that the kernel has received on a connection; 0 if it cannot say. */
static int64_t bytes_received(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) +
                   sizeof info.tcpi_bytes_received)
        return 0;
    return (int64_t)info.tcpi_bytes_received;
}

static int64_t frame_bytes(const struct lane *lane)
{
    return (int64_t)lane->plan.payload_bytes + FRAME_SPARE_BYTES;
}

/* libzmq bounds neither the frames of an unfinished message nor their bytes,
 * so we compare what came in with what came out. */
static void measure(const struct lane *lane, struct share *silent,
                    struct share *known)
{
    for (unsigned i = 0; i < lane->peers.count; i++) {
        struct connection *connection = lane->peers.list[i];
        struct share *share =
            connection->stage == STAGE_SILENT ? silent : known;

        connection->unread = 0;
        if (connection->fd >= 0 && !connection->shut)
            connection->unread =
                bytes_received(connection->fd) - connection->delivered;
        share->count++;
        share->unread += connection->unread;
    }
}

/* While all together are within `all`, each may have `one`; then its share. */
static void set_limit(struct share *share, int64_t all, int64_t one)
{
    share->limit = one;
    if (share->unread > all && all / share->count < one)
        share->limit = all / share->count;
}

static void set_limits(const struct lane *lane, struct share *silent,
                       struct share *known)
{
    int64_t frame = frame_bytes(lane);

    set_limit(silent, SILENT_BYTES, SILENT_BYTES);
    set_limit(known, KNOWN_BYTES + 2 * frame * known->count,
              UNREAD_SPARE_BYTES + FRAMES_UNREAD * frame);
}

static void guard(struct lane *lane, nanos now, struct connection *connection,
                  const struct share *share)
{
    if (connection->fd < 0 || connection->shut)
        return;
    if (connection->cut_at <= now ||
        (connection->stage == STAGE_SILENT &&
         now - connection->since > SILENCE_LIMIT)) {
        lane_cut(lane, now, connection);
    } else if (connection->unread > share->limit) {
        complain(&lane->door->complaints, now, &connection->origin,
                 "was cut: it sends a message without end");
        if (lane->plan.binds)
            door_strike(lane->door, now, connection->key, &connection->origin);
        lane_cut(lane, now, connection);
    }
}

static void replace(struct lane *lane, nanos now)
{
    if (lane->replace_at <= now) {
        lane->replace_at = NEVER;
        lane->replace = !lane_is_connected(lane);
    }
    if (!lane->replace || lane->held)
        return;
    sockets_close(&lane->sockets);
    lane->replace = sockets_open(lane->context, &lane->plan, &lane->sockets,
                                 NULL) != STATUS_OK;
}

void lane_guard(struct lane *lane, nanos now)
{
    struct share silent = {0}, known = {0};

    replace(lane, now);
    lane_notice(lane, now);
    measure(lane, &silent, &known);
    set_limits(lane, &silent, &known);
    for (unsigned i = 0; i < lane->peers.count; i++) {
        struct connection *connection = lane->peers.list[i];

        guard(lane, now, connection,
              connection->stage == STAGE_SILENT ? &silent : &known);
    }
}
