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

struct job_of_all {
    struct circle *circle;
    struct worker workers[WORKERS];
    bool lazy;
};

static float number(unsigned element, unsigned place, unsigned version)
{
    return 1.0f / (float)(1 + (element * 7 + place * 13 + version * 31) % 97);
}

/* Comes to its next call. */
static void come(struct job_of_all *all, unsigned place)
{
    struct circle *circle = all->circle;
    struct worker *worker = &all->workers[place];
    struct circle_member *member = &circle->members[place];
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
        if (all->lazy)
            ask.collective = COLLECTIVE_LAZY;
    }
    circle_give(circle, place, values, sizeof values);
    memcpy(member->model, worker->model, sizeof worker->model);
    member->model_bytes = sizeof worker->model;
    circle_request(circle, place, &ask);
}

/* What its last call gave. */
static void take(struct job_of_all *all, unsigned place)
{
    const struct msg_told *told = patient_told(all->circle, place);
    const unsigned char *out = all->circle->members[place].out;
    struct worker *worker = &all->workers[place];
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
        memcpy(worker->word, all->circle->members[place].in,
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

static void start(struct job_of_all *all, unsigned place)
{
    unsigned deaths = all->workers[place].deaths;

    all->workers[place] = (struct worker){.loading = true, .deaths = deaths};
    circle_start(all->circle, place);
    come(all, place);
}

/* Whether somebody but this worker lives and has the newest model: of a lazy
 * one that is who can bring it back. */
static bool is_spare(const struct job_of_all *all, unsigned place)
{
    for (unsigned i = 0; i < WORKERS; i++)
        if (i != place && all->circle->members[i].client &&
            !all->workers[i].loading)
            return true;
    return !all->lazy;
}

/* Somebody dies now and then, nobody more than four times, and nobody who has
 * its model and waits for the others to leave. */
static void kill_somebody(struct job_of_all *all)
{
    struct circle *circle = all->circle;
    unsigned place = (unsigned)prng_below(&circle->prng, WORKERS);
    struct worker *worker = &all->workers[place];

    if (prng_below(&circle->prng, 20) || !circle->members[place].client ||
        worker->deaths == 4 || !is_spare(all, place) ||
        (worker->version == VERSIONS && !worker->loading))
        return;
    worker->deaths++;
    worker->back =
        circle->now + (nanos)prng_below(&circle->prng, 100) * MILLISECOND;
    circle_kill(circle, place);
}

/* One look at everybody; true when all are done. */
static bool turn(struct job_of_all *all)
{
    struct circle *circle = all->circle;
    bool done = true;

    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &all->workers[i];

        if (!circle->members[i].client && worker->back <= circle->now) {
            start(all, i);
        } else if (circle->members[i].client && !circle->members[i].asking &&
                   !worker->done) {
            take(all, i);
            if (!worker->done)
                come(all, i);
        }
        done = done && worker->done;
    }
    return done;
}

/* Bit for bit. */
static bool same(const float *one, const float *other)
{
    const void *a = one, *b = other;

    return memcmp(a, b, ELEMENTS * sizeof *one) == 0;
}

/* Runs until all are done, into `model` (that of each must be the same). */
static void run(uint64_t seed, bool lazy, bool deadly, float *model)
{
    struct job_of_all all = {.circle = circle_new(MANNER_PATIENT, WORKERS),
                             .lazy = lazy};
    nanos until = all.circle->now + 600 * SECOND;
    bool done = false;

    prng_seed(&all.circle->prng, seed);
    all.circle->jitter = 2 * MILLISECOND;
    for (unsigned i = 0; i < WORKERS; i++) {
        all.circle->members[i].config.patience = 3600 * SECOND;
        start(&all, i);
    }
    while (!done && all.circle->now < until) {
        done = turn(&all);
        if (deadly && !done)
            kill_somebody(&all);
        circle_run(all.circle, MILLISECOND);
    }
    CHECK(done);
    memcpy(model, all.workers[0].model, sizeof all.workers[0].model);
    for (unsigned i = 1; i < WORKERS; i++)
        CHECK(same(model, all.workers[i].model));
    circle_destroy(&all.circle);
}

static void rb_14_whoever_dies_whenever_the_same_bytes(void)
{
    float calm[ELEMENTS], model[ELEMENTS];

    run(1, false, false, calm);
    for (uint64_t seed = 1; seed <= (runs_slowly() ? 10 : 100); seed++) {
        run(seed, seed % 2, true, model);
        if (!CHECK(same(calm, model)))
            return;
    }
}

void add_collectives_die_hard_tests(CU_pSuite suite)
{
    TEST(rb_14_whoever_dies_whenever_the_same_bytes);
}
