/* Tasks in a virtual star: whatever dies, each is done exactly once an epoch,
 * and what is done is in the centre.
 *
 * A node that trains on part p of epoch e moves parameter e * PARTS + p by 1
 * in all, and no other: the centre tells what has been trained. */
#include <stdlib.h>
#include <string.h>

#include "core/prng.h"
#include "hub/ledger.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { PARTS = 12, EPOCHS = 4, STEPS = 8, MOST_NODES = 5, MOST_MENDS = 64 };
#define FAULTS (15 * SECOND)

static const struct drift none = {0};

struct yard;

struct mend {
    struct yard *yard;
    unsigned process;
};

struct yard {
    struct lab *lab;
    struct prng prng;
    unsigned nodes, mend_count;
    struct mend mends[MOST_MENDS];
    bool sick[MOST_NODES], hub_sick;
    unsigned done[EPOCHS][PARTS];        /* how often, as the hub lives on */
    uint64_t epoch;                      /* of the ledger, when last seen */
    unsigned resumes, violations, saves; /* saves: that were looked at */
    uint64_t trained[MOST_NODES];        /* iterations on tasks */
    double least; /* share of a task in the centre, at least */
};

/* Each iteration on a task is an eighth of it: dyadic, so sums are exact. */
static void train(void *observer, const struct trainer_look *look)
{
    uint64_t *trained = observer;

    if (look->moment != TRAINER_STEPPED || !look->task ||
        look->task->epoch >= EPOCHS)
        return;
    ++*trained;
    look->x[look->task->epoch * PARTS + look->task->part] += 1.0f / STEPS;
}

/* ---- the judge ---- */

/* Counts what has been done since the last look. */
static void count_done(struct yard *yard, const struct ledger *ledger)
{
    yard->violations += ledger->epoch < yard->epoch;
    for (; yard->epoch < ledger->epoch; yard->epoch++)
        for (unsigned i = 0; i < PARTS && yard->epoch < EPOCHS; i++)
            if (!yard->done[yard->epoch][i])
                yard->done[yard->epoch][i]++;
    for (unsigned i = 0; i < PARTS && ledger->epoch < EPOCHS; i++) {
        const struct ledger_task *task = &ledger->tasks[i];
        unsigned *done = &yard->done[ledger->epoch][task->part];

        yard->violations += *done > (task->state == TASK_DONE);
        *done = task->state == TASK_DONE;
    }
}

/* The hub knows of another centre's tasks from now on; nodes tell it what they
 * have done of the others. */
static void begin_again(struct yard *yard, const struct ledger *ledger)
{
    for (uint64_t epoch = ledger->epoch; epoch < EPOCHS; epoch++)
        memset(yard->done[epoch], 0, sizeof yard->done[epoch]);
    if (ledger->epoch < yard->epoch)
        yard->epoch = ledger->epoch;
    count_done(yard, ledger);
}

/* Whether a late node had a newer centre than the one that was gone on from. */
static bool has_recovered(const struct world_step *step)
{
    for (unsigned i = 0; i < step->effects->count; i++)
        if (step->effects->list[i].kind == EFFECT_NOTE &&
            step->effects->list[i].note.kind == NOTE_RESTORED)
            return true;
    return false;
}

/* A report makes one task done at most, so an epoch ends with its last one;
 * what nodes claim of a hub that was killed comes on top. */
static void judge_step(struct lab *lab, const struct world_step *step)
{
    struct yard *yard = lab->own;
    const struct ledger *ledger;
    unsigned before = 0, after = 0;

    if (step->process != WORLD_HUB)
        return;
    ledger = hub_ledger(world_hub(lab->world));
    if (has_recovered(step))
        begin_again(yard, ledger);
    for (unsigned i = 0; i < EPOCHS * PARTS; i++)
        before += yard->done[i / PARTS][i % PARTS];
    count_done(yard, ledger);
    for (unsigned i = 0; i < EPOCHS * PARTS; i++)
        after += yard->done[i / PARTS][i % PARTS];
    yard->violations += !yard->resumes && after > before + 1;
}

/* All that the saved ledger calls done is in the saved centre. */
static void judge_saved(struct yard *yard)
{
    const struct world_saved *saved = world_saved(yard->lab->world);
    const char *line = saved->state ? strstr(saved->state, "tasks ") : NULL;
    struct ledger ledger;

    if (!line || saved->count == yard->saves)
        return;
    yard->saves = saved->count;
    ledger_init(&ledger, PARTS, EPOCHS, 0, 0);
    CHECK(ledger_read(&ledger, line));
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++)
        for (unsigned i = 0; i < PARTS; i++) {
            const struct ledger_task *task = &ledger.tasks[i];
            bool done = epoch < ledger.epoch ||
                        (epoch == ledger.epoch && task->state == TASK_DONE);
            float value = saved->theta[epoch * PARTS + task->part];

            if (done && (double)value < yard->least)
                CHECK_NEAR(yard->least, (double)value, 0);
        }
    ledger_free(&ledger);
}

/* The hub is started again: what it had not saved is to be done again. */
static void resume(struct yard *yard)
{
    const struct ledger *ledger;

    judge_saved(yard);
    world_start(yard->lab->world, WORLD_HUB);
    ledger = hub_ledger(world_hub(yard->lab->world));
    yard->resumes++;
    yard->violations += ledger->epoch > yard->epoch;
    begin_again(yard, ledger);
}

/* ---- what goes wrong ---- */

static nanos between(struct yard *yard, nanos low, nanos high)
{
    return low + (nanos)prng_below(&yard->prng, (uint64_t)(high - low));
}

static void act_mend(void *context, struct world *world)
{
    struct mend *mend = context;
    struct yard *yard = mend->yard;

    if (mend->process == WORLD_HUB) {
        resume(yard);
        yard->hub_sick = false;
        return;
    }
    if (!world_node(world, mend->process))
        world_start(world, mend->process);
    world_thaw(world, mend->process);
    world_repair(world, mend->process);
    yard->sick[mend->process] = false;
}

static void break_hub(struct yard *yard, struct world *world)
{
    yard->hub_sick = true;
    judge_saved(yard);
    world_crash(world, WORLD_HUB, prng_below(&yard->prng, 2));
}

static void break_node(struct yard *yard, struct world *world, unsigned node)
{
    uint64_t die = prng_below(&yard->prng, 5);

    yard->sick[node] = true;
    if (die < 2)
        world_crash(world, node, die);
    else if (die == 2)
        world_freeze(world, node);
    else
        world_cut(world, node, die == 3);
}

static void act_break(void *context, struct world *world)
{
    struct yard *yard = context;
    unsigned victim = (unsigned)prng_below(&yard->prng, yard->nodes + 1);
    bool hub = victim == yard->nodes;
    struct mend *mend = &yard->mends[yard->mend_count];

    if (world_now(world) >= FAULTS || yard->mend_count == MOST_MENDS)
        return;
    world_at(world,
             world_now(world) +
                 between(yard, 100 * MILLISECOND, 1500 * MILLISECOND),
             act_break, yard);
    if (hub ? yard->hub_sick : yard->sick[victim])
        return;
    yard->mend_count++;
    *mend = (struct mend){yard, hub ? WORLD_HUB : victim};
    if (hub)
        break_hub(yard, world);
    else
        break_node(yard, world, victim);
    world_at(world,
             world_now(world) + between(yard, 100 * MILLISECOND, 9 * SECOND),
             act_mend, mend);
}

/* ---- lives ---- */

static struct yard *yard_new(uint64_t seed, const char *policy)
{
    struct yard *yard = calloc(1, sizeof *yard);
    struct lab *lab = lab_new((size_t)EPOCHS * PARTS);
    const struct preset *preset = preset_find(policy);

    if (!yard || !preset)
        abort();
    yard->lab = lab;
    prng_seed(&yard->prng, seed);
    lab->own = yard;
    lab->after_step = judge_step;
    lab->task_steps = STEPS;
    lab->config.hub.policy.gate = preset->policy.gate;
    lab->config.hub.every = 3;
    lab->config.hub.delay = 2;
    lab->config.hub.tasks = PARTS;
    lab->config.hub.epochs = EPOCHS;
    lab->config.hub.task_time = 8 * SECOND;
    lab->config.hub.save_interval = SECOND;
    lab->config.hub.seed = seed;
    lab_open(lab, seed);
    return yard;
}

/* Nodes of very different speeds: the first is five times the last. */
static void yard_add(struct yard *yard, unsigned nodes)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4", "n5"};

    yard->nodes = nodes;
    for (unsigned i = 0; i < nodes; i++) {
        struct model model = {trainer_drift,
                              &none,
                              0,
                              (nanos)(i + 1) * 25 * MILLISECOND + 5,
                              train,
                              &yard->trained[i]};

        lab_add(yard->lab, names[i], &model);
    }
}

static void yard_destroy(struct yard **reference)
{
    struct yard *yard = *reference;

    *reference = NULL;
    lab_destroy(&yard->lab);
    free(yard);
}

/* To the end of the run: all was done once, and all of it is in the centre. */
static void yard_judge(struct yard *yard)
{
    CHECK(lab_run_to_end(yard->lab));
    CHECK_EQUAL(0, yard->violations);
    CHECK_EQUAL(EPOCHS, yard->epoch);
    for (unsigned i = 0; i < EPOCHS * PARTS; i++)
        CHECK_EQUAL(1, yard->done[i / PARTS][i % PARTS]);
    judge_saved(yard);
    CHECK(yard->saves > 0);
}

/* An asynchronous offer weighs one over the live nodes. */
static void check_seed(uint64_t seed)
{
    unsigned nodes = 1 + (unsigned)(seed % MOST_NODES);
    struct yard *yard = yard_new(seed, seed % 2 ? "async" : "mean");

    yard->least = seed % 2 ? 1.0 / nodes - 1e-4 : 1e-4;
    yard_add(yard, nodes);
    world_at(yard->lab->world, SECOND, act_break, yard);
    yard_judge(yard);
    yard_destroy(&yard);
}

static void ef_08_whatever_dies_each_task_is_done_once_an_epoch(void)
{
    for (uint64_t seed = 1; seed <= (runs_slowly() ? 6 : 60); seed++)
        check_seed(seed);
}

static void ef_08_a_hub_that_died_goes_on_with_the_tasks_it_saved(void)
{
    unsigned resumes = 0;

    for (uint64_t seed = 101; seed <= 110; seed++) {
        struct yard *yard = yard_new(seed, "mean");
        struct mend mend = {yard, WORLD_HUB};

        yard->least = 1e-4;
        yard_add(yard, 3);
        CHECK(lab_run(yard->lab, 2 * SECOND + (nanos)seed * 17 * MILLISECOND));
        break_hub(yard, yard->lab->world);
        CHECK(lab_run(yard->lab, SECOND));
        CHECK(yard->epoch < EPOCHS);
        act_mend(&mend, yard->lab->world);
        resumes += yard->resumes;
        yard_judge(yard);
        yard_destroy(&yard);
    }
    CHECK_EQUAL(10, resumes);
}

/* Nodes live on, so what they did is not done again, whatever of it the hub had
 * saved. */
static void ef_08_a_hub_that_is_killed_has_no_task_done_twice(void)
{
    for (uint64_t seed = 201; seed <= (runs_slowly() ? 203 : 240); seed++) {
        unsigned nodes = 1 + (unsigned)(seed % MOST_NODES);
        struct yard *yard = yard_new(seed, seed % 2 ? "async" : "mean");
        struct mend mend = {yard, WORLD_HUB};
        uint64_t total = 0;

        yard->lab->config.hub.save_interval = 3 * SECOND;
        yard->least = seed % 2 ? 1.0 / nodes - 1e-4 : 1e-4;
        yard_add(yard, nodes);
        for (unsigned i = 0; i < 4 && yard->epoch < EPOCHS; i++) {
            CHECK(lab_run(yard->lab, between(yard, SECOND, 4 * SECOND)));
            if (!world_hub(yard->lab->world))
                break;
            break_hub(yard, yard->lab->world);
            CHECK(lab_run(yard->lab, between(yard, MILLISECOND, 2 * SECOND)));
            act_mend(&mend, yard->lab->world);
        }
        yard_judge(yard);
        for (unsigned i = 0; i < nodes; i++)
            total += yard->trained[i];
        CHECK_EQUAL(EPOCHS * PARTS * STEPS, total);
        yard_destroy(&yard);
    }
}

static void ef_08_fast_nodes_do_more_tasks_and_none_is_done_twice(void)
{
    struct yard *yard = yard_new(3, "async");
    uint64_t total = 0;

    yard->least = 1.0 / 5 - 1e-4;
    yard_add(yard, 5);
    yard_judge(yard);
    for (unsigned i = 0; i < 5; i++)
        total += yard->trained[i];
    CHECK(2 * yard->trained[0] > 3 * yard->trained[4]);
    CHECK(yard->trained[4] > 0);
    /* Nothing has failed, so nothing was trained twice. */
    CHECK_EQUAL(EPOCHS * PARTS * STEPS, total);
    yard_destroy(&yard);
}

static bool has_trained(void *context, struct world *world)
{
    const struct yard *yard = context;

    (void)world;
    return yard->trained[0] > 0;
}

static void ef_06_training_on_tasks_starts_with_the_first_node(void)
{
    struct yard *yard = yard_new(4, "mean");
    struct lab *lab = yard->lab;

    yard_add(yard, 1);
    CHECK(world_run_until(lab->world, SECOND, has_trained, yard));
    CHECK(lab_run(lab, SECOND));
    CHECK(yard->trained[0] > 10);
    yard_destroy(&yard);
}

void add_sim_tasks_tests(CU_pSuite suite)
{
    TEST(ef_08_whatever_dies_each_task_is_done_once_an_epoch);
    TEST(ef_08_a_hub_that_died_goes_on_with_the_tasks_it_saved);
    TEST(ef_08_a_hub_that_is_killed_has_no_task_done_twice);
    TEST(ef_08_fast_nodes_do_more_tasks_and_none_is_done_twice);
    TEST(ef_06_training_on_tasks_starts_with_the_first_node);
}
