#include "node/node.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/state.h"
#include "node/work.h"

/* A stage is run a few times in a step, and for each exchange that is over. */
enum { STAGE_RUNS = 16 * (NODE_MAX_FLIGHT + 1) };

static handler node_on_local_ping, node_on_local_offer;

enum { PEERS = PEER_BULK + 1 };

/* What a message does, by where it comes from. What is absent is ignored from
 * the hub, whose newer releases may say more. */
static handler *const handlers[PEERS][MSG_KINDS] = {
    [PEER_TRAINER] = {[MSG_LOCAL_OFFER] = node_on_local_offer,
                      [MSG_APPLIED] = node_on_applied,
                      [MSG_LOCAL_CLOSE] = node_on_local_close,
                      [MSG_LOCAL_PING] = node_on_local_ping,
                      [MSG_LOCAL_LOG] = node_on_local_log,
                      [MSG_LOCAL_ROOM] = node_on_local_room,
                      [MSG_LOCAL_REPORT] = node_on_local_report,
                      [MSG_LOCAL_REVIEWED] = node_on_local_reviewed},
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
    flight_destroy(node, &node->initial_upload);
    download_ends(node);
    for (uint32_t i = 0; i < node->chunks; i++) {
        sum_free(&node->reference[i]);
        sum_free(&node->residual[i]);
    }
    free(node->tasks.done);
    free(node->reference);
    free(node->residual);
    free(node->merged);
    blob_unref(&node->initial);
    blob_unref(&node->last);
    blob_unref(&node->schema_text);
    exempt_destroy(&node->exempt);
    node_log_free(&node->log);
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

/* The rate is the trainer's own speed: without what it waited for results,
 * which would make all nodes of a run in step look equally fast. It is taken
 * over at least half a second of work, so that it stays calm. */
static void measure_rate(struct node *node)
{
    const struct msg_local_ping *progress = &node->progress;
    nanos span =
        node->now - node->rate_time - (progress->waited - node->rate_waited);

    if (node->rate_time &&
        (span < NODE_TICK || progress->iteration <= node->rate_iteration))
        return;
    if (node->rate_time)
        node->rate = (double)(progress->iteration - node->rate_iteration) *
                     (double)SECOND / (double)span;
    node->rate_time = node->now;
    node->rate_iteration = progress->iteration;
    node->rate_waited = progress->waited;
}

static void node_on_local_ping(struct node *node, const struct event *event)
{
    node->progress = event->msg->local_ping;
    measure_rate(node);
}

/* The starting parameters: their hash is the lineage. */
static void begin(struct node *node, struct blob *vector)
{
    struct job *job;

    if (node->initial || node->reference || !vector)
        return;
    node->initial = blob_ref(vector);
    job = job_new(&work_seal, node->pool, 1);
    job->in[0].blob = blob_ref(vector);
    node_job(node, job);
}

static void begun(struct node *node, struct job *job)
{
    node->lineage = job->in[0].blob->checksum | 1;
    node->started = true;
    node->dirty |= DIRTY_HELLO;
}

/* The first ones, the last offer, which a second one ends, or any other. */
static void node_on_local_offer(struct node *node, const struct event *event)
{
    const struct msg_local_offer *offer = &event->msg->local_offer;

    if (offer->exchange == 0 && !offer->last) {
        begin(node, event->payload);
        return;
    }
    if (node->leave && offer->last) {
        parting_at_once(node);
        return;
    }
    if (offer->exchange > node->newest)
        node->newest = offer->exchange;
    if (offer->last)
        parting_begins(node, offer, event->payload);
    flights_start(node, offer, event->payload);
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
        handle(node, event);
}

/* What the end of a job does. */
static const struct {
    const struct work *work;
    void (*done)(struct node *node, struct job *job);
} ends[] = {
    {&work_seal, begun},
    {&work_delta, flight_formed},
    {&work_decode, arrival_decoded},
    {&work_correct, result_corrected},
    {&work_fold, promises_folded},
    {&work_gather, review_gathered},
};

static void on_done(struct node *node, struct job *job)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (job->work == ends[i].work)
            ends[i].done(node, job);
}

/* ---- the settle pass ---- */

static const struct {
    enum dirty dirty;
    void (*settle)(struct node *node);
} stages[] = {
    {DIRTY_SPOILED, joining_spoiled}, {DIRTY_HUB, joining_settle},
    {DIRTY_HELLO, joining_hello},     {DIRTY_RESULTS, results_settle},
    {DIRTY_OFFERS, offers_settle},    {DIRTY_CHUNKS, flights_settle},
    {DIRTY_OVER, flights_sweep},      {DIRTY_PROMISES, promises_trim},
    {DIRTY_PARTING, parting_settle},  {DIRTY_SCHEDULE, joining_schedule},
};

/* Runs the first stage that has something to do until none has: the hub before
 * all that asks for it, results before the offers that they change, and whether
 * the node leaves once all else is settled. */
static void settle(struct node *node)
{
    for (unsigned runs = 0; node->dirty; runs++) {
        unsigned i = 0;

        assert(runs < STAGE_RUNS);
        while (!(node->dirty & stages[i].dirty))
            i++;
        node->dirty &= ~(unsigned)stages[i].dirty;
        stages[i].settle(node);
    }
}

static void on_event(struct node *node, const struct event *event)
{
    switch (event->kind) {
    case EVENT_JOIN:
        if (!node->part_at)
            joining_connect(node, event->peer);
        break;
    case EVENT_LEAVE:
        if (!node->part_at)
            joining_disconnect(node, event->peer);
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
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct node *node = self;

    node->now = event->now;
    node->out = out;
    on_event(node, event);
    if (node->now >= node->next_tick && node->hub != HUB_OVER) {
        node->next_tick = node->now + NODE_TICK;
        if (!node->part_at)
            joining_tick(node);
    }
    if (node->send_at <= node->now || node->spread_at <= node->now)
        node->dirty |= DIRTY_CHUNKS;
    if (node->leave || node->part_at)
        node->dirty |= DIRTY_PARTING;
    settle(node);
    node->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct node *node = self;
    nanos next = node->next_tick;

    if (node->hub == HUB_OVER)
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
    return node->hub == HUB_OVER;
}

bool node_gives(const struct node *node)
{
    const struct flight *flight = node->flights;

    while (flight && flight->stage != FLIGHT_GRANTED)
        flight = flight->next;
    return flight && node->leave && node->hub == HUB_MEMBER;
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
                   node->hub == HUB_OVER ? "the run is over"
                   : view->attached      ? start_words[node->start].doc
                   : node->control_up    ? "training; waiting for the hub's "
                                           "welcome"
                                         : "training alone; looking for the "
                                           "hub");
}

struct node_run node_run(const struct node *node)
{
    return (struct node_run){node->hub_samples, node->hub_version,
                             node->view.members};
}

const char *node_check(const struct node *node)
{
    const char *broken = keep_check(node);
    unsigned flights = 0;

    if (!broken)
        broken = promises_check(node);
    if (!broken && node->dirty)
        broken = "something is left to be settled after a step";
    for (const struct flight *flight = node->flights; flight && !broken;
         flight = flight->next) {
        flights++;
        if (flight->judged > flight->parts)
            return "a chunk was judged twice";
        if (flight->next &&
            flight->next->offer.exchange <= flight->offer.exchange)
            return "flights are out of order";
    }
    if (!broken && flights > NODE_MAX_FLIGHT + (node->leave != LEAVE_NOT))
        broken = "too many exchanges in flight";
    return broken;
}
