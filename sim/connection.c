/* The list of connections: each stays until nobody refers to it. */
#include <assert.h>
#include <stdlib.h>

#include "sim/world_inside.h"

/* Peer numbers at the hub begin here. */
enum { FIRST_PEER = 100 };

struct connection *connection_new(struct world *world, unsigned node)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct connection **link = &world->nodes[node].connections;
    size_t bytes;

    if (world->connection_count == world->connection_room) {
        world->connection_room = 2 * world->connection_room + 16;
        bytes = world->connection_room * sizeof(struct connection *);
        world->connections = realloc(world->connections, bytes);
    }
    if (!connection || !world->connections)
        abort();
    connection->id = FIRST_PEER + world->connection_count;
    world->connections[world->connection_count++] = connection;
    connection->node = node;
    while (*link)
        link = &(*link)->next;
    *link = connection;
    return connection;
}

void connection_free(struct world *world, struct connection *connection)
{
    struct connection **link = &world->nodes[connection->node].connections;

    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    world->connections[connection->id - FIRST_PEER] = NULL;
    for (int end = 0; end < ENDS; end++)
        stream_close(world->ports[end], &connection->stream[end]);
    free(connection);
}

struct connection *connection_hold(struct connection *connection)
{
    connection->held++;
    return connection;
}

void connection_release(struct world *world, struct connection *connection)
{
    if (connection && !--connection->held && !connection->open[END_HUB] &&
        !connection->open[END_NODE])
        connection_free(world, connection);
}

struct connection *connection_find(struct world *world, unsigned place,
                                   peer_id peer)
{
    struct connection *connection;

    if (place != PLACE_HUB) {
        assert(peer == PEER_CONTROL || peer == PEER_BULK);
        return world->nodes[node_of_place(place)]
            .up[peer == PEER_CONTROL ? CHANNEL_CONTROL : CHANNEL_BULK];
    }
    assert(peer >= FIRST_PEER && peer - FIRST_PEER < world->connection_count);
    connection = world->connections[peer - FIRST_PEER];
    return connection && connection->open[END_HUB] ? connection : NULL;
}
