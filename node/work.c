#include "node/work.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"

/* Adds the inputs up into out[0]; returns the squared norm, which is not
 * finite when some value is not. */
static double add_up(struct job *job)
{
    double tile[CODEC_GRAIN];
    double squares = 0;
    float *values;

    job->out[0] = blob_new(job->pool, job->extent.elements * sizeof(float));
    if (!job->out[0]) {
        job->status = STATUS_NO_MEMORY;
        return 0;
    }
    values = blob_floats(job->out[0]);
    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t left = job->extent.elements - first;
        size_t count = left < CODEC_GRAIN ? left : CODEC_GRAIN;

        job_sum(job, 0, job->inputs, first, count, tile);
        for (size_t i = 0; i < count; i++) {
            values[first + i] = (float)tile[i];
            squares += (double)values[first + i] * (double)values[first + i];
        }
    }
    return squares;
}

static void delta(struct job *job)
{
    job->number[0] = add_up(job);
    if (job->status != STATUS_OK)
        return;
    if (!isfinite(job->number[0])) {
        job->status = STATUS_CONFIG;
        return;
    }
    blob_seal(job->out[0]);
}

static void correct(struct job *job)
{
    struct blob *result = job->in[0].blob;

    if (!result->checksum)
        blob_seal(result);
    if (result->checksum != job->tag[2]) {
        job->status = STATUS_MALFORMED;
        return;
    }
    if (!isfinite(add_up(job)))
        job->status = STATUS_MALFORMED;
}

static void gather(struct job *job)
{
    unsigned char *to;

    job->out[0] = blob_new(job->pool, job->extent.elements * sizeof(float));
    if (!job->out[0]) {
        job->status = STATUS_NO_MEMORY;
        return;
    }
    to = job->out[0]->bytes;
    for (unsigned i = 1; i < job->inputs; i++) {
        struct blob *chunk = job->in[i].blob;
        uint64_t checksum;

        memcpy(&checksum,
               job->in[0].blob->bytes + (i - 1) * sizeof checksum,
               sizeof checksum);
        if (!chunk->checksum)
            blob_seal(chunk);
        if (chunk->checksum != checksum) {
            job->status = STATUS_MALFORMED;
            return;
        }
        memcpy(to, chunk->bytes, chunk->size);
        to += chunk->size;
    }
}

static void seal(struct job *job)
{
    blob_seal(job->in[0].blob);
}

const struct work work_delta = {"delta", delta};
const struct work work_correct = {"correct", correct};
const struct work work_gather = {"gather", gather};
const struct work work_seal = {"seal", seal};
