/* The first score of a run, from which the way to its goal is told, is saved,
 * and what it has done and moved since. */
#include <string.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void the_first_score_of_a_run_stays_the_first(void)
{
    struct fake_node a = store_filled(&store, "a");
    struct hub_fixture *f = hub_fixture_new();
    const struct store former = store;
    struct why why;

    store_lend(&store, f);
    store = former;
    store.loss = 0.25;
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    CHECK_NEAR(1.0 / 3, hub_fixture_look(f)->first_score, 0);
    CHECK_EQUAL(0, hub_fixture_look(f)->rounds_here);
    a.hello.run = 7;
    a.hello.base_version = 2;
    fake_node_comes_again(f, &a);
    fake_node_gives(f, &a, 3, 0.5);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_NEAR(0.25, hub_fixture_look(f)->score, 0);
    CHECK_NEAR(1.0 / 3, hub_fixture_look(f)->first_score, 0);
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds_here);
    CHECK_EQUAL(3, hub_fixture_look(f)->rounds);
    hub_fixture_destroy(&f);
}

/* As bytes do: per step and per 1 % of loss are told from them. */
static void iterations_count_over_all_lives_of_a_run(void)
{
    struct fake_node a = store_filled(&store, "a");
    struct hub_fixture *f = hub_fixture_new();
    const struct store former = store;
    const struct hub_node_view *node;
    struct hub_moved moved;
    struct why why;

    store_lend(&store, f);
    store = former;
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    node = hub_fixture_node(f, "a");
    moved = node->moved;
    CHECK_EQUAL(3 * FIXTURE_BYTES, moved.up_bytes);
    CHECK(moved.down_bytes > 0);
    CHECK_EQUAL(2, moved.samples);
    CHECK_EQUAL(2, moved.exchanges);
    CHECK_EQUAL(2, moved.steps);
    CHECK_EQUAL(2, node->iteration);
    a.hello.run = 7;
    a.hello.base_version = 2;
    a.hello.iteration = 300; /* the others without a hub */
    fake_node_comes_again(f, &a);
    fake_node_pings(f, &a, 340);
    fake_node_breaks(f, &a);
    a.hello.iteration = 360;
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(360, hub_fixture_node(f, "a")->moved.steps);
    a.hello.incarnation++;
    a.hello.iteration = 5; /* of which nobody knows since when */
    fake_node_comes_again(f, &a);
    fake_node_pings(f, &a, 15);
    fake_node_pings(f, &a, 10);
    CHECK_EQUAL(15, hub_fixture_node(f, "a")->iteration);
    CHECK_EQUAL(370, hub_fixture_node(f, "a")->moved.steps);
    CHECK_EQUAL(300, hub_fixture_node(f, "a")->before.steps);
    fake_node_pings(f, &a, UINT64_MAX);
    CHECK_EQUAL(370, hub_fixture_look(f)->moved.steps);
    hub_fixture_destroy(&f);
}

/* Who is not listed any more has done what it has. */
static void what_a_forgotten_node_has_done_still_counts(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;
    struct hub_moved moved;

    f->config.most = 1;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 0.5);
    fake_node_pings(f, &a, 100);
    moved = hub_fixture_look(f)->moved;
    fake_node_breaks(f, &a);
    b = fake_node_comes(f, "b");
    CHECK_EQUAL(1, hub_fixture_look(f)->count);
    CHECK_EQUAL(0, hub_fixture_node(f, "b")->moved.steps);
    CHECK_EQUAL(100, f->view.moved.steps);
    CHECK_EQUAL(moved.up_bytes, f->view.moved.up_bytes);
    CHECK_EQUAL(1, f->view.moved.exchanges);
    fake_node_pings(f, &b, 10);
    CHECK_EQUAL(110, hub_fixture_look(f)->moved.steps);
    hub_fixture_destroy(&f);
}

static void what_an_older_release_has_saved_is_read(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct why why;
    char *line, *rest;

    (void)store_filled(&store, "a");
    line = strstr(store.state, "\nfirst ");
    if (!CHECK(line != NULL))
        return;
    rest = strchr(line + 1, '\n');
    memmove(line, rest, strlen(rest) + 1);
    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
    CHECK(!(hub_fixture_look(f)->first_score < NO_SCORE));
    hub_fixture_destroy(&f);
}

void add_hub_first_score_tests(CU_pSuite suite)
{
    TEST(the_first_score_of_a_run_stays_the_first);
    TEST(iterations_count_over_all_lives_of_a_run);
    TEST(what_a_forgotten_node_has_done_still_counts);
    TEST(what_an_older_release_has_saved_is_read);
}
