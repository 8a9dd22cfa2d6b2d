#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void a_run_without_nodes_ends_at_once(void)
{
    struct bench *bench = bench_new();

    store_lend(&store, bench);
    bench_open(bench);
    bench_stop(bench);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(0, store.saves);
    CHECK_TEXT("ended by hand", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void nodes_are_asked_for_their_last_offer_before_the_end(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    bench_stop(bench);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    CHECK(!hub_ended(bench->hub));
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(1, store.finals);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_EQUAL(FAREWELL_DONE, guest_heard(bench, &a, MSG_BYE)->bye.farewell);
    bench_destroy(&bench);
}

/* Else all would leave with what they have learnt. */
static void the_first_centre_comes_before_the_last_call(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    bench_open(bench);
    a = guest_comes(bench, "a");
    bench_stop(bench);
    guest_lives(bench, &a, SECOND);
    CHECK(!guest_heard(bench, &a, MSG_STOP));
    guest_founds(bench, &a, 1);
    guest_lives(bench, &a, SECOND);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(2, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void who_gives_no_first_centre_is_waited_for_ten_seconds(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    nanos begin;

    bench_open(bench);
    a = guest_comes(bench, "a");
    begin = bench->hand.now;
    bench_stop(bench);
    while (!guest_heard(bench, &a, MSG_STOP) &&
           bench->hand.now < begin + 60 * SECOND)
        guest_lives(bench, &a, 500 * MILLISECOND);
    CHECK_NEAR(10, (double)(bench->hand.now - begin) / 1e9, 1);
    bench_destroy(&bench);
}

static void after_its_last_offer_a_node_takes_no_part(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_gives_last(bench, &a, 1, 1);
    guest_offers(bench, &a, 2);
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &a, 2, 0));
    bench_destroy(&bench);
}

static void who_makes_no_last_offer_is_waited_for_ten_seconds(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    nanos begin = bench->hand.now;

    bench_stop(bench);
    while (!hub_ended(bench->hub) && bench->hand.now < begin + 60 * SECOND)
        guest_lives(bench, &a, 500 * MILLISECOND);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(10, (double)(bench->hand.now - begin) / 1e9, 1);
    bench_destroy(&bench);
}

static void a_stopped_uploader_does_not_hold_up_the_end(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_offers(bench, &a, 1);
    guest_delivers(bench, &a, 1, 0, 1);
    bench_stop(bench);
    guest_lives(bench, &a, 11 * SECOND);
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &a, 1, 1));
    guest_lives(bench, &a, 10 * SECOND); /* it makes no last offer */
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(1, store.version);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_NEAR(1, (double)store.theta[9], 0);
    bench_destroy(&bench);
}

static void a_slow_uploader_holds_up_the_end_while_something_comes(void)
{
    const struct msg_offer offer = {.exchange = 1, .last = 1};
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    bench_stop(bench);
    guest_offer(bench, &a, &offer);
    guest_lives(bench, &a, SECOND);
    guest_delivers(bench, &a, 1, 0, 1);
    guest_lives(bench, &a, 8500 * MILLISECOND);
    guest_delivers(bench, &a, 1, 1, 1);
    guest_lives(bench, &a, 12 * SECOND);
    CHECK(!hub_ended(bench->hub));
    guest_lives(bench, &a, 6 * SECOND);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(1, store.version);
    bench_destroy(&bench);
}

static void bring_two_to_the_end(struct bench *bench, struct guest *a,
                                 struct guest *b)
{
    store_lend(&store, bench);
    bench_open(bench);
    *a = guest_comes(bench, "a");
    *b = guest_comes(bench, "b");
    guest_founds(bench, a, 1);
    bench_stop(bench);
}

/* Found by the soak: what nodes gave for the end was thrown away with the one
 * that never came. */
static void last_offers_are_merged_even_if_another_never_comes(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bring_two_to_the_end(bench, &a, &b);
    guest_gives_last(bench, &a, 1, 1);
    for (unsigned i = 0; i < 44; i++) {
        guest_lives(bench, &a, 125 * MILLISECOND);
        guest_lives(bench, &b, 125 * MILLISECOND);
    }
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 0));
    CHECK_NEAR(1.5, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

/* Found by the soak: after a tournament, those with other first parameters
 * were waited for, though their last offer had been refused. */
static void a_last_offer_that_is_refused_is_not_waited_for(void)
{
    struct bench *bench = bench_new();
    struct msg_offer stranger = {
        .exchange = 1, .samples = 1, .last = 1, .lineage = 99};
    struct guest a, b;

    bring_two_to_the_end(bench, &a, &b);
    guest_offer(bench, &b, &stranger);
    CHECK_EQUAL(VERDICT_LINEAGE, guest_verdict(bench, &b, 1, 0));
    CHECK(!hub_ended(bench->hub));
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(1.5, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

/* `a` makes its last offer, and three seconds later `b`. */
static void end_of_two(struct bench *bench)
{
    struct guest a, b;

    bring_two_to_the_end(bench, &a, &b);
    guest_gives_last(bench, &a, 1, 1);
    for (unsigned i = 0; i < 6; i++) {
        guest_lives(bench, &a, 250 * MILLISECOND);
        guest_lives(bench, &b, 250 * MILLISECOND);
    }
    CHECK(!hub_ended(bench->hub));
    guest_gives_last(bench, &b, 1, 3);
    CHECK(hub_ended(bench->hub));
}

static void last_offers_are_merged_together_whatever_the_grace(void)
{
    struct bench *bench = bench_new();

    bench->config.policy.gate = &gate_quorum;
    bench->config.policy.numbers.quorum = 0;
    bench->config.policy.numbers.grace = 1;
    end_of_two(bench);
    CHECK_EQUAL(1, store.version);
    CHECK_NEAR(1 + (1 + 3) / 2., (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void the_last_of_all_offers_weighs_no_more_than_the_others(void)
{
    struct bench *bench = bench_new();

    bench->config.policy.gate = &gate_async;
    end_of_two(bench);
    CHECK_EQUAL(2, store.version);
    CHECK_NEAR(1 + 1 / 2. + 3 / 2., (double)store.theta[0], 0);
    bench_destroy(&bench);
}

static void the_run_ends_when_the_goal_is_reached(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.goal = GOAL_ACCURACY;
    bench->config.goal_value = 0.87;
    store_lend(&store, bench);
    store.accuracy = 0.86;
    a = guest_alone(bench);
    hand_wait(&bench->hand, SECOND);
    CHECK(!bench_look(bench)->ending);
    store.accuracy = 0.88;
    guest_gives(bench, &a, 1, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("goal reached: test accuracy 88.00 %",
               bench_look(bench)->reason);
    CHECK_TEXT("goal reached: test accuracy 88.00 %",
               guest_heard(bench, &a, MSG_STOP)->stop.reason);
    bench_destroy(&bench);
}

static void the_run_ends_when_the_loss_is_low_enough(void)
{
    struct bench *bench = bench_new();

    bench->config.goal = GOAL_LOSS;
    bench->config.goal_value = 0.5;
    store_lend(&store, bench);
    store.loss = 0.5;
    (void)guest_alone(bench);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("goal reached: loss 0.5000", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void the_run_ends_when_a_node_has_done_its_iterations(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.iterations = bench->config.every = 100;
    a = guest_alone(bench);
    guest_pings(bench, &a, 99);
    hand_wait(&bench->hand, SECOND);
    CHECK(!bench_look(bench)->ending);
    guest_pings(bench, &a, 100);
    hand_wait(&bench->hand, SECOND);
    CHECK_TEXT("100 iterations done", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void the_run_ends_when_the_time_is_over(void)
{
    struct bench *bench = bench_new();

    bench->config.time = 30 * SECOND;
    (void)guest_alone(bench);
    hand_wait(&bench->hand, 29 * SECOND);
    CHECK(!bench_look(bench)->ending);
    hand_wait(&bench->hand, 2 * SECOND);
    CHECK_TEXT("the time is over", bench_look(bench)->reason);
    bench_destroy(&bench);
}

static void the_last_version_is_scored_and_saved(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 0.75;
    a = guest_alone(bench);
    hand_wait(&bench->hand, SECOND);
    bench_stop(bench);
    store.loss = 0.25;
    guest_gives_last(bench, &a, 1, 1);
    CHECK(hub_ended(bench->hub));
    CHECK_NEAR(0.25, bench_look(bench)->score, 0);
    CHECK_EQUAL(1, store.version);
    CHECK_EQUAL(1, store.best_version);
    bench_destroy(&bench);
}

static void a_final_save_that_fails_does_not_keep_the_hub(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    store.fails = true;
    bench_stop(bench);
    guest_gives_last(bench, &a, 1, 1);
    hand_wait(&bench->hand, 32 * SECOND);
    CHECK(hub_ended(bench->hub));
    CHECK(hand_note(&bench->hand, NOTE_SAVE_FAILED) != NULL);
    bench_destroy(&bench);
}

void add_hub_finish_tests(CU_pSuite suite)
{
    TEST(a_run_without_nodes_ends_at_once);
    TEST(nodes_are_asked_for_their_last_offer_before_the_end);
    TEST(the_first_centre_comes_before_the_last_call);
    TEST(who_gives_no_first_centre_is_waited_for_ten_seconds);
    TEST(after_its_last_offer_a_node_takes_no_part);
    TEST(who_makes_no_last_offer_is_waited_for_ten_seconds);
    TEST(a_stopped_uploader_does_not_hold_up_the_end);
    TEST(a_slow_uploader_holds_up_the_end_while_something_comes);
    TEST(last_offers_are_merged_even_if_another_never_comes);
    TEST(a_last_offer_that_is_refused_is_not_waited_for);
    TEST(last_offers_are_merged_together_whatever_the_grace);
    TEST(the_last_of_all_offers_weighs_no_more_than_the_others);
    TEST(the_run_ends_when_the_goal_is_reached);
    TEST(the_run_ends_when_the_loss_is_low_enough);
    TEST(the_run_ends_when_a_node_has_done_its_iterations);
    TEST(the_run_ends_when_the_time_is_over);
    TEST(the_last_version_is_scored_and_saved);
    TEST(a_final_save_that_fails_does_not_keep_the_hub);
}
