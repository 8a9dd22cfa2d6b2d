#include <math.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

/* Two nodes of a founded run; every value of the centre is 1. */
struct pair {
    struct bench *bench;
    struct guest a, b;
};

static struct pair pair_of(struct bench *bench)
{
    struct pair pair = {.bench = bench};

    bench_open(bench);
    pair.a = guest_comes(bench, "a");
    pair.b = guest_comes(bench, "b");
    guest_founds(bench, &pair.a, 1);
    return pair;
}

static void an_offer_is_granted_with_the_window_as_credit(void)
{
    struct pair pair = pair_of(bench_new());
    const struct msg *grant;

    hand_forget(&pair.bench->hand);
    guest_offers(pair.bench, &pair.a, 1);
    grant = guest_heard(pair.bench, &pair.a, MSG_GRANT);
    CHECK(grant && grant->grant.exchange == 1 &&
          grant->grant.credit == 3 * BENCH_CHUNK_BYTES);
    bench_destroy(&pair.bench);
}

static void a_round_closes_when_all_live_nodes_have_offered(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    CHECK_EQUAL(0, bench_look(pair.bench)->rounds);
    guest_gives(pair.bench, &pair.b, 1, 1.5);
    CHECK_EQUAL(1, bench_look(pair.bench)->rounds);
    CHECK_NEAR(2, guest_result(pair.bench, &pair.a, 1, 0), 0);
    CHECK_NEAR(2, guest_result(pair.bench, &pair.b, 1, 2), 0);
    bench_destroy(&pair.bench);
}

static void an_early_offer_waits_for_the_next_round(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0);
    hand_forget(&pair.bench->hand);
    guest_offers(pair.bench, &pair.a, 2);
    CHECK(guest_heard(pair.bench, &pair.a, MSG_GRANT) == NULL);
    guest_gives(pair.bench, &pair.b, 1, 0);
    CHECK(guest_heard(pair.bench, &pair.a, MSG_GRANT) != NULL);
    bench_destroy(&pair.bench);
}

static void in_an_async_run_each_offer_is_a_round(void)
{
    struct bench *bench = bench_new();
    const struct preset *async = preset_find("async");
    struct pair pair;

    bench->config.policy.gate = async->policy.gate;
    pair = pair_of(bench);
    guest_gives(bench, &pair.a, 1, 1);
    CHECK_EQUAL(1, bench_look(bench)->rounds);
    CHECK_NEAR(1.5, guest_result(bench, &pair.a, 1, 0), 0);
    guest_gives(bench, &pair.b, 1, 1);
    CHECK_NEAR(2, guest_result(bench, &pair.b, 1, 0), 0);
    bench_destroy(&bench);
}

/* Three nodes are required, and two have given their first. */
static struct bench *two_of_three(void)
{
    struct bench *bench = bench_new();
    struct pair pair;

    bench->config.nodes = 3;
    pair = pair_of(bench);
    guest_gives(bench, &pair.a, 1, 0);
    guest_gives(bench, &pair.b, 1, 0);
    CHECK_EQUAL(0, bench_look(bench)->rounds);
    return bench;
}

static void the_first_round_waits_for_the_nodes_it_requires(void)
{
    struct bench *bench = two_of_three();
    struct guest c;

    CHECK_TEXT("waiting for 1 more node; those here train",
               bench_look(bench)->state);
    c = guest_comes(bench, "c");
    guest_gives(bench, &c, 1, 0);
    CHECK_EQUAL(1, bench_look(bench)->rounds);
    bench_destroy(&bench);
}

/* Nor for one that never has anything to offer, such as a node that diverges
 * at once. */
static void once_all_have_been_here_nobody_is_waited_for_any_more(void)
{
    struct bench *bench = two_of_three();
    struct guest c = guest_comes(bench, "c");

    CHECK_EQUAL(0, bench_look(bench)->rounds);
    guest_breaks(bench, &c);
    CHECK_EQUAL(1, bench_look(bench)->rounds);
    bench_destroy(&bench);
}

static void a_silent_node_is_not_waited_for(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    for (int i = 0; i < 3; i++) {
        hand_wait(&pair.bench->hand, SECOND);
        guest_pings(pair.bench, &pair.a, 1);
    }
    CHECK_EQUAL(1, bench_look(pair.bench)->rounds);
    CHECK_NEAR(1.5, guest_result(pair.bench, &pair.a, 1, 0), 0);
    bench_destroy(&pair.bench);
}

static void a_contributor_that_leaves_is_not_waited_for(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    guest_offers(pair.bench, &pair.b, 1);
    guest_delivers(pair.bench, &pair.b, 1, 0, 1.5);
    CHECK_EQUAL(0, bench_look(pair.bench)->rounds);
    guest_breaks(pair.bench, &pair.b);
    CHECK_EQUAL(1, bench_look(pair.bench)->rounds);
    CHECK_NEAR(2, guest_result(pair.bench, &pair.a, 1, 0), 0);
    CHECK_NEAR(1.5, guest_result(pair.bench, &pair.a, 1, 1), 0);
    bench_destroy(&pair.bench);
}

static void an_exchange_is_taken_once(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    hand_forget(&pair.bench->hand);
    guest_offers(pair.bench, &pair.a, 1);
    CHECK_EQUAL(VERDICT_DUPLICATE, guest_verdict(pair.bench, &pair.a, 1, 0));
    CHECK(guest_heard(pair.bench, &pair.a, MSG_GRANT) == NULL);
    CHECK_TEXT("duplicate", bench_look(pair.bench)->nodes[0].why);
    guest_returns(pair.bench, &pair.a, 1);
    guest_gives(pair.bench, &pair.a, 2, 0.5);
    guest_gives(pair.bench, &pair.b, 1, 0.5);
    CHECK_TEXT("", bench_look(pair.bench)->nodes[0].why);
    bench_destroy(&pair.bench);
}

static void an_offer_before_the_centre_is_there_is_turned_down(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_offers(bench, &a, 1);
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &a, 1, 0));
    bench_destroy(&bench);
}

/* The guest says that it is ready, and gets the whole centre. */
static void check_takes(struct bench *bench, struct guest *guest)
{
    CHECK_EQUAL(START_TAKE,
                guest_heard(bench, guest, MSG_WELCOME)->welcome.start);
    CHECK(isnan(guest_result(bench, guest, 0, 0)));
    guest_credits(bench, guest, 0, 0);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        CHECK_NEAR(1, guest_result(bench, guest, 0, i), 0);
    CHECK_EQUAL(VERB_REPLACE,
                guest_heard(bench, guest, MSG_RESULT)->result.verb);
}

static void a_stale_offer_is_declined_and_its_node_takes_the_centre(void)
{
    struct bench *bench = bench_new();
    struct msg_offer old = {.exchange = 9, .samples = 1, .score = NO_SCORE};
    struct guest a;

    bench->config.staleness = 0;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    for (uint64_t i = 1; i <= 5; i++) {
        guest_gives(bench, &a, i, 0);
        guest_credits(bench, &a, i, BENCH_BYTES);
    }
    hand_forget(&bench->hand);
    guest_offer(bench, &a, &old);
    CHECK_EQUAL(VERDICT_STALE, guest_verdict(bench, &a, 9, 0));
    check_takes(bench, &a);
    guest_credits(bench, &a, 0, BENCH_BYTES);
    guest_gives(bench, &a, 10, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 10, 0), 0);
    bench_destroy(&bench);
}

static void t23_an_offer_from_the_future_is_declined(void)
{
    struct pair pair = pair_of(bench_new());
    struct msg_offer offer = {
        .exchange = 1, .base_version = 1000, .samples = 1};

    hand_forget(&pair.bench->hand);
    guest_offer(pair.bench, &pair.a, &offer);
    CHECK_EQUAL(VERDICT_FUTURE, guest_verdict(pair.bench, &pair.a, 1, 0));
    check_takes(pair.bench, &pair.a);
    bench_destroy(&pair.bench);
}

static void nobody_waits_for_what_a_node_offered_before_it_takes(void)
{
    struct bench *bench = bench_new();
    struct msg_offer future = {
        .exchange = 2, .base_version = 1000, .samples = 1};
    struct guest a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    guest_offers(bench, &a, 1);
    hand_forget(&bench->hand);
    guest_offer(bench, &a, &future);
    guest_offers(bench, &a, 3);
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &a, 3, 0));
    check_takes(bench, &a);
    guest_credits(bench, &a, 0, BENCH_BYTES);
    guest_gives(bench, &a, 4, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 4, 0), 0);
    bench_destroy(&bench);
}

/* Lets time pass while the guests ping. */
static void live(struct bench *bench, struct guest **guests, unsigned count,
                 nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&bench->hand, 500 * MILLISECOND);
        for (unsigned i = 0; i < count; i++)
            guest_pings(bench, guests[i], 1);
    }
}

static void who_was_cut_shields_nobody(void)
{
    struct pair pair = pair_of(bench_new());
    struct guest c = guest_comes(pair.bench, "c");
    struct guest *guests[] = {&pair.a, &pair.b};

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    guest_offers(pair.bench, &pair.b, 1);
    guest_offers(pair.bench, &c, 1);
    live(pair.bench, guests, 2, 12 * SECOND);
    CHECK_EQUAL(1, bench_look(pair.bench)->rounds);
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(pair.bench, &pair.b, 1, 0));
    bench_destroy(&pair.bench);
}

static void a_slow_one_is_not_cut_while_it_holds_up_nobody(void)
{
    struct bench *bench = bench_new();
    struct guest *guests[1], a;

    bench_open(bench);
    a = guest_comes(bench, "a");
    guests[0] = &a;
    guest_founds(bench, &a, 1);
    guest_offers(bench, &a, 1);
    live(bench, guests, 1, 5 * SECOND);
    guest_delivers_all(bench, &a, 1, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void a_node_that_is_back_learns_what_was_merged_of_it(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    guest_offers(pair.bench, &pair.b, 1);
    guest_delivers(pair.bench, &pair.b, 1, 1, 1.5);
    guest_breaks(pair.bench, &pair.b);
    guest_comes_again(pair.bench, &pair.b);
    CHECK_EQUAL(VERDICT_LOST, guest_verdict(pair.bench, &pair.b, 1, 0));
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(pair.bench, &pair.b, 1, 1));
    CHECK_EQUAL(VERDICT_LOST, guest_verdict(pair.bench, &pair.b, 1, 2));
    CHECK_EQUAL(0,
                guest_heard(pair.bench, &pair.b, MSG_WELCOME)->welcome.merged);
    bench_destroy(&pair.bench);
}

static void all_that_was_partly_merged_is_remembered(void)
{
    enum { OFFERS = 20 };
    struct bench *bench = bench_new();
    struct pair pair;

    bench->config.policy.gate = &gate_async;
    bench->config.staleness = 100;
    pair = pair_of(bench);
    for (uint64_t i = 1; i <= OFFERS; i++) {
        guest_offers(bench, &pair.b, i);
        guest_delivers(bench, &pair.b, i, 0, 1);
    }
    guest_breaks(bench, &pair.b);
    hand_wait(&bench->hand, SECOND);
    guest_comes_again(bench, &pair.b);
    for (uint64_t i = 1; i <= OFFERS; i++) {
        CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &pair.b, i, 0));
        CHECK_EQUAL(VERDICT_LOST, guest_verdict(bench, &pair.b, i, 1));
    }
    bench_destroy(&bench);
}

static void what_was_lost_before_a_merged_exchange_is_told_as_lost(void)
{
    struct bench *bench = bench_new();
    struct pair pair;

    bench->config.policy.gate = &gate_async;
    pair = pair_of(bench);
    guest_offers(bench, &pair.b, 1);
    guest_gives(bench, &pair.b, 2, 1);
    guest_breaks(bench, &pair.b);
    hand_wait(&bench->hand, SECOND);
    guest_comes_again(bench, &pair.b);
    CHECK_EQUAL(2, guest_heard(bench, &pair.b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_LOST, guest_verdict(bench, &pair.b, 1, 0));
    bench_destroy(&bench);
}

static void a_new_process_is_told_nothing_of_the_old_one(void)
{
    struct pair pair = pair_of(bench_new());

    guest_gives(pair.bench, &pair.a, 1, 0.5);
    guest_offers(pair.bench, &pair.b, 1);
    guest_delivers(pair.bench, &pair.b, 1, 1, 1.5);
    guest_breaks(pair.bench, &pair.b);
    pair.b.hello.incarnation = 2;
    guest_comes_again(pair.bench, &pair.b);
    CHECK(guest_heard(pair.bench, &pair.b, MSG_VERDICT) == NULL);
    bench_destroy(&pair.bench);
}

void add_hub_rounds_tests(CU_pSuite suite)
{
    TEST(an_offer_is_granted_with_the_window_as_credit);
    TEST(a_round_closes_when_all_live_nodes_have_offered);
    TEST(an_early_offer_waits_for_the_next_round);
    TEST(in_an_async_run_each_offer_is_a_round);
    TEST(the_first_round_waits_for_the_nodes_it_requires);
    TEST(once_all_have_been_here_nobody_is_waited_for_any_more);
    TEST(a_silent_node_is_not_waited_for);
    TEST(a_contributor_that_leaves_is_not_waited_for);
    TEST(an_exchange_is_taken_once);
    TEST(an_offer_before_the_centre_is_there_is_turned_down);
    TEST(a_stale_offer_is_declined_and_its_node_takes_the_centre);
    TEST(t23_an_offer_from_the_future_is_declined);
    TEST(nobody_waits_for_what_a_node_offered_before_it_takes);
    TEST(who_was_cut_shields_nobody);
    TEST(a_slow_one_is_not_cut_while_it_holds_up_nobody);
    TEST(a_node_that_is_back_learns_what_was_merged_of_it);
    TEST(all_that_was_partly_merged_is_remembered);
    TEST(what_was_lost_before_a_merged_exchange_is_told_as_lost);
    TEST(a_new_process_is_told_nothing_of_the_old_one);
}
