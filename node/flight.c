/* An offer on its way: formed, offered, granted, sent, judged. */
#include <math.h>
#include <stdlib.h>

#include "node/state.h"
#include "node/work.h"

struct flight *flight_new(struct node *node,
                          const struct msg_snapshot *snapshot)
{
    struct flight *flight =
        calloc(1, sizeof *flight + node->chunks * sizeof *flight->chunks);

    if (!flight)
        abort();
    flight->snapshot = *snapshot;
    flight->base_version = node->base_version;
    return flight;
}

struct flight *flight_find(struct node *node, uint64_t exchange)
{
    struct flight *flight = node->flights;

    while (flight && flight->snapshot.exchange != exchange)
        flight = flight->next;
    return flight;
}

void flight_destroy(struct node *node, struct flight **reference)
{
    struct flight *flight = *reference;

    *reference = NULL;
    for (uint32_t i = 0; flight && i < node->chunks; i++) {
        blob_unref(&flight->chunks[i].encoded);
        blob_unref(&flight->chunks[i].result);
        blob_unref(&flight->chunks[i].applied);
        sum_free(&flight->chunks[i].sent);
    }
    free(flight);
}

void flight_forget(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_FORGET};

    if (flight->skipped)
        return;
    flight->skipped = true;
    msg.forget.first = msg.forget.last = flight->snapshot.exchange;
    node_to_trainer(node, &msg, NULL);
}

static bool is_gradient(const struct node *node)
{
    return node->welcome.exchange == EXCHANGE_GRADIENT;
}

void flight_judge(struct node *node, struct flight *flight, uint32_t chunk,
                  enum verdict verdict)
{
    struct flight_chunk *place = &flight->chunks[chunk];

    if (place->judged)
        return;
    place->judged = true;
    place->verdict = verdict;
    flight->judged++;
    if (verdict != VERDICT_MERGED && place->encoded && !is_gradient(node))
        sum_add(&node->reference[chunk], place->encoded, -1, CODEC_RAW);
    blob_unref(&place->encoded);
    if (flight->judged == node->chunks)
        flight->stage = FLIGHT_JUDGED;
}

static void flight_judge_rest(struct node *node, struct flight *flight,
                              enum verdict verdict)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        flight_judge(node, flight, i, verdict);
}

void flights_lost(struct node *node, uint64_t merged)
{
    flight_destroy(node, &node->founding);
    for (struct flight *flight = node->flights; flight;
         flight = flight->next) {
        if (flight->stage == FLIGHT_FORMING)
            continue;
        flight_judge_rest(node, flight,
                          flight->snapshot.exchange <= merged
                              ? VERDICT_MERGED
                              : VERDICT_LOST);
        if (!flight->complete)
            flight_forget(node, flight);
    }
}

void flights_drop(struct node *node)
{
    while (node->flights) {
        struct flight *flight = node->flights;

        node->flights = flight->next;
        if (node->out)
            flight_forget(node, flight);
        flight_destroy(node, &flight);
    }
}

/* Whether nothing more can come of it: judged, and the trainer is through. */
static bool is_over(const struct flight *flight)
{
    return flight->stage == FLIGHT_JUDGED &&
           (flight->skipped || flight->snapshot.last);
}

/* The trainer's last offer is judged: say goodbye, unless the hub will. */
static void last_one_done(struct node *node)
{
    struct msg bye = {.kind = MSG_BYE};

    if (node->stopping)
        return;
    bye.bye.farewell = FAREWELL_LEAVING;
    node_to_hub(node, &bye, NULL);
    node_end(node, false, FAREWELL_LEAVING, "left the run");
}

void flights_sweep(struct node *node)
{
    struct flight **link = &node->flights;

    while (*link) {
        struct flight *flight = *link;
        bool last = flight->snapshot.last;

        if (!is_over(flight)) {
            link = &flight->next;
            continue;
        }
        *link = flight->next;
        flight_destroy(node, &flight);
        if (last)
            last_one_done(node);
    }
}

static void delta_start(struct node *node, uint64_t exchange, uint32_t chunk,
                        struct job *job)
{
    job->elements = node_chunk_length(node, chunk);
    job->tag[0] = exchange;
    job->tag[1] = chunk;
    job->number[1] = (double)node->welcome.session;
    node_job(node, job);
}

/* u = x - r, and r = x_sent = x. A gradient is offered as it is; then x has
 * not moved on its own, so x_sent = r. */
static void form_chunk(struct node *node, struct flight *flight,
                       uint32_t chunk, struct blob *vector)
{
    struct sum *reference = &node->reference[chunk];
    bool gradient = is_gradient(node);
    struct job *job = job_new(&work_delta, node->pool,
                              1 + (gradient ? 0 : reference->count));
    struct blob *slice = blob_slice(
        vector, (size_t)chunk * node->chunk_elements * sizeof(float),
        node_chunk_length(node, chunk) * sizeof(float));

    job->in[0] = (struct input){blob_ref(slice), 1, CODEC_RAW};
    if (!gradient) {
        (void)sum_into(reference, -1, job, 1);
        sum_set(reference, slice);
    }
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

void node_on_snapshot(struct node *node, const struct msg *msg,
                     struct blob *payload)
{
    const struct msg_snapshot *snapshot = &msg->snapshot;
    bool wanted = node->hub == HUB_MEMBER && node->start == START_GO &&
                  payload && flights_count(node) < NODE_MAX_FLIGHT;
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
    for (uint32_t i = 0; i < node->chunks; i++)
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

    if (flight->broken || node->hub != HUB_MEMBER ||
        node->start != START_GO) {
        flight_judge_rest(node, flight, VERDICT_LOST);
        flight_forget(node, flight);
        if (flight->broken)
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
    if (++flight->forming < node->chunks)
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

void flight_send(struct node *node, struct flight *flight)
{
    struct msg msg = {.kind = MSG_CHUNK};

    if (!node->bulk_up || flight->forming < node->chunks || flight->broken)
        return;
    while (flight->credit && flight->sent < node->chunks) {
        struct flight_chunk *place = &flight->chunks[flight->sent];

        if (place->encoded) {
            msg.chunk.exchange = flight->snapshot.exchange;
            msg.chunk.chunk = flight->sent;
            msg.chunk.codec = CODEC_RAW;
            msg.chunk.checksum = place->encoded->checksum;
            node_to_hub(node, &msg, place->encoded);
            flight->credit--;
        }
        flight->sent++;
    }
}

static struct flight *flight_granted(struct node *node, uint64_t exchange)
{
    return exchange ? flight_find(node, exchange) : node->founding;
}

void node_on_grant(struct node *node, const struct msg *msg,
                  struct blob *payload)
{
    struct flight *flight = flight_granted(node, msg->grant.exchange);

    (void)payload;
    if (!flight || flight->stage == FLIGHT_JUDGED)
        return;
    if (flight->snapshot.exchange)
        flight->stage = FLIGHT_GRANTED;
    flight->credit += msg->grant.credit;
    flight_send(node, flight);
}

void node_on_credit(struct node *node, const struct msg *msg,
                   struct blob *payload)
{
    struct flight *flight = flight_granted(node, msg->credit.exchange);

    (void)payload;
    if (!flight)
        return;
    flight->credit += msg->credit.chunks;
    flight_send(node, flight);
}

void node_on_verdict(struct node *node, const struct msg *msg,
                    struct blob *payload)
{
    const struct msg_verdict *verdict = &msg->verdict;
    struct flight *flight = flight_find(node, verdict->exchange);
    uint32_t end;

    (void)payload;
    if (!flight || flight->stage == FLIGHT_FORMING ||
        verdict->first >= node->chunks)
        return;
    end = verdict->chunks < node->chunks - verdict->first
              ? verdict->first + verdict->chunks
              : node->chunks;
    for (uint32_t i = verdict->first; i < end; i++)
        flight_judge(node, flight, i, verdict->verdict);
    if (flight->arrived < node->chunks && !flight->complete)
        flight_forget(node, flight);
    results_advance(node);
}
