/* What a roll-back means for nodes, for what they have sent and for tasks. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/spoiled.h"

static struct store store;

/* Offers on their way depart from the bad centre: nothing of them is merged,
 * however far they have come, and their nodes take the centre. */
static void what_is_on_its_way_is_discarded(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a, b, c;

    f->config.policy.gate = &gate_async;
    a = spoiled_begin(f, &store, 0.5);
    b = fake_node_comes(f, "b");
    c = fake_node_comes(f, "c");
    store.loss = 5;
    spoiled_give(f, &a, 2, 100);
    f->hand.holds_jobs = true;
    fake_node_lives(f, &a, 500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    fake_node_pings(f, &c, 1);
    fake_node_lives(f, &a, 500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    fake_node_pings(f, &c, 1);
    fake_node_offers(f, &a, 3);
    fake_node_offers(f, &b, 1);
    fake_node_offers(f, &c, 1);
    fake_node_delivers_all(f, &b, 1, 100);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    fake_node_delivers_all(f, &c, 1, 100);
    fake_node_delivers_all(f, &a, 3, 100);
    fake_node_lives(f, &a, 500 * MILLISECOND);
    CHECK(is_rolled_back(f));
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    CHECK_NEAR(2, fake_node_takes(f, &b), 0);
    CHECK_NEAR(2, fake_node_takes(f, &c), 0);
    store.loss = 0.4;
    spoiled_give(f, &b, 2, 3);
    CHECK_NEAR(3, fake_node_result(f, &b, 2, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_round_that_has_half_come_is_discarded(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5), b;

    store.loss = 5;
    spoiled_give(f, &a, 2, 100);
    b = fake_node_comes(f, "b");
    fake_node_offers(f, &a, 3);
    fake_node_offers(f, &b, 1);
    fake_node_delivers_all(f, &b, 1, 100);
    CHECK(!is_rolled_back(f));
    hand_wait(&f->hand, 900 * MILLISECOND);
    CHECK(is_rolled_back(f));
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    CHECK_NEAR(2, fake_node_takes(f, &b), 0);
    hub_fixture_destroy(&f);
}

/* It waits until every chunk has merged the same rounds. */
static void it_waits_for_a_complete_version(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    struct job *scoring;

    store.loss = 5;
    spoiled_give(f, &a, 2, 100);
    f->hand.holds_jobs = true;
    fake_node_lives(f, &a, EACH);
    CHECK_EQUAL(1, f->hand.job_count);
    scoring = f->hand.jobs[0];
    f->hand.job_count = 0;
    f->hand.holds_jobs = false;
    fake_node_offers(f, &a, 3);
    fake_node_delivers(f, &a, 3, 0, 1);
    f->hand.jobs[f->hand.job_count++] = scoring;
    hand_work(&f->hand);
    CHECK_NEAR(5, hub_fixture_look(f)->score, 0);
    CHECK(!is_rolled_back(f));
    fake_node_delivers(f, &a, 3, 1, 1);
    CHECK(!is_rolled_back(f));
    fake_node_delivers(f, &a, 3, 2, 1);
    CHECK(is_rolled_back(f));
    CHECK_EQUAL(4, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void an_offer_from_before_is_stale(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    const struct msg_offer offer = {
        .exchange = 3, .base_version = 2, .samples = 1, .score = NO_SCORE};

    spoil(f, &store, &a, 5);
    CHECK(is_rolled_back(f));
    fake_node_offer(f, &a, &offer);
    CHECK_EQUAL(VERDICT_STALE, fake_node_verdict(f, &a, 3, 0));
    hub_fixture_destroy(&f);
}

static void who_was_away_takes_the_centre_when_it_is_back(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5), b;

    b = fake_node_comes(f, "b");
    fake_node_breaks(f, &b);
    spoil(f, &store, &a, 5);
    CHECK(is_rolled_back(f));
    b.hello.run = 7;
    b.hello.base_version = 2;
    fake_node_comes_again(f, &b);
    CHECK_NEAR(2, fake_node_takes(f, &b), 0);
    hub_fixture_destroy(&f);
}

/* It is told by its next offer, or it would get parts of two versions. */
static void who_is_taking_the_bad_centre_takes_the_good_one_next(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct msg_offer offer = {
        .exchange = 1, .base_version = 2, .samples = 1, .score = NO_SCORE};
    struct fake_node a = spoiled_begin(f, &store, 0.5), b;

    store.loss = 5;
    spoiled_give(f, &a, 2, 100);
    b = fake_node_comes(f, "b");
    CHECK_NEAR(102, fake_node_takes(f, &b), 0);
    fake_node_credits(f, &b, 0, FIXTURE_BYTES);
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_WELCOME));
    fake_node_lives(f, &a, 2 * EACH);
    CHECK(is_rolled_back(f));
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_WELCOME));
    fake_node_offer(f, &b, &offer);
    CHECK_EQUAL(VERDICT_STALE, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(2, fake_node_heard_count(f, &b, MSG_WELCOME));
    hand_forget(&f->hand);
    fake_node_credits(f, &b, 0, 0);
    CHECK_NEAR(2, fake_node_result(f, &b, 0, 0), 0);
    offer.exchange = 2;
    offer.base_version = hub_fixture_look(f)->version;
    fake_node_pings(f, &b, 1);
    fake_node_offer(f, &b, &offer);
    CHECK(fake_node_heard(f, &b, MSG_GRANT) != NULL);
    hub_fixture_destroy(&f);
}

static void nodes_that_stay_apart_keep_their_own(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;

    f->config.init = INIT_ELASTIC;
    f->config.policy = preset_find("easgd")->policy;
    a = spoiled_begin(f, &store, 0.5);
    spoil(f, &store, &a, 5);
    CHECK(is_rolled_back(f));
    CHECK(isnan(fake_node_takes(f, &a)));
    hub_fixture_destroy(&f);
}

/* The node asks for a task and says what became of it. */
static void do_task(struct hub_fixture *f, struct fake_node *node)
{
    struct msg ask = {.kind = MSG_ROOM}, report = {.kind = MSG_REPORT};

    ask.room.tasks = 1;
    hand_say(&f->hand, node->control, &ask, NULL);
    report.report.task = fake_node_heard(f, node, MSG_TASK)->task.task;
    report.report.what = TASK_REPORT_DONE;
    hand_say(&f->hand, node->control, &report, NULL);
}

static void tasks_done_since_are_to_be_done_again(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;

    f->config.tasks = 10;
    a = fake_node_alone(f);
    store.loss = 0.5;
    do_task(f, &a);
    do_task(f, &a);
    spoiled_give(f, &a, 1, 1);
    fake_node_lives(f, &a, 2 * EACH);
    do_task(f, &a);
    CHECK_EQUAL(3, hub_fixture_look(f)->tasks_done);
    spoil(f, &store, &a, 5);
    CHECK(is_rolled_back(f));
    CHECK_EQUAL(2, hub_fixture_look(f)->tasks_done);
    hub_fixture_destroy(&f);
}

static void a_hub_that_is_started_again_remembers(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a = spoiled_begin(f, &store, 0.5);
    struct store before;
    struct why why;

    spoil(f, &store, &a, 5);
    before = store;
    hub_fixture_destroy(&f);
    f = spoiled_fixture(&store);
    hub_fixture_open(f);
    CHECK_OK(store_restore(&before, f, before.state, &why));
    a.hello.run = 7;
    a.hello.base_version = 2;
    fake_node_comes_again(f, &a);
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    hub_fixture_destroy(&f);
}

void add_hub_rollback_nodes_tests(CU_pSuite suite)
{
    TEST(what_is_on_its_way_is_discarded);
    TEST(a_round_that_has_half_come_is_discarded);
    TEST(it_waits_for_a_complete_version);
    TEST(an_offer_from_before_is_stale);
    TEST(who_was_away_takes_the_centre_when_it_is_back);
    TEST(who_is_taking_the_bad_centre_takes_the_good_one_next);
    TEST(nodes_that_stay_apart_keep_their_own);
    TEST(tasks_done_since_are_to_be_done_again);
    TEST(a_hub_that_is_started_again_remembers);
}
