#include "tests/hub/store.h"

#include <string.h>

#include "tests/check.h"

/* The context is for the job to read only; the counters are the test's. */
static struct store *store_of(const struct job *job)
{
    union {
        const void *from;
        struct store *to;
    } pointer = {.from = job->context};

    return pointer.to;
}

static void copy_chunks(const struct job *job, unsigned first, float *to)
{
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        const struct blob *blob = job->in[first + i].blob;
        size_t length = hub_fixture_length(i);

        if (blob)
            memcpy(to, blob->bytes, blob->size);
        else
            memset(to, 0, length * sizeof *to);
        to += length;
    }
}

static void save(struct job *job)
{
    const struct save_job *save = (struct save_job *)job;
    struct store *store = store_of(job);
    const struct blob *text = job->in[job->inputs - 1].blob;

    if (store->fails) {
        store->failures++;
        job->status = STATUS_IO;
        return;
    }
    store->slots = save->slots;
    if (save->has_best) {
        const struct input *best =
            &job->in[(size_t)(1 + store->slots) * FIXTURE_CHUNKS];

        store->bests++;
        store->best_version = save->best_version;
        store->best_first = hand_float(best->blob, 0);
    }
    store->saves++;
    store->finals += save->over;
    store->version = save->version;
    copy_chunks(job, 0, store->theta);
    for (unsigned i = 0; i < store->slots; i++)
        copy_chunks(job, (1 + i) * FIXTURE_CHUNKS, store->slot[i]);
    memcpy(store->state, text->bytes, text->size);
    store->state[text->size] = '\0';
}

static void score(struct job *job)
{
    struct score_job *score = (struct score_job *)job;
    struct store *store = store_of(job);

    if (store->fails) {
        job->status = STATUS_CONFIG;
        return;
    }
    store->scores++;
    score->loss = store->loss;
    score->accuracy = store->accuracy;
    score->error = store->error;
}

static const struct work work_save = {"save", save, NULL};
static const struct work work_score = {"score", score, NULL};

void store_lend(struct store *store, struct hub_fixture *f)
{
    memset(store, 0, sizeof *store);
    store->accuracy = -1;
    f->config.save = &work_save;
    f->config.evaluate = &work_score;
    f->config.save_context = f->config.evaluate_context = store;
}

struct fake_node store_filled(struct store *store, const char *name)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(store, f);
    store->loss = 1.0 / 3;
    store->accuracy = 2.0 / 3;
    hub_fixture_open(f);
    a = fake_node_comes(f, name);
    fake_node_founds(f, &a, 1);
    fake_node_gives(f, &a, 1, 0.5);
    fake_node_gives(f, &a, 2, 0.5);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(2, store->version);
    CHECK_EQUAL(1, store->saves);
    hub_fixture_destroy(&f);
    return a;
}

enum status store_restore(const struct store *store, struct hub_fixture *f,
                          const char *state, struct why *why)
{
    const struct hub_saved saved = {
        .schema = f->schema, .theta = store->theta, .state = state};

    return hub_restore(f->hub, &saved, why);
}
