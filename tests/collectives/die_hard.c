/* Workers that die at any moment, in virtual time: whatever the seed, they end
 * with the bytes of a run in which nobody died. tests/e2e/die_hard.sh does it
 * with processes. */
#include <string.h>

#include "tests/check.h"
#include "tests/collectives/patient.h"

enum { WORKERS = 5, VERSIONS = 3, ELEMENTS = 40, CALLS = 4 };

struct worker {
    bool loading, done;
    unsigned version, sequence;
    float sum[ELEMENTS], word[ELEMENTS];
    float model[ELEMENTS];
    unsigned deaths;
    nanos back; /* when it starts again, if it is dead */
};

struct cluster {
    struct virtual_group *group;
    struct worker workers[WORKERS];
    bool lazy;
};

static float number(unsigned element, unsigned place, unsigned version)
{
    return 1.0f / (float)(1 + (element * 7 + place * 13 + version * 31) % 97);
}

/* Comes to its next call. */
static void come(struct cluster *cluster, unsigned place)
{
    struct virtual_group *group = cluster->group;
    struct worker *worker = &cluster->workers[place];
    struct virtual_member *member = &group->members[place];
    struct msg_ask ask = {.ask = ASK_COLLECTIVE,
                          .scalar = SCALAR_F32,
                          .bytes = sizeof worker->model,
                          .limit = 3600 * SECOND};
    static const enum collective kinds[CALLS] = {
        COLLECTIVE_ALLREDUCE, COLLECTIVE_BROADCAST, COLLECTIVE_ALLREDUCE,
        COLLECTIVE_CHECKPOINT};
    float values[ELEMENTS];

    for (unsigned i = 0; i < ELEMENTS; i++)
        values[i] = number(i, place, worker->version + worker->sequence);
    ask.collective = kinds[worker->sequence];
    if (worker->loading)
        ask.collective = COLLECTIVE_LOAD;
    ask.reduction = worker->sequence == 0 ? REDUCTION_SUM : REDUCTION_MAX;
    ask.root = worker->version % WORKERS;
    if (!worker->loading && worker->version == VERSIONS)
        ask.collective = COLLECTIVE_BARRIER; /* as star_group_leave does */
    if (worker->loading || worker->version == VERSIONS)
        ask.bytes = 0;
    if (ask.collective == COLLECTIVE_CHECKPOINT) {
        memcpy(values, worker->model, sizeof values);
        if (cluster->lazy)
            ask.collective = COLLECTIVE_LAZY;
    }
    virtual_give(group, place, values, sizeof values);
    memcpy(member->model, worker->model, sizeof worker->model);
    member->model_bytes = sizeof worker->model;
    virtual_request(group, place, &ask);
}

/* What its last call gave. */
static void take(struct cluster *cluster, unsigned place)
{
    const struct msg_told *told = virtual_told(cluster->group, place);
    const unsigned char *out = cluster->group->members[place].out;
    struct worker *worker = &cluster->workers[place];
    float most[ELEMENTS];

    CHECK_EQUAL(ENDING_SUCCESS, told->outcome);
    if (worker->loading) {
        worker->loading = false;
        worker->version = (unsigned)told->version;
        if (told->bytes)
            memcpy(worker->model, out, sizeof worker->model);
        return;
    }
    worker->done = worker->version == VERSIONS;
    if (worker->done)
        return;
    if (worker->sequence == 0)
        memcpy(worker->sum, out, sizeof worker->sum);
    if (worker->sequence == 1 && told->bytes)
        memcpy(worker->word, out, sizeof worker->word);
    if (worker->sequence == 1 && !told->bytes) /* it is the root */
        memcpy(worker->word, cluster->group->members[place].in,
               sizeof worker->word);
    if (worker->sequence == 2) {
        memcpy(most, out, sizeof most);
        for (unsigned i = 0; i < ELEMENTS; i++)
            worker->model[i] = worker->model[i] * 0.75f + worker->sum[i] +
                               worker->word[i] * most[i];
    }
    if (++worker->sequence == CALLS) {
        worker->sequence = 0;
        worker->version++;
    }
}

static void start(struct cluster *cluster, unsigned place)
{
    unsigned deaths = cluster->workers[place].deaths;

    cluster->workers[place] =
        (struct worker){.loading = true, .deaths = deaths};
    virtual_start(cluster->group, place);
    come(cluster, place);
}

/* Whether somebody but this worker lives and has the newest model: of a lazy
 * one that is who can bring it back. */
static bool is_spare(const struct cluster *cluster, unsigned place)
{
    for (unsigned i = 0; i < WORKERS; i++)
        if (i != place && cluster->group->members[i].client &&
            !cluster->workers[i].loading)
            return true;
    return !cluster->lazy;
}

/* Somebody dies now and then, nobody more than four times, and nobody who has
 * its model and waits for the others to leave. */
static void kill_somebody(struct cluster *cluster)
{
    struct virtual_group *group = cluster->group;
    unsigned place = (unsigned)prng_below(&group->prng, WORKERS);
    struct worker *worker = &cluster->workers[place];

    if (prng_below(&group->prng, 20) || !group->members[place].client ||
        worker->deaths == 4 || !is_spare(cluster, place) ||
        (worker->version == VERSIONS && !worker->loading))
        return;
    worker->deaths++;
    worker->back =
        group->now + (nanos)prng_below(&group->prng, 100) * MILLISECOND;
    virtual_kill(group, place);
}

/* One look at everybody; true when all are done. */
static bool turn(struct cluster *cluster)
{
    struct virtual_group *group = cluster->group;
    bool done = true;

    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &cluster->workers[i];

        if (!group->members[i].client && worker->back <= group->now) {
            start(cluster, i);
        } else if (group->members[i].client && !group->members[i].asking &&
                   !worker->done) {
            take(cluster, i);
            if (!worker->done)
                come(cluster, i);
        }
        done = done && worker->done;
    }
    return done;
}

/* Runs until all are done, into `model` (that of each must be the same). */
static void run(uint64_t seed, bool lazy, bool deadly, float *model)
{
    struct cluster cluster = {.group = virtual_new(MANNER_PATIENT, WORKERS),
                              .lazy = lazy};
    nanos until = cluster.group->now + 600 * SECOND;
    bool done = false;

    prng_seed(&cluster.group->prng, seed);
    cluster.group->jitter = 2 * MILLISECOND;
    for (unsigned i = 0; i < WORKERS; i++) {
        cluster.group->members[i].config.patience = 3600 * SECOND;
        start(&cluster, i);
    }
    while (!done && cluster.group->now < until) {
        done = turn(&cluster);
        if (deadly && !done)
            kill_somebody(&cluster);
        virtual_run(cluster.group, MILLISECOND);
    }
    CHECK(done);
    memcpy(model, cluster.workers[0].model, sizeof cluster.workers[0].model);
    for (unsigned i = 1; i < WORKERS; i++)
        CHECK(same_bytes(model, cluster.workers[i].model,
                         ELEMENTS * sizeof *model));
    virtual_destroy(&cluster.group);
}

static void rb_14_whoever_dies_whenever_the_same_bytes(void)
{
    float calm[ELEMENTS], model[ELEMENTS];

    run(1, false, false, calm);
    for (uint64_t seed = 1; seed <= (runs_slowly() ? 10 : 100); seed++) {
        run(seed, seed % 2, true, model);
        if (!CHECK(same_bytes(calm, model, sizeof calm)))
            return;
    }
}

void add_collectives_die_hard_tests(CU_pSuite suite)
{
    TEST(rb_14_whoever_dies_whenever_the_same_bytes);
}
