/* An offer that is being made: the snapshot, what is to be given, OFFER. */
#include <math.h>

#include "node/state.h"
#include "node/work.h"

static void delta_start(struct node *node, uint64_t exchange, uint32_t chunk,
                        struct job *job)
{
    job->extent = node_extent(node, chunk);
    job->tag[0] = exchange;
    job->tag[1] = chunk;
    job->number[1] = (double)node->welcome.session;
    node_job(node, job);
}

/* u = x - r, and r = x_sent = x. Parameters are offered as they are; r becomes
 * x_sent only if they are merged. So are gradients; then x has not moved on its
 * own, so x_sent = r. */
static void form_chunk(struct node *node, struct flight *flight,
                       uint32_t chunk, struct blob *values)
{
    struct sum *reference = &node->reference[chunk];
    enum exchange kind = flight->snapshot.kind;
    bool delta = kind == EXCHANGE_DELTA;
    struct job *job = job_new(&work_delta, node->pool,
                              1 + (delta ? reference->count : 0));
    size_t before = chunk / flight->part.stride; /* chunks in `values` */
    struct blob *slice = blob_slice(
        values, before * node->chunk_elements * sizeof(float),
        node_chunk_length(node, chunk) * sizeof(float));

    job->in[0] = (struct input){blob_ref(slice), 1, CODEC_RAW};
    if (delta)
        (void)sum_into(reference, -1, job, 1);
    if (delta)
        sum_set(reference, slice);
    if (kind == EXCHANGE_PARAMETERS)
        sum_set(&flight->chunks[chunk].sent, slice);
    else
        sum_copy(&flight->chunks[chunk].sent, reference);
    blob_unref(&slice);
    delta_start(node, flight->snapshot.exchange, chunk, job);
}

/* The starting parameters: their hash is the lineage. */
static void take_initial(struct node *node, struct blob *vector)
{
    struct job *job;

    if (node->initial || node->reference || !vector)
        return;
    node->initial = blob_ref(vector);
    job = job_new(&work_seal, node->pool, 1);
    job->in[0].blob = blob_ref(vector);
    node_job(node, job);
}

static void leave_at_once(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = FAREWELL_LEAVING;
    if (node->hub == HUB_MEMBER)
        node_to_hub(node, &bye, NULL);
    node_end(node, false, FAREWELL_LEAVING, "left the run");
}

/* What the trainer has skipped counts until it is judged. */
static unsigned flights_count(const struct node *node)
{
    unsigned count = 0;

    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        count++;
    return count;
}

/* Whether it is what the node was told to ask for, which the trainer may not
 * have heard of yet. */
static bool is_current(const struct node *node,
                       const struct msg_snapshot *snapshot,
                       const struct blob *values)
{
    uint32_t fragments = node_fragments(node, snapshot->kind);
    struct fragment part = fragment_of(snapshot->fragment, fragments);

    return node->hub == HUB_MEMBER && node->start == START_GO &&
           snapshot->fragments == fragments && values &&
           part.first < part.stride &&
           values->size == sizeof(float) *
                               fragment_elements(
                                   part, node->config.schema->elements,
                                   node->chunk_elements);
}

void node_on_snapshot(struct node *node, const struct msg *msg,
                     struct blob *payload)
{
    const struct msg_snapshot *snapshot = &msg->snapshot;
    bool wanted = is_current(node, snapshot, payload) &&
                  flights_count(node) < NODE_MAX_FLIGHT;
    struct flight **end = &node->flights;
    struct msg forget = {.kind = MSG_FORGET};

    if (snapshot->exchange == 0 && !snapshot->last) {
        take_initial(node, payload);
        return;
    }
    node->leaving |= snapshot->last;
    if (!wanted) {
        forget.forget.first = forget.forget.last = snapshot->exchange;
        node_to_trainer(node, &forget, NULL);
        if (snapshot->last && !node->ended)
            leave_at_once(node);
        return;
    }
    while (*end)
        end = &(*end)->next;
    *end = flight_new(node, snapshot);
    for (uint32_t i = (*end)->part.first; i < node->chunks;
         i += (*end)->part.stride)
        form_chunk(node, *end, i, payload);
}

/* The parameters went bad: nothing is sent; the hub's are taken instead. */
static void diverge(struct node *node)
{
    node->diverged = true;
    effects_note(node->out, NOTE_DECLINED, node->name,
                 "its parameters hold NaN or infinity; taking the hub's");
    joining_hello(node);
}

static void offer(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_OFFER};
    const struct msg_snapshot *snapshot = &flight->snapshot;

    if (flight->broken || flight->obsolete || node->hub != HUB_MEMBER ||
        node->start != START_GO) {
        flight_judge_rest(node, flight, VERDICT_LOST);
        flight_forget(node, flight);
        if (flight->broken && !flight->obsolete)
            diverge(node);
        return;
    }
    flight->stage = FLIGHT_OFFERED;
    msg.offer.exchange = snapshot->exchange;
    msg.offer.iteration = snapshot->iteration;
    msg.offer.base_version = flight->base_version;
    msg.offer.samples = snapshot->samples;
    msg.offer.score = snapshot->score;
    msg.offer.norm = sqrt(flight->squares);
    msg.offer.last = snapshot->last;
    msg.offer.kind = snapshot->kind;
    msg.offer.fragment = snapshot->fragment;
    msg.offer.lineage = flight->lineage;
    node_to_hub(node, &msg, NULL);
}

/* A run cannot begin with such parameters: somebody else must found it. */
static void refuse_to_found(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = FAREWELL_LEAVING;
    node_to_hub(node, &bye, NULL);
    node_end(node, true, FAREWELL_SCHEMA,
             "the first parameters hold NaN or infinity");
}

void flight_formed(struct node *node, struct job *job)
{
    struct flight *flight = job->tag[0] ? flight_find(node, job->tag[0])
                                        : node->founding;

    if (!flight || flight->chunks[job->tag[1]].encoded ||
        (!job->tag[0] && job->number[1] != (double)node->welcome.session))
        return;
    if (job->status == STATUS_OK) {
        flight->chunks[job->tag[1]].encoded = blob_ref(job->out[0]);
        flight->squares += job->number[0];
    } else {
        flight->broken = true;
    }
    if (++flight->forming < flight->parts)
        return;
    if (job->tag[0])
        offer(node, flight);
    else if (flight->broken)
        refuse_to_found(node);
    else
        flight_send(node, flight);
}

void flights_found(struct node *node)
{
    struct msg_snapshot nothing = {0};

    flight_destroy(node, &node->founding);
    node->founding = flight_new(node, &nothing);
    for (uint32_t i = 0; i < node->chunks; i++) {
        struct sum *reference = &node->reference[i];
        struct job *job =
            job_new(&work_delta, node->pool, reference->count);

        (void)sum_into(reference, 1, job, 0);
        delta_start(node, 0, i, job);
    }
}
