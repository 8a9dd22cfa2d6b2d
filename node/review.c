#include "node/review.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "node/state.h"
#include "node/work.h"

void review_drop(struct node *node)
{
    struct node_review *review = &node->review;

    for (uint32_t i = 0; review->chunks && i < node->chunks; i++)
        blob_unref(&review->chunks[i]);
    review->arrived = 0;
    review->review = 0;
    review->number++;
}

void review_free(struct node *node)
{
    struct node_review *review = &node->review;

    review_drop(node);
    free(review->chunks);
    free(review->checksums);
    review->chunks = NULL;
    review->checksums = NULL;
}

static void answer(struct node *node, const struct msg_local_reviewed *examined)
{
    struct msg msg = {.kind = MSG_REVIEWED};

    if (node->hub != HUB_MEMBER)
        return;
    msg.reviewed.review = node->review.review;
    msg.reviewed.made = examined->made;
    msg.reviewed.loss = isfinite(examined->loss) ? examined->loss : NO_SCORE;
    msg.reviewed.error = isfinite(examined->error) ? examined->error : 0;
    node_to_hub(node, &msg, NULL);
}

static void begin(struct node *node, uint64_t number)
{
    const struct msg_local_reviewed cannot = {.made = 0};
    struct node_review *review = &node->review;

    review_drop(node);
    review->review = number;
    if (!node->config.reviews) {
        answer(node, &cannot);
        return;
    }
    if (review->chunks)
        return;
    review->chunks = need_memory(node->chunks, sizeof(struct blob *));
    review->checksums = need_memory(node->chunks, sizeof *review->checksums);
}

/* Puts the chunks end to end, off the machine's thread. */
static void gather(struct node *node)
{
    struct node_review *review = &node->review;
    struct job *job = job_new(&work_gather, node->pool, 1 + node->chunks);
    size_t bytes = node->chunks * sizeof *review->checksums;

    job->in[0].blob = blob_need(node->pool, bytes);
    memcpy(job->in[0].blob->bytes, review->checksums, bytes);
    for (uint32_t i = 0; i < node->chunks; i++) {
        job->in[1 + i].blob = review->chunks[i];
        review->chunks[i] = NULL;
    }
    job->extent.elements = (size_t)node->config.schema->elements;
    job->tag[0] = review->number;
    node_job(node, job);
}

void review_arrived(struct node *node, uint64_t number, uint32_t chunk,
                    uint64_t checksum, struct blob *values)
{
    struct node_review *review = &node->review;

    if (number != review->review)
        begin(node, number);
    if (!node->config.reviews || review->arrived == node->chunks ||
        review->chunks[chunk])
        return;
    review->chunks[chunk] = blob_ref(values);
    review->checksums[chunk] = checksum;
    if (++review->arrived == node->chunks)
        gather(node);
}

void review_gathered(struct node *node, struct job *job)
{
    struct msg msg = {.kind = MSG_LOCAL_REVIEW};

    if (job->tag[0] != node->review.number)
        return;
    if (job->status != STATUS_OK) {
        node_drop_failed(node, job,
                         "parameters to evaluate were damaged on their way");
        return;
    }
    msg.local_review.number = node->review.number;
    node_to_trainer(node, &msg, job->out[0]);
}

void node_on_local_reviewed(struct node *node, const struct event *event)
{
    if (event->msg->local_reviewed.number != node->review.number ||
        !node->review.review)
        return;
    answer(node, &event->msg->local_reviewed);
    review_drop(node);
}
