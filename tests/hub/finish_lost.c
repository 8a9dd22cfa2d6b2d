/* The end of a run, and connections that break, or are silent, just then. */
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void who_was_lost_seconds_before_the_end_is_waited_for(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_breaks(f, &a);
    hand_wait(&f->hand, SECOND);
    hub_fixture_stop(f);
    CHECK(!hub_ended(f->hub));
    fake_node_comes_again(f, &a);
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_gives_last(f, &a, 1, 1);
    CHECK(hub_ended(f->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

static void who_was_lost_and_stays_away_is_not_waited_for_long(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_breaks(f, &a);
    hub_fixture_stop(f);
    CHECK(!hub_ended(f->hub));
    hand_wait(&f->hand, 11 * SECOND);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

/* Its words are on their way again after seconds, on a link that loses some. */
static void who_falls_silent_at_the_end_is_waited_for(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(hub_fixture_node(f, "a")->silent);
    hub_fixture_stop(f);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(!hub_ended(f->hub));
    fake_node_gives_last(f, &a, 1, 1);
    CHECK(hub_ended(f->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

static void who_falls_silent_and_is_lost_then_is_waited_for(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    hand_wait(&f->hand, 4 * SECOND);
    fake_node_breaks(f, &a);
    hub_fixture_stop(f);
    CHECK(!hub_ended(f->hub));
    fake_node_comes_again(f, &a);
    fake_node_gives_last(f, &a, 1, 1);
    CHECK(hub_ended(f->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

static void who_stays_silent_is_not_waited_for_long(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    hand_wait(&f->hand, 3 * SECOND);
    hub_fixture_stop(f);
    CHECK(!hub_ended(f->hub));
    hand_wait(&f->hand, 8 * SECOND);
    CHECK(hub_ended(f->hub));
    CHECK(fake_node_heard(f, &a, MSG_BYE) != NULL);
    hub_fixture_destroy(&f);
}

static void who_has_been_silent_for_long_is_not_waited_for(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    hand_wait(&f->hand, 11 * SECOND);
    fake_node_breaks(f, &a);
    hub_fixture_stop(f);
    CHECK(hub_ended(f->hub));
    hub_fixture_destroy(&f);
}

static void a_last_offer_of_which_nothing_comes_is_not_waited_for_long(void)
{
    const struct msg_offer offer = {.exchange = 1, .last = 1};
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    nanos begin = f->hand.now;

    hub_fixture_stop(f);
    fake_node_offer(f, &a, &offer);
    while (!hub_ended(f->hub) && f->hand.now < begin + 60 * SECOND)
        fake_node_lives(f, &a, 500 * MILLISECOND);
    CHECK(hub_ended(f->hub));
    CHECK_NEAR(10, (double)(f->hand.now - begin) / 1e9, 2);
    hub_fixture_destroy(&f);
}

void add_hub_finish_lost_tests(CU_pSuite suite)
{
    TEST(who_was_lost_seconds_before_the_end_is_waited_for);
    TEST(who_was_lost_and_stays_away_is_not_waited_for_long);
    TEST(who_falls_silent_at_the_end_is_waited_for);
    TEST(who_falls_silent_and_is_lost_then_is_waited_for);
    TEST(who_stays_silent_is_not_waited_for_long);
    TEST(who_has_been_silent_for_long_is_not_waited_for);
    TEST(a_last_offer_of_which_nothing_comes_is_not_waited_for_long);
}
