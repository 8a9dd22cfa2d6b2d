#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/state.h"
#include "node/work.h"

/* What a message does, by where it comes from. What is absent is ignored from
 * the hub, whose newer releases may say more. */
typedef void handler(struct node *node, const struct msg *msg,
                     struct blob *payload);

static void node_on_progress(struct node *node, const struct msg *msg,
                            struct blob *payload);

enum { PEERS = PEER_BULK + 1 };

static handler *const handlers[PEERS][MSG_KINDS] = {
    [PEER_TRAINER] = {[MSG_SNAPSHOT] = node_on_snapshot,
                      [MSG_APPLIED] = node_on_applied,
                      [MSG_CUT] = node_on_cut,
                      [MSG_PROGRESS] = node_on_progress,
                      [MSG_IDLE] = node_on_idle,
                      [MSG_FINISH] = node_on_finish,
                      [MSG_EXAMINED] = node_on_examined},
    [PEER_CONTROL] = {[MSG_WELCOME] = node_on_welcome,
                      [MSG_VIEW] = node_on_view,
                      [MSG_TUNE] = node_on_tune,
                      [MSG_GRANT] = node_on_grant,
                      [MSG_CREDIT] = node_on_credit,
                      [MSG_VERDICT] = node_on_verdict,
                      [MSG_PONG] = node_on_pong,
                      [MSG_STOP] = node_on_stop,
                      [MSG_BYE] = node_on_bye,
                      [MSG_TASK] = node_on_task},
    [PEER_BULK] = {[MSG_RESULT] = node_on_result,
                   [MSG_KEEP] = node_on_keep,
                   [MSG_SAVING] = node_on_saving,
                   [MSG_REVIEW] = node_on_review},
};

void node_destroy(struct node **reference)
{
    struct node *node = *reference;

    *reference = NULL;
    if (!node)
        return;
    review_free(node);
    held_forget(node);
    keep_free(node);
    promises_forget(node);
    flights_drop(node);
    flight_destroy(node, &node->founding);
    taking_ends(node);
    for (uint32_t i = 0; i < node->chunks; i++) {
        sum_free(&node->reference[i]);
        sum_free(&node->residual[i]);
    }
    free(node->reference);
    free(node->residual);
    blob_unref(&node->initial);
    blob_unref(&node->last);
    blob_unref(&node->schema_text);
    exempt_destroy(&node->exempt);
    free(node);
}

struct node *node_new(const struct node_config *config, struct pool *pool)
{
    struct node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->config = *config;
    node->pool = pool;
    (void)snprintf(node->name, sizeof node->name, "%.39s", config->name);
    node->schema_text = blob_new(pool, SCHEMA_MAX_TEXT_BYTES);
    node->exempt = exempt_new(config->schema);
    if (!node->schema_text || !node->exempt) {
        node_destroy(&node);
        return NULL;
    }
    node->schema_text->size =
        schema_print(config->schema, (char *)node->schema_text->bytes,
                     SCHEMA_MAX_TEXT_BYTES);
    node->schema_text->wire_bytes = node->schema_text->size;
    node->send_at = node->spread_at = NEVER;
    node->progress.loss = NO_SCORE;
    node->progress.accuracy = -1;
    return node;
}

void node_job(struct node *node, struct job *job)
{
    job->id = ++node->next_job;
    effects_job(node->out, job);
}

void node_to_hub(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    bool bulk = msg_info(msg->kind)->channel == CHANNEL_BULK;

    if (bulk ? node->bulk_up : node->control_up)
        effects_send(node->out, bulk ? PEER_BULK : PEER_CONTROL, msg,
                     payload);
}

void node_to_trainer(struct node *node, const struct msg *msg,
                     struct blob *payload)
{
    effects_send(node->out, PEER_TRAINER, msg, payload);
}

size_t node_chunk_length(const struct node *node, uint32_t chunk)
{
    return chunk_length(node->config.schema->elements, node->chunk_elements,
                        chunk);
}

struct extent node_extent(const struct node *node, uint32_t chunk)
{
    struct extent extent =
        extent_of(node->exempt, node->config.schema->elements,
                  node->chunk_elements, chunk);

    extent.scale = node->config.scale;
    return extent;
}

void node_hub_is_at(struct node *node, uint64_t version)
{
    if (version > node->hub_version)
        node->hub_version = version;
}

uint32_t node_fragments(const struct node *node, enum exchange kind)
{
    uint32_t fragments = node->welcome.fragments;

    if (kind == EXCHANGE_GRADIENT || fragments < 2)
        return 1;
    return fragments < node->chunks ? fragments : node->chunks;
}

void node_end(struct node *node, bool refused, enum farewell farewell,
              const char *text)
{
    struct msg msg = {.kind = MSG_ENDED};

    if (node->ended)
        return;
    node->ended = true;
    node->hub = HUB_OVER;
    msg.ended.refused = refused;
    msg.ended.farewell = farewell;
    msg.ended.final = 1;
    (void)snprintf(msg.ended.text, sizeof msg.ended.text, "%s", text);
    node_to_trainer(node, &msg, NULL);
    effects_note(node->out, refused ? NOTE_REFUSED : NOTE_ENDED, node->name,
                 "%s", text);
}

/* The rate is the trainer's own speed: without what it waited for results,
 * which would make all nodes of a run in step look equally fast. It is taken
 * over at least half a second of work, so that it stays calm. */
static void measure_rate(struct node *node)
{
    const struct msg_progress *progress = &node->progress;
    nanos span = node->now - node->rate_time -
                 (progress->waited - node->rate_waited);

    if (node->rate_time && (span < NODE_TICK ||
                            progress->iteration <= node->rate_iteration))
        return;
    if (node->rate_time)
        node->rate = (double)(progress->iteration - node->rate_iteration) *
                     (double)SECOND / (double)span;
    node->rate_time = node->now;
    node->rate_iteration = progress->iteration;
    node->rate_waited = progress->waited;
}

static void node_on_progress(struct node *node, const struct msg *msg,
                            struct blob *payload)
{
    (void)payload;
    node->progress = msg->progress;
    measure_rate(node);
}

static void on_message(struct node *node, const struct event *event)
{
    enum msg_kind kind = event->msg->kind;
    handler *handle = NULL;

    if (event->peer < PEERS)
        handle = handlers[event->peer][kind];
    if (event->peer != PEER_TRAINER)
        node->heard = node->now;
    if (handle)
        handle(node, event->msg, event->payload);
}

static void on_done(struct node *node, struct job *job)
{
    if (job->work == &work_seal) {
        node->lineage = job->in[0].blob->checksum | 1;
        node->started = true;
        joining_hello(node);
    } else if (job->work == &work_delta) {
        flight_formed(node, job);
    } else if (job->work == &work_correct) {
        result_corrected(node, job);
    } else if (job->work == &work_decode) {
        held_decoded(node, job);
    } else if (job->work == &work_fold) {
        promises_folded(node, job);
    } else if (job->work == &work_gather) {
        review_gathered(node, job);
    }
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct node *node = self;

    node->now = event->now;
    node->out = out;
    switch (event->kind) {
    case EVENT_JOIN:
        if (!node->part_at)
            joining_connect(node, event->peer);
        break;
    case EVENT_LEAVE:
        if (!node->part_at)
            joining_disconnect(node, event->peer, "the connection is lost");
        else if (event->peer == PEER_BULK)
            node->part_at = node->now;
        break;
    case EVENT_MESSAGE:
        on_message(node, event);
        break;
    case EVENT_DONE:
        on_done(node, event->job);
        break;
    case EVENT_WAKE:
    case EVENT_KINDS:
        break;
    }
    if (node->now >= node->next_tick && !node->ended) {
        node->next_tick = node->now + NODE_TICK;
        if (!node->part_at)
            joining_tick(node);
    }
    parting_advance(node);
    flights_begin(node);
    flights_advance(node);
    tasks_sweep(node);
    flights_sweep(node);
    joining_part(node);
    node->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct node *node = self;
    nanos next = node->next_tick;

    if (node->ended)
        return NEVER;
    if (node->part_at && node->part_at < next)
        next = node->part_at;
    next = node->send_at < next ? node->send_at : next;
    return node->spread_at < next ? node->spread_at : next;
}

struct machine node_machine(struct node *node)
{
    return (struct machine){node, node->name, step, deadline};
}

bool node_ended(const struct node *node)
{
    return node->ended;
}

bool node_gives(const struct node *node)
{
    const struct flight *flight = node->flights;

    while (flight && flight->stage != FLIGHT_GRANTED)
        flight = flight->next;
    return flight && node->leaving && node->hub == HUB_MEMBER && !node->ended;
}

void node_look(const struct node *node, struct node_view *view)
{
    memset(view, 0, sizeof *view);
    view->attached = node->hub == HUB_MEMBER;
    view->version = node->base_version;
    view->round_trip = node->round_trip;
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        view->in_flight++;
    (void)snprintf(view->state, sizeof view->state, "%s",
                   node->ended          ? "the run is over"
                   : view->attached     ? start_words[node->start].doc
                   : node->control_up   ? "training; waiting for the hub's "
                                          "welcome"
                                        : "training alone; looking for the "
                                          "hub");
}

const char *node_check(const struct node *node)
{
    const char *broken = keep_check(node);
    unsigned flights = 0;

    if (!broken)
        broken = promises_check(node);
    for (const struct flight *flight = node->flights; flight && !broken;
         flight = flight->next) {
        flights++;
        if (flight->judged > flight->parts)
            return "a chunk was judged twice";
        if (flight->next && flight->next->snapshot.exchange <=
                                flight->snapshot.exchange)
            return "flights are out of order";
    }
    if (!broken && flights > NODE_MAX_FLIGHT + (unsigned)node->leaving)
        broken = "too many exchanges in flight";
    return broken;
}
