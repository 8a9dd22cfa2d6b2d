/* Saving the centre: the job that makes a generation of what it is given. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/centre.h"

enum { PAIRS = 4, NUMBER_BYTES = 32, NONE = -1 };

/* What a job is to write: chunks of the centre, as many of each slot and of
 * the best centre, the state. */
struct snapshot {
    const struct centre_store *store;
    char *state;
    uint64_t version;
    unsigned chunks, slots;
    bool has_best;
    uint64_t best_version;
    struct part *parts; /* of the centre, of each slot, of the best one */
    float *zeros;       /* a chunk of a slot that has not moved, or NULL */
};

/* ---- the state's text ---- */

/* What stands behind `key` at the beginning of a line, or NULL. */
static const char *line_of(const char *state, const char *key)
{
    size_t length = strlen(key);

    while (state && strncmp(state, key, length) != 0) {
        state = strchr(state, '\n');
        state += state != NULL;
    }
    return state ? state + length : NULL;
}

static uint64_t number_of(const char *state, const char *key)
{
    const char *text = line_of(state, key);

    return text ? strtoull(text, NULL, 10) : 0;
}

/* The score of the version, if the state's line "best VERSION SCORE" is about
 * it. */
static void find_score(const char *state, uint64_t version,
                       char score[NUMBER_BYTES])
{
    const char *line = line_of(state, "best ");
    double value = NO_SCORE;
    char *end;

    if (line && strtoull(line, &end, 10) == version && *end == ' ')
        value = strtod(end, NULL);
    if (value < NO_SCORE)
        (void)snprintf(score, NUMBER_BYTES, "%.9g", value);
    else
        (void)snprintf(score, NUMBER_BYTES, "none");
}

/* ---- files ---- */

/* Adds `chunks` parts from `first` on as a model of this version. */
static enum status add_model(struct generation *generation,
                             const struct snapshot *snapshot, const char *name,
                             unsigned vector, uint64_t version, struct why *why)
{
    char run[NUMBER_BYTES], number[NUMBER_BYTES], score[NUMBER_BYTES];
    const struct pair pairs[PAIRS] = {
        {"format", "pt"}, {"run", run}, {"version", number}, {"score", score}};
    const struct safetensors_source source = {
        .schema = snapshot->store->schema,
        .pairs = pairs,
        .pair_count = PAIRS,
        .parts = snapshot->parts + (size_t)vector * snapshot->chunks,
        .part_count = snapshot->chunks,
    };
    struct part *parts = NULL;
    size_t count = 0;
    enum status status;

    (void)snprintf(run, sizeof run, "%016" PRIx64, generation->manifest.run);
    (void)snprintf(number, sizeof number, "%" PRIu64, version);
    find_score(snapshot->state, version, score);
    status = safetensors_parts(&source, &parts, &count, why);
    if (status == STATUS_OK)
        status = generation_add(generation, name, parts, count, why);
    free(parts);
    return status;
}

static enum status add_centre(struct generation *generation,
                              const struct snapshot *snapshot, struct why *why)
{
    const struct part state = {snapshot->state, strlen(snapshot->state)};
    enum status status =
        add_model(generation, snapshot, CENTRE_FILE, 0, snapshot->version, why);

    for (unsigned i = 0; i < snapshot->slots && status == STATUS_OK; i++)
        status = add_model(generation, snapshot, centre_slots[i], 1 + i,
                           snapshot->version, why);
    if (status == STATUS_OK)
        status = generation_add(generation, CENTRE_STATE, &state, 1, why);
    return status;
}

/* ---- the best ones ---- */

/* How many best centres of the manifest are newer than this one. */
static unsigned newer_than(const struct inventory *manifest, uint64_t version)
{
    unsigned newer = 0;
    uint64_t other;

    for (unsigned i = 0; i < manifest->count; i++)
        newer +=
            centre_is_best(manifest->files[i].name, &other) && other > version;
    return newer;
}

/* Takes over best centres of the generation before, at most `room` of them. */
static enum status keep_best(struct generation *generation,
                             const struct snapshot *snapshot, unsigned room,
                             struct why *why)
{
    struct inventory before = {0};
    enum status status = STATUS_OK;
    uint64_t version;

    if (generation->before &&
        generation_open(generation->directory, generation->before, &before,
                        NULL) == STATUS_NO_MEMORY)
        status = because(why, STATUS_NO_MEMORY, "no memory to save the centre");
    for (unsigned i = 0; i < before.count && status == STATUS_OK; i++) {
        const struct inventory_file *file = &before.files[i];

        if (!centre_is_best(file->name, &version) ||
            newer_than(&before, version) >= room ||
            (snapshot->has_best && version == snapshot->best_version))
            continue;
        status = generation_link_former(generation, file, why);
        if (status == STATUS_AGAIN)
            status = STATUS_OK;
    }
    inventory_free(&before);
    return status;
}

static enum status add_best(struct generation *generation,
                            const struct snapshot *snapshot, struct why *why)
{
    unsigned room = snapshot->store->best - (snapshot->has_best ? 1 : 0);
    enum status status = keep_best(generation, snapshot, room, why);
    const struct inventory_file *best;
    char name[INVENTORY_NAME_BYTES];

    if (status == STATUS_OK && snapshot->has_best) {
        (void)snprintf(name, sizeof name, CENTRE_BEST "%" PRIu64 ".safetensors",
                       snapshot->best_version);
        status = add_model(generation, snapshot, name, 1 + snapshot->slots,
                           snapshot->best_version, why);
    }
    best = centre_best(&generation->manifest);
    if (status == STATUS_OK && best)
        status = generation_choose(generation, best->name, why);
    return status;
}

static enum status write_snapshot(const struct snapshot *snapshot,
                                  struct why *why)
{
    struct generation generation;
    enum status status =
        generation_begin(&generation, snapshot->store->directory, why);

    generation.manifest.run = number_of(snapshot->state, "run ");
    generation.manifest.version = snapshot->version;
    generation.manifest.epoch = number_of(snapshot->state, "epoch ");
    if (status == STATUS_OK)
        status = add_centre(&generation, snapshot, why);
    if (status == STATUS_OK)
        status = add_best(&generation, snapshot, why);
    if (status == STATUS_OK)
        return generation_end(&generation, why);
    generation_abandon(&generation);
    return status;
}

/* ---- the job ---- */

/* Finds out how many of the inputs are the centre's chunks: as many as hold
 * all elements. */
static void split_inputs(const struct job *job, struct snapshot *out)
{
    const struct save_job *save = (const struct save_job *)job;
    uint64_t size = 0, wanted = out->store->schema->elements * sizeof(float);

    while (size < wanted) {
        assert(out->chunks + 1 < job->inputs);
        size += job->in[out->chunks++].blob->size;
    }
    assert(size == wanted && out->chunks > 0);
    out->slots = save->slots;
    out->has_best = save->has_best;
    out->best_version = save->has_best ? save->best_version : 0;
    assert(out->slots <= SAVED_SLOTS);
    assert(job->inputs ==
           (1 + out->slots + (out->has_best ? 1 : 0)) * out->chunks + 1);
}

static enum status gather_parts(const struct job *job, struct snapshot *out,
                                struct why *why)
{
    const struct blob *state = job->in[job->inputs - 1].blob;

    split_inputs(job, out);
    out->parts = calloc(job->inputs, sizeof *out->parts);
    out->zeros = calloc(1, job->in[0].blob->size);
    out->state = strndup((const char *)state->bytes, state->size);
    if (!out->parts || !out->zeros || !out->state)
        return because(why, STATUS_NO_MEMORY, "no memory to save the centre");
    for (unsigned i = 0; i < job->inputs - 1; i++) {
        const struct blob *blob = job->in[i].blob;

        out->parts[i].bytes = blob ? (const void *)blob->bytes : out->zeros;
        out->parts[i].size = job->in[i % out->chunks].blob->size;
    }
    return STATUS_OK;
}

static enum status save(struct job *job, struct why *why)
{
    struct snapshot snapshot = {.store = job->context,
                                .version =
                                    ((const struct save_job *)job)->version};
    enum status status;

    assert(snapshot.store->schema && snapshot.store->best > 0);
    centre_make_good(snapshot.store);
    status = gather_parts(job, &snapshot, why);
    if (status == STATUS_OK)
        status = write_snapshot(&snapshot, why);
    free(snapshot.parts);
    free(snapshot.zeros);
    free(snapshot.state);
    return status;
}

static void run_save(struct job *job)
{
    struct why why = {""};

    job->status = save(job, &why);
    if (job->status == STATUS_OK)
        return;
    job->out[0] = blob_new(job->pool, strlen(why.text) + 1);
    if (job->out[0])
        memcpy(job->out[0]->bytes, why.text, job->out[0]->size);
}

const struct work centre_save = {"save", run_save, NULL};
