/* A hub without a centre, or with a young run of its own, meets nodes that keep
 * one. */
#include "tests/check.h"
#include "tests/hub/kept_centre.h"

static struct store store;

/* An empty disk, perhaps on another host. */
static struct hub_fixture *lose_all(struct fake_node *a,
                                    struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *kept = kept_centre_train(f, a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    hub_fixture_open(f);
    return f;
}

static void a_hub_with_nothing_goes_on_from_a_node(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = lose_all(&a, &kept);

    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &a));
    fake_node_lives(f, &a, HUB_RECOVERY + SECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_TEXT("version 3", kept_centre_note(f));
    fake_node_gives(f, &a, 4, 0.5);
    CHECK_NEAR(3, fake_node_result(f, &a, 4, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_founder_is_stopped_by_who_keeps_a_centre(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = lose_all(&a, &kept);

    b = fake_node_other(f);
    CHECK_EQUAL(START_FOUND, kept_centre_start(f, &b));
    fake_node_delivers(f, &b, 0, 0, 9);
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    fake_node_delivers(f, &b, 0, 1, 9);
    fake_node_delivers(f, &b, 0, 2, 9);
    CHECK(!hub_fixture_look(f)->founded);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static void an_empty_hub_waits_before_it_founds(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct kept_centre kept;
    struct fake_node a, b;

    kept = kept_centre_train(f, &a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    f->config.recovery = HUB_RECOVERY;
    hub_fixture_open(f);
    b = fake_node_other(f);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    fake_node_lives(f, &b, SECOND);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &b));
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &b, SECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static void an_empty_hub_founds_when_nobody_keeps_anything(void)
{
    struct hub_fixture *f = kept_centre_life(&store);
    struct fake_node a;

    f->config.recovery = HUB_RECOVERY;
    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    fake_node_comes_again(f, &a);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &a));
    fake_node_lives(f, &a, HUB_RECOVERY + 500 * MILLISECOND);
    CHECK_EQUAL(START_FOUND, kept_centre_start(f, &a));
    hub_fixture_destroy(&f);
}

static void a_bulk_connection_that_comes_late_is_waited_for(void)
{
    struct kept_centre kept;
    struct fake_node a;
    struct hub_fixture *f = lose_all(&a, &kept);

    a.control = a.bulk = PEER_NONE;
    fake_node_hello(f, &a);
    fake_node_lives(f, &a, HUB_RECOVERY + 3 * SECOND);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, &a));
    fake_node_lives(f, &a, 3 * SECOND);
    CHECK_CONTAINS("no bulk connection", kept_centre_note(f));
    CHECK(!hub_fixture_look(f)->recovering);
    hub_fixture_destroy(&f);
}

/* Two nodes with the same version: a gives half of it and is gone. */
static void another_holder_is_asked_when_the_first_is_gone(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = lose_all(&a, &kept);

    fake_node_comes_again(f, &a);
    b = fake_node_new(f, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    fake_node_comes_again(f, &b);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &b)); /* to prove it */
    CHECK(fake_node_heard(f, &b, MSG_GRANT) == NULL);
    kept_centre_proves(f, &a, &kept);
    fake_node_delivers(f, &a, 0, 0, (double)kept.value[0]);
    fake_node_breaks(f, &a);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &b));
    kept_centre_given(f, &b, &kept);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static void the_newest_of_two_holders_is_asked(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = lose_all(&a, &kept);

    b = fake_node_new(f, "b");
    b.hello = a.hello;
    b.hello.node_low = 77;
    b.hello.kept--;
    fake_node_comes_again(f, &b);
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    fake_node_pings(f, &a, 1);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(START_GIVE, kept_centre_start(f, &a));
    CHECK(fake_node_heard(f, &a, MSG_GRANT) != NULL);
    CHECK(fake_node_heard(f, &b, MSG_GRANT) == NULL);
    hub_fixture_destroy(&f);
}

/* Before anything is merged, a comes to the run that b has founded. A round is
 * open, with b's exchange 1 as a whole, and its exchange 2 waits. */
static struct hub_fixture *interrupt(struct fake_node *a, struct fake_node *b,
                                     struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *kept = kept_centre_train(f, a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    f->config.run = 1234;
    f->config.nodes = 3;
    hub_fixture_open(f);
    *b = fake_node_new(f, "b");
    b->hello.node_low = 77;
    b->hello.run = 7;
    b->hello.lineage = a->hello.lineage;
    fake_node_comes_again(f, b);
    fake_node_founds(f, b, 9);
    fake_node_gives(f, b, 1, 0.5);
    fake_node_offers(f, b, 2);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, b, 2, 0));
    fake_node_comes_again(f, a);
    CHECK_EQUAL(START_HOLD, kept_centre_start(f, b));
    return f;
}

/* The hub scores: what b has founded is worth 0.25. */
static struct hub_fixture *found_young(struct fake_node *a, struct fake_node *b,
                                       struct kept_centre *kept)
{
    struct hub_fixture *f = kept_centre_life(&store);

    *kept = kept_centre_train(f, a, 3);
    hub_fixture_destroy(&f);
    f = kept_centre_life(&store);
    store_lend(&store, f);
    store.loss = 0.25;
    f->config.run = 1234;
    hub_fixture_open(f);
    *b = fake_node_other(f);
    fake_node_founds(f, b, 9);
    return f;
}

static void recover_three(struct hub_fixture *f, struct fake_node *a,
                          const struct kept_centre *kept)
{
    fake_node_comes_again(f, a);
    fake_node_lives(f, a, HUB_RECOVERY + SECOND);
    kept_centre_given(f, a, kept);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK(hub_fixture_look(f)->best_score >= NO_SCORE);
}

static void scored_as_three(struct hub_fixture *f, struct fake_node *a)
{
    store.loss = 0.75;
    fake_node_lives(f, a, 2 * SECOND);
    CHECK_EQUAL(3, hub_fixture_look(f)->best_version);
    CHECK_NEAR(0.75, hub_fixture_look(f)->best_score, 0);
}

static void the_best_of_a_young_run_goes_with_it(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = found_young(&a, &b, &kept);

    fake_node_lives(f, &b, 1500 * MILLISECOND);
    CHECK_NEAR(0.25, hub_fixture_look(f)->best_score, 0);
    store.loss = 0.75;
    recover_three(f, &a, &kept);
    scored_as_three(f, &a);
    hub_fixture_destroy(&f);
}

static void a_score_of_a_young_run_that_comes_late_does_not_count(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = found_young(&a, &b, &kept);
    struct hand *hand = &f->hand;
    struct job *late;

    hand->holds_jobs = true;
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    CHECK_EQUAL(1, hand->job_count);
    late = hand->jobs[--hand->job_count];
    hand->holds_jobs = false;
    recover_three(f, &a, &kept);
    hand->jobs[hand->job_count++] = late;
    hand_work(hand);
    CHECK_EQUAL(1, store.scores);
    CHECK(hub_fixture_look(f)->best_score >= NO_SCORE);
    scored_as_three(f, &a);
    hub_fixture_destroy(&f);
}

/* A node in the same session waits for its verdicts: it would never offer
 * again. */
static void a_young_run_that_is_given_up_answers_its_offers(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = interrupt(&a, &b, &kept);

    fake_node_lives(f, &b, SECOND);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &b, 1, i));
        CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &b, 2, i));
    }
    hub_fixture_destroy(&f);
}

static void a_young_run_that_is_given_up_makes_no_version(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = interrupt(&a, &b, &kept);

    fake_node_lives(f, &b, SECOND);
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_RESULT));
    hub_fixture_destroy(&f);
}

/* It has called for the last offers when a comes with what it keeps. */
static void a_young_run_that_is_ending_ends_as_the_one_it_gives_way_to(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = lose_all(&a, &kept);

    b = fake_node_other(f);
    fake_node_founds(f, &b, 9);
    hub_fixture_stop(f);
    fake_node_comes_again(f, &a);
    fake_node_lives(f, &a, 1500 * MILLISECOND);
    fake_node_pings(f, &b, 1);
    fake_node_lives(f, &a, 8500 * MILLISECOND);
    CHECK(!hub_ended(f->hub));
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK(fake_node_heard(f, &a, MSG_STOP) != NULL);
    fake_node_gives_last(f, &a, 4, 0.5);
    fake_node_lives(f, &a, SECOND);
    CHECK(hub_ended(f->hub));
    CHECK_EQUAL(4, store.version);
    CHECK_NEAR(3, (double)store.theta[0], 0);
    hub_fixture_destroy(&f);
}

/* What b gave to run 7 is in its own meanwhile, and it would give it again. */
static void who_went_along_with_a_young_run_takes_the_former_one(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = interrupt(&a, &b, &kept);

    fake_node_lives(f, &b, 1500 * MILLISECOND);
    fake_node_pings(f, &a, 1);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    CHECK_EQUAL(START_TAKE, kept_centre_start(f, &b));
    hub_fixture_destroy(&f);
}

static void rounds_of_a_young_run_let_nobody_begin_alone(void)
{
    struct kept_centre kept;
    struct fake_node a, b;
    struct hub_fixture *f = interrupt(&a, &b, &kept);

    fake_node_lives(f, &b, 1500 * MILLISECOND);
    fake_node_pings(f, &a, 1);
    fake_node_lives(f, &b, 1500 * MILLISECOND);
    kept_centre_given(f, &a, &kept);
    CHECK_EQUAL(7, hub_fixture_look(f)->run);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_EQUAL(START_GO, kept_centre_start(f, &a));
    fake_node_credits(f, &b, 0, 0); /* takes the centre */
    fake_node_gives(f, &a, 4, 0.5);
    fake_node_gives(f, &b, 3, 0.5);
    fake_node_lives(f, &a, SECOND);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    CHECK_CONTAINS("waiting for 1 more node", hub_fixture_look(f)->state);
    hub_fixture_destroy(&f);
}

void add_hub_recover_young_tests(CU_pSuite suite)
{
    TEST(a_hub_with_nothing_goes_on_from_a_node);
    TEST(a_founder_is_stopped_by_who_keeps_a_centre);
    TEST(an_empty_hub_waits_before_it_founds);
    TEST(an_empty_hub_founds_when_nobody_keeps_anything);
    TEST(a_bulk_connection_that_comes_late_is_waited_for);
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
