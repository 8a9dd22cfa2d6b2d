/* What a hub foretells of its end while its nodes train, and while none does.
 */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void train(struct hub_fixture *f, struct fake_node *a)
{
    fake_node_founds(f, a, 1);
    fake_node_gives(f, a, 1, 0.5);
    for (uint64_t i = 1; i < 40; i++) {
        fake_node_pings(f, a, 10 * i);
        hand_wait(&f->hand, SECOND / 2);
    }
}

static void where_nobody_trains_no_end_comes_nearer(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.iterations = 1000;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    train(f, &a);
    CHECK_EQUAL(ETA_ITERATIONS, hub_fixture_look(f)->eta_by);
    hand_wait(&f->hand, 5 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    CHECK_EQUAL(ETA_NOTHING, hub_fixture_look(f)->eta_by);
    fake_node_pings(f, &a, 400);
    CHECK_EQUAL(ETA_ITERATIONS, hub_fixture_look(f)->eta_by);
    hub_fixture_destroy(&f);
}

static void a_time_that_nobody_has_said_is_no_end(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.time = 86400 * SECOND;
    f->config.time_unsaid = true;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    train(f, &a);
    CHECK_EQUAL(ETA_NOTHING, hub_fixture_look(f)->eta_by);
    hub_fixture_destroy(&f);
}

/* The goal may come at any time before. */
static void where_another_end_is_unknown_a_time_is_a_bound(void)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct hub_view *view;
    struct fake_node a;

    f->config.time = 3600 * SECOND;
    f->config.iterations = 1000;
    f->config.goal = GOAL_LOSS;
    f->config.goal_value = 0.01;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    train(f, &a);
    view = hub_fixture_look(f);
    CHECK_EQUAL(ETA_ITERATIONS, view->eta_by);
    CHECK(view->eta_at_most);
    hand_wait(&f->hand, 5 * SECOND); /* nobody trains */
    view = hub_fixture_look(f);
    CHECK_EQUAL(ETA_TIME, view->eta_by);
    CHECK(view->eta_at_most);
    hub_fixture_destroy(&f);
}

static void a_time_alone_is_no_bound_but_the_end(void)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct hub_view *view;
    struct fake_node a;

    f->config.time = 3600 * SECOND;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    train(f, &a);
    view = hub_fixture_look(f);
    CHECK_EQUAL(ETA_TIME, view->eta_by);
    CHECK(!view->eta_at_most);
    hub_fixture_destroy(&f);
}

void add_hub_foresee_tests(CU_pSuite suite)
{
    TEST(where_nobody_trains_no_end_comes_nearer);
    TEST(a_time_that_nobody_has_said_is_no_end);
    TEST(where_another_end_is_unknown_a_time_is_a_bound);
    TEST(a_time_alone_is_no_bound_but_the_end);
}
