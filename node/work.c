#include "node/work.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"

static void delta(struct job *job)
{
    job->number[0] = job_add_up(job, true);
    if (job->status == STATUS_OK && !isfinite(job->number[0]))
        job->status = STATUS_CONFIG;
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
    if (!isfinite(job_add_up(job, false)))
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
