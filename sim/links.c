/* What the links of nodes and the hub's port are now: as they were described,
 * or as the trace has it. */
#include "sim/world_inside.h"

static bool is_set(const struct world_link *link)
{
    return link->latency || link->jitter || link->up || link->down ||
           link->loss > 0;
}

/* The same value until the trace says another. */
static void follow(const struct world *world, const struct star_node *node,
                   enum quantity quantity, int64_t *value)
{
    const struct trace *trace = world->config.trace;
    int64_t now = SERIES_UNSET;

    if (trace)
        now = trace_at(trace, node->track, quantity, world->now);
    if (now != SERIES_UNSET)
        *value = now;
}

static void update_node(struct world *world, unsigned number)
{
    struct star_node *node = &world->nodes[number];
    const struct world_link *own = &node->description.link;
    const struct world_link *base = is_set(own) ? own : &world->config.link;
    int64_t up = -1, down = -1, part = -1;
    nanos step = node->description.trainer.step;

    node->link = *base;
    follow(world, node, QUANTITY_UP, &up);
    follow(world, node, QUANTITY_DOWN, &down);
    follow(world, node, QUANTITY_LOSS, &part);
    follow(world, node, QUANTITY_DELAY, &node->link.latency);
    follow(world, node, QUANTITY_JITTER, &node->link.jitter);
    follow(world, node, QUANTITY_STEP, &step);
    node->dead = up == 0 || down == 0 || part >= PART_WHOLE;
    if (up > 0)
        node->link.up = (uint64_t)up;
    if (down > 0)
        node->link.down = (uint64_t)down;
    if (part >= 0 && part < PART_WHOLE)
        node->link.loss = (double)part / (double)PART_WHOLE;
    node->step = step;
}

static void update_port(struct world *world, enum end from)
{
    const struct trace *trace = world->config.trace;
    uint64_t rate = world->config.port_bytes_per_second;
    int64_t now = SERIES_UNSET;

    if (trace)
        now = series_at(
            &trace->hub.series[from == END_NODE ? QUANTITY_UP : QUANTITY_DOWN],
            world->now);
    if (now != SERIES_UNSET)
        rate = now ? (uint64_t)now : PORT_STOPPED;
    port_limit(world->ports[from], world->now, rate);
}

/* Has the world look again when this may have changed. */
static void put_change(struct world *world, unsigned place,
                       enum quantity quantity)
{
    const struct trace *trace = world->config.trace;
    struct item *item;
    nanos next;

    if (place == PLACE_HUB)
        next = series_next_change(&trace->hub.series[quantity], world->now);
    else
        next =
            trace_next_change(trace, world->nodes[node_of_place(place)].track,
                              quantity, world->now);
    if (next == NEVER)
        return;
    item = item_new(world, ITEM_TRACE, place);
    item->quantity = quantity;
    item_put(world, next, item);
}

void links_begin(struct world *world, unsigned number)
{
    struct star_node *node = &world->nodes[number];

    if (world->config.trace)
        node->track = trace_find(world->config.trace, node->name);
    update_node(world, number);
    for (int i = 0; world->config.trace && i < QUANTITIES; i++)
        put_change(world, place_of_node(number), (enum quantity)i);
}

void links_begin_port(struct world *world)
{
    update_port(world, END_NODE);
    update_port(world, END_HUB);
    if (!world->config.trace)
        return;
    put_change(world, PLACE_HUB, QUANTITY_UP);
    put_change(world, PLACE_HUB, QUANTITY_DOWN);
}

void links_change(struct world *world, const struct item *due)
{
    unsigned number;

    put_change(world, due->place, due->quantity);
    if (due->place == PLACE_HUB) {
        enum end from = due->quantity == QUANTITY_UP ? END_NODE : END_HUB;

        update_port(world, from);
        wire_note(world, from);
        return;
    }
    number = node_of_place(due->place);
    update_node(world, number);
    wire_limit(world, number);
    if (world->nodes[number].trainer)
        trainer_pace(world->nodes[number].trainer, world->nodes[number].step);
}
