/* What a roll-back means for nodes, for what they have sent and for tasks. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/spoiled.h"

static struct store store;

/* Offers on their way depart from the bad centre: nothing of them is merged,
 * however far they have come, and their nodes take the centre. */
static void what_is_on_its_way_is_discarded(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a, b, c;

    bench->config.policy.gate = &gate_async;
    a = spoiled_begin(bench, &store, 0.5);
    b = guest_comes(bench, "b");
    c = guest_comes(bench, "c");
    store.loss = 5;
    spoiled_give(bench, &a, 2, 100);
    bench->hand.holds_jobs = true;
    guest_lives(bench, &a, 500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_pings(bench, &c, 1);
    guest_lives(bench, &a, 500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_pings(bench, &c, 1);
    guest_offers(bench, &a, 3);
    guest_offers(bench, &b, 1);
    guest_offers(bench, &c, 1);
    guest_delivers_all(bench, &b, 1, 100);
    bench->hand.holds_jobs = false;
    hand_work(&bench->hand);
    guest_delivers_all(bench, &c, 1, 100);
    guest_delivers_all(bench, &a, 3, 100);
    guest_lives(bench, &a, 500 * MILLISECOND);
    CHECK(is_rolled_back(bench));
    CHECK_NEAR(2, guest_takes(bench, &a), 0);
    CHECK_NEAR(2, guest_takes(bench, &b), 0);
    CHECK_NEAR(2, guest_takes(bench, &c), 0);
    store.loss = 0.4;
    spoiled_give(bench, &b, 2, 3);
    CHECK_NEAR(3, guest_result(bench, &b, 2, 0), 0);
    bench_destroy(&bench);
}

static void a_round_that_has_half_come_is_discarded(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a = spoiled_begin(bench, &store, 0.5), b;

    store.loss = 5;
    spoiled_give(bench, &a, 2, 100);
    b = guest_comes(bench, "b");
    guest_offers(bench, &a, 3);
    guest_offers(bench, &b, 1);
    guest_delivers_all(bench, &b, 1, 100);
    CHECK(!is_rolled_back(bench));
    hand_wait(&bench->hand, 900 * MILLISECOND);
    CHECK(is_rolled_back(bench));
    CHECK_NEAR(2, guest_takes(bench, &a), 0);
    CHECK_NEAR(2, guest_takes(bench, &b), 0);
    bench_destroy(&bench);
}

/* It waits until every chunk has merged the same rounds. */
static void it_waits_for_a_complete_version(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a = spoiled_begin(bench, &store, 0.5);
    struct job *scoring;

    store.loss = 5;
    spoiled_give(bench, &a, 2, 100);
    bench->hand.holds_jobs = true;
    guest_lives(bench, &a, EACH);
    CHECK_EQUAL(1, bench->hand.job_count);
    scoring = bench->hand.jobs[0];
    bench->hand.job_count = 0;
    bench->hand.holds_jobs = false;
    guest_offers(bench, &a, 3);
    guest_delivers(bench, &a, 3, 0, 1);
    bench->hand.jobs[bench->hand.job_count++] = scoring;
    hand_work(&bench->hand);
    CHECK_NEAR(5, bench_look(bench)->score, 0);
    CHECK(!is_rolled_back(bench));
    guest_delivers(bench, &a, 3, 1, 1);
    CHECK(!is_rolled_back(bench));
    guest_delivers(bench, &a, 3, 2, 1);
    CHECK(is_rolled_back(bench));
    CHECK_EQUAL(4, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void an_offer_from_before_is_stale(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a = spoiled_begin(bench, &store, 0.5);
    const struct msg_offer offer = {
        .exchange = 3, .base_version = 2, .samples = 1, .score = NO_SCORE};

    spoil(bench, &store, &a, 5);
    CHECK(is_rolled_back(bench));
    guest_offer(bench, &a, &offer);
    CHECK_EQUAL(VERDICT_STALE, guest_verdict(bench, &a, 3, 0));
    bench_destroy(&bench);
}

static void who_was_away_takes_the_centre_when_it_is_back(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a = spoiled_begin(bench, &store, 0.5), b;

    b = guest_comes(bench, "b");
    guest_breaks(bench, &b);
    spoil(bench, &store, &a, 5);
    CHECK(is_rolled_back(bench));
    b.hello.run = 7;
    b.hello.base_version = 2;
    guest_comes_again(bench, &b);
    CHECK_NEAR(2, guest_takes(bench, &b), 0);
    bench_destroy(&bench);
}

/* It is told by its next offer, or it would get parts of two versions. */
static void who_is_taking_the_bad_centre_takes_the_good_one_next(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct msg_offer offer = {
        .exchange = 1, .base_version = 2, .samples = 1, .score = NO_SCORE};
    struct guest a = spoiled_begin(bench, &store, 0.5), b;

    store.loss = 5;
    spoiled_give(bench, &a, 2, 100);
    b = guest_comes(bench, "b");
    CHECK_NEAR(102, guest_takes(bench, &b), 0);
    guest_credits(bench, &b, 0, BENCH_BYTES);
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_WELCOME));
    guest_lives(bench, &a, 2 * EACH);
    CHECK(is_rolled_back(bench));
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_WELCOME));
    guest_offer(bench, &b, &offer);
    CHECK_EQUAL(VERDICT_STALE, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(2, guest_heard_count(bench, &b, MSG_WELCOME));
    hand_forget(&bench->hand);
    guest_credits(bench, &b, 0, 0);
    CHECK_NEAR(2, guest_result(bench, &b, 0, 0), 0);
    offer.exchange = 2;
    offer.base_version = bench_look(bench)->version;
    guest_pings(bench, &b, 1);
    guest_offer(bench, &b, &offer);
    CHECK(guest_heard(bench, &b, MSG_GRANT) != NULL);
    bench_destroy(&bench);
}

static void nodes_that_stay_apart_keep_their_own(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a;

    bench->config.init = INIT_ELASTIC;
    bench->config.policy = preset_find("easgd")->policy;
    a = spoiled_begin(bench, &store, 0.5);
    spoil(bench, &store, &a, 5);
    CHECK(is_rolled_back(bench));
    CHECK(isnan(guest_takes(bench, &a)));
    bench_destroy(&bench);
}

/* The guest asks for a task and says what became of it. */
static void do_task(struct bench *bench, struct guest *guest)
{
    struct msg ask = {.kind = MSG_ROOM}, report = {.kind = MSG_REPORT};

    ask.room.tasks = 1;
    hand_say(&bench->hand, guest->control, &ask, NULL);
    report.report.task = guest_heard(bench, guest, MSG_TASK)->task.task;
    report.report.done = 1;
    hand_say(&bench->hand, guest->control, &report, NULL);
}

static void tasks_done_since_are_to_be_done_again(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a;

    bench->config.tasks = 10;
    a = guest_alone(bench);
    store.loss = 0.5;
    do_task(bench, &a);
    do_task(bench, &a);
    spoiled_give(bench, &a, 1, 1);
    guest_lives(bench, &a, 2 * EACH);
    do_task(bench, &a);
    CHECK_EQUAL(3, bench_look(bench)->tasks_done);
    spoil(bench, &store, &a, 5);
    CHECK(is_rolled_back(bench));
    CHECK_EQUAL(2, bench_look(bench)->tasks_done);
    bench_destroy(&bench);
}

static void a_hub_that_is_started_again_remembers(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a = spoiled_begin(bench, &store, 0.5);
    struct hub_saved saved;
    struct store before;
    struct why why;

    spoil(bench, &store, &a, 5);
    before = store;
    bench_destroy(&bench);
    bench = spoiled_bench(&store);
    bench_open(bench);
    saved = (struct hub_saved){
        .schema = bench->schema, .theta = before.theta, .state = before.state};
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    a.hello.run = 7;
    a.hello.base_version = 2;
    guest_comes_again(bench, &a);
    CHECK_NEAR(2, guest_takes(bench, &a), 0);
    bench_destroy(&bench);
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
