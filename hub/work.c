#include "hub/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

static void check(struct job *job)
{
    struct blob *payload = job->in[0].blob;
    double tile[CODEC_GRAIN];
    double squares = 0;

    if (!payload_fits(&job->extent, job->in[0].codec, payload->bytes,
                      payload->size)) {
        job->status = STATUS_MALFORMED;
        return;
    }
    if (!payload->checksum)
        blob_seal(payload);
    if (payload->checksum != job->tag[2]) {
        job->status = STATUS_MALFORMED;
        return;
    }
    job->in[0].weight = 1;
    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t left = job->extent.elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        job_sum(job, 0, 1, first, count, tile);
        for (size_t i = 0; i < count; i++)
            squares += tile[i] * tile[i];
    }
    if (!isfinite(squares))
        job->status = STATUS_CONFIG;
    job->number[1] = squares;
}

/* A fresh blob with the values of `from`, or zeros. */
static struct blob *copy_of(struct job *job, const struct blob *from)
{
    size_t bytes = job->extent.elements * sizeof(float);
    struct blob *blob = blob_new(job->pool, bytes);

    if (!blob)
        job->status = STATUS_NO_MEMORY;
    else if (from)
        memcpy(blob->bytes, from->bytes, bytes);
    else
        memset(blob->bytes, 0, bytes);
    return blob;
}

/* The contributions to a tile, one by one, for rules that compare them. */
static void reduce_rows(struct job *job, const struct policy *policy,
                        double **rows, size_t first, size_t count,
                        double *value)
{
    unsigned contributed = job->inputs - MERGE_FROM;

    for (unsigned i = 0; i < contributed; i++)
        job_sum(job, MERGE_FROM + i, MERGE_FROM + i + 1, first, count,
                rows[i]);
    policy->reduce->rows((const double *const *)rows, contributed, count,
                         &policy->numbers, value);
}

static void reduce(struct job *job, const struct policy *policy,
                   double **rows, size_t first, size_t count, double *value)
{
    if (rows) {
        reduce_rows(job, policy, rows, first, count, value);
        return;
    }
    job_sum(job, MERGE_FROM, job->inputs, first, count, value);
    for (size_t i = 0; i < count; i++)
        value[i] /= job->number[MERGE_WHOLE];
}

static void merge_tiles(struct job *job, const struct policy *policy,
                        double **rows)
{
    double value[CODEC_GRAIN];
    struct merge_tile tile = {
        .value = value,
        .sign = policy->exchange == EXCHANGE_GRADIENT ? -1 : 1,
        .contributed = job->inputs - MERGE_FROM,
        .live = (unsigned)job->number[MERGE_LIVE],
        .turn = (uint64_t)job->number[MERGE_TURN],
        .numbers = &policy->numbers};

    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t left = job->extent.elements - first;

        tile.count = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        reduce(job, policy, rows, first, tile.count, value);
        tile.theta = blob_floats(job->out[0]) + first;
        for (unsigned i = 0; i < POLICY_PLANES; i++)
            tile.plane[i] = job->out[1 + i]
                                ? blob_floats(job->out[1 + i]) + first
                                : NULL;
        policy->merge->step(&tile);
    }
}

static void merge(struct job *job)
{
    const struct policy *policy = job->context;
    unsigned contributed = job->inputs - MERGE_FROM;
    unsigned planes = policy->merge->planes
                          ? policy->merge->planes(&policy->numbers)
                          : 0;
    double *space = NULL, **rows = NULL;

    job->out[0] = copy_of(job, job->in[MERGE_THETA].blob);
    for (unsigned i = 0; i < planes; i++)
        job->out[1 + i] = copy_of(job, job->in[MERGE_PLANES + i].blob);
    if (policy->reduce->rows) {
        space = malloc((size_t)contributed * CODEC_GRAIN * sizeof *space);
        rows = malloc(contributed * sizeof *rows);
        if (!space || !rows)
            job->status = STATUS_NO_MEMORY;
        for (unsigned i = 0; space && rows && i < contributed; i++)
            rows[i] = space + (size_t)i * CODEC_GRAIN;
    }
    if (job->status == STATUS_OK) {
        merge_tiles(job, policy, rows);
        blob_seal(job->out[0]);
    }
    free(rows);
    free(space);
}

static void form(struct job *job)
{
    double tile[CODEC_GRAIN];

    job->out[0] = blob_new(job->pool, job->extent.elements * sizeof(float));
    if (!job->out[0]) {
        job->status = STATUS_NO_MEMORY;
        return;
    }
    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t left = job->extent.elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        job_sum(job, 0, job->inputs, first, count, tile);
        for (size_t i = 0; i < count; i++)
            blob_floats(job->out[0])[first + i] = (float)tile[i];
    }
    blob_seal(job->out[0]);
}

static void hint(struct job *job)
{
    (void)job;
}

const struct work work_hint = {"hint", hint};
const struct work work_form = {"form", form};
const struct work work_check = {"check", check};
const struct work work_merge = {"merge", merge};
