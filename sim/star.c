/* The star's connections: how they come, carry messages, and break. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world_inside.h"

/* ---- connecting ---- */

void star_connect_at(struct world *world, unsigned node, enum channel channel,
                     nanos at)
{
    struct item *item = item_new(world, ITEM_CONNECT, place_of_node(node));

    item->channel = channel;
    item_put(world, at, item);
}

static void reconnect(struct world *world, unsigned node, enum channel channel)
{
    nanos pause = world->config.reconnect;

    star_connect_at(world, node, channel,
                    world->now + pause + world_random(world, pause));
}

/* What comes to an end of a connection. */
static void put_event(struct world *world, struct connection *connection,
                      enum end to, enum event_kind event, nanos at)
{
    struct item *item = item_new(world, ITEM_EVENT, star_place(connection, to));

    item->event = event;
    item->connection = connection_hold(connection);
    item->channel = connection->channel;
    item->peer = star_peer(connection, to);
    item_put(world, at, item);
}

/* The last trip is that of what is said then. */
static nanos handshake(struct world *world, unsigned node)
{
    nanos time = 0;

    for (int i = 1; i < WORLD_GREETING_TRIPS; i++)
        time += wire_latency(world, node);
    return time;
}

void star_connect(struct world *world, struct item *item)
{
    unsigned number = node_of_place(item->place);
    struct star_node *node = &world->nodes[number];
    struct connection *connection;

    if (node_ended(node->node) || node->up[item->channel])
        return;
    if (node->cut || node->dead || !world->places[PLACE_HUB].machine.self) {
        reconnect(world, number, item->channel);
        return;
    }
    connection = connection_new(world, number);
    connection->incarnation = node->incarnation;
    connection->channel = item->channel;
    connection->open[END_HUB] = connection->open[END_NODE] = true;
    for (int end = 0; end < ENDS; end++)
        connection->stream[end] = stream_open(
            world->ports[end], wire_rate(world, number, (enum end)end));
    node->up[item->channel] = connection;
    connection->joins_at[END_HUB] = connection->joins_at[END_NODE] =
        world->now + handshake(world, number);
    connection->arrives_at[END_NODE] = connection->joins_at[END_HUB];
    connection->arrives_at[END_HUB] = connection->joins_at[END_NODE];
    put_event(world, connection, END_HUB, EVENT_JOIN,
              connection->joins_at[END_HUB]);
    put_event(world, connection, END_NODE, EVENT_JOIN,
              connection->joins_at[END_NODE]);
}

void star_free(struct world *world)
{
    for (size_t i = 0; i < world->connection_count; i++) {
        struct connection *connection = world->connections[i];

        if (!connection)
            continue;
        connection->held++;
        wire_clear(world, connection, END_HUB);
        wire_clear(world, connection, END_NODE);
        connection_free(world, connection);
    }
    free(world->connections);
    for (int end = 0; end < ENDS; end++)
        port_destroy(&world->ports[end]);
}

/* ---- breaking ---- */

/* This end is closed now; a node will try again. */
static void close_end(struct world *world, struct connection *connection,
                      enum end end)
{
    struct star_node *node = &world->nodes[connection->node];

    connection->open[end] = false;
    if (end != END_NODE || node->up[connection->channel] != connection)
        return;
    node->up[connection->channel] = NULL;
    if (node->node && !node_ended(node->node))
        reconnect(world, connection->node, connection->channel);
}

void star_close(struct world *world, struct connection *connection,
                enum end end)
{
    enum end other = end == END_HUB ? END_NODE : END_HUB;
    struct item *last =
        item_new(world, ITEM_EVENT, star_place(connection, other));
    struct item *own;

    last->event = EVENT_LEAVE;
    last->connection = connection_hold(connection);
    last->channel = connection->channel;
    last->peer = star_peer(connection, other);
    last->fate.copies = 1;
    wire_put(world, end, last);
    own = item_new(world, ITEM_EVENT, star_place(connection, end));
    own->event = EVENT_LEAVE;
    own->peer = star_peer(connection, end);
    item_put(world, world->now, own);
    close_end(world, connection, end);
}

/* The other end learns that this one is dead, after all that was sent. */
static void put_reset(struct world *world, struct connection *connection,
                      enum end end)
{
    enum end other = end == END_HUB ? END_NODE : END_HUB;
    nanos at = world->now + wire_latency(world, connection->node);

    if (at < connection->joins_at[other])
        at = connection->joins_at[other];
    if (at < connection->arrives_at[end])
        at = connection->arrives_at[end];
    put_event(world, connection, other, EVENT_LEAVE, at);
}

static void reset(struct world *world, struct connection *connection,
                  enum end end, bool silent)
{
    (void)connection_hold(connection);
    connection->open[end] = false;
    connection->reset[end] = true;
    connection->reset_at[end] = world->now;
    wire_lose(world, connection, end);
    if (!silent)
        put_reset(world, connection, end);
    connection_release(world, connection);
}

void star_reset_hub(struct world *world, bool silent)
{
    for (size_t i = 0; i < world->connection_count; i++)
        if (world->connections[i] && world->connections[i]->open[END_HUB])
            reset(world, world->connections[i], END_HUB, silent);
}

void star_reset_node(struct world *world, unsigned number, bool silent)
{
    struct star_node *node = &world->nodes[number];
    struct connection *connection = node->connections;

    while (connection) {
        struct connection *next = connection->next;

        if (connection->open[END_NODE])
            reset(world, connection, END_NODE, silent);
        connection = next;
    }
    node->up[CHANNEL_CONTROL] = node->up[CHANNEL_BULK] = NULL;
}

void star_break(struct world *world, struct connection *connection)
{
    for (int end = 0; end < ENDS; end++) {
        connection->reset[end] = true;
        connection->reset_at[end] = -1;
        wire_lose(world, connection, (enum end)end);
        put_reset(world, connection, (enum end)end);
    }
}

/* As TCP does with what comes for a connection that nobody here knows any
 * more: the sender is told. */
static void refuse(struct world *world, struct connection *connection,
                   enum end end, const struct item *item)
{
    enum end other = end == END_HUB ? END_NODE : END_HUB;

    if (item->event == EVENT_MESSAGE && connection->open[other])
        put_reset(world, connection, end);
}

bool star_deliver(struct world *world, struct item *item)
{
    struct connection *connection = item->connection;
    enum end end = item->place == PLACE_HUB ? END_HUB : END_NODE;
    enum end other = end == END_HUB ? END_NODE : END_HUB;

    if (!connection->open[end]) {
        refuse(world, connection, end, item);
        return false;
    }
    if (item->event == EVENT_LEAVE)
        close_end(world, connection, end);
    return item->event != EVENT_MESSAGE || !connection->reset[other] ||
           item->sent <= connection->reset_at[other];
}
