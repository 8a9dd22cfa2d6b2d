#include "node/held.h"

#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"
#include "node/work.h"

/* More results than any hub owes at once, whatever room it says there is. */
enum { MOST_ARRIVALS = NODE_MAX_FLIGHT + 2 };

/* Whether results of this session may be changes. */
static bool is_kept(const struct node *node)
{
    return node->welcome.codec_down != CODEC_RAW;
}

/* Whether what this result brings is held. */
static bool is_held(const struct node *node, const struct msg_result *result)
{
    return is_kept(node) || verb_is_kept((enum verb)result->verb);
}

static struct held *held_of(struct node *node, uint32_t chunk)
{
    if (!node->held)
        node->held = need_memory(node->chunks, sizeof *node->held);
    return &node->held[chunk];
}

/* ---- what waits for its turn ---- */

/* What it takes of the window. */
static uint64_t bytes_of(const struct arrival *arrival)
{
    return arrival->payload && !arrival->known ? arrival->payload->wire_bytes
                                               : 0;
}

static struct arrival *arrival_first(struct node *node, struct held *held)
{
    struct arrival *first = held->first;

    held->first = first->next;
    if (!held->first)
        held->last = NULL;
    node->arrived_bytes -= bytes_of(first);
    held->waiting--;
    return first;
}

void arrival_free(struct arrival *arrival)
{
    blob_unref(&arrival->payload);
    free(arrival);
}

static struct arrival *arrival_new(const struct msg_result *result,
                                   struct blob *payload)
{
    struct arrival *arrival = need_memory(1, sizeof *arrival);

    arrival->result = *result;
    arrival->payload = blob_ref(payload);
    arrival->change = result->base != result->version;
    return arrival;
}

void held_forget(struct node *node)
{
    for (uint32_t i = 0; node->held && i < node->chunks; i++) {
        struct held *held = &node->held[i];

        while (held->first)
            arrival_free(arrival_first(node, held));
        blob_unref(&held->values);
        blob_unref(&held->tested);
    }
    free(node->held);
    node->held = NULL;
    node->held_since = node->next_job;
}

bool held_awaits(const struct node *node, uint32_t chunk, uint64_t first,
                 uint64_t last)
{
    const struct arrival *arrival = node->held ? node->held[chunk].first : NULL;

    while (arrival && (arrival->review || arrival->result.version < first ||
                       arrival->result.version > last))
        arrival = arrival->next;
    return arrival != NULL;
}

/* ---- its turn ---- */

/* The first one's values, if nothing is to be worked out for them. */
static struct blob *values_at_once(const struct node *node,
                                   const struct held *held)
{
    const struct arrival *arrival = held->first;

    if (!arrival->payload && !arrival->review)
        return held->tested_checksum == arrival->result.checksum ? held->tested
                                                                 : NULL;
    if (!arrival->payload)
        return held->values;
    return arrival->change || arrival->result.codec != CODEC_RAW ||
                   (is_kept(node) && !arrival->review)
               ? NULL
               : arrival->payload;
}

/* Starts to decode the first one. */
static void decode(struct node *node, struct held *held)
{
    const struct arrival *arrival = held->first;
    struct job *job =
        job_new(&work_decode, node->pool, arrival->change ? 2 : 1);

    held->busy = true;
    if (arrival->change)
        job->in[0] = (struct input){blob_ref(held->values), 1, CODEC_RAW};
    job->in[job->inputs - 1] =
        (struct input){blob_ref(arrival->payload), 1, arrival->result.codec};
    job->extent = node_extent(node, arrival->result.chunk);
    job->tag[1] = arrival->result.chunk;
    job->tag[2] = arrival->result.checksum;
    node_job(node, job);
}

static void hold(const struct node *node, struct held *held,
                 const struct arrival *arrival, struct blob *values)
{
    blob_unref(&held->tested);
    if (arrival->review) {
        held->tested = blob_ref(values);
        held->tested_checksum = arrival->result.checksum;
        return;
    }
    blob_unref(&held->values);
    if (is_held(node, &arrival->result))
        held->values = blob_ref(values);
}

/* The first one is these values, with this checksum: it is over. */
static struct arrival *finish(struct node *node, struct held *held,
                              struct blob *values, uint64_t checksum)
{
    struct arrival *arrival = arrival_first(node, held);

    (void)blob_ref(values);
    if (!arrival->known)
        node_credit(node, arrival->result.exchange, arrival->payload);
    arrival->result.codec = CODEC_RAW;
    arrival->result.checksum = checksum;
    hold(node, held, arrival, values);
    blob_unref(&arrival->payload);
    arrival->payload = values;
    return arrival;
}

struct arrival *held_next(struct node *node, uint32_t chunk)
{
    struct held *held = held_of(node, chunk);
    struct blob *values;

    if (!held->first || held->busy || !node->bulk_up)
        return NULL;
    values = values_at_once(node, held);
    if (values)
        return finish(node, held, values, held->first->result.checksum);
    if (held->first->payload)
        decode(node, held);
    else
        node_drop(node, "what comes is of values that this node has not");
    return NULL;
}

struct arrival *held_decoded(struct node *node, struct job *job)
{
    uint32_t chunk = (uint32_t)job->tag[1];
    struct held *held;

    if (!node->held || job->id <= node->held_since)
        return NULL;
    held = &node->held[chunk];
    held->busy = false;
    if (job->status != STATUS_OK ||
        (held->first->known && held->first->values != job->out[0]->checksum)) {
        node_drop_failed(node, job, "a result was damaged on its way");
        return NULL;
    }
    return finish(node, held, job->out[0], job->out[0]->checksum);
}

/* ---- it comes ---- */

static void take(struct node *node, struct arrival *arrival)
{
    struct held *held = held_of(node, arrival->result.chunk);

    if (node->arrived_bytes >= node->welcome.window ||
        held->waiting == MOST_ARRIVALS) {
        node_drop(node, "the hub sends more results than there is room "
                        "for");
        arrival_free(arrival);
        return;
    }
    if (held->last)
        held->last->next = arrival;
    else
        held->first = arrival;
    held->last = arrival;
    held->waiting++;
    node->arrived_bytes += bytes_of(arrival);
    if (!arrival->review) {
        held->any = is_held(node, &arrival->result);
        held->version = arrival->result.version;
    }
}

/* Whether it is of what is held, and changes may come; if not, the hub is
 * dropped. */
static bool is_followed(struct node *node, const struct msg_result *result,
                        bool may_change)
{
    const struct held *held = held_of(node, result->chunk);

    if (result->base == result->version ||
        (may_change && held->any && held->version == result->base))
        return true;
    node_drop(node, "a result is a change of what this node has not");
    return false;
}

/* Whether it is as long as the chunk, where it is raw. */
static bool is_long(const struct node *node, uint32_t chunk,
                    enum codec_id codec, const struct blob *payload)
{
    return codec != CODEC_RAW ||
           payload->size == node_chunk_length(node, chunk) * sizeof(float);
}

void held_takes(struct node *node, const struct msg_result *result,
                struct blob *payload)
{
    if (!is_followed(node, result, is_kept(node)))
        return;
    if (!is_kept(node) &&
        !is_long(node, result->chunk, (enum codec_id)result->codec, payload))
        node_credit(node, result->exchange, payload);
    else
        take(node, arrival_new(result, payload));
}

void held_takes_known(struct node *node, const struct msg_result *result,
                      struct blob *gave, enum codec_id codec)
{
    struct arrival *arrival;

    if (!is_followed(node, result, true))
        return;
    arrival = arrival_new(result, NULL);
    if (arrival->change && !gave) {
        held_of(node, result->chunk)->any = false;
        arrival_free(arrival);
        return;
    }
    if (arrival->change) {
        arrival->payload = blob_ref(gave);
        arrival->known = true;
        arrival->values = result->checksum;
        arrival->result.codec = codec;
        arrival->result.checksum = gave->checksum;
    }
    take(node, arrival);
}

void held_takes_review(struct node *node, const struct msg_review *msg,
                       struct blob *payload)
{
    const struct msg_result result = {.chunk = msg->chunk,
                                      .codec = (uint32_t)msg->codec,
                                      .checksum = msg->checksum};
    struct arrival *arrival;

    if (msg->codec < 0 || msg->codec >= CODEC_COUNT ||
        ((msg->change || !payload) && !held_of(node, msg->chunk)->any)) {
        node_drop(node, "a review is of what this node has not");
        return;
    }
    if (payload &&
        !is_long(node, msg->chunk, (enum codec_id)msg->codec, payload)) {
        node_credit(node, 0, payload);
        return;
    }
    arrival = arrival_new(&result, payload);
    arrival->review = msg->review;
    arrival->change = msg->change && payload;
    take(node, arrival);
}
