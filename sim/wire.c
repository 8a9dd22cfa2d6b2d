/* How messages travel: what each end has yet to send, the hub's port, and the
 * way to the other end. */
#include <assert.h>
#include <string.h>

#include "sim/loss.h"
#include "sim/world_inside.h"

/* Of each message, beside its header and payload. */
enum { FRAMING_BYTES = 16 };
/* What is at least so long, and takes longer than that, is told of. */
enum { LARGE_BYTES = 64 << 10 };
#define ARRIVING_AFTER (10 * SECOND)

nanos wire_latency(struct world *world, unsigned node)
{
    const struct world_link *link = &world->nodes[node].link;

    return link->latency + world_random(world, link->jitter);
}

uint64_t wire_rate(const struct world *world, unsigned node, enum end from)
{
    const struct star_node *of = &world->nodes[node];
    uint64_t rate = from == END_NODE ? of->link.up : of->link.down;
    uint64_t most = loss_ceiling(&of->link);

    if (of->dead)
        return PORT_STOPPED;
    return !rate || (most && most < rate) ? most : rate;
}

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

static struct item *item_copy(struct world *world, const struct item *item)
{
    struct item *copy = item_new(world, item->kind, item->place);

    *copy = *item;
    (void)blob_ref(copy->payload);
    (void)connection_hold(copy->connection);
    return copy;
}

/* The message is on the wire: puts its copies where they arrive. */
static void ship(struct world *world, struct item *item)
{
    struct connection *connection = item->connection;
    enum end from = item->place == PLACE_HUB ? END_NODE : END_HUB;
    struct world_fate fate = item->fate;
    nanos at = world->now + wire_latency(world, connection->node);

    at += loss_delay(&world->prng, &world->nodes[connection->node].link,
                     item->bytes, stream_is_empty(connection->stream[from]));
    if (fate.in_order)
        at += fate.delay;
    if (at < connection->arrives_at[from])
        at = connection->arrives_at[from];
    if (fate.in_order || !fate.delay)
        connection->arrives_at[from] = at;
    if (!fate.in_order)
        at += fate.delay;
    if (!fate.copies) {
        item_free(world, item);
        return;
    }
    item->sent = world->now;
    item_put(world, at, item);
    for (unsigned i = 1; i < fate.copies; i++)
        item_put(world, at + (nanos)i * fate.apart, item_copy(world, item));
}

void wire_note(struct world *world, enum end from)
{
    nanos next = port_next(world->ports[from]);

    if (next == world->through[from].at)
        return;
    world->through[from].at = next;
    world->through[from].order = queue_order(&world->queue);
}

void wire_deliver(struct world *world, enum end from)
{
    struct item *item;

    world->through[from].at = -1; /* it has a new place among the others */
    while ((item = port_pop(world->ports[from], world->now)) != NULL)
        ship(world, item);
    wire_note(world, from);
}

void wire_limit(struct world *world, unsigned number)
{
    for (int end = 0; end < ENDS; end++) {
        uint64_t rate = wire_rate(world, number, (enum end)end);

        for (struct connection *connection = world->nodes[number].connections;
             connection; connection = connection->next)
            stream_limit(world->ports[end], connection->stream[end], world->now,
                         rate);
    }
    wire_note(world, END_HUB);
    wire_note(world, END_NODE);
}

/* Whether nothing holds up what this end sends. */
static bool is_unlimited(const struct world *world,
                         const struct connection *connection, enum end from)
{
    return !world->config.trace && !world->config.port_bytes_per_second &&
           !wire_rate(world, connection->node, from);
}

/* As net/ does: the machine is told how much is here of what takes long. */
static void tell_arriving(struct world *world, struct connection *connection,
                          enum end from)
{
    enum end to = from == END_HUB ? END_NODE : END_HUB;
    const struct item *head = stream_head(connection->stream[from]);
    struct item *item;
    uint64_t sent;

    if (!head || head != connection->seen[from] || !connection->open[to]) {
        connection->seen[from] = head;
        return;
    }
    sent =
        stream_sent(world->ports[from], connection->stream[from], world->now);
    item = item_new(world, ITEM_EVENT, star_place(connection, to));
    item->event = EVENT_MESSAGE;
    item->connection = connection_hold(connection);
    item->channel = connection->channel;
    item->peer = star_peer(connection, to);
    item->sent = world->now;
    memset(&item->msg, 0, sizeof item->msg);
    item->msg.kind = MSG_ARRIVING;
    item->msg.arriving.bytes = sent;
    item->msg.arriving.whole = head->bytes;
    item_put(world, world->now, item);
}

static void look_later(struct world *world, struct connection *connection);

static void look(void *context, struct world *world)
{
    struct connection *connection = context;
    bool busy = false;

    for (int end = 0; end < ENDS; end++) {
        tell_arriving(world, connection, (enum end)end);
        busy |= connection->seen[end] != NULL;
    }
    connection->looking = false;
    if (busy)
        look_later(world, connection);
}

static void look_later(struct world *world, struct connection *connection)
{
    struct item *item;

    if (connection->looking || connection->channel != CHANNEL_BULK)
        return;
    connection->looking = true;
    item = item_new(world, ITEM_SCRIPTED, PLACE_HUB);
    item->act = look;
    item->context = item->connection = connection_hold(connection);
    item_put(world, world->now + ARRIVING_AFTER, item);
}

void wire_put(struct world *world, enum end from, struct item *item)
{
    struct connection *connection = item->connection;

    if (is_unlimited(world, connection, from)) {
        ship(world, item);
        return;
    }
    if (item->bytes >= LARGE_BYTES)
        look_later(world, connection);
    stream_send(world->ports[from], connection->stream[from], world->now,
                item->bytes, item);
    wire_note(world, from);
}

void wire_clear(struct world *world, struct connection *connection,
                enum end from)
{
    struct item *item;

    while ((item = stream_drop(world->ports[from], connection->stream[from],
                               world->now)) != NULL)
        item_free(world, item);
}

void wire_lose(struct world *world, struct connection *connection,
               enum end from)
{
    wire_clear(world, connection, from);
    wire_note(world, from);
}

void wire_send(struct world *world, struct connection *connection,
               enum end from, const struct msg *msg, struct blob *payload)
{
    enum end to = from == END_HUB ? END_NODE : END_HUB;
    struct world_fate fate = fate_of(world, connection, from, msg, payload);
    struct item *item = item_new(world, ITEM_EVENT, star_place(connection, to));

    item->bytes = encode(world, msg, &item->msg) + FRAMING_BYTES;
    item->bytes += payload ? payload->wire_bytes : 0;
    item->event = EVENT_MESSAGE;
    item->connection = connection_hold(connection);
    item->channel = connection->channel;
    item->peer = star_peer(connection, to);
    item->payload = blob_ref(payload);
    item->fate = fate;
    wire_put(world, from, item);
}
