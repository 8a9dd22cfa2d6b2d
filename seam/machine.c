#include "seam/machine.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/floats.h"
#include "core/need.h"

static const struct level_words {
    const char *name, *capitals;
} levels[] = {
    [LEVEL_DEBUG] = {"debug", "DEBUG"},
    [LEVEL_INFO] = {"info", "INFO"},
    [LEVEL_WARNING] = {"warning", "WARNING"},
    [LEVEL_ERROR] = {"error", "ERROR"},
};

static_assert(sizeof levels / sizeof *levels == LOG_LEVELS,
              "a node's line has one of these levels");

const char *level_name(enum level level)
{
    assert((unsigned)level < LOG_LEVELS);
    return levels[level].name;
}

const char *level_capitals(enum level level)
{
    assert((unsigned)level < LOG_LEVELS);
    return levels[level].capitals;
}

struct note_row {
    const char *name;
    enum level level;
};

static const struct note_row notes[NOTE_KINDS] = {
#define NOTE(NAME, LEVEL, name) [NOTE_##NAME] = {name, LEVEL_##LEVEL},
#include "seam/notes.def"
#undef NOTE
};

const char *note_name(enum note_kind note)
{
    assert((unsigned)note < NOTE_KINDS);
    return notes[note].name;
}

enum level note_level(enum note_kind note)
{
    assert((unsigned)note < NOTE_KINDS);
    return notes[note].level;
}

void *job_make(const struct work *work, size_t size, struct pool *pool,
               unsigned inputs)
{
    size_t past = size % _Alignof(struct input);
    size_t at = past ? size + _Alignof(struct input) - past : size;
    unsigned char *bytes = need_memory(1, at + inputs * sizeof(struct input));
    struct job *job = (struct job *)(void *)bytes;

    assert(size >= sizeof *job);
    job->work = work;
    job->pool = pool;
    job->inputs = inputs;
    job->in = (struct input *)(void *)(bytes + at);
    return job;
}

struct job *job_new(const struct work *work, struct pool *pool, unsigned inputs)
{
    return job_make(work, sizeof(struct job), pool, inputs);
}

void job_destroy(struct job **reference)
{
    struct job *job = *reference;

    *reference = NULL;
    if (!job)
        return;
    for (unsigned i = 0; i < job->inputs; i++)
        blob_unref(&job->in[i].blob);
    for (unsigned i = 0; i < JOB_OUTPUTS; i++)
        blob_unref(&job->out[i]);
    free(job);
}

void job_run(struct job *job)
{
    job->work->run(job);
}

static struct weighed raw_at(const struct input *input, size_t first)
{
    return (struct weighed){input->blob->bytes + first * sizeof(float),
                            input->weight};
}

void job_sum(const struct job *job, unsigned from, unsigned to, size_t first,
             size_t count, double *into)
{
    memset(into, 0, count * sizeof *into);
    for (unsigned i = from; i < to; i++) {
        const struct input *one = &job->in[i];

        if (i + 1 < to && one->codec == CODEC_RAW &&
            job->in[i + 1].codec == CODEC_RAW)
            floats_add_two(raw_at(one, first), raw_at(&job->in[++i], first),
                           count, into);
        else
            payload_add(&job->extent, one->codec, one->blob->bytes, first,
                        count, one->weight, into);
    }
}

size_t job_tile(const struct job *job)
{
    for (unsigned i = 0; i < job->inputs; i++)
        if (job->in[i].codec != CODEC_RAW)
            return CODEC_GRAIN;
    return FLOATS_TILE;
}

static size_t tile_at(const struct job *job, size_t first, size_t tile)
{
    size_t left = job->extent.elements - first;

    return left < tile ? left : tile;
}

void job_weigh(const struct job *job, struct blob *blob, enum codec_id codec)
{
    blob->wire_bytes = payload_wire_bytes(&job->extent, codec);
}

void job_mask(const struct job *job, size_t first, size_t count, double *values)
{
    struct statistic_part part = {0};

    while (extent_statistics(&job->extent, first, count, &part))
        for (size_t i = part.at; i < part.at + part.count; i++)
            values[i] = isfinite(values[i]) ? 0 : values[i];
}

/* squares_add of a tile that begins at element `first`, by job_mask. */
static void add_squares(const struct job *job, size_t first, size_t count,
                        const void *values, struct squares *squares)
{
    struct statistic_part part = {0};
    double masked[CODEC_GRAIN];

    if (!extent_statistics(&job->extent, first, count, &part)) {
        squares_add(squares, values, count);
        return;
    }
    memset(masked, 0, count * sizeof *masked);
    floats_add(values, count, 1, masked);
    job_mask(job, first, count, masked);
    squares_add_doubles(squares, masked, count);
}

/* Takes a tile's statistics from the input that has them as they are. */
static void take_plain(const struct job *job, size_t first, size_t count,
                       float *to)
{
    const struct input *from = &job->in[job->plain - 1];
    struct statistic_part part = {0};
    double plain[CODEC_GRAIN];

    if (!extent_statistics(&job->extent, first, count, &part))
        return;
    memset(plain, 0, count * sizeof *plain);
    payload_add(&job->extent, from->codec, from->blob->bytes, first, count, 1,
                plain);
    do {
        if (part.kind != TENSOR_AVERAGED || !job->adds_means)
            floats_round(plain + part.at, part.count, to + part.at);
    } while (extent_statistics(&job->extent, first, count, &part));
}

/* to[i] = the sum of in[from..until), rounded. */
static void add_up_tile(const struct job *job, unsigned from, unsigned until,
                        size_t first, size_t count, float *to)
{
    double sum[CODEC_GRAIN];

    if (until - from == 2 && job_tile(job) == FLOATS_TILE) {
        floats_mix(raw_at(&job->in[from], first),
                   raw_at(&job->in[from + 1], first), count, to);
        return;
    }
    job_sum(job, from, until, first, count, sum);
    floats_round(sum, count, to);
}

bool job_adds_up_to(const struct job *job, const struct blob *sum)
{
    float values[CODEC_GRAIN];
    size_t tile = job_tile(job), count;

    for (size_t first = 0; first < job->extent.elements; first += count) {
        count = tile_at(job, first, tile);
        add_up_tile(job, 0, job->inputs, first, count, values);
        if (job->plain)
            take_plain(job, first, count, values);
        if (memcmp(values, sum->bytes + first * sizeof *values,
                   count * sizeof *values) != 0)
            return false;
    }
    return true;
}

double job_add_up(struct job *job, unsigned from, unsigned to, unsigned out,
                  bool seals)
{
    struct squares squares = {{0}};
    size_t tile = job_tile(job), count;
    struct sealing sealing;

    job->out[out] = blob_new(job->pool, job->extent.elements * sizeof(float));
    if (!job->out[out]) {
        job->status = STATUS_NO_MEMORY;
        return 0;
    }
    job_weigh(job, job->out[out], CODEC_RAW);
    sealing_begin(&sealing);
    for (size_t first = 0; first < job->extent.elements; first += count) {
        float *values = blob_floats(job->out[out]) + first;

        count = tile_at(job, first, tile);
        add_up_tile(job, from, to, first, count, values);
        if (job->plain)
            take_plain(job, first, count, values);
        add_squares(job, first, count, values, &squares);
        if (seals)
            sealing_add(&sealing, values, count * sizeof *values);
    }
    if (seals)
        sealing_end(&sealing, job->out[out]);
    return squares_sum(&squares);
}

/* The bytes of a payload that lie as values do, one by one. */
static double measure_raw(const struct job *job, struct blob *blob)
{
    struct squares squares = {{0}};
    struct sealing sealing;
    size_t count;

    sealing_begin(&sealing);
    for (size_t first = 0; first < job->extent.elements; first += count) {
        const unsigned char *values = blob->bytes + first * sizeof(float);

        count = tile_at(job, first, FLOATS_TILE);
        add_squares(job, first, count, values, &squares);
        if (!blob->checksum)
            sealing_add(&sealing, values, count * sizeof(float));
    }
    if (!blob->checksum)
        sealing_end(&sealing, blob);
    return squares_sum(&squares);
}

double job_measure(const struct job *job, unsigned i)
{
    struct blob *blob = job->in[i].blob;
    struct squares squares = {{0}};
    double values[CODEC_GRAIN];
    size_t count;

    if (job->in[i].codec == CODEC_RAW && job->in[i].weight == 1)
        return measure_raw(job, blob);
    if (!blob->checksum)
        blob_seal(blob);
    for (size_t first = 0; first < job->extent.elements; first += count) {
        count = tile_at(job, first, CODEC_GRAIN);
        job_sum(job, i, i + 1, first, count, values);
        job_mask(job, first, count, values);
        squares_add_doubles(&squares, values, count);
    }
    return squares_sum(&squares);
}

static void grow(struct effects *out)
{
    unsigned capacity = out->capacity ? 2 * out->capacity : 16;

    out->list = need_more(out->list, capacity * sizeof *out->list);
    out->capacity = capacity;
}

static struct effect *effects_add(struct effects *out, enum effect_kind kind,
                                  peer_id peer)
{
    struct effect *effect;

    if (out->count == out->capacity)
        grow(out);
    effect = &out->list[out->count++];
    memset(effect, 0, sizeof *effect);
    effect->kind = kind;
    effect->peer = peer;
    return effect;
}

void effects_send(struct effects *out, peer_id peer, const struct msg *msg,
                  struct blob *payload)
{
    struct msg copy = *msg; /* which may lie in the list, and that moves */
    struct effect *effect = effects_add(out, EFFECT_SEND, peer);

    effect->msg = copy;
    effect->payload = blob_ref(payload);
}

void effects_drop(struct effects *out, peer_id peer)
{
    (void)effects_add(out, EFFECT_DROP, peer);
}

void effects_job(struct effects *out, struct job *job)
{
    effects_add(out, EFFECT_JOB, PEER_NONE)->job = job;
}

void effects_note(struct effects *out, enum note_kind note, const char *subject,
                  const char *format, ...)
{
    struct note made = {.kind = note};
    va_list arguments;

    (void)snprintf(made.subject, sizeof made.subject, "%s",
                   subject ? subject : "");
    va_start(arguments, format);
    (void)vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    effects_add(out, EFFECT_NOTE, PEER_NONE)->note = made;
}

void effects_clear(struct effects *out)
{
    for (unsigned i = 0; i < out->count; i++) {
        blob_unref(&out->list[i].payload);
        job_destroy(&out->list[i].job);
    }
    out->count = 0;
}

void effects_free(struct effects *out)
{
    effects_clear(out);
    free(out->list);
    out->list = NULL;
    out->capacity = 0;
}
