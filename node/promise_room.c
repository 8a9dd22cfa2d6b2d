/* What is promised keeps to the room that there is: it is added up, or
 * forgotten where that is safe. */
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"
#include "node/work.h"

static uint64_t room(const struct node *node)
{
    uint64_t models = PROMISED_MODELS * sizeof(float) *
                      node->config.schema->elements;

    if (node->config.promised)
        return node->config.promised;
    return models > PROMISED_BYTES ? models : PROMISED_BYTES;
}

/* Whether a centre that may be gone on from has the one and not the next. */
static bool is_between(const struct promises *promises,
                       const struct promise *one)
{
    const uint64_t marks[] = {promises->kept.newest, promises->kept.former,
                              promises->saved.newest, promises->saved.former};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i] >= one->exchange && marks[i] < one->next->first)
            return true;
    return false;
}

/* Of an older exchange something may still be merged. */
static bool is_open(const struct node *node, const struct promise *one)
{
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next)
        if (flight->stage != FLIGHT_JUDGED &&
            flight->snapshot.exchange <= one->exchange)
            return true;
    return false;
}

/* The last of those that can be added up with this one. The newest cannot: it
 * is what a hub that comes back lacks first. */
static const struct promise *group_end(const struct node *node,
                                       const struct promise *first,
                                       uint64_t *bytes, unsigned *count)
{
    *bytes = first->bytes;
    *count = 1;
    while (first->next && first->next->next &&
           first->next->kind == first->kind && !promise_turned(node, first) &&
           !promise_turned(node, first->next) &&
           !is_between(&node->promises, first) && !is_open(node, first->next)) {
        first = first->next;
        *bytes += first->bytes;
        ++*count;
    }
    return first;
}

/* What of a chunk was given from `first` to `last`. */
static struct job *chunk_sum(const struct node *node,
                             const struct promise *first,
                             const struct promise *last, uint32_t chunk)
{
    const struct promise *end = last->next;
    unsigned count = 0;
    struct job *job;

    for (const struct promise *one = first; one != end; one = one->next)
        count += one->chunks[chunk].given.blob != NULL;
    job = job_new(&work_fold, node->pool, count);
    count = 0;
    for (const struct promise *one = first; one != end; one = one->next)
        if (one->chunks[chunk].given.blob) {
            job->in[count] = one->chunks[chunk].given;
            (void)blob_ref(job->in[count++].blob);
        }
    return job;
}

/* It holds what any of them does. */
static void take_over(const struct node *node, struct promise *sum,
                      const struct promise *one)
{
    for (uint32_t i = 0; i < node->chunks; i++)
        if (one->chunks[i].given.blob &&
            one->chunks[i].beside < sum->chunks[i].beside)
            sum->chunks[i].beside = one->chunks[i].beside;
}

/* They are one now, if they still are there. */
static void replace(struct node *node)
{
    struct promises *promises = &node->promises;
    struct folding *folding = &promises->folding;
    struct promise **link = &promises->first, *last, *sum;

    while (*link && (*link)->first != folding->first)
        link = &(*link)->next;
    for (last = *link; last && last->exchange < folding->last;)
        last = last->next;
    if (!last || last->exchange != folding->last || folding->failed)
        return;
    sum = promise_new(node, link, folding->first, folding->last, last->kind);
    for (uint32_t i = 0; i < node->chunks; i++)
        sum->chunks[i].beside = UINT64_MAX;
    while (sum->next && sum->next->exchange <= folding->last) {
        take_over(node, sum, sum->next);
        promise_free(node, &sum->next);
    }
    for (uint32_t i = 0; i < node->chunks; i++) {
        const struct blob *blob = blob_ref(folding->sum[i].blob);

        sum->chunks[i].given = folding->sum[i];
        sum->bytes += blob ? blob->size : 0;
    }
    promises->bytes += sum->bytes;
}

static void folded(struct node *node)
{
    replace(node);
    promises_unfold(node);
}

/* Adds up what they hold of a chunk: a job, unless there is one at most. */
static void fold_chunk(struct node *node, const struct promise *first,
                       const struct promise *last, uint32_t chunk)
{
    struct folding *folding = &node->promises.folding;
    struct job *job = chunk_sum(node, first, last, chunk);

    if (job->inputs < 2) {
        if (job->inputs) {
            folding->sum[chunk] = job->in[0];
            (void)blob_ref(job->in[0].blob);
        }
        job_destroy(&job);
        return;
    }
    job->extent = node_extent(node, chunk);
    job->tag[0] = folding->number;
    job->tag[1] = chunk;
    job->tag[2] = CODEC_RAW;
    folding->left++;
    node_job(node, job);
}

static void fold(struct node *node, const struct promise *first,
                 const struct promise *last)
{
    struct folding *folding = &node->promises.folding;

    folding->first = first->first;
    folding->last = last->exchange;
    folding->failed = false;
    folding->sum = need_memory(node->chunks, sizeof *folding->sum);
    for (uint32_t i = 0; i < node->chunks; i++)
        fold_chunk(node, first, last, i);
    if (!folding->left)
        folded(node);
}

/* Adds up the oldest that are many, or make less together. */
static bool fold_some(struct node *node)
{
    uint64_t model = sizeof(float) * node->config.schema->elements, bytes;
    const struct promise *last;
    unsigned count;

    for (const struct promise *one = node->promises.first; one;
         one = last->next) {
        last = group_end(node, one, &bytes, &count);
        if (bytes <= model && count <= PROMISED_COUNT / 4)
            continue;
        if (count < 2)
            continue;
        fold(node, one, last);
        return true;
    }
    return false;
}

static bool is_full(const struct node *node)
{
    return node->promises.bytes > room(node) ||
           node->promises.count > PROMISED_COUNT;
}

/* Room for what is in the version that this node keeps: a model's worth. */
static uint64_t spare_room(const struct node *node)
{
    return room(node) / PROMISED_MODELS;
}

/* Forgets of what is in the version that this node keeps the oldest, once it
 * takes too much room: a disk may be lost while this node is away. */
static void forget_kept(struct node *node)
{
    struct promises *promises = &node->promises;
    const struct promise *one;
    uint64_t bytes = 0;

    for (one = promises->first; one && one->exchange <= promises->safe;
         one = one->next)
        bytes += one->bytes;
    while ((one = promises->first) && one->exchange <= promises->safe &&
           (bytes > spare_room(node) || is_full(node))) {
        bytes -= one->bytes;
        if (promise_counts(node, one))
            promises->forgotten = one->exchange;
        promise_free(node, &promises->first);
    }
}

/* Forgets the oldest of what was given again: a hub that has it all the same
 * may come no more. */
static void forget_turned(struct node *node)
{
    struct promise **link = &node->promises.first;

    while (*link && is_full(node))
        if (promise_turned(node, *link))
            promise_free(node, link);
        else
            link = &(*link)->next;
}

/* At last by what can then not be told apart any more. */
void promises_trim(struct node *node)
{
    struct promises *promises = &node->promises;

    forget_kept(node);
    if (!is_full(node) || promises->folding.sum || fold_some(node))
        return;
    forget_turned(node);
    if (!is_full(node))
        return;
    promises->kept.former = promises->saved.former = 0;
    if (fold_some(node))
        return;
    promises->kept.newest = promises->saved.newest = 0;
    (void)fold_some(node);
}

void promises_folded(struct node *node, struct job *job)
{
    struct folding *folding = &node->promises.folding;

    if (job->tag[0] != folding->number || !folding->left)
        return;
    folding->failed |= job->status != STATUS_OK;
    if (job->status == STATUS_OK)
        folding->sum[job->tag[1]] =
            (struct input){blob_ref(job->out[0]), 1, CODEC_RAW};
    if (--folding->left)
        return;
    folded(node);
    node->dirty |= DIRTY_PROMISES;
}
