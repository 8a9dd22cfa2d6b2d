#include "sim/world_inside.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an ended node's bulk connection lingers. */
#define GOODBYE (200 * MILLISECOND)

void world_set_wake(struct world *world, unsigned number)
{
    struct place *place = &world->places[number];
    struct item *item;
    nanos wake = place->machine.deadline(place->machine.self);

    if (wake == place->wake)
        return;
    place->wake = wake;
    if (wake == NEVER)
        return;
    item = item_new(world, ITEM_EVENT, number);
    item->event = EVENT_WAKE;
    item->sent = wake;
    item_put(world, wake, item);
}

/* ---- effects ---- */

static void send_local(struct world *world, unsigned place,
                       const struct effect *effect)
{
    struct item *item = item_new(world, ITEM_EVENT, place);

    item->event = EVENT_MESSAGE;
    item->peer = PEER_TRAINER;
    item->channel = CHANNEL_LOCAL;
    item->msg = effect->msg;
    item->payload = blob_ref(effect->payload);
    item_put(world, world->now, item);
}

static void send(struct world *world, unsigned place,
                 const struct effect *effect)
{
    bool local = msg_info(effect->msg.kind)->channel == CHANNEL_LOCAL;
    struct connection *connection;

    assert(local == (place != PLACE_HUB && effect->peer == PEER_TRAINER));
    if (local) {
        send_local(world, is_trainer(place) ? place - 1 : place + 1, effect);
        return;
    }
    connection = connection_find(world, place, effect->peer);
    if (!connection)
        return;
    assert(msg_info(effect->msg.kind)->channel == connection->channel);
    wire_send(world, connection, place == PLACE_HUB ? END_HUB : END_NODE,
              &effect->msg, effect->payload);
}

static void drop(struct world *world, unsigned place, peer_id peer)
{
    struct connection *connection = connection_find(world, place, peer);

    if (connection)
        star_close(world, connection, place == PLACE_HUB ? END_HUB : END_NODE);
}

static void run_job(struct world *world, unsigned place, struct effect *effect)
{
    const struct world_config *config = &world->config;
    struct item *item = item_new(world, ITEM_EVENT, place);

    item->event = EVENT_DONE;
    item->job = effect->job;
    effect->job = NULL;
    job_run(item->job);
    item_put(world,
             world->now + config->job + world_random(world, config->job_jitter),
             item);
}

static void take_effects(struct world *world, unsigned place)
{
    for (unsigned i = 0; i < world->effects.count; i++) {
        struct effect *effect = &world->effects.list[i];

        switch (effect->kind) {
        case EFFECT_SEND:
            send(world, place, effect);
            break;
        case EFFECT_DROP:
            drop(world, place, effect->peer);
            break;
        case EFFECT_JOB:
            run_job(world, place, effect);
            break;
        case EFFECT_NOTE:
        case EFFECT_KINDS:
            break;
        }
    }
}

/* ---- steps ---- */

static void tell_line(struct world *world, const char *name, const char *line)
{
    char text[TRANSCRIPT_BYTES + NODE_NAME_BYTES + 16];
    const struct world_hooks *hooks = &world->config.hooks;

    (void)snprintf(text, sizeof text, "%s %s", name, line);
    hooks->line(hooks->context, text);
}

static void tell_effects(struct world *world, const struct event *event,
                         unsigned place)
{
    const struct world_hooks *hooks = &world->config.hooks;
    const char *name = world->places[place].machine.name;
    struct world_step step = {
        .process = place == PLACE_HUB ? WORLD_HUB : node_of_place(place),
        .trainer = is_trainer(place),
        .event = event,
        .effects = &world->effects};
    char line[TRANSCRIPT_BYTES];

    history_add(&world->history, name, event, &world->effects);
    for (unsigned i = 0; hooks->line && i < world->effects.count; i++) {
        (void)transcript_effect(&world->effects.list[i], line, sizeof line);
        tell_line(world, name, line);
    }
    if (hooks->after_step)
        hooks->after_step(hooks->context, &step);
}

/* Asks the machine whether it is still sound. */
static void judge(struct world *world, unsigned place)
{
    const char *words = NULL;

    if (world->broken[0])
        return;
    if (world->steps_now > STEPS_AT_ONCE + STEPS_OF_NODE_AT_ONCE * world->count)
        words = "takes steps without end and lets no time pass";
    else if (world->config.unjudged)
        return;
    else if (place == PLACE_HUB)
        words = hub_check(world->hub);
    else if (!is_trainer(place))
        words = node_check(world->nodes[node_of_place(place)].node);
    if (words)
        (void)snprintf(world->broken, sizeof world->broken, "%s at %.9f s: %s",
                       world->places[place].machine.name,
                       (double)world->now / (double)SECOND, words);
}

static void count_step(struct world *world)
{
    if (world->moment != world->now)
        world->steps_now = 0;
    world->moment = world->now;
    world->steps_now++;
}

static void take_step(struct world *world, struct item *item)
{
    struct machine *machine = &world->places[item->place].machine;
    struct event event = {.now = world->now,
                          .kind = item->event,
                          .peer = item->peer,
                          .channel = item->channel,
                          .payload = item->payload,
                          .job = item->job};
    char line[TRANSCRIPT_BYTES];

    if (item->event == EVENT_MESSAGE)
        event.msg = &item->msg;
    count_step(world);
    if (world->config.hooks.line) {
        (void)transcript_event(&event, line, sizeof line);
        tell_line(world, machine->name, line);
    }
    machine->step(machine->self, &event, &world->effects);
    tell_effects(world, &event, item->place);
    take_effects(world, item->place);
    effects_clear(&world->effects);
    judge(world, item->place);
    world_set_wake(world, item->place);
}

static void close_late(void *context, struct world *world)
{
    struct connection *connection = context;

    if (connection->open[END_NODE])
        star_close(world, connection, END_NODE);
}

static void close_later(struct world *world, struct connection *connection)
{
    struct item *item = item_new(world, ITEM_SCRIPTED, PLACE_HUB);

    item->act = close_late;
    item->context = item->connection = connection_hold(connection);
    item_put(world, world->now + GOODBYE, item);
}

/* A node that has said goodbye leaves the star; what it has learnt stays. The
 * control connection goes first, so that nothing overtakes its goodbye. */
static void after_end(struct world *world, unsigned place)
{
    struct star_node *node;

    if (place == PLACE_HUB || is_trainer(place))
        return;
    node = &world->nodes[node_of_place(place)];
    if (!node_ended(node->node))
        return;
    if (node->up[CHANNEL_BULK])
        close_later(world, node->up[CHANNEL_BULK]);
    if (node->up[CHANNEL_CONTROL])
        star_close(world, node->up[CHANNEL_CONTROL], END_NODE);
    node->up[CHANNEL_CONTROL] = node->up[CHANNEL_BULK] = NULL;
}

static bool carries(const struct world *world, unsigned node)
{
    return !world->nodes[node].silent && !world->nodes[node].dead;
}

/* Whether the item must wait; then it does. */
static bool is_held(struct world *world, struct item *item)
{
    struct place *place = &world->places[item->place];

    if (item->connection && !item->arrived &&
        !carries(world, item->connection->node)) {
        waiting_add(&world->nodes[item->connection->node].held, item);
        return true;
    }
    item->arrived = true;
    if (!place->frozen)
        return false;
    waiting_add(&place->held, item);
    return true;
}

/* Whether the event reaches its machine. */
static bool is_true(struct world *world, struct item *item)
{
    struct place *place = &world->places[item->place];

    if (item->event == EVENT_WAKE) {
        if (item->sent != place->wake)
            return false;
        place->wake = -1;
    }
    return !item->connection || star_deliver(world, item);
}

/* All that happens to the item's machine now. */
static void happen(struct world *world, struct item *item)
{
    struct place *place = &world->places[item->place];

    if (place->machine.self && place->life == item->life) {
        if (is_held(world, item))
            return;
        if (item->kind == ITEM_CONNECT) {
            star_connect(world, item);
        } else if (is_true(world, item)) {
            take_step(world, item);
            after_end(world, item->place);
        }
    }
    item_free(world, item);
}

void world_release(struct world *world, struct waiting *waiting)
{
    struct item *item = waiting->first;

    waiting->first = NULL;
    while (item) {
        struct item *next = item->next;

        happen(world, item);
        item = next;
    }
}

void world_release_link(struct world *world, unsigned node)
{
    if (carries(world, node))
        world_release(world, &world->nodes[node].held);
}

static void happen_due(struct world *world, struct item *item)
{
    switch (item->kind) {
    case ITEM_SCRIPTED:
        item->act(item->context, world);
        break;
    case ITEM_TRACE:
        links_change(world, item);
        if (item->place != PLACE_HUB)
            world_release_link(world, node_of_place(item->place));
        break;
    case ITEM_EVENT:
    case ITEM_CONNECT:
        happen(world, item);
        return;
    }
    item_free(world, item);
}

/* The port that has something to do before all else, ENDS: neither. */
static enum end first_port(const struct world *world)
{
    const struct queue_entry none = {.at = NEVER};
    const struct queue_entry *first =
        world->queue.count ? world->queue.heap : &none;
    enum end port = ENDS;

    for (int end = 0; end < ENDS; end++)
        if (queue_before(&world->through[end], first)) {
            first = &world->through[end];
            port = (enum end)end;
        }
    return port;
}

/* Lets the next thing happen; false: it is later than `until`. */
static bool happen_next(struct world *world, nanos until)
{
    enum end port = first_port(world);

    if (port != ENDS) {
        if (world->through[port].at > until)
            return false;
        world->now = world->through[port].at;
        wire_deliver(world, port);
        return true;
    }
    if (queue_next(&world->queue) > until)
        return false;
    happen_due(world, queue_pop(&world->queue, &world->now));
    return true;
}

bool world_run_until(struct world *world, nanos until,
                     bool (*enough)(void *context, struct world *world),
                     void *context)
{
    while (happen_next(world, until)) {
        if (world->broken[0])
            return false;
        if (enough && enough(context, world))
            return true;
    }
    world->now = until;
    return !enough;
}

bool world_run(struct world *world, nanos until)
{
    return world_run_until(world, until, NULL, NULL);
}
