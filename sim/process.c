/* Worlds, and the processes in them: how they start, fail and stop. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/manifest.h"
#include "sim/world_inside.h"

/* A node's two sockets do not connect at the same moment. */
#define CONNECT_SPREAD MILLISECOND

/* Room for one more node. */
static void world_grow(struct world *world)
{
    unsigned old = world->room, room = old ? 2 * old : 8;

    if (world->count < old)
        return;
    world->nodes = realloc(world->nodes, room * sizeof *world->nodes);
    world->places =
        realloc(world->places, (1 + 2 * (size_t)room) * sizeof *world->places);
    if (!world->nodes || !world->places)
        abort();
    memset(world->nodes + old, 0, (room - old) * sizeof *world->nodes);
    memset(world->places + (old ? 1 + 2 * old : 0), 0,
           (old ? 2 * (size_t)old : 1 + 2 * (size_t)room) *
               sizeof *world->places);
    world->room = room;
}

struct world *world_new(uint64_t seed, const struct world_config *config)
{
    struct world *world = calloc(1, sizeof *world);

    if (!world)
        abort();
    world->config = *config;
    world->config.hub.save = config->saves ? &work_remember : NULL;
    world->config.hub.evaluate = config->hooks.evaluate ? &work_score : NULL;
    world->config.hub.save_context = world;
    world->config.hub.evaluate_context = world;
    world->pool = pool_new();
    if (!world->pool)
        abort();
    world_grow(world);
    for (int end = 0; end < ENDS; end++) {
        world->ports[end] = port_new(config->port_bytes_per_second);
        world->through[end].at = NEVER;
    }
    links_begin_port(world);
    prng_seed(&world->prng, seed);
    history_init(&world->history);
    return world;
}

unsigned world_add_node(struct world *world, const struct world_node *node)
{
    struct star_node *place;

    world_grow(world);
    place = &world->nodes[world->count];
    place->description = *node;
    if (!node->schema)
        place->description.schema = world->config.schema;
    if (!node->uuid)
        place->description.uuid = world->count + 1;
    (void)snprintf(place->name, sizeof place->name, "%s", node->name);
    (void)snprintf(place->trainer_name, sizeof place->trainer_name,
                   "%s.trainer", node->name);
    links_begin(world, world->count);
    return world->count++;
}

/* ---- starting ---- */

static void place_start(struct world *world, unsigned number,
                        struct machine machine)
{
    struct place *place = &world->places[number];

    place->machine = machine;
    place->wake = NEVER;
    place->frozen = false;
    world_set_wake(world, number);
}

static void place_stop(struct world *world, unsigned number)
{
    struct place *place = &world->places[number];

    place->machine = (struct machine){0};
    place->life++;
    place->frozen = false;
    waiting_drop(world, &place->held);
}

/* As store/centre.c counts them: behind all that the disk knows of. A hub that
 * has found its run with a node saves a life far beyond those before. */
static uint64_t next_life(struct world_saved *saved)
{
    static const char key[] = "epoch ";
    const char *epoch = saved->state ? strstr(saved->state, key) : NULL;
    uint64_t last = 0;

    if (epoch)
        last = epoch_life(strtoull(epoch + strlen(key), NULL, 10));
    if (epoch && last >= saved->lives)
        saved->lives = last + 1;
    return saved->lives++;
}

static void start_hub(struct world *world)
{
    struct hub_config config = world->config.hub;

    if (world->config.saves)
        config.life = next_life(&world->saved);
    if (!world->saved.count)
        config.run += world->runs++;
    world->hub = hub_new(&config, world->pool);
    memory_restore(world);
    place_start(world, PLACE_HUB, hub_machine(world->hub));
}

static struct node *new_node(struct world *world, struct star_node *node)
{
    const struct node_config config = {
        .uuid_high = 0,
        .uuid_low = node->description.uuid,
        .incarnation = ++node->incarnation,
        .name = node->name,
        .schema = node->description.schema,
        .scale = world->config.hub.scale,
        .reviews = node->description.trainer.evaluate != NULL,
        .up = node->description.up,
        .down = node->description.down,
        .promised = node->description.promised};

    return node_new(&config, world->pool);
}

static void start_node(struct world *world, unsigned number)
{
    struct star_node *node = &world->nodes[number];
    struct trainer_config trainer = node->description.trainer;
    struct item *start;

    trainer.name = node->trainer_name;
    trainer.step = node->step;
    trainer.seed = prng_next(&world->prng);
    trainer.statistics = &node->description.schema->statistics;
    node->node = new_node(world, node);
    node->trainer = trainer_new(&trainer, world->pool);
    place_start(world, place_of_node(number), node_machine(node->node));
    place_start(world, place_of_trainer(number),
                trainer_machine(node->trainer));
    start = item_new(world, ITEM_EVENT, place_of_trainer(number));
    start->event = EVENT_JOIN;
    start->peer = PEER_TRAINER;
    start->channel = CHANNEL_LOCAL;
    item_put(world, world->now, start);
    star_connect_at(world, number, CHANNEL_CONTROL,
                    world->now + world_random(world, CONNECT_SPREAD));
    star_connect_at(world, number, CHANNEL_BULK,
                    world->now + world_random(world, CONNECT_SPREAD));
}

void world_start(struct world *world, unsigned process)
{
    world_crash(world, process, false);
    if (process == WORLD_HUB)
        start_hub(world);
    else
        start_node(world, process);
}

/* ---- failing ---- */

void world_crash(struct world *world, unsigned process, bool silent)
{
    if (process == WORLD_HUB) {
        star_reset_hub(world, silent);
        place_stop(world, PLACE_HUB);
        hub_destroy(&world->hub);
        return;
    }
    star_reset_node(world, process, silent);
    place_stop(world, place_of_node(process));
    place_stop(world, place_of_trainer(process));
    node_destroy(&world->nodes[process].node);
    trainer_destroy(&world->nodes[process].trainer);
}

void world_wipe(struct world *world, unsigned process)
{
    world_crash(world, process, false);
    if (process == WORLD_HUB)
        memory_free(&world->saved);
}

void world_leave(struct world *world, unsigned process)
{
    struct item *item;

    if (process != WORLD_HUB) {
        if (world->nodes[process].trainer)
            trainer_leave(world->nodes[process].trainer);
        return;
    }
    item = item_new(world, ITEM_EVENT, PLACE_HUB);
    item->event = EVENT_MESSAGE;
    item->peer = PEER_OPERATOR;
    item->channel = CHANNEL_LOCAL;
    item->msg = (struct msg){.kind = MSG_STOP};
    item_put(world, world->now, item);
}

static void set_frozen(struct world *world, unsigned process, bool frozen)
{
    if (process == WORLD_HUB) {
        world->places[PLACE_HUB].frozen = frozen;
        return;
    }
    world->places[place_of_node(process)].frozen = frozen;
    world->places[place_of_trainer(process)].frozen = frozen;
}

void world_freeze(struct world *world, unsigned process)
{
    set_frozen(world, process, true);
}

void world_thaw(struct world *world, unsigned process)
{
    set_frozen(world, process, false);
    if (process == WORLD_HUB) {
        world_release(world, &world->places[PLACE_HUB].held);
        return;
    }
    world_release(world, &world->places[place_of_node(process)].held);
    world_release(world, &world->places[place_of_trainer(process)].held);
}

void world_cut(struct world *world, unsigned number, bool silent)
{
    struct star_node *node = &world->nodes[number];

    if (node->cut)
        return;
    node->cut = true;
    node->silent = silent;
    for (unsigned i = 0; !silent && i < 2; i++)
        if (node->up[i])
            star_break(world, node->up[i]);
}

void world_repair(struct world *world, unsigned number)
{
    struct star_node *node = &world->nodes[number];

    node->cut = node->silent = false;
    world_release_link(world, number);
}

void world_say(struct world *world, unsigned number, const struct msg *msg,
               struct blob *payload)
{
    struct connection *connection =
        world->nodes[number].up[msg_info(msg->kind)->channel];

    if (connection)
        wire_send(world, connection, END_NODE, msg, payload);
}

void world_at(struct world *world, nanos at,
              void (*act)(void *context, struct world *world), void *context)
{
    struct item *item = item_new(world, ITEM_SCRIPTED, PLACE_HUB);

    item->act = act;
    item->context = context;
    item_put(world, at, item);
}

/* ---- looking ---- */

nanos world_now(const struct world *world)
{
    return world->now;
}

struct hub *world_hub(const struct world *world)
{
    return world->hub;
}

struct node *world_node(const struct world *world, unsigned node)
{
    return world->nodes[node].node;
}

struct trainer *world_trainer(const struct world *world, unsigned node)
{
    return world->nodes[node].trainer;
}

const struct world_link *world_link_now(const struct world *world,
                                        unsigned node)
{
    return &world->nodes[node].link;
}

const struct world_saved *world_saved(const struct world *world)
{
    return &world->saved;
}

const char *world_broken(const struct world *world)
{
    return world->broken[0] ? world->broken : NULL;
}

uint64_t world_history(const struct world *world)
{
    return history_hash(&world->history);
}

void world_destroy(struct world **reference)
{
    struct world *world = *reference;
    nanos at;

    *reference = NULL;
    if (!world)
        return;
    world_crash(world, WORLD_HUB, true);
    for (unsigned i = 0; i < world->count; i++) {
        world_crash(world, i, true);
        waiting_drop(world, &world->nodes[i].held);
    }
    while (queue_next(&world->queue) < NEVER)
        item_free(world, queue_pop(&world->queue, &at));
    queue_free(&world->queue);
    star_free(world);
    while (world->spare) {
        struct item *item = world->spare;

        world->spare = item->next;
        free(item);
    }
    free(world->nodes);
    free(world->places);
    effects_free(&world->effects);
    memory_free(&world->saved);
    pool_destroy(&world->pool);
    free(world);
}
