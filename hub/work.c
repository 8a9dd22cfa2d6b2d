#include "hub/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/manifest.h"
#include "core/floats.h"
#include "hub/hub.h"
#include "hub/tensors.h"

/* Elements of each grain. */
enum { SKETCHED = 64 };

struct chunk_check *check_make(const struct work *work, struct pool *pool,
                               unsigned inputs, const struct msg_chunk *chunk,
                               struct blob *payload)
{
    struct chunk_check *check = job_make(work, sizeof *check, pool, inputs);

    check->job.in[0] = (struct input){blob_ref(payload), 1, chunk->codec};
    check->exchange = chunk->exchange;
    check->chunk = chunk->chunk;
    check->checksum = chunk->checksum;
    return check;
}

/* Of the first elements of each grain, which is a small part of the work. */
static void sketch(struct chunk_check *check)
{
    const struct job *job = &check->job;
    double values[SKETCHED];

    for (size_t first = 0; first < job->extent.elements; first += CODEC_GRAIN) {
        size_t left = job->extent.elements - first;
        size_t count = left < SKETCHED ? left : SKETCHED;

        job_sum(job, 0, 1, first, count, values);
        job_mask(job, first, count, values);
        sketch_add(&check->sketch, check->sketched, job->extent.first + first,
                   values, count);
    }
}

void check_chunk(struct job *job)
{
    struct chunk_check *check = (struct chunk_check *)job;
    struct blob *payload = job->in[0].blob;

    if (!payload_fits(&job->extent, job->in[0].codec, payload->bytes,
                      payload->size)) {
        blob_seal(payload);
        job->status = payload->checksum == check->checksum ? STATUS_MALFORMED
                                                           : STATUS_AGAIN;
        return;
    }
    check->squares = job_measure(job, 0);
    if (payload->checksum != check->checksum)
        job->status = STATUS_AGAIN;
    else if (!(check->squares <= MOST_SQUARES_TAKEN))
        job->status = STATUS_CONFIG;
    else if (check->sketched)
        sketch(check);
}

void check_given(struct job *job)
{
    check_chunk(job);
    if (job->status == STATUS_OK)
        (void)job_add_up(job, 0, job->inputs, 0, true);
}

static struct blob *room(struct job *job)
{
    struct blob *blob =
        blob_new(job->pool, job->extent.elements * sizeof(float));

    if (blob)
        job_weigh(job, blob, CODEC_RAW);
    else
        job->status = STATUS_NO_MEMORY;
    return blob;
}

/* Elements of output `i` that begin as those of the input they follow; zero
 * where that is empty. NULL: there is no such output. */
static float *tile_of(struct job *job, unsigned i, size_t first, size_t count)
{
    struct blob *from = job->in[MERGE_THETA + i].blob;
    float *to;

    if (!job->out[i])
        return NULL;
    to = blob_floats(job->out[i]) + first;
    if (from)
        memcpy(to, blob_floats(from) + first, count * sizeof *to);
    else
        memset(to, 0, count * sizeof *to);
    return to;
}

/* The updates to a tile, one by one, for rules that compare them. */
static void reduce_rows(struct job *job, const struct policy *policy,
                        double **rows, size_t first, size_t count,
                        double *value)
{
    double whole = ((const struct chunk_merge *)job)->divisor;
    unsigned updates = job->inputs - MERGE_FROM;

    for (unsigned i = 0; i < updates; i++)
        job_sum(job, MERGE_FROM + i, MERGE_FROM + i + 1, first, count, rows[i]);
    policy->reduce->rows((const double *const *)rows, updates, count,
                         &policy->numbers, value);
    if (whole != 1)
        floats_divide(value, count, whole);
}

static void reduce(struct job *job, const struct policy *policy, double **rows,
                   size_t first, size_t count, double *value)
{
    if (rows) {
        reduce_rows(job, policy, rows, first, count, value);
        return;
    }
    job_sum(job, MERGE_FROM, job->inputs, first, count, value);
    floats_divide(value, count, ((const struct chunk_merge *)job)->divisor);
}

/* A tile's statistics, and where they go. */
struct held_tile {
    struct job *job;
    const struct policy *policy;
    size_t first, count;
    double *value; /* what reduce made of it; 0 for what is held here */
    const float *theta;
    float *kept;
    bool rows;
};

static bool is_held(const struct held_tile *tile, enum tensor_kind kind)
{
    return kind == TENSOR_LARGEST ||
           tile->policy->exchange != EXCHANGE_PARAMETERS;
}

/* What rows have come to, before it was divided. */
static void hold_rows(const struct held_tile *tile,
                      const struct statistic_part *part)
{
    double whole = ((const struct chunk_merge *)tile->job)->divisor;

    for (size_t i = part->at; i < part->at + part->count; i++) {
        double theta = (double)tile->theta[i];
        double reduced = tile->value[i] * whole;

        tile->kept[i] = part->kind == TENSOR_LARGEST
                            ? (float)fmax(theta, reduced)
                            : (float)(theta + (reduced - theta) / whole);
    }
}

/* One update's, decoded. */
static void hold_update(const struct held_tile *tile, unsigned update,
                        double *sum)
{
    const struct chunk_merge *merge = (const struct chunk_merge *)tile->job;
    const struct input *from = &tile->job->in[MERGE_FROM + update];
    struct statistic_part part = {0};
    double x[CODEC_GRAIN];

    memset(x, 0, tile->count * sizeof *x);
    payload_add(&tile->job->extent, from->codec, from->blob->bytes, tile->first,
                tile->count, 1, x);
    while (
        extent_statistics(&tile->job->extent, tile->first, tile->count, &part))
        for (size_t i = part.at; i < part.at + part.count; i++) {
            sum[i] += merge->means[update] * x[i];
            if (part.kind == TENSOR_LARGEST)
                tile->kept[i] = fmaxf(tile->kept[i], (float)x[i]);
        }
}

/* theta = (1 - sum w) theta + sum w x, and theta = max(theta, x): nothing that
 * is not between what there is. */
static void hold_updates(const struct held_tile *tile)
{
    const struct chunk_merge *merge = (const struct chunk_merge *)tile->job;
    unsigned updates = tile->job->inputs - MERGE_FROM;
    struct statistic_part part = {0};
    double sum[CODEC_GRAIN], rest = 1;

    memset(sum, 0, tile->count * sizeof *sum);
    memcpy(tile->kept, tile->theta, tile->count * sizeof *tile->kept);
    for (unsigned i = 0; i < updates; i++) {
        hold_update(tile, i, sum);
        rest -= merge->means[i];
    }
    rest = rest > 0 ? rest : 0; /* of rounding, it may be less */
    while (
        extent_statistics(&tile->job->extent, tile->first, tile->count, &part))
        for (size_t i = part.at;
             part.kind == TENSOR_AVERAGED && i < part.at + part.count; i++)
            tile->kept[i] = (float)(rest * (double)tile->theta[i] + sum[i]);
}

/* Keeps the statistics of a tile from the merge rule, to which they are 0. */
static bool hold_statistics(const struct held_tile *tile)
{
    struct statistic_part part = {0};

    if (!extent_statistics(&tile->job->extent, tile->first, tile->count, &part))
        return false;
    if (!tile->rows)
        hold_updates(tile);
    do {
        if (tile->rows)
            hold_rows(tile, &part);
        for (size_t i = part.at;
             is_held(tile, part.kind) && i < part.at + part.count; i++)
            tile->value[i] = 0;
    } while (
        extent_statistics(&tile->job->extent, tile->first, tile->count, &part));
    return true;
}

static void put_statistics(const struct held_tile *tile, float *theta)
{
    struct statistic_part part = {0};

    while (
        extent_statistics(&tile->job->extent, tile->first, tile->count, &part))
        if (is_held(tile, part.kind))
            memcpy(theta + part.at, tile->kept + part.at,
                   part.count * sizeof *theta);
}

static void step_tile(const struct merge_tile *tile,
                      const struct held_tile *held)
{
    bool any = hold_statistics(held);

    held->policy->merge->step(tile);
    if (any)
        put_statistics(held, tile->theta);
}

/* What the updates come to, tile by tile or, in `whole`, of the chunk. */
struct reduced {
    double **rows; /* for rules that compare updates; or NULL */
    double *whole; /* for those that look at tensors; or NULL */
};

static void merge_tiles(struct job *job, const struct policy *policy,
                        const struct reduced *reduced)
{
    const struct chunk_merge *merge = (const struct chunk_merge *)job;
    double room_for[CODEC_GRAIN], *value = room_for;
    float kept[CODEC_GRAIN] = {0};
    struct merge_tile tile = {.sign = policy->exchange == EXCHANGE_GRADIENT ? -1
                                                                            : 1,
                              .updates = job->inputs - MERGE_FROM,
                              .live = merge->live,
                              .usual = merge->usual,
                              .updates_before = merge->updates_before,
                              .lost = merge->lost,
                              .numbers = &policy->numbers};
    size_t most = job_tile(job);
    struct sealing sealing;

    sealing_begin(&sealing);
    for (size_t first = 0; first < job->extent.elements; first += most) {
        size_t left = job->extent.elements - first;

        tile.count = left < most ? left : most;
        if (reduced->whole)
            value = reduced->whole + first;
        else
            reduce(job, policy, reduced->rows, first, tile.count, value);
        tile.value = value;
        tile.theta = tile_of(job, 0, first, tile.count);
        for (unsigned i = 0; i < POLICY_SLOTS; i++)
            tile.slot[i] = tile_of(job, 1 + i, first, tile.count);
        step_tile(&tile,
                  &(struct held_tile){job, policy, first, tile.count, value,
                                      tile.theta, kept, reduced->rows != NULL});
        sealing_add(&sealing, tile.theta, tile.count * sizeof *tile.theta);
    }
    sealing_end(&sealing, job->out[0]);
}

static void rows_free(double **rows)
{
    if (rows)
        free(rows[0]);
    free(rows);
}

/* Room for a tile of each update; NULL: there is no memory. */
static double **rows_new(unsigned updates)
{
    double **rows = calloc(updates, sizeof *rows);
    double *space = malloc((size_t)updates * CODEC_GRAIN * sizeof *space);

    if (!rows || !space) {
        free(rows);
        free(space);
        return NULL;
    }
    for (unsigned i = 0; i < updates; i++)
        rows[i] = space + (size_t)i * CODEC_GRAIN;
    return rows;
}

/* Of the whole chunk, where a rule looks at tensors. */
static void reduce_whole(struct job *job, const struct policy *policy,
                         const struct reduced *reduced)
{
    const struct chunk_merge *merge = (const struct chunk_merge *)job;
    size_t most = job_tile(job);

    if (policy->reduce->blend)
        job->status = tensors_blend(merge, reduced->whole);
    for (size_t first = 0;
         !policy->reduce->blend && first < job->extent.elements;
         first += most) {
        size_t left = job->extent.elements - first;

        reduce(job, policy, reduced->rows, first, left < most ? left : most,
               reduced->whole + first);
    }
    if (job->status == STATUS_OK && policy->merge->correct)
        tensors_correct(merge, reduced->whole);
}

/* Rules that do more than add are told apart in the first tile. */
static bool is_sole(const struct job *job)
{
    const struct policy *policy = job->context;
    struct input added[2];
    struct job sum = *job;

    if (job->inputs != MERGE_FROM + 1 || !job->in[MERGE_THETA].blob ||
        policy->exchange != EXCHANGE_DELTA)
        return false;
    added[0] = job->in[MERGE_THETA];
    added[1] = job->in[MERGE_FROM];
    added[0].weight = added[1].weight = 1;
    sum.in = added;
    sum.inputs = sum.plain = 2;
    return job_adds_up_to(&sum, job->out[0]);
}

void merge_chunk(struct job *job)
{
    const struct policy *policy = job->context;
    bool rows = policy->reduce->rows != NULL;
    bool whole = policy->reduce->blend || policy->merge->correct;
    struct reduced reduced = {NULL, NULL};
    unsigned slots =
        policy->merge->slots ? policy->merge->slots(&policy->numbers) : 0;

    for (unsigned i = 0; i < 1 + slots; i++)
        job->out[i] = room(job);
    if (rows)
        reduced.rows = rows_new(job->inputs - MERGE_FROM);
    if (whole)
        reduced.whole = malloc(job->extent.elements * sizeof(double));
    if ((rows && !reduced.rows) || (whole && !reduced.whole))
        job->status = STATUS_NO_MEMORY;
    if (job->status == STATUS_OK && whole)
        reduce_whole(job, policy, &reduced);
    if (job->status == STATUS_OK)
        merge_tiles(job, policy, &reduced);
    rows_free(reduced.rows);
    free(reduced.whole);
    if (job->status == STATUS_OK)
        ((struct chunk_merge *)job)->sole = is_sole(job);
}

void form_chunk(struct job *job)
{
    job->plain = job->inputs;
    (void)job_add_up(job, 0, job->inputs, 0, true);
}

/* The difference is encoded, and what it decodes to added. */
void diff_chunk(struct job *job)
{
    struct input *last_sent = &job->in[DIFF_LAST_SENT];
    struct input *change = &job->in[DIFF_CHANGE];
    struct blob *difference;
    double squares;

    job->in[DIFF_THETA].weight = change->weight = 1;
    last_sent->weight = -1;
    job->plain = 1 + DIFF_THETA;
    squares = job_add_up(job, DIFF_THETA, DIFF_CHANGE, 0, false);
    change->blob =
        blob_new(job->pool, payload_bytes(&job->extent, change->codec));
    if (!change->blob)
        job->status = STATUS_NO_MEMORY;
    else if (!isfinite(squares))
        job->status = STATUS_CONFIG;
    if (job->status != STATUS_OK)
        return;
    difference = job->out[0];
    job_weigh(job, change->blob, change->codec);
    payload_encode(&job->extent, change->codec, blob_floats(difference),
                   change->blob->bytes);
    blob_seal(change->blob);
    job->out[1] = blob_ref(change->blob);
    last_sent->weight = 1;
    job->plain = 1 + DIFF_CHANGE;
    if (!isfinite(job_add_up(job, DIFF_LAST_SENT, job->inputs, 0, true)))
        job->status = STATUS_CONFIG;
    blob_unref(&difference);
}

void make_manifest(struct job *job)
{
    const struct hub_seal *seal = job->context;
    uint32_t chunks = job->inputs - 1;
    const struct blob *state = job->in[chunks].blob;
    struct blob *out = blob_new(job->pool, manifest_bytes(chunks, state->size));

    if (!out) {
        job->status = STATUS_NO_MEMORY;
        return;
    }
    manifest_begin(out->bytes, chunks, (const char *)state->bytes,
                   (uint32_t)state->size);
    for (uint32_t i = 0; i < chunks; i++)
        manifest_add(out->bytes, i, (uint64_t)job->in[i].weight,
                     job->in[i].blob->bytes, job->in[i].blob->size);
    manifest_seal(out->bytes, seal->key);
    job->out[0] = out;
}

void prove_manifest(struct job *job)
{
    const struct hub_seal *seal = job->context;
    const struct blob *payload = job->in[0].blob;
    struct manifest manifest;

    if (!manifest_read(&manifest, payload->bytes, payload->size) ||
        !manifest_is_whole(&manifest)) {
        job->status = STATUS_MALFORMED;
        return;
    }
    if (!manifest_is_genuine(&manifest, seal->key)) {
        job->status = seal->keyless ? STATUS_CONFIG : STATUS_MALFORMED;
        if (!seal->keyless)
            return;
    }
    job->out[0] = blob_new(job->pool, (size_t)manifest.state_bytes + 1);
    if (!job->out[0]) {
        job->status = STATUS_NO_MEMORY;
        return;
    }
    memcpy(job->out[0]->bytes, manifest.state, manifest.state_bytes);
    job->out[0]->bytes[manifest.state_bytes] = '\0';
}

/* The bits are copied, not added up, as nodes hold them: -0 stays what it is.
 */
void check_kept(struct job *job)
{
    const struct blob *payload = job->in[0].blob;
    const struct blob *proof = job->in[1].blob;
    uint32_t chunk = ((const struct chunk_check *)job)->chunk;
    struct manifest manifest;

    check_chunk(job);
    if (job->status != STATUS_OK)
        return;
    if (job->in[0].codec != CODEC_RAW ||
        !manifest_read(&manifest, proof->bytes, proof->size) ||
        chunk >= manifest.chunks ||
        !manifest_holds(&manifest, chunk, payload->bytes, payload->size)) {
        job->status = STATUS_MALFORMED;
        return;
    }
    job->out[0] = room(job);
    if (!job->out[0])
        return;
    memcpy(job->out[0]->bytes, payload->bytes, payload->size);
    blob_seal(job->out[0]);
}
