/* How a run begins, what it keeps and how it ends, as ElasticFlow and ElasticDL
 * require it. */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6 };

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

static const char *const names[] = {"n1", "n2", "n3"};

static uint64_t iterations(struct lab *lab, unsigned node)
{
    return trainer_iteration(world_trainer(lab->world, node));
}

/* Counts a kind of the hub's notes, and keeps the last one. */
struct notes {
    enum note_kind kind;
    unsigned count;
    struct note last;
};

static void keep_notes(struct lab *lab, const struct world_step *step)
{
    struct notes *notes = lab->own;

    for (unsigned i = 0; step->process == WORLD_HUB && i < step->effects->count;
         i++) {
        const struct effect *effect = &step->effects->list[i];

        if (effect->kind != EFFECT_NOTE || effect->note.kind != notes->kind)
            continue;
        notes->count++;
        notes->last = effect->note;
    }
}

/* ---- EF-2 ---- */

static const float centre[ELEMENTS] = {0.3f, -1.7f, 2.9f, 0, 11.13f, -0.01f};
static const struct quadratic valley = {0.37, centre};
enum { LOOPS = 120 };
#define RATE 0.1

/* What somebody would write by hand. */
static void loop_by_hand(float x[ELEMENTS], unsigned loops)
{
    float gradient[ELEMENTS];

    for (unsigned i = 0; i < loops; i++) {
        (void)trainer_quadratic(&valley, i, x, ELEMENTS, gradient);
        for (unsigned j = 0; j < ELEMENTS; j++)
            x[j] = (float)((double)x[j] - RATE * (double)gradient[j]);
    }
}

static const struct model rolling = {
    trainer_quadratic, &valley, RATE, 0, NULL, NULL};

static void ef_02_one_node_equals_a_loop_by_hand_bit_for_bit(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    float x[ELEMENTS] = {0};
    unsigned differing = 0;

    lab->config.hub.policy.exchange = EXCHANGE_GRADIENT;
    lab->config.hub.policy.numbers.outer_lr = RATE;
    lab_open(lab, 2);
    lab_add(lab, "n1", &rolling);
    CHECK(lab_run_rounds(lab, LOOPS));
    for (unsigned i = 1; i <= LOOPS; i++) {
        loop_by_hand(x, 1);
        differing += lab_differing(lab, i, x);
    }
    CHECK_EQUAL(0, differing);
    lab_destroy(&lab);
}

static void ef_02_a_node_without_a_hub_equals_the_loop_as_well(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    float x[ELEMENTS] = {0};

    lab_open(lab, 2);
    world_crash(lab->world, WORLD_HUB, false);
    lab_add(lab, "n1", &rolling);
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK(iterations(lab, 0) > 90);
    loop_by_hand(x, (unsigned)iterations(lab, 0));
    for (unsigned i = 0; i < ELEMENTS; i++)
        CHECK_NEAR((double)x[i],
                   (double)trainer_values(world_trainer(lab->world, 0))[i], 0);
    lab_destroy(&lab);
}

/* ---- EF-11 ---- */

/* A node that starts from its own parameters, and does not move them. */
static void add_at_rest(struct lab *lab, const char *name, const float *start)
{
    static const struct drift rest = {0};
    struct world_node node = {.name = name,
                              .trainer = {.start = start,
                                          .elements = ELEMENTS,
                                          .step = 100 * MILLISECOND,
                                          .rate = 1,
                                          .gradient = trainer_drift,
                                          .context = &rest}};

    world_start(lab->world, world_add_node(lab->world, &node));
    CHECK(lab_run(lab, 2 * SECOND));
}

static double first_of(struct lab *lab, unsigned node)
{
    return (double)trainer_values(world_trainer(lab->world, node))[0];
}

static void ef_11_the_first_worker_gives_the_parameters(void)
{
    static const float ones[ELEMENTS] = {1, 1, 1, 1, 1, 1};
    static const float twos[ELEMENTS] = {2, 2, 2, 2, 2, 2};
    struct notes notes = {.kind = NOTE_FOUNDED};
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.saves = false;
    lab->own = &notes;
    lab->after_step = keep_notes;
    lab_open(lab, 11);
    add_at_rest(lab, "first", ones);
    add_at_rest(lab, "second", twos);
    CHECK_TEXT("first", notes.last.subject);
    CHECK_NEAR(1, first_of(lab, 0), 0);
    CHECK_NEAR(1, first_of(lab, 1), 0);
    lab_destroy(&lab);
}

/* The hub has saved nothing: a worker gives what it has learnt by then, as the
 * version of the run that it keeps. */
static void ef_11_workers_push_again_to_a_hub_that_forgot_them(void)
{
    struct notes notes = {.kind = NOTE_FOUNDED};
    struct lab *lab = lab_new(ELEMENTS);
    double learnt;

    lab->config.saves = false;
    lab->own = &notes;
    lab->after_step = keep_notes;
    lab_open(lab, 12);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &drifting);
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK_EQUAL(1, notes.count);
    learnt = first_of(lab, 0);
    CHECK(learnt > 10);
    world_crash(lab->world, WORLD_HUB, false);
    CHECK(lab_run(lab, SECOND));
    world_start(lab->world, WORLD_HUB);
    CHECK(lab_run(lab, 5 * SECOND));
    CHECK_EQUAL(1, notes.count);
    CHECK(lab_look(lab)->founded);
    CHECK(lab_look(lab)->version > 10);
    CHECK(first_of(lab, 0) > learnt);
    CHECK(first_of(lab, 1) > learnt);
    lab_destroy(&lab);
}

/* ---- EF-12 ---- */

static void score(void *context, const float *theta, size_t elements,
                  double *loss, double *accuracy)
{
    (void)context;
    (void)elements;
    *loss = (double)(theta[0] - 5) * (double)(theta[0] - 5);
    *accuracy = -1;
}

static void ef_12_another_number_of_nodes_goes_on_with_a_checkpoint(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    const struct world_saved *saved;
    uint64_t version;

    lab->config.hub.save_interval = SECOND;
    lab->config.hub.evaluate_interval = 200 * MILLISECOND;
    lab->config.hub.policy.numbers.rollback = 0; /* it drifts past 5 */
    lab->config.hooks.evaluate = score;
    lab_open(lab, 12);
    for (unsigned i = 0; i < 3; i++)
        lab_add(lab, names[i], &drifting);
    CHECK(lab_run(lab, 10 * SECOND));
    saved = world_saved(lab->world);
    CHECK(saved->count >= 8 && saved->count <= 10);
    CHECK(saved->best_version < saved->version);
    CHECK_NEAR(5, (double)saved->best[0], 1);
    CHECK((double)saved->theta[0] > 15);
    for (unsigned i = 0; i < 3; i++)
        world_crash(lab->world, i, false);
    world_crash(lab->world, WORLD_HUB, false);
    version = saved->version;
    world_start(lab->world, WORLD_HUB);
    CHECK_EQUAL(version, lab_look(lab)->version);
    lab_add(lab, "n4", &drifting);
    CHECK(lab_run(lab, 5 * SECOND));
    CHECK(lab_look(lab)->version > version + 10);
    CHECK(first_of(lab, 3) > 15);
    lab_destroy(&lab);
}

/* ---- ED-3 ---- */

static void ed_03_when_the_data_are_over_one_last_average_is_taken(void)
{
    struct notes notes = {.kind = NOTE_ROUND};
    struct lab *lab = lab_new(ELEMENTS);

    lab->own = &notes;
    lab->after_step = keep_notes;
    lab->task_steps = 5;
    lab->config.hub.every = 4;
    lab->config.hub.delay = 2;
    lab->config.hub.tasks = 20;
    lab->config.hub.epochs = 2;
    lab_open(lab, 33);
    for (unsigned i = 0; i < 3; i++)
        lab_add(lab, names[i], &drifting);
    CHECK(lab_run_to_end(lab));
    CHECK(lab_run(lab, SECOND));
    CHECK_TEXT("2 epochs done", lab_look(lab)->reason);
    CHECK_CONTAINS("merged 3 of 3", notes.last.text);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(node_ended(world_node(lab->world, i)));
        CHECK(trainer_stopped(world_trainer(lab->world, i)));
    }
    CHECK(world_saved(lab->world)->last);
    CHECK_EQUAL(lab_look(lab)->version, world_saved(lab->world)->version);
    lab_destroy(&lab);
}

/* ---- the last offers of who waits for a result ---- */

static struct model slow_drifting = {trainer_drift, &drift, 1,
                                     2 * SECOND,    NULL,   NULL};

/* n1 has done its 4 iterations and waits for those of n2, which has done 1. */
static void who_waits_for_a_result_is_let_go_when_the_run_ends(void)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.every = 4;
    lab->config.hub.delay = 0;
    lab->config.hub.wait = 3600 * SECOND;
    lab->config.hub.nodes = 2;
    lab_open(lab, 34);
    lab_add(lab, "n1", &drifting);
    lab_add(lab, "n2", &slow_drifting);
    CHECK(lab_run(lab, 3 * SECOND));
    CHECK_EQUAL(4, iterations(lab, 0));
    world_leave(lab->world, WORLD_HUB);
    CHECK(lab_run(lab, 2 * SECOND));
    CHECK(hub_ended(world_hub(lab->world)));
    CHECK_EQUAL(1, lab_look(lab)->version);
    CHECK_EQUAL(2, iterations(lab, 1));
    CHECK_NEAR(0.25 * (4 * 4 + 2 * 2) / (4 + 2), lab_value(lab, 1), 1e-6);
    lab_destroy(&lab);
}

void add_sim_begin_and_end_tests(CU_pSuite suite)
{
    TEST(ef_02_one_node_equals_a_loop_by_hand_bit_for_bit);
    TEST(ef_02_a_node_without_a_hub_equals_the_loop_as_well);
    TEST(ef_11_the_first_worker_gives_the_parameters);
    TEST(ef_11_workers_push_again_to_a_hub_that_forgot_them);
    TEST(ef_12_another_number_of_nodes_goes_on_with_a_checkpoint);
    TEST(ed_03_when_the_data_are_over_one_last_average_is_taken);
    TEST(who_waits_for_a_result_is_let_go_when_the_run_ends);
}
