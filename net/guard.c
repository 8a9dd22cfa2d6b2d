/* Looks after the connections of a lane; see net/lane.h. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "net/lane.h"

#define SILENCE_LIMIT (30 * SECOND)
/* What the kernel may hold for a connection that nobody reads from. */
#define UNREAD_SPARE_BYTES ((int64_t)64 << 20)

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

/* libzmq bounds neither the frames of an unfinished message nor their bytes,
 * so we compare what came in with what came out. */
static bool floods(const struct lane *lane, const struct connection *connection)
{
    int64_t frame = (int64_t)lane->plan.payload_bytes + FRAME_SPARE_BYTES;
    int64_t limit = UNREAD_SPARE_BYTES + 2 * frame * lane->plan.receive_limit;

    return bytes_received(connection->fd) - connection->delivered > limit;
}

static void guard(struct lane *lane, nanos now, struct connection *connection)
{
    if (connection->fd < 0 || connection->shut)
        return;
    if (connection->cut_at <= now ||
        (connection->stage == STAGE_SILENT &&
         now - connection->since > SILENCE_LIMIT)) {
        lane_cut(lane, now, connection);
    } else if (floods(lane, connection)) {
        complain(lane->complaints, now, connection->fd,
                 "was cut: it sends a message without end");
        lane_cut(lane, now, connection);
    }
}

void lane_guard(struct lane *lane, nanos now)
{
    if (lane->replace) {
        sockets_close(&lane->sockets);
        lane->replace = sockets_open(lane->context, &lane->plan, &lane->sockets,
                                     NULL) != STATUS_OK;
    }
    lane_notice(lane, now);
    if (!lane->plan.binds)
        return;
    for (unsigned i = 0; i < lane->peers.count; i++)
        guard(lane, now, lane->peers.list[i]);
}
