/* From a connection to membership and back: HELLO, PING, the end. Parameters
 * that hold NaN or infinity nobody gets: the node takes the hub's. */
#include <stdio.h>

#include "node/state.h"

/* A hub that hears of parameters that hold NaN or infinity is asked again after
 * so long, and the user told. */
#define SPOILED_WAIT (10 * SECOND)
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
    struct msg msg = {.kind = MSG_LOCAL_TUNE};

    msg.local_tune.attached = node->hub == HUB_MEMBER;
    msg.local_tune.offering =
        msg.local_tune.attached && node->start == START_GO;
    msg.local_tune.shard = node->view.shard;
    msg.local_tune.shards = node->view.shards;
#define FOR_NODE(name)
#define FOR_TRAINER(name) msg.local_tune.name = welcome->name;
#define SETTING(type, name, limit, source, change, reader, doc)                \
    FOR_##reader(name)
#include "codec/settings.def"
#undef SETTING
#undef FOR_NODE
#undef FOR_TRAINER
    if (msg.local_tune.wait > WAIT_MOST)
        msg.local_tune.wait = WAIT_MOST;
    msg.local_tune.fragments = node_fragments(node, welcome->exchange);
    msg.local_tune.chunk_elements = node->chunk_elements;
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

    if (!node->started || !node->control_up || node->hub == HUB_OVER ||
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
    promises_hello(node);
}

void joining_hello(struct node *node)
{
    hello(node, !node->diverged);
}

void joining_hello_to_take(struct node *node)
{
    hello(node, false);
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
    node->dirty |= DIRTY_CHUNKS;
}

void joining_connect(struct node *node, peer_id peer)
{
    if (peer == PEER_CONTROL) {
        node->control_up = true;
        node->heard = node->now;
        node->unreconciled = true;
        promises_doubt(node);
        node->dirty |= DIRTY_HELLO;
    } else if (peer == PEER_BULK) {
        node->bulk_up = true;
        if (node->hub == HUB_MEMBER)
            attach_late(node);
    }
}

void joining_disconnect(struct node *node, peer_id peer)
{
    if (peer == PEER_CONTROL)
        node->control_up = false;
    if (peer == PEER_BULK)
        node->bulk_up = false;
    node_lose(node, "the connection is lost");
}

/* A hub that asks the node to go on, or gives it others that go bad at once, is
 * asked, and the user told, now and then. */
static void spoiled_offer(struct node *node)
{
    node->diverged = true;
    if (node->now < node->hello_after)
        return;
    effects_note(node->out, NOTE_DECLINED, node->name,
                 "its parameters hold NaN or infinity; taking the hub's");
    joining_hello(node);
    node->hello_after = node->now + SPOILED_WAIT;
}

/* A run cannot begin with such parameters: somebody else must found it. */
static void spoiled_source(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    if (node->start == START_GIVE) {
        keep_spoiled(node);
        node_drop(node, "the centre that this node keeps holds NaN or "
                        "infinity");
        return;
    }
    bye.bye.farewell = FAREWELL_LEAVING;
    node_to_hub(node, &bye, NULL);
    if (!node->run) {
        node_end(node, true, FAREWELL_SCHEMA,
                 "the first parameters hold NaN or infinity");
        return;
    }
    node->diverged = true;
    node->hello_after = node->now + SPOILED_WAIT;
    node_drop(node, "the hub wants this node's parameters, and they hold "
                    "NaN or infinity");
}

void joining_spoiled(struct node *node)
{
    if (node->initial_upload && node->initial_upload->broken)
        spoiled_source(node);
    else
        spoiled_offer(node);
}

/* The hub is gone: what is in flight has an unknown fate until it is back. */
static void detach(struct node *node, const char *why)
{
    effects_note(node->out, NOTE_DETACHED, node->name,
                 "%s; training goes on alone", why);
    for (struct flight *flight = node->flights; flight; flight = flight->next)
        if (flight->result == RESULT_COMING)
            flight_forget(node, flight);
    flight_destroy(node, &node->initial_upload);
    download_breaks(node);
    joining_schedule(node);
    parting_detached(node, why);
}

void joining_settle(struct node *node)
{
    const char *why = node->lost;

    node->lost = NULL;
    if (!node->bulk_up)
        held_forget(node);
    if (why)
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
    node_drop(node, farewell_words[FAREWELL_SUPERSEDED].doc);
}

void node_on_view(struct node *node, const struct event *event)
{
    const struct msg_view *view = &event->msg->view;

    if (view->shards && view->shard >= view->shards) {
        node_drop(node, "the hub names a part of the data that is none");
        return;
    }
    node->view = *view;
    keep_told(node, view->epoch);
    if (node->hub == HUB_MEMBER)
        node->dirty |= DIRTY_SCHEDULE;
}

void node_on_tune(struct node *node, const struct event *event)
{
    const struct msg_tune *tune = &event->msg->tune;

    if (node->hub != HUB_MEMBER || !tune->every)
        return;
#define TAKE_FIXED(name)
#define TAKE_TUNED(name) node->welcome.name = tune->name;
#define SETTING(type, name, limit, source, change, reader, doc)                \
    TAKE_##change(name)
#include "codec/settings.def"
#undef SETTING
#undef TAKE_FIXED
#undef TAKE_TUNED
    node->dirty |= DIRTY_SCHEDULE;
}

void node_on_pong(struct node *node, const struct event *event)
{
    nanos sent = event->msg->pong.sent;

    node_hub_is_at(node, event->msg->pong.version);
    node->hub_samples = event->msg->pong.samples;
    if (sent <= node->answered || sent > node->now)
        return;
    node->answered = sent;
    node->round_trip = node->now - sent;
}

void node_on_stop(struct node *node, const struct event *event)
{
    struct msg ended = {.kind = MSG_LOCAL_BYE};

    if (node->hub == HUB_OVER)
        return;
    node->stopping = true;
    ended.local_bye.farewell = FAREWELL_DONE;
    (void)snprintf(ended.local_bye.text, sizeof ended.local_bye.text, "%s",
                   event->msg->stop.reason);
    node_to_trainer(node, &ended, NULL);
}

void node_on_bye(struct node *node, const struct event *event)
{
    const struct msg_bye *bye = &event->msg->bye;

    if (bye->farewell == FAREWELL_STRANGER) {
        node_lose(node, "the hub was started again");
        if (node->now - node->hello_at >= HELLO_AGAIN / 12)
            node->dirty |= DIRTY_HELLO;
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
        flight->offer.iteration + node->welcome.delay)
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
    msg.ping.results = node->progress.results;
    msg.ping.taken = node->progress.taken;
    msg.ping.exchanging = node->progress.exchanging;
    if (node->welcome.protocol >= PROTOCOL_TOLD) {
        msg.ping.compute = node->progress.compute;
        msg.ping.net_wait = node->progress.net_wait;
        msg.ping.data_wait = node->progress.data_wait;
        msg.ping.optimizer = node->progress.optimizer;
        msg.ping.idle = node->progress.idle;
    }
    node_to_hub(node, &msg, NULL);
}

void joining_tick(struct node *node)
{
    nanos patience = node->hub == HUB_MEMBER ? HUB_SILENT : HUB_DEAF;

    if (node->control_up && node->now - node->heard >= patience) {
        node_drop(node, "the hub is silent");
        return;
    }
    tasks_ask(node);
    if (node->hub == HUB_MEMBER)
        ping(node);
    node_log_tick(node);
    if (node->hub != HUB_MEMBER && node->now - node->hello_at >= HELLO_AGAIN)
        node->dirty |= DIRTY_HELLO;
}
