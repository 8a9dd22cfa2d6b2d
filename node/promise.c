#include "node/promise.h"

#include <stdlib.h>
#include <string.h>

#include "node/state.h"
#include "node/work.h"

/* Before *link. */
static struct promise *promise_new(struct node *node, struct promise **link,
                                   uint64_t first, uint64_t exchange,
                                   enum exchange kind)
{
    struct promise *promise =
        calloc(1, sizeof *promise + node->chunks * sizeof *promise->given);

    if (!promise)
        abort();
    promise->first = first;
    promise->exchange = exchange;
    promise->kind = kind;
    promise->next = *link;
    *link = promise;
    node->promises.count++;
    return promise;
}

static void promise_free(struct node *node, struct promise **link)
{
    struct promise *promise = *link;

    *link = promise->next;
    node->promises.count--;
    node->promises.bytes -= promise->bytes;
    for (uint32_t i = 0; i < node->chunks; i++)
        blob_unref(&promise->given[i].blob);
    free(promise);
}

/* The exchange's place in the list, made if need be. */
static struct promise *promise_of(struct node *node,
                                  const struct flight *flight)
{
    uint64_t exchange = flight->snapshot.exchange;
    struct promise **link = &node->promises.first, *promise;

    while ((promise = *link) && promise->exchange < exchange)
        link = &promise->next;
    if (promise && promise->exchange == exchange)
        return promise;
    return promise_new(node, link, exchange, exchange,
                       (enum exchange)flight->snapshot.kind);
}

/* ---- adding up ---- */

static uint64_t room(const struct node *node)
{
    uint64_t models = PROMISED_MODELS * sizeof(float) *
                      node->config.schema->elements;

    if (node->config.promised)
        return node->config.promised;
    return models > PROMISED_BYTES ? models : PROMISED_BYTES;
}

static void folding_end(struct node *node)
{
    struct folding *folding = &node->promises.folding;

    for (uint32_t i = 0; folding->sum && i < node->chunks; i++)
        blob_unref(&folding->sum[i].blob);
    free(folding->sum);
    folding->sum = NULL;
    folding->left = 0;
    folding->number++;
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

/* The last of those that can be added up with this one. */
static const struct promise *group_end(const struct node *node,
                                       const struct promise *first,
                                       uint64_t *bytes, unsigned *count)
{
    *bytes = first->bytes;
    *count = 1;
    while (first->next && first->next->kind == first->kind &&
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
        count += one->given[chunk].blob != NULL;
    job = job_new(&work_fold, node->pool, count);
    count = 0;
    for (const struct promise *one = first; one != end; one = one->next)
        if (one->given[chunk].blob) {
            job->in[count] = one->given[chunk];
            (void)blob_ref(job->in[count++].blob);
        }
    return job;
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
    while (sum->next && sum->next->exchange <= folding->last)
        promise_free(node, &sum->next);
    for (uint32_t i = 0; i < node->chunks; i++) {
        sum->given[i] = folding->sum[i];
        (void)blob_ref(sum->given[i].blob);
        sum->bytes += sum->given[i].blob ? sum->given[i].blob->size : 0;
    }
    promises->bytes += sum->bytes;
}

static void folded(struct node *node)
{
    replace(node);
    folding_end(node);
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
    folding->sum = calloc(node->chunks, sizeof *folding->sum);
    if (!folding->sum)
        abort();
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

/* Keeps to the room that there is, at last by what can then not be told apart
 * any more. */
static void trim(struct node *node)
{
    struct promises *promises = &node->promises;

    if (!is_full(node) || promises->folding.sum || fold_some(node))
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
    trim(node);
}

/* ---- what becomes of them ---- */

void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, struct blob *given)
{
    const struct kept *whole = &node->keep.whole;
    uint64_t exchange = flight->snapshot.exchange;
    struct promise *promise;

    if (flight->obsolete || flight->snapshot.kind == EXCHANGE_PARAMETERS ||
        (whole->manifest && exchange <= whole->merged))
        return;
    promise = promise_of(node, flight);
    promise->given[chunk] =
        (struct input){blob_ref(given), 1, flight->codec};
    promise->bytes += given->size;
    node->promises.bytes += given->size;
    trim(node);
}

void promises_recall(struct node *node, uint64_t exchange)
{
    if (exchange > node->promises.recalled)
        node->promises.recalled = exchange;
}

void promises_doubt(struct node *node)
{
    node->promises.recalled = 0;
}

void promises_mark(struct marks *marks, uint64_t merged)
{
    if (merged > marks->newest)
        *marks = (struct marks){merged, marks->newest};
}

void promises_kept(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;

    while (promises->first && promises->first->exchange <= merged)
        promise_free(node, &promises->first);
}

void promises_forget(struct node *node)
{
    promises_kept(node, UINT64_MAX);
    folding_end(node);
    node->promises = (struct promises){
        .folding = {.number = node->promises.folding.number}};
}

static void give_again(struct node *node, const struct promise *promise)
{
    bool gradient = promise->kind == EXCHANGE_GRADIENT;

    for (uint32_t i = 0; i < node->chunks; i++)
        if (promise->given[i].blob)
            sum_add(gradient ? &node->residual[i] : &node->reference[i],
                    promise->given[i].blob, gradient ? 1 : -1,
                    promise->given[i].codec);
}

/* Gives again what is behind exchange `merged`, and says so. Of a sum of which
 * the hub has a part nobody knows the rest. */
static void undo(struct node *node, uint64_t merged)
{
    struct promise **link = &node->promises.first;
    uint64_t again = 0, lost = 0;

    while (*link && (*link)->exchange <= merged)
        link = &(*link)->next;
    while (*link) {
        uint64_t behind = (*link)->first <= merged ? merged
                                                   : (*link)->first - 1;
        uint64_t *count = (*link)->first <= merged ? &lost : &again;

        *count += (*link)->exchange - behind;
        if ((*link)->first > merged)
            give_again(node, *link);
        promise_free(node, link);
    }
    if (again || lost)
        effects_note(node->out, NOTE_RESTORED, node->name,
                     "the hub is back at version %llu: %llu merged exchanges "
                     "are offered again, %llu are lost",
                     (unsigned long long)node->welcome.version,
                     (unsigned long long)again, (unsigned long long)lost);
}

void promises_settle(struct node *node, uint64_t merged)
{
    struct promises *promises = &node->promises;
    uint64_t life = epoch_life(node->keep.epoch);

    if (life != promises->life)
        undo(node, merged > promises->recalled ? merged : promises->recalled);
    promises->life = life;
    promises_doubt(node);
}

const char *promises_check(const struct node *node)
{
    const struct kept *whole = &node->keep.whole;
    uint64_t bytes = 0;

    for (const struct promise *promise = node->promises.first; promise;
         promise = promise->next) {
        bytes += promise->bytes;
        if (!promise->bytes)
            return "an exchange is promised of which nothing was merged";
        if (promise->first > promise->exchange ||
            (promise->next && promise->next->exchange <= promise->exchange))
            return "promises are out of order";
        if (whole->manifest && promise->exchange <= whole->merged)
            return "what is kept is promised";
    }
    if (bytes != node->promises.bytes)
        return "the bytes of promises do not add up";
    return NULL;
}
