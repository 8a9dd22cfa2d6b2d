/* The star's connections: how they come, carry messages, and break. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world_inside.h"

/* Peer numbers at the hub begin here. */
enum { FIRST_PEER = 100 };
/* Of each message, beside its header and payload. */
enum { FRAMING_BYTES = 16 };

static unsigned place_of(const struct connection *connection, enum end end)
{
    return end == END_HUB ? (unsigned)PLACE_HUB
                          : place_of_node(connection->node);
}

/* The connection's number for the machine at this end. */
static peer_id peer_at(const struct connection *connection, enum end end)
{
    if (end == END_HUB)
        return connection->id;
    return connection->channel == CHANNEL_CONTROL ? PEER_CONTROL : PEER_BULK;
}

static const struct world_link *link_of(const struct world *world,
                                        const struct connection *connection)
{
    const struct world_link *own =
        &world->nodes[connection->node].description.link;

    return own->latency || own->jitter || own->bytes_per_second
               ? own
               : &world->config.link;
}

static nanos latency(struct world *world, const struct connection *connection)
{
    const struct world_link *link = link_of(world, connection);

    return link->latency + world_random(world, link->jitter);
}

/* ---- connecting ---- */

void star_connect_at(struct world *world, unsigned node, enum channel channel,
                     nanos at)
{
    struct item *item = item_new(world, ITEM_CONNECT, place_of_node(node));

    item->channel = channel;
    world_put(world, at, item);
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
    struct item *item = item_new(world, ITEM_EVENT, place_of(connection, to));

    item->event = event;
    item->connection = connection;
    item->channel = connection->channel;
    item->peer = peer_at(connection, to);
    world_put(world, at, item);
}

static struct connection *connection_new(struct world *world)
{
    struct connection *connection = calloc(1, sizeof *connection);
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
    return connection;
}

void star_connect(struct world *world, struct item *item)
{
    unsigned number = node_of_place(item->place);
    struct star_node *node = &world->nodes[number];
    struct connection *connection;

    if (node_ended(node->node) || node->up[item->channel])
        return;
    if (node->cut || !world->places[PLACE_HUB].machine.self) {
        reconnect(world, number, item->channel);
        return;
    }
    connection = connection_new(world);
    connection->node = number;
    connection->incarnation = node->incarnation;
    connection->channel = item->channel;
    connection->open[END_HUB] = connection->open[END_NODE] = true;
    for (int end = 0; end < ENDS; end++)
        connection->stream[end] = stream_open(
            world->ports[end], link_of(world, connection)->bytes_per_second);
    node->up[item->channel] = connection;
    connection->joins_at[END_HUB] = world->now + latency(world, connection);
    connection->joins_at[END_NODE] =
        connection->joins_at[END_HUB] + latency(world, connection);
    connection->arrives_at[END_NODE] = connection->joins_at[END_HUB];
    connection->arrives_at[END_HUB] = connection->joins_at[END_NODE];
    put_event(world, connection, END_HUB, EVENT_JOIN,
              connection->joins_at[END_HUB]);
    put_event(world, connection, END_NODE, EVENT_JOIN,
              connection->joins_at[END_NODE]);
}

struct connection *star_find(struct world *world, unsigned place, peer_id peer)
{
    struct connection *connection;

    if (place != PLACE_HUB) {
        assert(peer == PEER_CONTROL || peer == PEER_BULK);
        return world->nodes[node_of_place(place)]
            .up[peer == PEER_CONTROL ? CHANNEL_CONTROL : CHANNEL_BULK];
    }
    assert(peer >= FIRST_PEER && peer - FIRST_PEER < world->connection_count);
    connection = world->connections[peer - FIRST_PEER];
    return connection->open[END_HUB] ? connection : NULL;
}

/* ---- sending ---- */

/* The message as the other side reads it; returns its size on the wire. */
static size_t encode(const struct world *world, const struct msg *msg,
                     struct msg *out)
{
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size = msg_encode(msg, bytes);
    enum status status = STATUS_OK;

    assert(size <= MSG_MAX_BYTES);
    *out = *msg;
    if (!world->config.unencoded) {
        memset(out, 0, sizeof *out);
        status = msg_decode(bytes, size, out);
    }
    assert(status == STATUS_OK);
    return size;
}

static struct world_fate fate_of(struct world *world,
                                 const struct connection *connection,
                                 enum end from, const struct msg *msg,
                                 struct blob *payload)
{
    const struct world_hooks *hooks = &world->config.hooks;
    struct world_message message = {connection->node, connection->incarnation,
                                    from == END_NODE, msg, payload};
    struct world_fate fate = {.copies = 1};

    if (hooks->filter)
        hooks->filter(hooks->context, &message, &fate);
    return fate;
}

/* The message is on the wire: puts its copies where they arrive. */
static void ship(struct world *world, struct item *item)
{
    struct connection *connection = item->connection;
    enum end from = item->place == PLACE_HUB ? END_NODE : END_HUB;
    struct world_fate fate = item->fate;
    nanos at = world->now + latency(world, connection);

    if (fate.in_order)
        at += fate.delay;
    if (at < connection->arrives_at[from])
        at = connection->arrives_at[from];
    if (fate.in_order || !fate.delay)
        connection->arrives_at[from] = at;
    if (!fate.in_order)
        at += fate.delay;
    for (unsigned i = 0; i < fate.copies; i++) {
        struct item *copy = item_new(world, item->kind, item->place);

        *copy = *item;
        (void)blob_ref(copy->payload);
        copy->sent = world->now;
        world_put(world, at + (nanos)i * fate.apart, copy);
    }
    item_free(world, item);
}

/* Has the world look at the port when its next message is through. */
static void set_port_wake(struct world *world, enum end from)
{
    nanos next = port_next(world->ports[from]);
    struct item *item;

    if (next == world->port_wake[from])
        return;
    world->port_wake[from] = next;
    if (next == NEVER)
        return;
    item = item_new(world, ITEM_PORT, PLACE_HUB);
    item->from = from;
    item->sent = next;
    world_put(world, next, item);
}

void star_port(struct world *world, const struct item *due)
{
    struct item *item;

    if (due->sent != world->port_wake[due->from])
        return;
    world->port_wake[due->from] = -1;
    while ((item = port_take(world->ports[due->from], world->now)) != NULL)
        ship(world, item);
    set_port_wake(world, due->from);
}

/* Puts it behind what this end has yet to send. */
static void transmit(struct world *world, enum end from, struct item *item,
                     size_t bytes)
{
    struct connection *connection = item->connection;

    if (!world->config.port_bytes_per_second &&
        !link_of(world, connection)->bytes_per_second) {
        ship(world, item);
        return;
    }
    stream_send(world->ports[from], connection->stream[from], world->now, bytes,
                item);
    set_port_wake(world, from);
}

static void drop_unsent(struct world *world, struct connection *connection,
                        enum end from)
{
    struct item *item;

    while ((item = stream_drop(world->ports[from], connection->stream[from],
                               world->now)) != NULL)
        item_free(world, item);
}

/* What this end has not sent will never be. */
static void lose_unsent(struct world *world, struct connection *connection,
                        enum end from)
{
    drop_unsent(world, connection, from);
    set_port_wake(world, from);
}

void star_send(struct world *world, struct connection *connection,
               enum end from, const struct msg *msg, struct blob *payload)
{
    enum end to = from == END_HUB ? END_NODE : END_HUB;
    struct world_fate fate = fate_of(world, connection, from, msg, payload);
    struct item *item = item_new(world, ITEM_EVENT, place_of(connection, to));
    size_t bytes = encode(world, msg, &item->msg) + FRAMING_BYTES;

    bytes += payload ? payload->wire_bytes : 0;
    item->event = EVENT_MESSAGE;
    item->connection = connection;
    item->channel = connection->channel;
    item->peer = peer_at(connection, to);
    item->payload = blob_ref(payload);
    item->fate = fate;
    transmit(world, from, item, bytes);
}

void star_free(struct world *world)
{
    for (size_t i = 0; i < world->connection_count; i++) {
        for (int end = 0; end < ENDS; end++) {
            drop_unsent(world, world->connections[i], (enum end)end);
            stream_close(world->ports[end],
                         &world->connections[i]->stream[end]);
        }
        free(world->connections[i]);
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
        item_new(world, ITEM_EVENT, place_of(connection, other));
    struct item *own;

    last->event = EVENT_LEAVE;
    last->connection = connection;
    last->channel = connection->channel;
    last->peer = peer_at(connection, other);
    last->fate.copies = 1;
    transmit(world, end, last, 0);
    own = item_new(world, ITEM_EVENT, place_of(connection, end));
    own->event = EVENT_LEAVE;
    own->peer = peer_at(connection, end);
    world_put(world, world->now, own);
    close_end(world, connection, end);
}

/* The other end learns that this one is dead, after all that was sent. */
static void put_reset(struct world *world, struct connection *connection,
                      enum end end)
{
    enum end other = end == END_HUB ? END_NODE : END_HUB;
    nanos at = world->now + latency(world, connection);

    if (at < connection->joins_at[other])
        at = connection->joins_at[other];
    if (at < connection->arrives_at[end])
        at = connection->arrives_at[end];
    put_event(world, connection, other, EVENT_LEAVE, at);
}

void star_reset(struct world *world, struct connection *connection,
                enum end end, bool silent)
{
    connection->open[end] = false;
    connection->reset[end] = true;
    connection->reset_at[end] = world->now;
    lose_unsent(world, connection, end);
    if (!silent)
        put_reset(world, connection, end);
}

void star_break(struct world *world, struct connection *connection)
{
    for (int end = 0; end < ENDS; end++) {
        connection->reset[end] = true;
        connection->reset_at[end] = -1;
        lose_unsent(world, connection, (enum end)end);
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
