#include "net/peers.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

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
}

static void connection_destroy(struct connection *connection)
{
    outbox_free(&connection->outbox);
    free(connection);
}

void peers_free(struct peers *peers)
{
    for (unsigned i = 0; i < peers->count; i++)
        connection_destroy(peers->list[i]);
    free((void *)peers->list);
    index_free(&peers->fds);
    index_free(&peers->routings);
    index_free(&peers->ids);
    peers->list = NULL;
    peers->count = peers->room = 0;
}

static void grow(struct peers *peers)
{
    peers->room = peers->room ? 2 * peers->room : FIRST_ROOM;
    peers->list = realloc((void *)peers->list,
                          peers->room * sizeof(struct connection *));
    if (!peers->list)
        abort();
}

struct connection *peers_add(struct peers *peers, int fd, nanos now)
{
    struct connection *connection;

    if (peers->count == PEERS_MAX)
        return NULL;
    if (peers->count == peers->room)
        grow(peers);
    connection = allocate(1, sizeof *connection);
    connection->ordinal = peers->came++;
    connection->stage = STAGE_SILENT;
    connection->fd = fd;
    connection->since = now;
    connection->leave_at = connection->cut_at = NEVER;
    peers->list[peers->count++] = connection;
    if (fd >= 0)
        index_put(&peers->fds, (uint64_t)fd, 0, connection);
    return connection;
}

void peers_name(struct peers *peers, struct connection *connection,
                peer_id peer, routing_id routing)
{
    connection->peer = peer;
    connection->routing = routing;
    index_put(&peers->ids, peer, 0, connection);
    index_put(&peers->routings, routing, 0, connection);
}

void peers_close(struct peers *peers, struct connection *connection)
{
    if (peers_by_fd(peers, connection->fd) == connection)
        index_remove(&peers->fds, (uint64_t)connection->fd, 0);
    connection->fd = -1;
}

/* The list is in the order of their numbers. */
static unsigned place_of(const struct peers *peers,
                         const struct connection *connection)
{
    unsigned first = 0, last = peers->count;

    while (last - first > 1) {
        unsigned middle = first + (last - first) / 2;

        if (peers->list[middle]->ordinal <= connection->ordinal)
            first = middle;
        else
            last = middle;
    }
    return first;
}

static void forget_names(struct peers *peers,
                         const struct connection *connection)
{
    if (connection->peer == PEER_NONE)
        return;
    peers->gone[peers->gone_count++ % PEERS_GONE] = connection->routing;
    if (index_find(&peers->ids, connection->peer, 0) == connection)
        index_remove(&peers->ids, connection->peer, 0);
    if (index_find(&peers->routings, connection->routing, 0) == connection)
        index_remove(&peers->routings, connection->routing, 0);
}

void peers_remove(struct peers *peers, struct connection *connection)
{
    unsigned place = place_of(peers, connection);

    forget_names(peers, connection);
    peers_close(peers, connection);
    peers->count--;
    memmove((void *)(peers->list + place), (void *)(peers->list + place + 1),
            (peers->count - place) * sizeof(struct connection *));
    connection_destroy(connection);
}

struct connection *peers_by_fd(const struct peers *peers, int fd)
{
    return fd < 0 ? NULL : index_find(&peers->fds, (uint64_t)fd, 0);
}

struct connection *peers_by_routing(const struct peers *peers,
                                    routing_id routing)
{
    return index_find(&peers->routings, routing, 0);
}

struct connection *peers_by_id(const struct peers *peers, peer_id peer)
{
    struct connection *connection = peers_named(peers, peer);

    return connection && connection->stage == STAGE_JOINED ? connection : NULL;
}

struct connection *peers_named(const struct peers *peers, peer_id peer)
{
    return peer == PEER_NONE ? NULL : index_find(&peers->ids, peer, 0);
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
