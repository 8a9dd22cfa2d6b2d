#include "hub/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/floats.h"

/* What a merge looks at, and what it finds. */
struct blending {
    const struct chunk_merge *merge;
    const struct reduce_rule *rule;
    const struct tensor *origin; /* the first one of the chunk */
    unsigned tensors, updates;
    double *of; /* of each tensor, of each update: the squared length, and then
                   the factor */
    double *length;  /* of each tensor: of what comes out; negative: as it is */
    double *squares; /* of each tensor: of the sum */
};

static double squared(const double *values, size_t count)
{
    struct squares squares = {{0}};

    squares_add_doubles(&squares, values, count);
    return squares_sum(&squares);
}

static size_t tile_at(const struct job *job, size_t first)
{
    size_t left = job->extent.elements - first;

    return left < CODEC_GRAIN ? left : CODEC_GRAIN;
}

/* The next tensor within elements [first, first + count) of the chunk; its
 * number in the chunk. */
static bool part_next(const struct blending *b, size_t first, size_t count,
                      struct tensor_part *part, unsigned *number)
{
    if (!schema_part(b->merge->schema, b->merge->job.extent.first + first,
                     count, part))
        return false;
    *number = b->origin ? (unsigned)(part->tensor - b->origin) : 0;
    return true;
}

/* One update's tile, times its share. */
static void decode(const struct blending *b, unsigned update, size_t first,
                   size_t count, double *x)
{
    job_sum(&b->merge->job, MERGE_FROM + update, MERGE_FROM + update + 1, first,
            count, x);
}

static void measure(struct blending *b)
{
    const struct job *job = &b->merge->job;
    double x[CODEC_GRAIN];
    unsigned number;

    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN)
        for (unsigned i = 0; i < b->updates; i++) {
            struct tensor_part part = {0};
            size_t count = tile_at(job, first);

            decode(b, i, first, count, x);
            while (part_next(b, first, count, &part, &number))
                b->of[number * b->updates + i] +=
                    squared(x + part.at, part.count);
        }
}

/* Squared lengths, times the squares of the shares, become factors. */
static void ask(struct blending *b, double *length, double *share)
{
    const struct input *in = &b->merge->job.in[MERGE_FROM];

    for (unsigned t = 0; t < b->tensors; t++) {
        const struct tensor *tensor = &b->origin[t];
        double *of = b->of + (size_t)t * b->updates;

        for (unsigned i = 0; i < b->updates; i++) {
            share[i] = in[i].weight;
            length[i] = share[i] > 0 ? sqrt(of[i]) / share[i] : 0;
            of[i] = 1;
        }
        b->length[t] = -1;
        if (tensor->kind == TENSOR_TRAINED &&
            !(b->rule->spares && b->rule->spares(tensor)))
            b->length[t] = b->rule->blend(length, share, b->updates, of);
    }
}

static void add_up(struct blending *b, double *whole)
{
    const struct job *job = &b->merge->job;
    double x[CODEC_GRAIN];
    unsigned number;

    memset(whole, 0, job->extent.elements * sizeof *whole);
    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t count = tile_at(job, first);
        struct tensor_part part = {0};

        for (unsigned i = 0; i < b->updates; i++) {
            decode(b, i, first, count, x);
            part = (struct tensor_part){0};
            while (part_next(b, first, count, &part, &number))
                for (size_t j = part.at; j < part.at + part.count; j++)
                    whole[first + j] += b->of[number * b->updates + i] * x[j];
        }
        part = (struct tensor_part){0};
        while (part_next(b, first, count, &part, &number))
            b->squares[number] += squared(whole + first + part.at, part.count);
    }
}

static void stretch(const struct blending *b, double *whole)
{
    size_t elements = b->merge->job.extent.elements;
    struct tensor_part part = {0};
    unsigned number;

    while (part_next(b, 0, elements, &part, &number)) {
        double norm = sqrt(b->squares[number]), by = b->merge->divisor;

        if (b->length[number] >= 0)
            by = norm > 0 ? b->length[number] / norm / by : 0;
        else
            by = 1 / by;
        for (size_t j = part.at; j < part.at + part.count; j++)
            whole[j] *= by;
    }
}

static struct blending blending_of(const struct chunk_merge *merge)
{
    const struct policy *policy = merge->job.context;
    struct blending b = {.merge = merge,
                         .rule = policy->reduce,
                         .updates = merge->job.inputs - MERGE_FROM};
    struct tensor_part part = {0};
    unsigned number;

    while (part_next(&b, 0, merge->job.extent.elements, &part, &number)) {
        b.tensors++;
        if (!b.origin)
            b.origin = part.tensor;
    }
    return b;
}

enum status tensors_blend(const struct chunk_merge *merge, double *whole)
{
    struct blending b = blending_of(merge);
    size_t tensors = b.tensors, updates = b.updates, pairs = tensors * updates;
    double *room = calloc(pairs + 2 * tensors + 2 * updates, sizeof *room);

    if (!room)
        return STATUS_NO_MEMORY;
    b.of = room;
    b.length = room + pairs;
    b.squares = b.length + b.tensors;
    measure(&b);
    ask(&b, b.squares + b.tensors, b.squares + b.tensors + updates);
    add_up(&b, whole);
    stretch(&b, whole);
    free(room);
    return STATUS_OK;
}

void tensors_correct(const struct chunk_merge *merge, double *whole)
{
    const struct policy *policy = merge->job.context;
    const struct blob *slot = merge->job.in[MERGE_SLOTS].blob;
    const float *floats =
        slot ? (const float *)(const void *)slot->bytes : NULL;
    double sign = policy->exchange == EXCHANGE_GRADIENT ? -1 : 1;
    struct tensor_part part = {0};

    while (floats && schema_part(merge->schema, merge->job.extent.first,
                                 merge->job.extent.elements, &part))
        if (part.tensor->kind == TENSOR_TRAINED)
            policy->merge->correct(floats + part.at, part.count, sign,
                                   whole + part.at);
}
