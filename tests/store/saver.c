#include "tests/store/saver.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

enum { STATE_BYTES = 100 };

/* Of a version, and of the best one. */
static const char state_format[] =
    "run 9\nepoch 8589934593\nversion %.0f\nbest %.0f 0.25\n";

bool saver_open(struct saver *saver)
{
    memset(saver, 0, sizeof *saver);
    saver->pool = pool_new();
    saver->schema = schema_new();
    if (!CHECK(folder_new(&saver->folder)) ||
        !CHECK_OK(schema_add(saver->schema, "w", 1,
                             (uint64_t[]){SAVER_ELEMENTS}, NULL)))
        return false;
    if (!CHECK_OK(centre_open(&saver->store, saver->folder.path, NULL)))
        return false;
    saver->store.schema = saver->schema;
    return true;
}

void saver_close(struct saver *saver)
{
    centre_close(&saver->store);
    folder_remove(&saver->folder);
    schema_destroy(&saver->schema);
    pool_destroy(&saver->pool);
}

static struct blob *chunk_of(struct saver *saver, uint32_t chunk, float value)
{
    size_t count = chunk_length(SAVER_ELEMENTS, SAVER_CHUNK, chunk);
    struct blob *blob = blob_new(saver->pool, count * sizeof(float));

    for (size_t i = 0; i < count; i++)
        blob_floats(blob)[i] = value + (float)((size_t)chunk * SAVER_CHUNK + i);
    return blob;
}

static struct blob *blob_of(struct saver *saver, const char *text)
{
    struct blob *blob = blob_new(saver->pool, strlen(text));

    memcpy(blob->bytes, text, blob->size);
    return blob;
}

/* Adds a vector to the job: its values begin at `value`. */
static void add_vector(struct saver *saver, struct job *job, unsigned vector,
                       float value)
{
    for (uint32_t i = 0; i < SAVER_CHUNKS; i++)
        job->in[vector * SAVER_CHUNKS + i].blob = chunk_of(saver, i, value);
}

struct job *saver_job_best(struct saver *saver, double version, float value,
                           unsigned slots, double best)
{
    unsigned vectors = 1 + slots + (best >= 0 ? 1 : 0);
    struct save_job *save = job_make(&centre_save, sizeof *save, saver->pool,
                                     vectors * SAVER_CHUNKS + 1);
    struct job *job = &save->job;
    char state[STATE_BYTES];

    (void)snprintf(state, sizeof state, state_format, version, best);
    add_vector(saver, job, 0, value);
    for (unsigned slot = 1; slot <= slots; slot++)
        add_vector(saver, job, slot, -(float)slot * value);
    if (best >= 0)
        add_vector(saver, job, 1 + slots, 10 * (float)best);
    job->in[(size_t)vectors * SAVER_CHUNKS].blob = blob_of(saver, state);
    job->context = &saver->store;
    job->extent.elements = SAVER_ELEMENTS;
    save->version = (uint64_t)version;
    save->slots = slots;
    save->has_best = best >= 0;
    save->best_version = best >= 0 ? (uint64_t)best : 0;
    return job;
}

struct job *saver_job(struct saver *saver, double version, float value,
                      unsigned slots)
{
    return saver_job_best(saver, version, value, slots, -1);
}

enum status saver_do(struct job *job)
{
    enum status status;

    job_run(job);
    status = job->status;
    job_destroy(&job);
    return status;
}

enum status saver_save(struct saver *saver, double version, float value,
                       unsigned slots)
{
    return saver_do(saver_job(saver, version, value, slots));
}

char saver_complaint[400];

void saver_complain(const char *sentence)
{
    (void)snprintf(saver_complaint, sizeof saver_complaint, "%s", sentence);
}

struct centre_loaded *saver_load(struct saver *saver)
{
    struct centre_loaded *loaded = NULL;

    saver_complaint[0] = '\0';
    CHECK_OK(centre_load(&saver->store, saver_complain, &loaded, NULL));
    return loaded;
}
