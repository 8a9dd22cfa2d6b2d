/* From a connection to membership and back: HELLO, WELCOME, what to do first,
 * PING, the end. */
#include <stdio.h>
#include <stdlib.h>

#include "node/state.h"

#define HELLO_AGAIN (3 * SECOND)

void joining_schedule(struct node *node)
{
    const struct msg_welcome *welcome = &node->welcome;
    struct msg msg = {.kind = MSG_SCHEDULE};

    msg.schedule.attached = node->hub == HUB_MEMBER;
    msg.schedule.offering = msg.schedule.attached && node->start == START_GO;
    msg.schedule.exchange = welcome->exchange;
    msg.schedule.every = welcome->every;
    msg.schedule.delay = welcome->delay;
    msg.schedule.miss = welcome->miss;
    msg.schedule.wait = welcome->wait;
    msg.schedule.shard = node->view.shard;
    msg.schedule.shards = node->view.shards;
    msg.schedule.optimizer = welcome->optimizer;
    msg.schedule.anchor = welcome->anchor;
    msg.schedule.fragments = node_fragments(node, welcome->exchange);
    msg.schedule.chunk_elements = node->chunk_elements;
    node_to_trainer(node, &msg, NULL);
}

void joining_hello(struct node *node)
{
    struct msg msg = {.kind = MSG_HELLO};

    if (!node->started || !node->control_up || node->ended)
        return;
    msg.hello.protocol_min = PROTOCOL_MIN;
    msg.hello.protocol_max = PROTOCOL_MAX;
    msg.hello.node_high = node->config.uuid_high;
    msg.hello.node_low = node->config.uuid_low;
    msg.hello.incarnation = node->config.incarnation;
    if (!node->diverged) {
        msg.hello.run = node->run;
        msg.hello.lineage = node->lineage;
        msg.hello.base_version = node->base_version;
    }
    msg.hello.iteration = node->progress.iteration;
    msg.hello.schema = node->config.schema->hash;
    msg.hello.down = node->config.down;
    (void)snprintf(msg.hello.name, sizeof msg.hello.name, "%s", node->name);
    node_to_hub(node, &msg, node->schema_text);
    node->hello_at = node->now;
}

static void attach(struct node *node)
{
    struct msg msg = {.kind = MSG_ATTACH};

    msg.attach.session = node->welcome.session;
    node_to_hub(node, &msg, NULL);
}

/* The bulk connection is there after the other one: what has been granted
 * meanwhile may go. */
static void attach_late(struct node *node)
{
    attach(node);
    node->send_at = node->now;
    flights_advance(node);
}

void joining_connect(struct node *node, peer_id peer)
{
    if (peer == PEER_CONTROL) {
        node->control_up = true;
        node->heard = node->now;
        joining_hello(node);
    } else if (peer == PEER_BULK) {
        node->bulk_up = true;
        if (node->hub == HUB_MEMBER)
            attach_late(node);
    }
}

/* The hub is gone: what is in flight has an unknown fate until it is back. */
static void detach(struct node *node, const char *why)
{
    if (node->hub != HUB_MEMBER)
        return;
    node->hub = HUB_AWAY;
    effects_note(node->out, NOTE_DETACHED, node->name,
                 "%s; training goes on alone", why);
    for (struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (!flight->complete)
            flight_forget(node, flight);
    flight_destroy(node, &node->founding);
    if (node->taking && !node->taking->complete)
        flight_destroy(node, &node->taking);
    joining_schedule(node);
    if (node->stopping || node->leaving)
        node_end(node, false, FAREWELL_LEAVING, why);
}

void joining_disconnect(struct node *node, peer_id peer, const char *why)
{
    if (peer == PEER_CONTROL)
        node->control_up = false;
    if (peer == PEER_BULK) {
        node->bulk_up = false;
        held_forget(node);
    }
    detach(node, why);
}

void joining_drop(struct node *node, const char *why)
{
    effects_drop(node->out, PEER_CONTROL);
    effects_drop(node->out, PEER_BULK);
    node->control_up = node->bulk_up = false;
    held_forget(node);
    detach(node, why);
}

/* Cuts the reference into chunks of the hub's size. False when it is cut
 * already and to another size. */
static bool cut_reference(struct node *node, uint32_t chunk_elements)
{
    uint64_t elements = node->config.schema->elements;

    if (node->reference)
        return node->chunk_elements == chunk_elements;
    node->chunk_elements = chunk_elements;
    node->chunks = chunks_of(elements, chunk_elements);
    node->reference = calloc(node->chunks, sizeof *node->reference);
    node->residual = calloc(node->chunks, sizeof *node->residual);
    if (!node->reference || !node->residual)
        abort();
    for (uint32_t i = 0; i < node->chunks; i++) {
        struct blob *slice = blob_slice(
            node->initial, (size_t)i * chunk_elements * sizeof(float),
            node_chunk_length(node, i) * sizeof(float));

        sum_set(&node->reference[i], slice);
        blob_unref(&slice);
    }
    blob_unref(&node->initial);
    bucket_init(&node->up, node->config.up,
                (uint64_t)chunk_elements * sizeof(float), node->now);
    return true;
}

void joining_settled(struct node *node)
{
    node->run = node->welcome.run;
    node->start = START_GO;
    node->diverged = false;
}

/* Asks for the hub's parameters, which come on the other connection. */
static void take_start(struct node *node)
{
    const struct msg_snapshot nothing = {0};
    const struct msg forget = {.kind = MSG_FORGET};
    const struct msg ready = {.kind = MSG_CREDIT};

    node_to_trainer(node, &forget, NULL);
    tasks_fail(node);
    flights_drop(node);
    flight_destroy(node, &node->taking);
    node->taking = flight_new(node, &nothing);
    node_to_hub(node, &ready, NULL);
}

/* Begins what WELCOME says must come first. */
static void begin_start(struct node *node)
{
    switch ((enum start)node->welcome.start) {
    case START_GO:
        flight_destroy(node, &node->founding);
        if (node->run != node->welcome.run ||
            node->base_version > node->welcome.version)
            node->base_version = node->welcome.version;
        joining_settled(node);
        break;
    case START_TAKE:
        take_start(node);
        break;
    case START_FOUND:
        flights_found(node);
        break;
    case START_HOLD:
    case START_GIVE:
    case START_COUNT:
        break;
    }
}

void node_on_welcome(struct node *node, const struct msg *msg,
                    struct blob *payload)
{
    const struct msg_welcome *welcome = &msg->welcome;
    bool fresh = node->hub != HUB_MEMBER ||
                 welcome->session != node->welcome.session;

    (void)payload;
    if (!node->started || node->hub == HUB_OVER || !welcome->every ||
        !welcome->window ||
        !chunks_fit(node->config.schema->elements, welcome->chunk_elements))
        return;
    if (welcome->protocol < PROTOCOL_MIN || welcome->protocol > PROTOCOL_MAX) {
        node_end(node, true, FAREWELL_VERSION,
                 "the hub wants another protocol than this node speaks: "
                 "install the same release on both");
        return;
    }
    if (!cut_reference(node, welcome->chunk_elements)) {
        node_end(node, true, FAREWELL_SCHEMA,
                 "the hub cuts the model otherwise than before: start it "
                 "with the same --chunk, or start this node anew");
        return;
    }
    if (fresh) {
        tasks_forget(node);
        review_drop(node);
        flights_lost(node, welcome->run == node->run ? welcome->merged : 0);
    }
    node->welcome = *welcome;
    node->hub = HUB_MEMBER;
    node->start = welcome->start;
    begin_start(node);
    if (fresh) {
        effects_note(node->out, NOTE_ATTACHED, node->name,
                     "run %016llx, version %llu: %s",
                     (unsigned long long)welcome->run,
                     (unsigned long long)welcome->version,
                     start_words[welcome->start].doc);
        attach(node);
    }
    joining_schedule(node);
}

void node_on_view(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    (void)payload;
    node->view = msg->view;
    if (node->hub == HUB_MEMBER)
        joining_schedule(node);
}

void node_on_tune(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    (void)payload;
    if (node->hub != HUB_MEMBER || !msg->tune.every)
        return;
    node->welcome.every = msg->tune.every;
    node->welcome.exchange = msg->tune.exchange;
    node->welcome.fragments = msg->tune.fragments;
    joining_schedule(node);
}

void node_on_pong(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    (void)payload;
    if (msg->pong.sent <= node->now)
        node->round_trip = node->now - msg->pong.sent;
}

void node_on_stop(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    struct msg ended = {.kind = MSG_ENDED};

    (void)payload;
    node->stopping = true;
    ended.ended.farewell = FAREWELL_DONE;
    (void)snprintf(ended.ended.text, sizeof ended.ended.text, "%s",
                   msg->stop.reason);
    node_to_trainer(node, &ended, NULL);
}

void node_on_bye(struct node *node, const struct msg *msg,
                struct blob *payload)
{
    const struct msg_bye *bye = &msg->bye;

    (void)payload;
    if (bye->farewell == FAREWELL_STRANGER) {
        detach(node, "the hub was started again");
        if (node->now - node->hello_at >= HELLO_AGAIN / 12)
            joining_hello(node);
        return;
    }
    node_end(node, bye->farewell != FAREWELL_DONE, bye->farewell,
             bye->text[0] ? bye->text : farewell_words[bye->farewell].doc);
}

static enum activity activity_of(const struct node *node)
{
    const struct flight *flight = node->flights;

    if (node->progress.blocked)
        return ACTIVITY_WAIT_RESULT;
    if (node->start != START_GO)
        return ACTIVITY_JOINING;
    if (!flight)
        return ACTIVITY_TRAIN;
    if (node->progress.iteration >
        flight->snapshot.iteration + node->welcome.delay)
        return ACTIVITY_LAGGING;
    if (flight->stage == FLIGHT_OFFERED)
        return ACTIVITY_WAIT_GRANT;
    return flight->stage == FLIGHT_GRANTED && flight->to_send < flight->parts
               ? ACTIVITY_SENDING
               : ACTIVITY_TRAIN;
}

static void ping(struct node *node)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.sent = node->now;
    msg.ping.round_trip = node->round_trip;
    msg.ping.iteration = node->progress.iteration;
    msg.ping.rate = node->rate;
    msg.ping.loss = node->progress.loss;
    msg.ping.accuracy = node->progress.accuracy;
    msg.ping.missed = node->progress.missed;
    msg.ping.waited = node->progress.waited;
    msg.ping.activity = activity_of(node);
    node_to_hub(node, &msg, NULL);
}

void joining_tick(struct node *node)
{
    nanos patience = node->hub == HUB_MEMBER ? HUB_SILENT : HUB_DEAF;

    if (node->control_up && node->now - node->heard >= patience) {
        joining_drop(node, "the hub is silent");
        return;
    }
    tasks_ask(node);
    if (node->hub == HUB_MEMBER)
        ping(node);
    else if (node->now - node->hello_at >= HELLO_AGAIN)
        joining_hello(node);
}
