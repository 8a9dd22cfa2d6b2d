/* From a connection to membership and back: HELLO, PING, the end. */
#include <stdio.h>

#include "node/state.h"
#include "node/work.h"

#define HELLO_AGAIN (3 * SECOND)

/* A goodbye overtakes results, which come on the other connection: so long they
 * are waited for. The hub's own connections linger as long. */
#define PART_PATIENCE (2 * SECOND)

/* A hub of the later life that a node knows is looked for so long: it may be
 * gone for good with its disk. */
#define LATER_WAIT (5 * SECOND)

/* A trainer is not held up for longer by one exchange, whatever a hub wants:
 * the most that --wait takes. */
#define WAIT_MOST (600 * SECOND)

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
    msg.schedule.wait =
        welcome->wait < WAIT_MOST ? welcome->wait : WAIT_MOST;
    msg.schedule.shard = node->view.shard;
    msg.schedule.shards = node->view.shards;
    msg.schedule.optimizer = welcome->optimizer;
    msg.schedule.anchor = welcome->anchor;
    msg.schedule.fragments = node_fragments(node, welcome->exchange);
    msg.schedule.chunk_elements = node->chunk_elements;
    node_to_trainer(node, &msg, NULL);
}

/* What it keeps may be of a run whose parameters it is still to take. */
static uint64_t run_of(const struct node *node)
{
    return keep_hello(node) ? node->keep.run : node->run;
}

static void hello(struct node *node, bool named)
{
    struct msg msg = {.kind = MSG_HELLO};

    if (!node->started || !node->control_up || node->ended ||
        node->now < node->hello_after)
        return;
    msg.hello.protocol_min = PROTOCOL_MIN;
    msg.hello.protocol_max = PROTOCOL_MAX;
    msg.hello.node_high = node->config.uuid_high;
    msg.hello.node_low = node->config.uuid_low;
    msg.hello.incarnation = node->config.incarnation;
    msg.hello.run = run_of(node);
    if (named)
        msg.hello.lineage = node->lineage;
    if (named && node->run == msg.hello.run)
        msg.hello.base_version = node->base_version;
    if (node->keep.run == msg.hello.run) {
        msg.hello.epoch = node->keep.epoch;
        msg.hello.kept = keep_hello(node);
        msg.hello.kept_life = (uint32_t)epoch_life(node->keep.whole.epoch);
        msg.hello.kept_chunk = node->chunk_elements;
    }
    msg.hello.iteration = node->progress.iteration;
    msg.hello.schema = node->config.schema->hash;
    msg.hello.down = node->config.down;
    (void)snprintf(msg.hello.name, sizeof msg.hello.name, "%s", node->name);
    node_to_hub(node, &msg, node->schema_text);
    node->hello_at = node->now;
    node->named = named;
    node->promises.former = flights_offered(node);
}

void joining_hello(struct node *node)
{
    hello(node, !node->diverged);
}

void joining_hello_to_take(struct node *node)
{
    hello(node, false);
}

void joining_begins(struct node *node, struct blob *vector)
{
    struct job *job;

    if (node->initial || node->reference || !vector)
        return;
    node->initial = blob_ref(vector);
    job = job_new(&work_seal, node->pool, 1);
    job->in[0].blob = blob_ref(vector);
    node_job(node, job);
}

void joining_attach(struct node *node)
{
    struct msg msg = {.kind = MSG_ATTACH};

    msg.attach.session = node->welcome.session;
    node_to_hub(node, &msg, NULL);
}

/* The bulk connection is there after the other one: what has been granted
 * meanwhile may go. */
static void attach_late(struct node *node)
{
    joining_attach(node);
    keep_announce(node);
    node->send_at = node->now;
    flights_advance(node);
}

void joining_connect(struct node *node, peer_id peer)
{
    if (peer == PEER_CONTROL) {
        node->control_up = true;
        node->heard = node->now;
        node->unsettled = true;
        promises_doubt(node);
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
    taking_breaks(node);
    joining_schedule(node);
    parting_detached(node, why);
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

void joining_send_on(struct node *node)
{
    if (!node->superseded) {
        node->superseded = node->now;
        effects_note(node->out, NOTE_SUPERSEDED, node->name,
                     "this hub is of an earlier life of the run than this "
                     "node knows: for 5 s the later one is looked for");
    } else if (node->now - node->superseded >= LATER_WAIT) {
        node->superseded = node->now;
        effects_note(node->out, NOTE_SUPERSEDED, node->name,
                     "no hub of the later life was found: that is given up, "
                     "and what this hub lacks is offered again");
        keep_give_up(node);
    }
    joining_drop(node, farewell_words[FAREWELL_SUPERSEDED].doc);
}

void node_on_view(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    (void)payload;
    if (msg->view.shards && msg->view.shard >= msg->view.shards) {
        joining_drop(node, "the hub names a part of the data that is none");
        return;
    }
    node->view = msg->view;
    keep_told(node, msg->view.epoch);
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
    node_hub_is_at(node, msg->pong.version);
    if (msg->pong.sent <= node->answered || msg->pong.sent > node->now)
        return;
    node->answered = msg->pong.sent;
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
    if (bye->farewell == FAREWELL_SUPERSEDED) {
        joining_send_on(node);
        return;
    }
    (void)snprintf(node->goodbye, sizeof node->goodbye, "%s",
                   bye->text[0] ? bye->text
                                : farewell_words[bye->farewell].doc);
    if (bye->farewell == FAREWELL_DONE)
        node->part_at = node->now + PART_PATIENCE;
    else
        node_end(node, true, bye->farewell, node->goodbye);
}

void joining_part(struct node *node)
{
    if (node->part_at && (flights_judged(node) || !node->bulk_up ||
                          node->now >= node->part_at))
        node_end(node, false, FAREWELL_DONE, node->goodbye);
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
