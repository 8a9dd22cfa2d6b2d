/* What ElasticFlow and ElasticDL require of a star that begins with whoever is
 * there, grows and shrinks. */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6 };

static const struct drift drift = {0.25f};
static const struct model drifting = {trainer_drift, &drift, 1, 0, NULL, NULL};

static uint64_t iterations(struct lab *lab, unsigned node)
{
    return trainer_iteration(world_trainer(lab->world, node));
}

/* ---- EF-5 ---- */

static const char *const names[] = {"n1", "n2", "n3", "n4", "n5"};
enum { MANY = 5 };

/* All but one die at once, one way or another, and come back later. */
static void leave_one(struct lab *lab, unsigned survivor)
{
    uint64_t before = lab_look(lab)->version;

    for (unsigned i = 0; i < MANY; i++)
        if (i != survivor)
            world_crash(lab->world, i, i % 2);
    CHECK(lab_run(lab, 10 * SECOND));
    CHECK(lab_look(lab)->version > before + 10);
    CHECK(!lab_look(lab)->ending);
    for (unsigned i = 0; i < MANY; i++)
        if (i != survivor)
            world_start(lab->world, i);
    CHECK(lab_run(lab, 5 * SECOND));
    for (unsigned i = 0; i < MANY; i++)
        CHECK(!lab_look(lab)->nodes[i].gone);
}

static void ef_05_any_nodes_may_die_while_one_lives(void)
{
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.every = 3;
    lab->config.hub.delay = 2;
    lab_open(lab, 5);
    for (unsigned i = 0; i < MANY; i++)
        lab_add(lab, names[i], &drifting);
    CHECK(lab_run(lab, 5 * SECOND));
    for (unsigned i = 0; i < MANY; i++)
        leave_one(lab, i);
    lab_destroy(&lab);
}

/* ---- EF-6, EF-7 ---- */

static void ef_06_with_too_few_nodes_training_starts_and_the_star_grows(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    uint64_t before;

    lab->config.hub.nodes = 3;
    lab_open(lab, 6);
    lab_add(lab, "n1", &drifting);
    CHECK(lab_run(lab, 150 * MILLISECOND));
    CHECK(iterations(lab, 0) > 0);
    CHECK(lab_run(lab, 3 * SECOND));
    CHECK_EQUAL(0, lab_look(lab)->rounds);
    CHECK_TEXT("waiting for 2 more nodes; those here train",
               lab_look(lab)->state);
    lab_add(lab, "n2", &drifting);
    CHECK(lab_run(lab, SECOND));
    CHECK_TEXT("waiting for 1 more node; those here train",
               lab_look(lab)->state);
    lab_add(lab, "n3", &drifting);
    CHECK(lab_run(lab, 3 * SECOND));
    CHECK(lab_look(lab)->rounds > 5);
    world_crash(lab->world, 0, false);
    world_crash(lab->world, 2, false);
    before = lab_look(lab)->rounds;
    CHECK(lab_run(lab, 3 * SECOND));
    CHECK(lab_look(lab)->rounds > before + 5);
    lab_destroy(&lab);
}

static void ef_07_pending_and_training_time_are_told(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    const struct hub_view *view;
    nanos training;

    lab->config.hub.nodes = 2;
    lab_open(lab, 7);
    lab_add(lab, "n1", &drifting);
    CHECK(lab_run(lab, 5 * SECOND));
    view = lab_look(lab);
    CHECK_NEAR(5, (double)view->pending / 1e9, 0.1);
    CHECK_EQUAL(0, view->training);
    lab_add(lab, "n2", &drifting);
    CHECK(lab_run(lab, 10 * SECOND));
    view = lab_look(lab);
    CHECK_NEAR(5.3, (double)view->pending / 1e9, 0.2);
    CHECK_EQUAL(world_now(lab->world) - view->pending, view->training);
    world_leave(lab->world, WORLD_HUB);
    CHECK(lab_run_to_end(lab));
    training = lab_look(lab)->training;
    CHECK_NEAR(9.9, (double)training / 1e9, 0.4);
    CHECK(lab_run(lab, 5 * SECOND));
    CHECK_EQUAL(training, lab_look(lab)->training);
    lab_destroy(&lab);
}

/* ---- EF-13 ---- */

struct views {
    uint64_t epoch; /* newest that was told */
    unsigned changes, odd;
};

/* In one step all members are told one view, each its own shard. */
static void watch_views(struct lab *lab, const struct world_step *step)
{
    struct views *views = lab->own;
    uint64_t epoch = 0, shards = 0;
    unsigned told = 0;

    for (unsigned i = 0; step->process == WORLD_HUB && i < step->effects->count;
         i++) {
        const struct effect *effect = &step->effects->list[i];
        const struct msg_view *view = &effect->msg.view;

        if (effect->kind != EFFECT_SEND || effect->msg.kind != MSG_VIEW)
            continue;
        views->odd +=
            view->epoch <= views->epoch || (told && view->epoch != epoch) ||
            view->shards != view->members || (shards & 1u << view->shard);
        epoch = view->epoch;
        shards |= 1u << view->shard;
        told++;
    }
    if (!told)
        return;
    views->changes++;
    views->epoch = epoch;
}

static void ef_13_each_change_of_membership_has_a_new_epoch(void)
{
    struct views views = {0, 0, 0};
    struct lab *lab = lab_new(ELEMENTS);

    lab->own = &views;
    lab->after_step = watch_views;
    lab_open(lab, 13);
    for (unsigned i = 0; i < 3; i++)
        lab_add(lab, names[i], &drifting);
    CHECK(lab_run(lab, 2 * SECOND));
    CHECK_EQUAL(3, views.changes);
    world_crash(lab->world, 0, false);
    CHECK(lab_run(lab, SECOND));
    CHECK_EQUAL(4, views.changes);
    world_start(lab->world, 0);
    CHECK(lab_run(lab, SECOND));
    CHECK_EQUAL(5, views.changes);
    world_leave(lab->world, 1);
    CHECK(lab_run(lab, 2 * SECOND));
    CHECK_EQUAL(6, views.changes);
    CHECK_EQUAL(0, views.odd);
    CHECK_EQUAL(views.epoch, lab_look(lab)->epoch);
    lab_destroy(&lab);
}

/* ---- ED-2 ---- */

struct equals {
    struct lab *lab;
    unsigned applied, unequal;
};

/* With d = 0 a node applies a result before it trains on: then it has the
 * centre's values, like all the others. */
static void watch_applied(void *observer, const struct trainer_look *shown)
{
    struct equals *equals = observer;

    if (shown->moment != TRAINER_APPLIED || !shown->exchange)
        return;
    equals->applied++;
    equals->unequal +=
        lab_differing(equals->lab, equals->lab->version, shown->x) > 0;
}

static void ed_02_after_the_next_exchange_a_newcomer_equals_all(void)
{
    struct lab *lab = lab_new(ELEMENTS);
    struct equals old = {lab, 0, 0}, fresh = {lab, 0, 0};
    struct model model = drifting;

    lab_open(lab, 2);
    model.look = watch_applied;
    model.observer = &old;
    lab_add(lab, "n1", &model);
    CHECK(lab_run(lab, 3 * SECOND));
    model.observer = &fresh;
    lab_add(lab, "n2", &model);
    CHECK(lab_run(lab, 3 * SECOND));
    CHECK(fresh.applied > 10);
    CHECK_EQUAL(0, fresh.unequal);
    CHECK_EQUAL(0, old.unequal);
    lab_destroy(&lab);
}

void add_sim_elastic_tests(CU_pSuite suite)
{
    TEST(ef_05_any_nodes_may_die_while_one_lives);
    TEST(ef_06_with_too_few_nodes_training_starts_and_the_star_grows);
    TEST(ef_07_pending_and_training_time_are_told);
    TEST(ef_13_each_change_of_membership_has_a_new_epoch);
    TEST(ed_02_after_the_next_exchange_a_newcomer_equals_all);
}
