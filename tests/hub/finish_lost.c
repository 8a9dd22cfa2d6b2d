/* The end of a run, and connections that break, or are silent, just then. */
#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void who_was_lost_seconds_before_the_end_is_waited_for(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_breaks(bench, &a);
    hand_wait(&bench->hand, SECOND);
    bench_stop(bench);
    CHECK(!hub_ended(bench->hub));
    guest_comes_again(bench, &a);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void who_was_lost_and_stays_away_is_not_waited_for_long(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_breaks(bench, &a);
    bench_stop(bench);
    CHECK(!hub_ended(bench->hub));
    hand_wait(&bench->hand, 11 * SECOND);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
}

/* Its words are on their way again after seconds, on a link that loses some. */
static void who_falls_silent_at_the_end_is_waited_for(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    hand_wait(&bench->hand, 3 * SECOND);
    CHECK(bench_node(bench, "a")->silent);
    bench_stop(bench);
    hand_wait(&bench->hand, 3 * SECOND);
    CHECK(!hub_ended(bench->hub));
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void who_falls_silent_and_is_lost_then_is_waited_for(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    hand_wait(&bench->hand, 4 * SECOND);
    guest_breaks(bench, &a);
    bench_stop(bench);
    CHECK(!hub_ended(bench->hub));
    guest_comes_again(bench, &a);
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void who_stays_silent_is_not_waited_for_long(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    hand_wait(&bench->hand, 3 * SECOND);
    bench_stop(bench);
    CHECK(!hub_ended(bench->hub));
    hand_wait(&bench->hand, 8 * SECOND);
    CHECK(hub_ended(bench->hub));
    CHECK(guest_heard(bench, &a, MSG_BYE) != NULL);
    bench_destroy(&bench);
}

static void who_has_been_silent_for_long_is_not_waited_for(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    hand_wait(&bench->hand, 11 * SECOND);
    guest_breaks(bench, &a);
    bench_stop(bench);
    CHECK(hub_ended(bench->hub));
    bench_destroy(&bench);
}

static void a_last_offer_of_which_nothing_comes_is_not_waited_for_long(void)
{
    const struct msg_offer offer = {.exchange = 1, .last = 1};
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    nanos begin = bench->hand.now;

    bench_stop(bench);
    guest_offer(bench, &a, &offer);
    while (!hub_ended(bench->hub) && bench->hand.now < begin + 60 * SECOND)
        guest_lives(bench, &a, 500 * MILLISECOND);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(10, (double)(bench->hand.now - begin) / 1e9, 2);
    bench_destroy(&bench);
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
