/* What comes on bulk has its turn (held.h), and then goes on as a result or to
 * a review. */
#include "node/state.h"

static void pass_on(struct node *node, struct arrival *arrival)
{
    const struct msg_result *result = &arrival->result;

    if (arrival->review)
        review_arrived(node, arrival->review, result->chunk, result->checksum,
                       arrival->payload);
    else
        result_arrived(node, result, arrival->payload);
    arrival_free(arrival);
}

static void pass_on_next(struct node *node, uint32_t chunk)
{
    struct arrival *arrival;

    while (chunk < node->chunks && (arrival = held_next(node, chunk)) != NULL)
        pass_on(node, arrival);
}

void arrival_decoded(struct node *node, struct job *job)
{
    struct arrival *arrival = held_decoded(node, job);

    if (!arrival)
        return;
    pass_on(node, arrival);
    pass_on_next(node, (uint32_t)job->tag[1]);
}

/* It comes without its payload. */
static void take_known(struct node *node, const struct msg_result *result)
{
    const struct flight *flight = flight_find(node, result->exchange);

    if (flight && flight->stage >= FLIGHT_OFFERED)
        held_takes_known(node, result, flight->chunks[result->chunk].encoded,
                         flight->codec);
    else
        held_takes_known(node, result, NULL, CODEC_RAW);
}

void node_on_result(struct node *node, const struct event *event)
{
    const struct msg_result *result = &event->msg->result;

    if (result->weight < 0 || result->weight > 1) {
        node_drop(node, "a result has a weight that is none");
        return;
    }
    if (!result->exchange && result->verb != VERB_REPLACE) {
        node_drop(node, "parameters to be taken do not replace");
        return;
    }
    node_hub_is_at(node, result->version);
    if (!result->exchange)
        download_arrives(node, result);
    if (result->chunk >= node->chunks)
        node_credit(node, result->exchange, event->payload);
    else if (event->payload)
        held_takes(node, result, event->payload);
    else
        take_known(node, result);
    pass_on_next(node, result->chunk);
}

void node_on_review(struct node *node, const struct event *event)
{
    const struct msg_review *msg = &event->msg->review;

    if (node->hub == HUB_MEMBER && msg->review && msg->chunk < node->chunks)
        held_takes_review(node, msg, event->payload);
    else
        node_credit(node, 0, event->payload);
    pass_on_next(node, msg->chunk);
}
