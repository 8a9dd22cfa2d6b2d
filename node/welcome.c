/* WELCOME: whether the node can live by it, what the hub has of what the node
 * has given, and what is to be done first. */
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"

/* A hub that cuts a run otherwise than it is cut is not asked before. */
#define MISCUT_WAIT (3 * SECOND)

/* Cuts the reference into chunks of the run's size. */
static void cut_reference(struct node *node, const struct msg_welcome *welcome)
{
    uint64_t elements = node->config.schema->elements;
    uint32_t chunk_elements = welcome->chunk_elements;

    node->cut_run = welcome->run;
    node->chunk_elements = chunk_elements;
    node->chunks = chunks_of(elements, chunk_elements);
    node->reference = need_memory(node->chunks, sizeof *node->reference);
    node->residual = need_memory(node->chunks, sizeof *node->residual);
    node->merged = need_memory(node->chunks, sizeof *node->merged);
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
}

/* The reference as one. */
static void join_reference(struct node *node)
{
    size_t bytes = (size_t)node->config.schema->elements * sizeof(float);
    double values[CODEC_GRAIN];

    node->initial = blob_need(node->pool, bytes);
    for (uint32_t i = 0; i < node->chunks; i++) {
        struct extent extent = node_extent(node, i);
        float *to =
            blob_floats(node->initial) + (size_t)i * node->chunk_elements;

        for (size_t at = 0; at < extent.elements; at += CODEC_GRAIN) {
            size_t left = extent.elements - at;
            size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

            sum_read(&node->reference[i], &extent, at, count, values);
            for (size_t j = 0; j < count; j++)
                to[at + j] = (float)values[j];
        }
        sum_free(&node->reference[i]);
        sum_free(&node->residual[i]);
    }
}

/* Another run is cut otherwise: so is the node, as one that is new, but for
 * what it has learnt. False while something is under way that is cut as before.
 */
static bool cut_anew(struct node *node)
{
    flights_sweep(node);
    if (node->flights)
        return false;
    flight_destroy(node, &node->initial_upload);
    download_ends(node);
    keep_free(node);
    promises_forget(node);
    held_forget(node);
    review_free(node);
    join_reference(node);
    free(node->reference);
    free(node->residual);
    free(node->merged);
    cut_reference(node, &node->welcome);
    keep_enter(node);
    return true;
}

/* Founds the hub's centre: with r, or, if asked to give, with what is kept. */
static void found(struct node *node)
{
    struct msg_local_offer nothing = {0};

    flight_destroy(node, &node->initial_upload);
    node->initial_upload = flight_new(node, &nothing);
    node->dirty |= DIRTY_OFFERS;
}
/* What is kept, as the hub asks for it. */
static void give(struct node *node)
{
    if (node->keep.whole.manifest)
        found(node);
    else
        node_drop(node, "the hub asks for a centre, and this node keeps "
                        "none");
}

/* Begins what WELCOME says must come first. */
static void begin_start(struct node *node, bool fresh)
{
    keep_founded(node, !fresh && node->welcome.start == START_GO);
    flight_destroy(node, &node->initial_upload);
    switch ((enum start)node->welcome.start) {
    case START_GO:
        if (node->run != node->welcome.run ||
            node->base_version > node->welcome.version)
            node->base_version = node->welcome.version;
        node_starts(node);
        break;
    case START_TAKE:
        download_begins(node, fresh);
        break;
    case START_FOUND:
        found(node);
        break;
    case START_GIVE:
        give(node);
        break;
    case START_HOLD:
    case START_COUNT:
        break;
    }
}

/* What is on its way to a hub of another run counts as merged there. */
static void leave_flights(struct node *node)
{
    for (struct flight *flight = node->flights; flight; flight = flight->next) {
        if (flight->stage != FLIGHT_GRANTED)
            continue;
        flight_set_other_verdicts(node, flight, VERDICT_MERGED);
        if (flight->result == RESULT_COMING)
            flight_forget(node, flight);
    }
}

/* Nobody says any more what became of what was on its way to a hub of another
 * run. Who founds this one may have been sent it, so that it would count twice
 * if it were given here. */
static void leave_run(struct node *node)
{
    if (!node->keep.run || node->keep.run == node->welcome.run)
        return;
    if (node->unreconciled)
        leave_flights(node);
    promises_leave(node);
}

/* Puts back into r what has no verdict: what was in flight when the hub went,
 * up to `merged`, which it had merged. */
static void lose_flights(struct node *node, uint64_t merged)
{
    for (struct flight *flight = node->flights; flight; flight = flight->next) {
        if (flight->stage < FLIGHT_OFFERED)
            continue;
        flight_set_other_verdicts(
            node, flight,
            flight->offer.exchange <= merged ? VERDICT_MERGED : VERDICT_LOST);
        if (flight->result == RESULT_COMING)
            flight_forget(node, flight);
    }
}

/* The hub goes on from a centre, or has one founded: what it has of this node's
 * exchanges is known. While it still looks for its centre, it is not. */
static void settle(struct node *node)
{
    const struct msg_welcome *welcome = &node->welcome;

    if (welcome->start == START_HOLD || welcome->start == START_GIVE)
        return;
    node->superseded = 0;
    leave_run(node);
    keep_enter(node);
    if (node->unreconciled)
        lose_flights(node, welcome->run == node->run ? welcome->merged : 0);
    node->unreconciled = false;
    if (welcome->start != START_TAKE) /* else once its parameters are taken */
        promises_reconcile(node, welcome->merged);
}

/* Whether a later life of the hub has been there. */
static bool is_superseded(const struct node *node,
                          const struct msg_welcome *welcome)
{
    return welcome->run == node->keep.run && welcome->start != START_HOLD &&
           welcome->start != START_GIVE &&
           epoch_life(welcome->epoch) < epoch_life(node->keep.epoch);
}

/* It was asked for, and the node can live by it. */
static bool welcome_fits(const struct node *node,
                         const struct msg_welcome *welcome)
{
    return welcome->every && welcome->window && welcome->wait >= 0 &&
           welcome->anchor >= 0 && welcome->anchor <= 1 &&
           chunks_fit(node->config.schema->elements, welcome->chunk_elements);
}

/* It has dropped what was under way, to take this run's parameters: a break
 * came before that, and the hub does not know. */
static bool must_take(const struct node *node,
                      const struct msg_welcome *welcome)
{
    return welcome->start == START_GO && welcome->run == node->takes &&
           node->named;
}

/* In another session than before. */
static void begin_session(struct node *node, const struct msg_welcome *welcome)
{
    tasks_suspend(node);
    review_drop(node);
    node->unreconciled = true;
    node->hub_version = 0;
    if (welcome->run != node->welcome.run)
        node->hub_samples = 0;
    if (node->leave == LEAVE_GIVEN &&
        (welcome->run != node->run || welcome->merged < node->parting.exchange))
        node->leave = LEAVE_WANTED;
}

/* Else that is the end: nothing that comes later would fit either. */
static bool can_follow(struct node *node, const struct msg_welcome *welcome)
{
    if (welcome->protocol < PROTOCOL_MIN || welcome->protocol > PROTOCOL_MAX) {
        node_end(node, true, FAREWELL_VERSION,
                 "the hub wants another protocol than this node speaks: "
                 "install the same release on both");
        return false;
    }
    if (!node->reference)
        cut_reference(node, welcome);
    return true;
}

/* While the hub looks for its centre, it is not known how that is cut. */
static bool is_cut_otherwise(const struct node *node)
{
    const struct msg_welcome *welcome = &node->welcome;

    return node->chunk_elements != welcome->chunk_elements &&
           welcome->start != START_HOLD && welcome->start != START_GIVE;
}

/* A run is cut for good: there is something wrong with a hub that says
 * otherwise. */
static bool is_miscut(struct node *node)
{
    if (!is_cut_otherwise(node) || node->cut_run != node->welcome.run)
        return false;
    node->hello_after = node->now + MISCUT_WAIT;
    node_drop(node, "the hub cuts this run into other chunks than it has, "
                    "which no hub of the run does: it is left, and asked "
                    "again in 3 s");
    return true;
}

/* Whether the node is cut as the run is, from now on. */
static bool is_cut_alike(struct node *node)
{
    if (!is_cut_otherwise(node) || cut_anew(node))
        return true;
    node->hello_after = node->now + SECOND;
    node_drop(node, "another run is cut into other chunks; the hub is asked "
                    "again when what is under way is through");
    return false;
}

/* A hub that has lost its run may yet get another number, from its nodes. */
static bool is_run_sure(const struct msg_welcome *welcome)
{
    return welcome->start == START_GO || welcome->start == START_TAKE;
}

static void note_attached(struct node *node)
{
    const struct msg_welcome *welcome = &node->welcome;
    const char *doc = start_words[welcome->start].doc;

    if (is_run_sure(welcome))
        effects_note(node->out, NOTE_ATTACHED, node->name,
                     "run %016llx, version %llu: %s",
                     (unsigned long long)welcome->run,
                     (unsigned long long)welcome->version, doc);
    else
        effects_note(node->out, NOTE_ATTACHED, node->name, "%s", doc);
}

static void welcomed(struct node *node, bool fresh)
{
    if (fresh) {
        note_attached(node);
        joining_attach(node);
    }
    keep_announce(node);
    tasks_ask(node);
    node->dirty |= DIRTY_SCHEDULE;
}

void node_on_welcome(struct node *node, const struct event *event)
{
    const struct msg_welcome *welcome = &event->msg->welcome;
    bool fresh =
        node->hub != HUB_MEMBER || welcome->session != node->welcome.session;

    if (!node->started || node->hub == HUB_OVER)
        return;
    if (!welcome_fits(node, welcome)) {
        node_drop(node, "the hub's settings make no sense");
        return;
    }
    if (is_superseded(node, welcome)) {
        joining_send_on(node);
        return;
    }
    if (!can_follow(node, welcome))
        return;
    if (must_take(node, welcome)) {
        joining_hello_to_take(node);
        return;
    }
    if (fresh)
        begin_session(node, welcome);
    if (!is_run_sure(welcome))
        tasks_suspend(node); /* the centre that it finds may know other tasks */
    node->stopping &= !fresh; /* a hub that ends the run says so again */
    node->welcome = *welcome;
    node_hub_is_at(node, welcome->version);
    node->hub = HUB_MEMBER;
    node->start = welcome->start;
    if (is_miscut(node))
        return;
    settle(node);
    if (!is_cut_alike(node))
        return;
    begin_start(node, fresh);
    if (node->hub == HUB_MEMBER)
        welcomed(node, fresh);
}
