#include <math.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* Two nodes of a founded run; every value of the centre is 1. */
struct pair {
    struct hub_fixture *f;
    struct fake_node a, b;
};

static struct pair pair_of(struct hub_fixture *f)
{
    struct pair pair = {.f = f};

    hub_fixture_open(f);
    pair.a = fake_node_comes(f, "a");
    pair.b = fake_node_comes(f, "b");
    fake_node_founds(f, &pair.a, 1);
    return pair;
}

static void an_offer_is_granted_with_the_window_as_credit(void)
{
    struct pair pair = pair_of(hub_fixture_new());
    const struct msg *grant;

    hand_forget(&pair.f->hand);
    fake_node_offers(pair.f, &pair.a, 1);
    grant = fake_node_heard(pair.f, &pair.a, MSG_GRANT);
    CHECK(grant && grant->grant.exchange == 1 &&
          grant->grant.credit == 3 * FIXTURE_CHUNK_BYTES);
    hub_fixture_destroy(&pair.f);
}

static void a_round_closes_when_all_live_nodes_have_offered(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    CHECK_EQUAL(0, hub_fixture_look(pair.f)->rounds);
    fake_node_gives(pair.f, &pair.b, 1, 1.5);
    CHECK_EQUAL(1, hub_fixture_look(pair.f)->rounds);
    CHECK_NEAR(2, fake_node_result(pair.f, &pair.a, 1, 0), 0);
    CHECK_NEAR(2, fake_node_result(pair.f, &pair.b, 1, 2), 0);
    hub_fixture_destroy(&pair.f);
}

static void an_early_offer_waits_for_the_next_round(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0);
    hand_forget(&pair.f->hand);
    fake_node_offers(pair.f, &pair.a, 2);
    CHECK(fake_node_heard(pair.f, &pair.a, MSG_GRANT) == NULL);
    fake_node_gives(pair.f, &pair.b, 1, 0);
    CHECK(fake_node_heard(pair.f, &pair.a, MSG_GRANT) != NULL);
    hub_fixture_destroy(&pair.f);
}

static void in_an_async_run_each_offer_is_a_round(void)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct preset *async = preset_find("async");
    struct pair pair;

    f->config.policy.gate = async->policy.gate;
    pair = pair_of(f);
    fake_node_gives(f, &pair.a, 1, 1);
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds);
    CHECK_NEAR(1.5, fake_node_result(f, &pair.a, 1, 0), 0);
    fake_node_gives(f, &pair.b, 1, 1);
    CHECK_NEAR(2, fake_node_result(f, &pair.b, 1, 0), 0);
    hub_fixture_destroy(&f);
}

/* Three nodes are required, and two have given their first. */
static struct hub_fixture *two_of_three(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.nodes = 3;
    pair = pair_of(f);
    fake_node_gives(f, &pair.a, 1, 0);
    fake_node_gives(f, &pair.b, 1, 0);
    CHECK_EQUAL(0, hub_fixture_look(f)->rounds);
    return f;
}

static void the_first_round_waits_for_the_nodes_it_requires(void)
{
    struct hub_fixture *f = two_of_three();
    struct fake_node c;

    CHECK_TEXT("waiting for 1 more node; those here train",
               hub_fixture_look(f)->state);
    c = fake_node_comes(f, "c");
    fake_node_gives(f, &c, 1, 0);
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds);
    hub_fixture_destroy(&f);
}

/* Nor for one that never has anything to offer, such as a node that diverges
 * at once. */
static void once_all_have_been_here_nobody_is_waited_for_any_more(void)
{
    struct hub_fixture *f = two_of_three();
    struct fake_node c = fake_node_comes(f, "c");

    CHECK_EQUAL(0, hub_fixture_look(f)->rounds);
    fake_node_breaks(f, &c);
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds);
    hub_fixture_destroy(&f);
}

static void a_silent_node_is_not_waited_for(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    for (int i = 0; i < 3; i++) {
        hand_wait(&pair.f->hand, SECOND);
        fake_node_pings(pair.f, &pair.a, 1);
    }
    CHECK_EQUAL(1, hub_fixture_look(pair.f)->rounds);
    CHECK_NEAR(1.5, fake_node_result(pair.f, &pair.a, 1, 0), 0);
    hub_fixture_destroy(&pair.f);
}

static void a_contributor_that_leaves_is_not_waited_for(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    fake_node_offers(pair.f, &pair.b, 1);
    fake_node_delivers(pair.f, &pair.b, 1, 0, 1.5);
    CHECK_EQUAL(0, hub_fixture_look(pair.f)->rounds);
    fake_node_breaks(pair.f, &pair.b);
    CHECK_EQUAL(1, hub_fixture_look(pair.f)->rounds);
    CHECK_NEAR(2, fake_node_result(pair.f, &pair.a, 1, 0), 0);
    CHECK_NEAR(1.5, fake_node_result(pair.f, &pair.a, 1, 1), 0);
    hub_fixture_destroy(&pair.f);
}

static void an_exchange_is_taken_once(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    hand_forget(&pair.f->hand);
    fake_node_offers(pair.f, &pair.a, 1);
    CHECK_EQUAL(VERDICT_DUPLICATE, fake_node_verdict(pair.f, &pair.a, 1, 0));
    CHECK(fake_node_heard(pair.f, &pair.a, MSG_GRANT) == NULL);
    CHECK_TEXT("duplicate", hub_fixture_look(pair.f)->nodes[0].why);
    fake_node_returns(pair.f, &pair.a, 1);
    fake_node_gives(pair.f, &pair.a, 2, 0.5);
    fake_node_gives(pair.f, &pair.b, 1, 0.5);
    CHECK_TEXT("", hub_fixture_look(pair.f)->nodes[0].why);
    hub_fixture_destroy(&pair.f);
}

static void an_offer_before_the_centre_is_there_is_turned_down(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_offers(f, &a, 1);
    CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &a, 1, 0));
    hub_fixture_destroy(&f);
}

/* The node says that it is ready, and gets the whole centre. */
static void check_takes(struct hub_fixture *f, struct fake_node *node)
{
    CHECK_EQUAL(START_TAKE,
                fake_node_heard(f, node, MSG_WELCOME)->welcome.start);
    CHECK(isnan(fake_node_result(f, node, 0, 0)));
    fake_node_credits(f, node, 0, 0);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(1, fake_node_result(f, node, 0, i), 0);
    CHECK_EQUAL(VERB_REPLACE,
                fake_node_heard(f, node, MSG_RESULT)->result.verb);
}

static void a_stale_offer_is_declined_and_its_node_takes_the_centre(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer old = {.exchange = 9, .samples = 1, .score = NO_SCORE};
    struct fake_node a;

    f->config.staleness = 0;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    for (uint64_t i = 1; i <= 5; i++) {
        fake_node_gives(f, &a, i, 0);
        fake_node_credits(f, &a, i, FIXTURE_BYTES);
    }
    hand_forget(&f->hand);
    fake_node_offer(f, &a, &old);
    CHECK_EQUAL(VERDICT_STALE, fake_node_verdict(f, &a, 9, 0));
    check_takes(f, &a);
    fake_node_credits(f, &a, 0, FIXTURE_BYTES);
    fake_node_gives(f, &a, 10, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 10, 0), 0);
    hub_fixture_destroy(&f);
}

static void t23_an_offer_from_the_future_is_declined(void)
{
    struct pair pair = pair_of(hub_fixture_new());
    struct msg_offer offer = {
        .exchange = 1, .base_version = 1000, .samples = 1};

    hand_forget(&pair.f->hand);
    fake_node_offer(pair.f, &pair.a, &offer);
    CHECK_EQUAL(VERDICT_FUTURE, fake_node_verdict(pair.f, &pair.a, 1, 0));
    check_takes(pair.f, &pair.a);
    hub_fixture_destroy(&pair.f);
}

static void nobody_waits_for_what_a_node_offered_before_it_takes(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer future = {
        .exchange = 2, .base_version = 1000, .samples = 1};
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    fake_node_offers(f, &a, 1);
    hand_forget(&f->hand);
    fake_node_offer(f, &a, &future);
    fake_node_offers(f, &a, 3);
    CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &a, 3, 0));
    check_takes(f, &a);
    fake_node_credits(f, &a, 0, FIXTURE_BYTES);
    fake_node_gives(f, &a, 4, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 4, 0), 0);
    hub_fixture_destroy(&f);
}

/* Lets time pass while the nodes ping. */
static void live(struct hub_fixture *f, struct fake_node **nodes,
                 unsigned count, nanos span)
{
    for (; span > 0; span -= 500 * MILLISECOND) {
        hand_wait(&f->hand, 500 * MILLISECOND);
        for (unsigned i = 0; i < count; i++)
            fake_node_pings(f, nodes[i], 1);
    }
}

static void who_was_cut_shields_nobody(void)
{
    struct pair pair = pair_of(hub_fixture_new());
    struct fake_node c = fake_node_comes(pair.f, "c");
    struct fake_node *nodes[] = {&pair.a, &pair.b};

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    fake_node_offers(pair.f, &pair.b, 1);
    fake_node_offers(pair.f, &c, 1);
    live(pair.f, nodes, 2, 12 * SECOND);
    CHECK_EQUAL(1, hub_fixture_look(pair.f)->rounds);
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(pair.f, &pair.b, 1, 0));
    hub_fixture_destroy(&pair.f);
}

static void a_slow_one_is_not_cut_while_it_holds_up_nobody(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node *nodes[1], a;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    nodes[0] = &a;
    fake_node_founds(f, &a, 1);
    fake_node_offers(f, &a, 1);
    live(f, nodes, 1, 5 * SECOND);
    fake_node_delivers_all(f, &a, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_node_that_is_back_learns_what_was_merged_of_it(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    fake_node_offers(pair.f, &pair.b, 1);
    fake_node_delivers(pair.f, &pair.b, 1, 1, 1.5);
    fake_node_breaks(pair.f, &pair.b);
    fake_node_comes_again(pair.f, &pair.b);
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(pair.f, &pair.b, 1, 0));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(pair.f, &pair.b, 1, 1));
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(pair.f, &pair.b, 1, 2));
    CHECK_EQUAL(0,
                fake_node_heard(pair.f, &pair.b, MSG_WELCOME)->welcome.merged);
    hub_fixture_destroy(&pair.f);
}

static void all_that_was_partly_merged_is_remembered(void)
{
    enum { OFFERS = 20 };
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.gate = &gate_async;
    f->config.staleness = 100;
    f->config.delay = 10ULL * OFFERS;
    pair = pair_of(f);
    for (uint64_t i = 1; i <= OFFERS; i++) {
        fake_node_offers(f, &pair.b, i);
        fake_node_delivers(f, &pair.b, i, 0, 1);
    }
    fake_node_breaks(f, &pair.b);
    hand_wait(&f->hand, SECOND);
    fake_node_comes_again(f, &pair.b);
    for (uint64_t i = 1; i <= OFFERS; i++) {
        CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &pair.b, i, 0));
        CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(f, &pair.b, i, 1));
    }
    hub_fixture_destroy(&f);
}

static void what_was_lost_before_a_merged_exchange_is_told_as_lost(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct pair pair;

    f->config.policy.gate = &gate_async;
    pair = pair_of(f);
    fake_node_offers(f, &pair.b, 1);
    fake_node_gives(f, &pair.b, 2, 1);
    fake_node_breaks(f, &pair.b);
    hand_wait(&f->hand, SECOND);
    fake_node_comes_again(f, &pair.b);
    CHECK_EQUAL(2, fake_node_heard(f, &pair.b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(f, &pair.b, 1, 0));
    hub_fixture_destroy(&f);
}

static void a_new_process_is_told_nothing_of_the_old_one(void)
{
    struct pair pair = pair_of(hub_fixture_new());

    fake_node_gives(pair.f, &pair.a, 1, 0.5);
    fake_node_offers(pair.f, &pair.b, 1);
    fake_node_delivers(pair.f, &pair.b, 1, 1, 1.5);
    fake_node_breaks(pair.f, &pair.b);
    pair.b.hello.incarnation = 2;
    fake_node_comes_again(pair.f, &pair.b);
    CHECK(fake_node_heard(pair.f, &pair.b, MSG_VERDICT) == NULL);
    hub_fixture_destroy(&pair.f);
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
