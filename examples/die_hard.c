/* A worker that dies on request and goes on where it was: three versions of
 * collectives and checkpoints, as Rabit's test of recovery does them.
 *
 *     die_hard NAME SIZE ELEMENTS VERSIONS global|lazy TRIAL FILE
 *              [mock=RANK,VERSION,SEQUENCE,NDEATH ...]
 *
 * It kills itself before the collective that a mock names, if this is its
 * start number TRIAL = NDEATH; whoever started it starts it again with a TRIAL
 * that is one higher. The model that it ends with goes to FILE: the same
 * bytes, whoever died and when. */
#include <signal.h>
#include <starswitch_group.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    struct star_group *group;
    unsigned rank, size, trial;
    size_t elements;
    int version, sequence, lazy;
    float *model, *most, *sum, *word; /* `elements` each */
    char **mocks;
    int mock_count;
};

static void fail(struct worker *worker, const char *what)
{
    struct star_group_state state = {.size = sizeof state};

    star_group_look(worker->group, &state);
    (void)fprintf(stderr, "rank %u: %s: %s\n", worker->rank, what, state.text);
    exit(1);
}

/* Before each collective: is this where a mock wants us dead? */
static void may_die(struct worker *worker)
{
    unsigned long place[4];

    for (int i = 0; i < worker->mock_count; i++) {
        char *at = worker->mocks[i] + strlen("mock=") - 1;

        for (int j = 0; j < 4; j++)
            place[j] = *at ? strtoul(at + 1, &at, 10) : 0;
        if (place[0] == worker->rank &&
            place[1] == (unsigned long)worker->version &&
            place[2] == (unsigned long)worker->sequence &&
            place[3] == worker->trial)
            (void)raise(SIGKILL);
    }
    worker->sequence++;
}

/* A number that depends on all three, and whose sums have to be rounded. */
static float number(size_t element, unsigned rank, int version)
{
    size_t mixed = element * 7 + (size_t)rank * 13 + (size_t)version * 31;

    return (float)(1.0 / (double)(1 + mixed % 97));
}

static void prepare_most(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < worker->elements; i++)
        worker->most[i] = number(i, worker->rank, worker->version);
}

static void prepare_sum(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < worker->elements; i++)
        worker->sum[i] =
            worker->most[i] * number(i + 5, worker->rank, worker->version);
}

static void reduce(struct worker *worker, float *values, enum star_op op,
                   void (*prepare)(void *argument))
{
    may_die(worker);
    if (star_group_allreduce(worker->group, values, worker->elements, STAR_F32,
                             op, prepare, worker) != STAR_GROUP_SUCCESS)
        fail(worker, "allreduce");
}

static void broadcast(struct worker *worker, unsigned root)
{
    may_die(worker);
    if (worker->rank == root)
        for (size_t i = 0; i < worker->elements; i++)
            worker->word[i] = worker->most[i] * number(i, root, 3);
    if (star_group_broadcast(worker->group, worker->word,
                             worker->elements * sizeof(float),
                             root) != STAR_GROUP_SUCCESS)
        fail(worker, "broadcast");
}

/* One version: the largest, a word of everybody, the sum; the model changes
 * only after the last of them. */
static void iterate(struct worker *worker)
{
    size_t bytes = worker->elements * sizeof(float);
    enum star_group_status status;

    worker->sequence = 0;
    reduce(worker, worker->most, STAR_MAX, prepare_most);
    for (unsigned root = 0; root < worker->size; root++)
        broadcast(worker, root);
    reduce(worker, worker->sum, STAR_SUM, prepare_sum);
    may_die(worker);
    for (size_t i = 0; i < worker->elements; i++)
        worker->model[i] = worker->model[i] * 0.75f + worker->sum[i] +
                           worker->word[i] * worker->most[i];
    status =
        worker->lazy
            ? star_group_lazy_checkpoint(worker->group, worker->model, bytes)
            : star_group_checkpoint(worker->group, worker->model, bytes);
    if (status != STAR_GROUP_SUCCESS)
        fail(worker, "checkpoint");
    worker->version++;
}

static void load(struct worker *worker)
{
    const void *model;
    size_t bytes;
    int64_t version = star_group_load_checkpoint(worker->group, &model, &bytes);

    if (version < 0)
        fail(worker, "load");
    worker->version = (int)version;
    if (version > 0)
        memcpy(worker->model, model, bytes);
}

static void save(const struct worker *worker, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file ||
        fwrite(worker->model, sizeof(float), worker->elements, file) !=
            worker->elements ||
        fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct star_group_options options = {.size = sizeof options,
                                         .manner = STAR_PATIENT,
                                         .timeout = 60,
                                         .patience = 30};
    struct worker worker = {0};
    char error[256];
    int versions;

    if (argc < 8) {
        (void)fprintf(stderr, "die_hard NAME SIZE ELEMENTS VERSIONS "
                              "global|lazy TRIAL FILE [mock=...]\n");
        return 64;
    }
    options.members = worker.size = (unsigned)strtoul(argv[2], NULL, 10);
    worker.elements = (size_t)strtoul(argv[3], NULL, 10);
    versions = (int)strtol(argv[4], NULL, 10);
    worker.lazy = strcmp(argv[5], "lazy") == 0;
    worker.trial = (unsigned)strtoul(argv[6], NULL, 10);
    worker.mocks = argv + 8;
    worker.mock_count = argc - 8;
    worker.model = calloc(4 * worker.elements, sizeof(float));
    if (!worker.model)
        return 70;
    worker.most = worker.model + worker.elements;
    worker.sum = worker.most + worker.elements;
    worker.word = worker.sum + worker.elements;
    if (star_group_join(NULL, argv[1], &options, &worker.group, error,
                        sizeof error) != STAR_OK) {
        (void)fprintf(stderr, "%s\n", error);
        return 69;
    }
    if (star_group_build(worker.group) != STAR_GROUP_SUCCESS)
        fail(&worker, "init");
    worker.rank = star_group_rank(worker.group);
    load(&worker);
    while (worker.version < versions)
        iterate(&worker);
    save(&worker, argv[7]);
    star_group_leave(&worker.group);
    free(worker.model);
    return 0;
}
