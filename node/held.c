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

bool held_decodes(const struct node *node, const struct msg_result *result)
{
    return is_kept(node) || result->codec != CODEC_RAW ||
           result->base != result->version;
}

static struct arrival *arrival_first(struct node *node, struct held *held)
{
    struct arrival *first = held->first;

    held->first = first->next;
    if (!held->first)
        held->last = NULL;
    node->arrived_bytes -= first->payload->wire_bytes;
    held->waiting--;
    return first;
}

void arrival_free(struct arrival *arrival)
{
    blob_unref(&arrival->payload);
    free(arrival);
}

void held_forget(struct node *node)
{
    for (uint32_t i = 0; node->held && i < node->chunks; i++) {
        struct held *held = &node->held[i];

        while (held->first)
            arrival_free(arrival_first(node, held));
        blob_unref(&held->values);
    }
    free(node->held);
    node->held = NULL;
    node->held_since = node->next_job;
}

/* Decodes the chunk's oldest arrival. */
static void decode_next(struct node *node, uint32_t chunk)
{
    struct held *held = &node->held[chunk];
    const struct arrival *arrival = held->first;
    bool change = arrival && arrival->result.base != arrival->result.version;
    struct job *job;

    if (!arrival || held->busy)
        return;
    held->busy = true;
    job = job_new(&work_decode, node->pool, change ? 2 : 1);
    if (change)
        job->in[0] = (struct input){blob_ref(held->values), 1, CODEC_RAW};
    job->in[job->inputs - 1] =
        (struct input){blob_ref(arrival->payload), 1, arrival->result.codec};
    job->extent = node_extent(node, chunk);
    job->tag[1] = chunk;
    job->tag[2] = arrival->result.checksum;
    node_job(node, job);
}

static void arrival_add(struct node *node, struct held *held,
                        const struct msg_result *result, struct blob *payload)
{
    struct arrival *arrival = need_memory(1, sizeof *arrival);
    arrival->result = *result;
    arrival->payload = blob_ref(payload);
    if (held->last)
        held->last->next = arrival;
    else
        held->first = arrival;
    held->last = arrival;
    held->waiting++;
    held->any = is_kept(node);
    held->version = result->version;
    node->arrived_bytes += payload->wire_bytes;
}

void held_arrives(struct node *node, const struct msg_result *result,
                  struct blob *payload)
{
    struct held *held;

    if (!node->held)
        node->held = need_memory(node->chunks, sizeof *node->held);
    held = &node->held[result->chunk];
    if (result->base != result->version &&
        !(held->any && held->version == result->base)) {
        node_drop(node, "a result is a change of what this node has not");
        return;
    }
    if (node->arrived_bytes >= node->welcome.window ||
        held->waiting == MOST_ARRIVALS) {
        node_drop(node, "the hub sends more results than there is room "
                        "for");
        return;
    }
    arrival_add(node, held, result, payload);
    decode_next(node, result->chunk);
}

struct arrival *held_decoded(struct node *node, struct job *job)
{
    uint32_t chunk = (uint32_t)job->tag[1];
    struct held *held;
    struct arrival *arrival;

    if (!node->held || job->id <= node->held_since)
        return NULL;
    if (job->status != STATUS_OK) {
        node_drop(node, "a result was damaged on its way");
        return NULL;
    }
    held = &node->held[chunk];
    held->busy = false;
    arrival = arrival_first(node, held);
    blob_unref(&held->values);
    if (held->any)
        held->values = blob_ref(job->out[0]);
    decode_next(node, chunk);
    arrival->result.codec = CODEC_RAW;
    arrival->result.checksum = job->out[0]->checksum;
    return arrival;
}

bool held_awaits(const struct node *node, uint32_t chunk, uint64_t first,
                 uint64_t last)
{
    const struct arrival *arrival = node->held ? node->held[chunk].first : NULL;

    while (arrival &&
           (arrival->result.version < first || arrival->result.version > last))
        arrival = arrival->next;
    return arrival != NULL;
}
