/* A run is to end, or a node to leave, while the hub still looks for its newest
 * centre: a goodbye would send away who keeps it. */
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store, before;

/* The hub goes on from its disk and has asked a for version 4. */
static struct hub_fixture *ask(struct fake_node *a, struct kept_centre *kept,
                               uint64_t iterations)
{
    struct hub_fixture *f = kept_centre_after(&store, &before, a, kept);

    f->config.iterations = f->config.every = 100;
    a->hello.iteration = iterations;
    kept_centre_open(f, &before);
    fake_node_comes_again(f, a);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, a));
    return f;
}

static bool is_sent_away(struct hub_fixture *f, const struct fake_node *node)
{
    return hub_ended(f->hub) || fake_node_heard(f, node, MSG_STOP) != NULL ||
           fake_node_heard(f, node, MSG_BYE) != NULL;
}

static const char *reason(const struct hub_fixture *f,
                          const struct fake_node *node)
{
    const struct msg *stop = fake_node_heard(f, node, MSG_STOP);

    return stop ? stop->stop.reason : "";
}

static void a_run_whose_iterations_are_done_ends_at_the_newest_version(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = ask(&a, &kept, 100);

    hand_wait(&f->hand, SECOND);
    CHECK(!is_sent_away(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hand_wait(&f->hand, 500 * MILLISECOND);
    CHECK_TEXT("100 iterations done", reason(f, &a));
    fake_node_gives_last(f, &a, 5, 0.5);
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(5, store.version);
    CHECK_NEAR(3.5, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

static void a_stop_counts_from_when_the_newest_version_is_there(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = ask(&a, &kept, 1);

    hub_fixture_stop(f);
    fake_node_lives(f, &a, 9 * SECOND);
    CHECK(!is_sent_away(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_TEXT("ended by hand", reason(f, &a));
    fake_node_lives(f, &a, 9 * SECOND);
    CHECK(!hub_ended(f->hub));
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(4, store.version);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

static void a_hub_that_nobody_comes_to_ends_when_it_has_looked(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_after(&store, &before, &a, &kept);

    kept_centre_open(f, &before);
    hub_fixture_stop(f);
    CHECK(!hub_ended(f->hub));
    hand_wait(&f->hand, HUB_RECOVERY + SECOND);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

static void nor_does_it_wait_beyond_its_time(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = kept_centre_after(&store, &before, &a, &kept);

    f->config.time = 60 * SECOND; /* some of which it had before */
    kept_centre_open(f, &before);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!hub_ended(f->hub));
    hand_wait(&f->hand, 52 * SECOND + HUB_RECOVERY);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

/* A hub that goes on, with a goal and such a centre on its disk. */
static struct hub_fixture *go_on_with(double accuracy, struct fake_node *a,
                                      struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_after(&store, &before, a, kept);

    store_lend(&store, f);
    store.accuracy = accuracy;
    f->config.goal = GOAL_ACCURACY;
    f->config.goal_value = 0.87;
    kept_centre_open(f, &before);
    return f;
}

/* The same, and nobody comes. */
static struct hub_fixture *go_on_alone(double accuracy)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = go_on_with(accuracy, &a, &kept);

    hand_wait(&f->hand, HUB_RECOVERY + 2 * SECOND);
    return f;
}

static void nor_for_a_goal_that_its_disk_has_reached(void)
{
    struct hub_fixture *f = go_on_alone(0.86);

    CHECK(!hub_ended(f->hub));
    CHECK_CONTAINS("waiting for a node", hub_fixture_look(f)->state);
    hub_fixture_destroy(&f);
    f = go_on_alone(0.88);
    CHECK(hub_ended(f->hub));
    CHECK(hub_fixture_look(f)->reached);
    CHECK_CONTAINS("goal reached", hub_fixture_look(f)->reason);
    hub_fixture_destroy(&f);
}

/* It has been scored, while a node had a newer one to give. */
static void what_the_disk_has_reached_a_newer_centre_has_not(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = go_on_with(0.88, &a, &kept);

    fake_node_comes_again(f, &a);
    hand_wait(&f->hand, SECOND);
    store.accuracy = 0.5;
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK(!is_sent_away(f, &a));
    CHECK(!hub_fixture_look(f)->reached);
    hub_fixture_destroy(&f);
}

static void who_is_drained_gives_what_it_keeps_before_it_leaves(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = ask(&a, &kept, 1);
    uint64_t ticket = hub_fixture_order(f, COMMAND_DRAIN, "a");

    hub_fixture_answered(f, ticket, STATUS_OK, "last offer");
    fake_node_lives(f, &a, SECOND);
    CHECK(!is_sent_away(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_CONTAINS("drained", reason(f, &a));
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(FAREWELL_COUNT, fake_node_farewell(f, &a));
    fake_node_gives_last(f, &a, 5, 0.5);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    CHECK_EQUAL(5, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* It may keep the newest centre: its connections break, and it is let in. */
static void who_is_drained_and_breaks_off_still_gives_what_it_keeps(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = ask(&a, &kept, 1);

    (void)hub_fixture_order(f, COMMAND_DRAIN, "a");
    fake_node_breaks(f, &a);
    hand_wait(&f->hand, SECOND);
    hand_forget(&f->hand);
    fake_node_comes_again(f, &a);
    CHECK(!is_sent_away(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    CHECK_CONTAINS("drained", reason(f, &a));
    fake_node_gives_last(f, &a, 5, 0.5);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    CHECK_EQUAL(5, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

void add_hub_recover_end_tests(CU_pSuite suite)
{
    TEST(a_run_whose_iterations_are_done_ends_at_the_newest_version);
    TEST(a_stop_counts_from_when_the_newest_version_is_there);
    TEST(a_hub_that_nobody_comes_to_ends_when_it_has_looked);
    TEST(nor_does_it_wait_beyond_its_time);
    TEST(nor_for_a_goal_that_its_disk_has_reached);
    TEST(what_the_disk_has_reached_a_newer_centre_has_not);
    TEST(who_is_drained_gives_what_it_keeps_before_it_leaves);
    TEST(who_is_drained_and_breaks_off_still_gives_what_it_keeps);
}
