#include "node/work.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "core/floats.h"

/* Whether the sum of all inputs is a blob that is here: it is not copied. */
static bool is_plain(const struct job *job)
{
    return job->inputs == 1 && job->in[0].codec == CODEC_RAW &&
           job->in[0].weight == 1;
}

/* out[0] = the sum of all inputs, sealed if it is plain or `seals`; returns
 * its squared norm. */
static double take_sum(struct job *job, bool seals)
{
    if (!is_plain(job))
        return job_add_up(job, 0, job->inputs, 0, seals);
    job->out[0] = blob_ref(job->in[0].blob);
    return job_measure(job, 0);
}

/* ---- what is given ---- */

/* The squared norm of what others will read from out[0]. If `keep`, it is
 * taken out of its values. */
static double read_back(struct job *job, const struct blob *values,
                        struct blob *keep)
{
    enum codec_id codec = (enum codec_id)job->tag[2];
    double tile[CODEC_GRAIN];
    struct squares squares = {{0}};
    size_t count;

    for (size_t first = 0; first < job->extent.elements; first += count) {
        size_t left = job->extent.elements - first;
        const float *given = (const float *)(const void *)values->bytes + first;

        count = left < CODEC_GRAIN ? left : CODEC_GRAIN;
        memset(tile, 0, count * sizeof *tile);
        payload_add(&job->extent, codec, job->out[0]->bytes, first, count, 1,
                    tile);
        for (size_t i = 0; keep && i < count; i++)
            blob_floats(keep)[first + i] = (float)((double)given[i] - tile[i]);
        job_mask(job, first, count, tile);
        squares_add_doubles(&squares, tile, count);
    }
    return squares_sum(&squares);
}

/* Encodes `values` into out[0]; returns the squared norm of what that is. */
static double encode(struct job *job, struct blob *values)
{
    enum codec_id codec = (enum codec_id)job->tag[2];
    size_t bytes = payload_bytes(&job->extent, codec);

    job->out[0] = blob_need(job->pool, bytes);
    if (job->number[DELTA_KEEPS] != 0)
        job->out[1] = blob_need(job->pool, values->size);
    job_weigh(job, job->out[0], codec);
    payload_encode(&job->extent, codec, blob_floats(values),
                   job->out[0]->bytes);
    blob_seal(job->out[0]);
    return read_back(job, values, job->out[1]);
}

/* out[1] = r, of which inputs `from` and later are -r; its statistics are those
 * of p, as they are. */
static void add_reference(struct job *job, unsigned from)
{
    struct statistic_part part = {0};
    float *r;

    (void)job_add_up(job, from, job->inputs, 1, false);
    if (!job->out[1])
        return;
    r = blob_floats(job->out[1]);
    for (size_t i = 0; i < job->extent.elements; i++)
        r[i] = -r[i];
    while (extent_statistics(&job->extent, 0, job->extent.elements, &part))
        for (size_t i = part.at; i < part.at + part.count; i++)
            r[i] = -r[i];
}

static void delta(struct job *job)
{
    bool raw = job->tag[2] == CODEC_RAW;
    unsigned parts = (unsigned)job->number[DELTA_PARTS];
    double squares = take_sum(job, raw);
    struct blob *values;

    if (job->status == STATUS_OK && !isfinite(squares))
        job->status = STATUS_CONFIG;
    if (job->status == STATUS_OK)
        job_weigh(job, job->out[0], CODEC_RAW);
    if (job->status == STATUS_OK && !raw) {
        values = job->out[0];
        squares = encode(job, values);
        blob_unref(&values);
    }
    if (job->status == STATUS_OK && parts)
        add_reference(job, parts);
    job->number[DELTA_SQUARES] = squares;
}

/* ---- what comes ---- */

/* Whether the bytes are those that were announced. */
static bool is_whole(struct blob *payload, uint64_t checksum)
{
    if (!payload->checksum)
        blob_seal(payload);
    return payload->checksum == checksum;
}

/* The result may not have a checksum yet: a plain one gets it in passing. */
static void correct(struct job *job)
{
    double squares;

    if (!is_plain(job) && !is_whole(job->in[0].blob, job->tag[2])) {
        job->status = STATUS_MALFORMED;
        return;
    }
    squares = take_sum(job, false);
    if (job->status == STATUS_OK &&
        (!is_whole(job->in[0].blob, job->tag[2]) || !(squares <= MOST_SQUARES)))
        job->status = STATUS_MALFORMED;
}

static void decode(struct job *job)
{
    struct input *sent = &job->in[job->inputs - 1];

    if (!is_whole(sent->blob, job->tag[2]) ||
        !payload_fits(&job->extent, sent->codec, sent->blob->bytes,
                      sent->blob->size)) {
        job->status = STATUS_MALFORMED;
        return;
    }
    if (job->inputs == 1 && sent->codec == CODEC_RAW) {
        job->out[0] = blob_ref(sent->blob);
        return;
    }
    job->plain = job->inputs;
    if (!isfinite(job_add_up(job, 0, job->inputs, 0, true)) &&
        job->status == STATUS_OK)
        job->status = STATUS_MALFORMED;
}

static void gather(struct job *job)
{
    unsigned char *to;

    job->out[0] = blob_need(job->pool, job->extent.elements * sizeof(float));
    to = job->out[0]->bytes;
    for (unsigned i = 1; i < job->inputs; i++) {
        struct blob *chunk = job->in[i].blob;
        uint64_t checksum;

        memcpy(&checksum, job->in[0].blob->bytes + (i - 1) * sizeof checksum,
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

const struct work work_delta = {"delta", delta, NULL};
const struct work work_fold = {"fold", delta, NULL};
const struct work work_correct = {"correct", correct, NULL};
const struct work work_decode = {"decode", decode, NULL};
const struct work work_gather = {"gather", gather, NULL};
const struct work work_seal = {"seal", seal, NULL};
