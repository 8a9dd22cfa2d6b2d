/* The job that lets a STAGED rule see whole updates. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/payload.h"
#include "core/need.h"
#include "core/schema.h"
#include "hub/hub.h"
#include "hub/work.h"

/* A pile of float32 vectors: the centre, then the updates. */
struct heap {
    struct pile pile; /* first: rules know only this */
    struct job *job;
    const struct judge_order *order;
    float *rows; /* (1 + count) * elements, or NULL: nobody reads them */
};

static const struct heap *heap_of(const struct pile *pile)
{
    return (const struct heap *)(const void *)pile;
}

static void read_row(const struct pile *pile, unsigned i, size_t first,
                     size_t count, double *into)
{
    const float *from = heap_of(pile)->rows + (1 + i) * pile->elements + first;

    for (size_t j = 0; j < count; j++)
        into[j] = (double)from[j];
}

/* Decodes the chunks of row `row` end to end. An empty input is zeros: there
 * is no centre yet. */
static void unpack(const struct heap *heap, unsigned row)
{
    const struct judge_order *order = heap->order;
    float *to = heap->rows + row * heap->pile.elements;
    double tile[CODEC_GRAIN];

    for (uint32_t i = 0; i < order->chunks; i++) {
        const struct input *in = &heap->job->in[1 + row * order->chunks + i];
        struct extent extent =
            extent_of(heap->job->extent.exempt, heap->pile.elements,
                      order->chunk_elements, i);

        for (size_t first = 0; in->blob && first < extent.elements;
             first += CODEC_GRAIN) {
            size_t left = extent.elements - first;
            size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

            memset(tile, 0, count * sizeof *tile);
            payload_add(&extent, in->codec, in->blob->bytes, first, count, 1,
                        tile);
            for (size_t j = 0; j < count; j++)
                to[first + j] = (float)tile[j];
        }
        to += extent.elements;
    }
}

/* Elements [from, to) of the weighted updates, as they are or from theta. */
static void mix(const struct heap *heap, const double *weights, size_t from,
                size_t to, bool displaced, float *into)
{
    size_t elements = heap->pile.elements;
    double total = 0;

    for (unsigned i = 0; i < heap->pile.count; i++)
        total += weights[i];
    for (size_t j = from; j < to; j++) {
        double sum = 0;

        for (unsigned i = 0; total > 0 && i < heap->pile.count; i++)
            sum += weights[i] * (double)heap->rows[(1 + i) * elements + j];
        if (total > 0)
            sum /= total;
        if (total <= 0 || displaced)
            sum += (double)heap->rows[j];
        into[j] = (float)sum;
    }
}

/* The parameters that the weighted updates stand for. */
static void combine(const struct heap *heap, const double *weights, float *into)
{
    size_t elements = heap->pile.elements;
    struct statistic_part part = {0};
    struct extent all = {.exempt = heap->job->extent.exempt};

    mix(heap, weights, 0, elements, heap->order->displacements, into);
    while (extent_statistics(&all, 0, elements, &part))
        mix(heap, weights, part.at, part.at + part.count, false, into);
}

static bool any(const double *weights, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (weights[i] > 0)
            return true;
    return false;
}

static double loss(const struct pile *pile, const double *weights,
                   double *error)
{
    const struct heap *heap = heap_of(pile);
    const struct judge_order *order = heap->order;
    struct score_job *scored;
    struct blob *whole;
    struct job *job;
    double score = NO_SCORE;

    *error = 0;
    if (!heap->job->in[1].blob && !any(weights, pile->count))
        return NO_SCORE; /* there is no centre yet */
    whole = blob_new(heap->job->pool, pile->elements * sizeof(float));
    scored = job_make(order->evaluate, sizeof *scored, heap->job->pool,
                      order->chunks);
    job = &scored->job;
    job->context = order->evaluate_context;
    job->extent.elements = pile->elements;
    if (whole) {
        combine(heap, weights, blob_floats(whole));
        for (uint32_t i = 0; i < order->chunks; i++)
            job->in[i].blob = blob_slice(
                whole, (size_t)i * order->chunk_elements * sizeof(float),
                chunk_length(pile->elements, order->chunk_elements, i) *
                    sizeof(float));
        job_run(job);
        if (job->status == STATUS_OK && isfinite(scored->loss))
            score = scored->loss;
        if (job->status == STATUS_OK && isfinite(scored->error))
            *error = scored->error;
    }
    if (!whole || job->status == STATUS_NO_MEMORY)
        heap->job->status = STATUS_NO_MEMORY; /* says nothing of the updates */
    job_destroy(&job);
    blob_unref(&whole);
    return score;
}

/* What other nodes say: of each update by itself, and of the centre. */
static double reviewed_loss(const struct pile *pile, const double *weights,
                            double *error)
{
    const struct judge_order *order = heap_of(pile)->order;
    unsigned only = pile->count;

    *error = 0;
    for (unsigned i = 0; i < pile->count; i++) {
        if (!(weights[i] > 0))
            continue;
        if (only < pile->count)
            return NO_SCORE;
        only = i;
    }
    if (only == pile->count)
        return order->centre;
    *error = order->one[only].review.error;
    return order->one[only].review.loss;
}

/* What nobody could evaluate is kept as it came, unless it is a boast. */
static void keep_the_rest(struct judge_order *order,
                          const struct candidate *list, const double *weight)
{
    for (unsigned i = 0; i < order->count; i++) {
        struct judged *one = &order->one[i];
        double score = one->candidate.score;

        one->candidate = list[i];
        one->weight = weight[i];
        if (order->evaluate || one->review.answers)
            continue;
        if (order->reviewed) {
            one->weight = 1;
            one->candidate.score = score;
            one->candidate.verified = false;
        }
        if (one->boasts)
            one->weight = 0;
    }
}

/* Has the rule judge what is in the heap. */
static void ask_rule(const struct heap *heap, struct judge_order *order)
{
    struct candidate *list;
    double *weight;

    assert(order->count > 0);
    list = need_memory(order->count, sizeof *list);
    weight = need_memory(order->count, sizeof *weight);
    for (unsigned i = 0; i < order->count; i++) {
        list[i] = order->one[i].candidate;
        weight[i] = 1;
    }
    order->policy->reduce->judge(&heap->pile, list, &order->context, weight);
    keep_the_rest(order, list, weight);
    free(weight);
    free(list);
}

/* Rules that go by losses look at nothing else, and those of nodes are known.
 */
static bool reads_values(const struct judge_order *order)
{
    return order->evaluate || !order->policy->reduce->by_loss;
}

void judge_whole(struct job *job)
{
    struct judge_order *order =
        (struct judge_order *)(void *)job->in[0].blob->bytes;
    struct heap heap = {
        .pile = {.count = order->count,
                 .elements = job->extent.elements,
                 .has_loss = order->evaluate || order->reviewed,
                 .read = read_row,
                 .loss = order->reviewed ? reviewed_loss : loss},
        .job = job,
        .order = order};

    if (reads_values(order)) {
        heap.rows = calloc((1 + (size_t)order->count) * job->extent.elements,
                           sizeof *heap.rows);
        if (!heap.rows) {
            job->status = STATUS_NO_MEMORY;
            return;
        }
        for (unsigned i = 0; i <= order->count; i++)
            unpack(&heap, i);
    }
    ask_rule(&heap, order);
    free(heap.rows);
}
