#include "net/peers.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"

enum { FIRST_ROOM = 16 };

void peers_free(struct peers *peers)
{
    for (unsigned i = 0; i < peers->count; i++)
        free(peers->list[i]);
    free((void *)peers->list);
    index_free(&peers->ids);
    index_free(&peers->numbers);
    memset(peers, 0, sizeof *peers);
}

static void grow(struct peers *peers)
{
    peers->room = peers->room ? 2 * peers->room : FIRST_ROOM;
    peers->list = need_more((void *)peers->list,
                            peers->room * sizeof(struct connection *));
}

struct connection *peers_add(struct peers *peers, peer_id peer, uint64_t number)
{
    struct connection *connection = need_memory(1, sizeof *connection);

    if (peers->count == peers->room)
        grow(peers);
    connection->ordinal = peers->came++;
    connection->peer = peer;
    connection->number = number;
    connection->leave_at = NEVER;
    peers->list[peers->count++] = connection;
    index_put(&peers->ids, peer, 0, connection);
    index_put(&peers->numbers, number, 0, connection);
    return connection;
}

/* The list is in the order of their ordinals. */
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

void peers_remove(struct peers *peers, struct connection *connection)
{
    unsigned place = place_of(peers, connection);

    if (peers_named(peers, connection->peer) == connection)
        index_remove(&peers->ids, connection->peer, 0);
    if (peers_by_number(peers, connection->number) == connection)
        index_remove(&peers->numbers, connection->number, 0);
    peers->count--;
    memmove((void *)(peers->list + place), (void *)(peers->list + place + 1),
            (peers->count - place) * sizeof(struct connection *));
    free(connection);
}

struct connection *peers_by_number(const struct peers *peers, uint64_t number)
{
    return index_find(&peers->numbers, number, 0);
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

void connection_end(struct connection *connection, nanos leave_at)
{
    if (connection->stage == STAGE_JOINED)
        connection->stage = STAGE_ENDING;
    if (connection->leave_at > leave_at)
        connection->leave_at = leave_at;
}
