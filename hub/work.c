#include "hub/work.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"

static void check(struct job *job)
{
    struct blob *payload = job->in[0].blob;
    double tile[CODEC_GRAIN];
    double sum = 0;

    if (!codec_fits(job->in[0].codec, payload->size, job->elements)) {
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
    for (size_t first = 0; first < job->elements; first += CODEC_GRAIN) {
        size_t left = job->elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        job_sum(job, 0, 1, first, count, tile);
        for (size_t i = 0; i < count; i++)
            sum += tile[i] * 0;
    }
    if (!isfinite(sum))
        job->status = STATUS_CONFIG;
}

/* A fresh blob with the values of `from`, or zeros. */
static struct blob *copy_of(struct job *job, const struct blob *from)
{
    size_t bytes = job->elements * sizeof(float);
    struct blob *blob = blob_new(job->pool, bytes);

    if (!blob)
        job->status = STATUS_NO_MEMORY;
    else if (from)
        memcpy(blob->bytes, from->bytes, bytes);
    else
        memset(blob->bytes, 0, bytes);
    return blob;
}

static void merge(struct job *job)
{
    const struct merge_plan *plan = job->context;
    double mean[CODEC_GRAIN];
    bool moves = plan->outer.momentum > 0;

    job->out[0] = copy_of(job, job->in[0].blob);
    job->out[1] = moves ? copy_of(job, job->in[1].blob) : NULL;
    if (job->status != STATUS_OK)
        return;
    for (size_t first = 0; first < job->elements; first += CODEC_GRAIN) {
        size_t left = job->elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        job_sum(job, 2, job->inputs, first, count, mean);
        for (size_t i = 0; i < count; i++)
            mean[i] /= job->number[0];
        plan->rule->merge(mean, plan->sign, &plan->outer, count,
                          blob_floats(job->out[0]) + first,
                          moves ? blob_floats(job->out[1]) + first : NULL);
    }
    blob_seal(job->out[0]);
}

static void hint(struct job *job)
{
    (void)job;
}

const struct work work_hint = {"hint", hint};
const struct work work_check = {"check", check};
const struct work work_merge = {"merge", merge};
