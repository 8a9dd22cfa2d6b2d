#include "net/peers.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        abort();
    return memory;
}

struct parcel *outbox_add(struct outbox *outbox)
{
    if (outbox->count == OUTBOX_MESSAGES)
        return NULL;
    if (!outbox->parcels)
        outbox->parcels = allocate(OUTBOX_MESSAGES, sizeof(struct parcel));
    return &outbox
                ->parcels[(outbox->first + outbox->count++) % OUTBOX_MESSAGES];
}

struct parcel *outbox_first(struct outbox *outbox)
{
    return outbox->count ? &outbox->parcels[outbox->first] : NULL;
}

void outbox_next(struct outbox *outbox)
{
    blob_unref(&outbox->parcels[outbox->first].payload);
    outbox->first = (outbox->first + 1) % OUTBOX_MESSAGES;
    outbox->count--;
}

static void outbox_free(struct outbox *outbox)
{
    while (outbox->count)
        outbox_next(outbox);
    free(outbox->parcels);
    outbox->parcels = NULL;
}

void peers_init(struct peers *peers)
{
    memset(peers, 0, sizeof *peers);
    peers->list = allocate(PEERS_MAX, sizeof *peers->list);
}

void peers_free(struct peers *peers)
{
    for (unsigned i = 0; i < peers->count; i++)
        outbox_free(&peers->list[i].outbox);
    free(peers->list);
    peers->list = NULL;
    peers->count = 0;
}

struct connection *peers_add(struct peers *peers, int fd, nanos now)
{
    struct connection *connection;

    if (peers->count == PEERS_MAX)
        return NULL;
    connection = &peers->list[peers->count++];
    memset(connection, 0, sizeof *connection);
    connection->stage = STAGE_SILENT;
    connection->fd = fd;
    connection->since = now;
    connection->leave_at = connection->cut_at = NEVER;
    return connection;
}

void peers_remove(struct peers *peers, struct connection *connection)
{
    size_t place = (size_t)(connection - peers->list);

    if (connection->peer != PEER_NONE)
        peers->gone[peers->gone_count++ % PEERS_GONE] = connection->routing;
    outbox_free(&connection->outbox);
    peers->count--;
    memmove(connection, connection + 1,
            (peers->count - place) * sizeof *connection);
}

struct connection *peers_by_fd(struct peers *peers, int fd)
{
    for (unsigned i = 0; i < peers->count; i++)
        if (peers->list[i].fd == fd)
            return &peers->list[i];
    return NULL;
}

struct connection *peers_by_routing(struct peers *peers, routing_id routing)
{
    for (unsigned i = 0; i < peers->count; i++)
        if (peers->list[i].routing == routing &&
            peers->list[i].peer != PEER_NONE)
            return &peers->list[i];
    return NULL;
}

struct connection *peers_by_id(struct peers *peers, peer_id peer)
{
    for (unsigned i = 0; i < peers->count; i++)
        if (peers->list[i].peer == peer && peers->list[i].stage == STAGE_JOINED)
            return &peers->list[i];
    return NULL;
}

bool peers_was_here(const struct peers *peers, routing_id routing)
{
    unsigned kept = peers->gone_count < PEERS_GONE ? peers->gone_count
                                                   : (unsigned)PEERS_GONE;

    for (unsigned i = 0; i < kept; i++)
        if (peers->gone[i] == routing)
            return true;
    return false;
}

void connection_end(struct connection *connection, nanos leave_at)
{
    if (connection->stage == STAGE_SILENT)
        connection->stage = STAGE_CUT;
    if (connection->stage == STAGE_JOINED)
        connection->stage = STAGE_ENDING;
    if (connection->leave_at > leave_at)
        connection->leave_at = leave_at;
}
