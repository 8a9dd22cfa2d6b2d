/* A hub without a centre, or with a young run of its own, meets nodes that keep
 * one. */
#include "tests/check.h"
#include "tests/hub/treasure.h"

static struct store store;

/* An empty disk, perhaps on another host. */
static struct bench *lose_all(struct guest *a, struct treasure *treasure)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench_open(bench);
    return bench;
}

static void a_hub_with_nothing_goes_on_from_a_node(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_TEXT("version 3", treasure_note(bench));
    guest_gives(bench, &a, 4, 0.5);
    CHECK_NEAR(3, guest_result(bench, &a, 4, 0), 0);
    bench_destroy(&bench);
}

static void a_founder_is_stopped_by_who_keeps_a_centre(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_other(bench);
    CHECK_EQUAL(START_FOUND, treasure_start(bench, &b));
    guest_delivers(bench, &b, 0, 0, 9);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_delivers(bench, &b, 0, 1, 9);
    guest_delivers(bench, &b, 0, 2, 9);
    CHECK(!bench_look(bench)->founded);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_waits_before_it_founds(void)
{
    struct bench *bench = treasure_life(&store);
    struct treasure treasure;
    struct guest a, b;

    treasure = treasure_train(bench, &a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    b = guest_other(bench);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &b));
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void an_empty_hub_founds_when_nobody_keeps_anything(void)
{
    struct bench *bench = treasure_life(&store);
    struct guest a;

    bench->config.recovery = HUB_RECOVERY;
    bench_open(bench);
    a = guest_new(bench, "a");
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, HUB_RECOVERY + 500 * MILLISECOND);
    CHECK_EQUAL(START_FOUND, treasure_start(bench, &a));
    bench_destroy(&bench);
}

static void a_bulk_connection_that_comes_late_is_waited_for(void)
{
    struct treasure treasure;
    struct guest a;
    struct bench *bench = lose_all(&a, &treasure);

    a.control = a.bulk = PEER_NONE;
    guest_hello(bench, &a);
    guest_lives(bench, &a, HUB_RECOVERY + 3 * SECOND);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, &a));
    guest_lives(bench, &a, 3 * SECOND);
    CHECK_CONTAINS("no bulk connection", treasure_note(bench));
    CHECK(!bench_look(bench)->recovering);
    bench_destroy(&bench);
}

static void once_something_is_merged_it_is_too_late(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello.node_low = 77;
    b.hello.lineage = 99;
    guest_comes_again(bench, &b);
    guest_founds(bench, &b, 9);
    guest_gives(bench, &b, 1, 1);
    guest_comes_again(bench, &a);
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &a));
    CHECK_CONTAINS("it keeps version 3",
                   hand_note(&bench->hand, NOTE_REFUSED)->text);
    CHECK_EQUAL(1234, bench_look(bench)->run);
    bench_destroy(&bench);
}

/* Two nodes with the same version: a gives half of it and is gone. */
static void another_holder_is_asked_when_the_first_is_gone(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    guest_comes_again(bench, &a);
    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    guest_comes_again(bench, &b);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &b)); /* to prove it */
    CHECK(guest_heard(bench, &b, MSG_GRANT) == NULL);
    treasure_proves(bench, &a, &treasure);
    guest_delivers(bench, &a, 0, 0, (double)treasure.value[0]);
    guest_breaks(bench, &a);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &b));
    treasure_given(bench, &b, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void the_newest_of_two_holders_is_asked(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_new(bench, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    b.hello.kept--;
    guest_comes_again(bench, &b);
    guest_comes_again(bench, &a);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(START_GIVE, treasure_start(bench, &a));
    CHECK(guest_heard(bench, &a, MSG_GRANT) != NULL);
    CHECK(guest_heard(bench, &b, MSG_GRANT) == NULL);
    bench_destroy(&bench);
}

/* Before anything is merged, a comes to the run that b has founded. A round is
 * open, with b's exchange 1 as a whole, and its exchange 2 waits. */
static struct bench *interrupt(struct guest *a, struct guest *b,
                               struct treasure *treasure)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    bench->config.run = 1234;
    bench->config.nodes = 3;
    bench_open(bench);
    *b = guest_new(bench, "b");
    b->hello.node_low = 77;
    b->hello.run = 7;
    b->hello.lineage = a->hello.lineage;
    guest_comes_again(bench, b);
    guest_founds(bench, b, 9);
    guest_gives(bench, b, 1, 0.5);
    guest_offers(bench, b, 2);
    CHECK_EQUAL(VERDICT_COUNT, guest_verdict(bench, b, 2, 0));
    guest_comes_again(bench, a);
    CHECK_EQUAL(START_HOLD, treasure_start(bench, b));
    return bench;
}

/* The hub scores: what b has founded is worth 0.25. */
static struct bench *found_young(struct guest *a, struct guest *b,
                                 struct treasure *treasure)
{
    struct bench *bench = treasure_life(&store);

    *treasure = treasure_train(bench, a, 3);
    bench_destroy(&bench);
    bench = treasure_life(&store);
    store_lend(&store, bench);
    store.loss = 0.25;
    bench->config.run = 1234;
    bench_open(bench);
    *b = guest_other(bench);
    guest_founds(bench, b, 9);
    return bench;
}

static void recover_three(struct bench *bench, struct guest *a,
                          const struct treasure *treasure)
{
    guest_comes_again(bench, a);
    guest_lives(bench, a, HUB_RECOVERY + SECOND);
    treasure_given(bench, a, treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK(bench_look(bench)->best_score >= NO_SCORE);
}

static void scored_as_three(struct bench *bench, struct guest *a)
{
    store.loss = 0.75;
    guest_lives(bench, a, 2 * SECOND);
    CHECK_EQUAL(3, bench_look(bench)->best_version);
    CHECK_NEAR(0.75, bench_look(bench)->best_score, 0);
}

static void the_best_of_a_young_run_goes_with_it(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = found_young(&a, &b, &treasure);

    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK_NEAR(0.25, bench_look(bench)->best_score, 0);
    store.loss = 0.75;
    recover_three(bench, &a, &treasure);
    scored_as_three(bench, &a);
    bench_destroy(&bench);
}

static void a_score_of_a_young_run_that_comes_late_does_not_count(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = found_young(&a, &b, &treasure);
    struct hand *hand = &bench->hand;
    struct job *late;

    hand->holds_jobs = true;
    guest_lives(bench, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(1, hand->job_count);
    late = hand->jobs[--hand->job_count];
    hand->holds_jobs = false;
    recover_three(bench, &a, &treasure);
    hand->jobs[hand->job_count++] = late;
    hand_work(hand);
    CHECK_EQUAL(1, store.scores);
    CHECK(bench_look(bench)->best_score >= NO_SCORE);
    scored_as_three(bench, &a);
    bench_destroy(&bench);
}

/* A node in the same session waits for its verdicts: it would never offer
 * again. */
static void a_young_run_that_is_given_up_answers_its_offers(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = interrupt(&a, &b, &treasure);

    guest_lives(bench, &b, SECOND);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &b, 1, i));
        CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &b, 2, i));
    }
    bench_destroy(&bench);
}

static void a_young_run_that_is_given_up_makes_no_version(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = interrupt(&a, &b, &treasure);

    guest_lives(bench, &b, SECOND);
    CHECK_EQUAL(0, bench_look(bench)->version);
    CHECK_EQUAL(0, guest_heard_count(bench, &b, MSG_RESULT));
    bench_destroy(&bench);
}

/* It has called for the last offers when a comes with what it keeps. */
static void a_young_run_that_is_ending_ends_as_the_one_it_gives_way_to(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = lose_all(&a, &treasure);

    b = guest_other(bench);
    guest_founds(bench, &b, 9);
    bench_stop(bench);
    guest_comes_again(bench, &a);
    guest_lives(bench, &a, 1500 * MILLISECOND);
    guest_pings(bench, &b, 1);
    guest_lives(bench, &a, 8500 * MILLISECOND);
    CHECK(!hub_ended(bench->hub));
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK(guest_heard(bench, &a, MSG_STOP) != NULL);
    guest_gives_last(bench, &a, 4, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK(hub_ended(bench->hub));
    CHECK_EQUAL(4, store.version);
    CHECK_NEAR(3, (double)store.theta[0], 0);
    bench_destroy(&bench);
}

/* What b gave to run 7 is in its own meanwhile, and it would give it again. */
static void who_went_along_with_a_young_run_takes_the_former_one(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = interrupt(&a, &b, &treasure);

    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    CHECK_EQUAL(START_TAKE, treasure_start(bench, &b));
    bench_destroy(&bench);
}

static void rounds_of_a_young_run_let_nobody_begin_alone(void)
{
    struct treasure treasure;
    struct guest a, b;
    struct bench *bench = interrupt(&a, &b, &treasure);

    guest_lives(bench, &b, 1500 * MILLISECOND);
    guest_pings(bench, &a, 1);
    guest_lives(bench, &b, 1500 * MILLISECOND);
    treasure_given(bench, &a, &treasure);
    CHECK_EQUAL(7, bench_look(bench)->run);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_EQUAL(START_GO, treasure_start(bench, &a));
    guest_credits(bench, &b, 0, 0); /* takes the centre */
    guest_gives(bench, &a, 4, 0.5);
    guest_gives(bench, &b, 3, 0.5);
    guest_lives(bench, &a, SECOND);
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_CONTAINS("waiting for 1 more node", bench_look(bench)->state);
    bench_destroy(&bench);
}

void add_hub_recover_young_tests(CU_pSuite suite)
{
    TEST(a_hub_with_nothing_goes_on_from_a_node);
    TEST(a_founder_is_stopped_by_who_keeps_a_centre);
    TEST(an_empty_hub_waits_before_it_founds);
    TEST(an_empty_hub_founds_when_nobody_keeps_anything);
    TEST(a_bulk_connection_that_comes_late_is_waited_for);
    TEST(once_something_is_merged_it_is_too_late);
    TEST(another_holder_is_asked_when_the_first_is_gone);
    TEST(the_newest_of_two_holders_is_asked);
    TEST(a_young_run_that_is_given_up_answers_its_offers);
    TEST(a_young_run_that_is_given_up_makes_no_version);
    TEST(a_young_run_that_is_ending_ends_as_the_one_it_gives_way_to);
    TEST(the_best_of_a_young_run_goes_with_it);
    TEST(a_score_of_a_young_run_that_comes_late_does_not_count);
    TEST(who_went_along_with_a_young_run_takes_the_former_one);
    TEST(rounds_of_a_young_run_let_nobody_begin_alone);
}
