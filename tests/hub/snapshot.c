#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void the_centre_is_scored_at_intervals(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    store.loss = 0.25;
    store.error = 0.01;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_EQUAL(1, store.scores);
    CHECK_NEAR(0.25, hub_fixture_look(f)->score, 0);
    CHECK_NEAR(0.01, hub_fixture_look(f)->error, 0);
    fake_node_gives(f, &a, 1, 1);
    fake_node_lives(f, &a, 4 * SECOND);
    CHECK_EQUAL(2, store.scores);
    hub_fixture_destroy(&f);
}

static enum verdict verdict_of_score(double centre, double error, double score)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .score = score};
    enum verdict verdict;
    struct fake_node a;

    f->config.policy = preset_find("better")->policy;
    store_lend(&store, f);
    store.loss = centre;
    store.error = error;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_offer(f, &a, &offer);
    fake_node_delivers_all(f, &a, 1, 1);
    verdict = fake_node_verdict(f, &a, 1, 0);
    hub_fixture_destroy(&f);
    return verdict;
}

/* --margin 2: by two standard errors. */
static void a_policy_knows_the_standard_error_of_the_score(void)
{
    CHECK_EQUAL(VERDICT_MERGED, verdict_of_score(0.25, 0, 0.24));
    CHECK_EQUAL(VERDICT_DECLINED, verdict_of_score(0.25, 0.01, 0.24));
    CHECK_EQUAL(VERDICT_MERGED, verdict_of_score(0.25, 0.01, 0.22));
}

/* It has been saved when the centre is, not before and not without need. */
static void the_best_is_kept_and_saved_with_the_centre(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    store.loss = 0.5;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    store.loss = 0.25;
    fake_node_gives(f, &a, 1, 1);
    fake_node_lives(f, &a, 2 * SECOND);
    store.loss = 0.45;
    fake_node_gives(f, &a, 2, 1);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_NEAR(0.25, hub_fixture_look(f)->best_score, 0);
    CHECK_EQUAL(0, store.bests);
    fake_node_lives(f, &a, 6 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(1, store.best_version);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(2, store.version);
    CHECK_NEAR(2, store.best_first, 0);
    CHECK_CONTAINS("best 1 0.25", store.state);
    fake_node_gives(f, &a, 3, 1);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(2, store.saves);
    hub_fixture_destroy(&f);
}

static void the_last_best_is_saved_at_the_end(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    store.loss = 0.5;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    store.loss = 0.25;
    hub_fixture_stop(f);
    fake_node_gives_last(f, &a, 2, 1);
    hand_wait(&f->hand, SECOND);
    CHECK(hub_fixture_look(f)->ended);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(2, store.best_version);
    CHECK_EQUAL(1, store.finals);
    hub_fixture_destroy(&f);
}

static void with_a_goal_of_accuracy_the_best_is_the_most_accurate(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.goal = GOAL_ACCURACY;
    f->config.goal_value = 2;
    store_lend(&store, f);
    store.loss = 1;
    store.accuracy = 0.5;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 1);
    store.loss = 2;
    store.accuracy = 0.75;
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_EQUAL(1, hub_fixture_look(f)->best_version);
    CHECK_NEAR(0.75, hub_fixture_look(f)->best_accuracy, 0);
    fake_node_lives(f, &a, 10 * SECOND);
    CHECK_EQUAL(1, store.best_version);
    hub_fixture_destroy(&f);
}

static void the_centre_is_saved_at_intervals_when_it_has_changed(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    fake_node_lives(f, &a, 9 * SECOND);
    CHECK_EQUAL(0, store.saves);
    fake_node_lives(f, &a, 2 * SECOND);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(1, store.version);
    CHECK_NEAR(2, (double)store.theta[9], 0);
    fake_node_lives(f, &a, 20 * SECOND);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(0, store.finals);
    hub_fixture_destroy(&f);
}

static void saving_is_tried_again_when_it_failed(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    store.fails = true;
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK(hand_note(&f->hand, NOTE_SAVE_FAILED) != NULL);
    store.fails = false;
    fake_node_gives(f, &a, 2, 1);
    CHECK_NEAR(3, fake_node_result(f, &a, 2, 0), 0);
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(2, store.version);
    hub_fixture_destroy(&f);
}

static unsigned told_of_failures(struct hub_fixture *f)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->hand.note_count; i++)
        count += f->hand.notes[i].kind == NOTE_SAVE_FAILED;
    return count;
}

static void a_disk_that_stays_full_is_told_now_and_then(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    store.fails = true;
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(1, told_of_failures(f));
    fake_node_lives(f, &a, 50 * SECOND);
    CHECK_EQUAL(1, told_of_failures(f));
    fake_node_lives(f, &a, 20 * SECOND);
    CHECK_EQUAL(2, told_of_failures(f));
    CHECK_CONTAINS("saves in a row",
                   hand_note(&f->hand, NOTE_SAVE_FAILED)->text);
    store.fails = false;
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_CONTAINS("saving works again, after 8 saves that failed",
                   hand_note(&f->hand, NOTE_SAVED)->text);
    hub_fixture_destroy(&f);
}

static void the_best_is_saved_with_the_next_save_when_one_failed(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    store.loss = 0.5;
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 1);
    store.fails = true;
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(0, store.bests);
    store.fails = false;
    fake_node_lives(f, &a, 12 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(0, store.best_version);
    CHECK_NEAR(1, store.best_first, 0);
    hub_fixture_destroy(&f);
}

/* Two exchanges of `node`, then the end; the last save has failed. */
static struct hub_fixture *ends_on_a_full_disk(struct fake_node *node)
{
    struct hub_fixture *f = hub_fixture_new();

    store_lend(&store, f);
    store.loss = 0.5;
    *node = fake_node_alone(f);
    fake_node_gives(f, node, 1, 1);
    fake_node_lives(f, node, SECOND);
    store.fails = true;
    hub_fixture_stop(f);
    fake_node_gives_last(f, node, 2, 1);
    CHECK_EQUAL(1, store.failures);
    return f;
}

static void a_last_save_is_tried_again_until_the_disk_is_cleared(void)
{
    struct fake_node a;
    struct hub_fixture *f = ends_on_a_full_disk(&a);

    hand_wait(&f->hand, 20 * SECOND);
    CHECK(!hub_fixture_look(f)->ended);
    CHECK_CONTAINS("cannot be saved", hub_fixture_look(f)->state);
    CHECK(fake_node_heard(f, &a, MSG_BYE) == NULL);
    CHECK(store.failures > 15 && store.failures <= 21);
    store.fails = false;
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(hub_fixture_look(f)->ended);
    CHECK(!hub_fixture_look(f)->unsaved);
    CHECK_EQUAL(1, store.finals);
    CHECK_EQUAL(2, store.version);
    CHECK_EQUAL(1, store.bests);
    hub_fixture_destroy(&f);
}

static void a_run_that_cannot_be_saved_ends_after_30_seconds_and_says_so(void)
{
    struct fake_node a;
    struct hub_fixture *f = ends_on_a_full_disk(&a);

    hand_wait(&f->hand, 29 * SECOND);
    CHECK(!hub_fixture_look(f)->ended);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(hub_fixture_look(f)->ended);
    if (CHECK(hub_fixture_look(f)->unsaved))
        CHECK_TEXT(status_words(STATUS_IO), hub_fixture_look(f)->unsaved);
    CHECK_TEXT("ended by hand; version 2 is not saved",
               hub_fixture_look(f)->reason);
    CHECK_EQUAL(FAREWELL_DONE, fake_node_farewell(f, &a));
    hub_fixture_destroy(&f);
}

static void who_asks_for_the_end_again_does_not_change_it(void)
{
    struct fake_node a;
    struct hub_fixture *f = ends_on_a_full_disk(&a);

    for (int i = 0; i < 100; i++) {
        hub_fixture_stop(f);
        hand_wait(&f->hand, 100 * MILLISECOND);
    }
    CHECK(!hub_fixture_look(f)->ended);
    CHECK(store.failures <= 11);
    hub_fixture_destroy(&f);
}

static void a_snapshot_waits_for_a_complete_version(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 1);
    fake_node_offers(f, &a, 2);
    fake_node_delivers(f, &a, 2, 0, 1);
    hand_wait(&f->hand, 700 * MILLISECOND);
    CHECK_EQUAL(1, store.scores);
    fake_node_delivers(f, &a, 2, 1, 1);
    fake_node_delivers(f, &a, 2, 2, 1);
    CHECK_EQUAL(2, store.scores);
    hub_fixture_destroy(&f);
}

static void offers_that_wait_for_a_snapshot_are_taken_after_it(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    f->config.policy.gate = &gate_async;
    store_lend(&store, f);
    a = fake_node_alone(f);
    b = fake_node_comes(f, "b");
    fake_node_lives(f, &a, SECOND);
    fake_node_pings(f, &b, 1);
    fake_node_gives(f, &a, 1, 1);
    fake_node_offers(f, &a, 2);
    fake_node_delivers(f, &a, 2, 0, 1);
    hand_wait(&f->hand, 700 * MILLISECOND);
    hand_forget(&f->hand);
    fake_node_offers(f, &b, 1);
    CHECK(fake_node_heard(f, &b, MSG_GRANT) == NULL);
    fake_node_delivers(f, &a, 2, 1, 1);
    fake_node_delivers(f, &a, 2, 2, 1);
    CHECK(fake_node_heard(f, &b, MSG_GRANT) != NULL);
    hub_fixture_destroy(&f);
}

static void a_stopped_uploader_holds_up_a_snapshot_for_half_a_minute(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    store_lend(&store, f);
    a = fake_node_alone(f);
    fake_node_lives(f, &a, SECOND);
    fake_node_gives(f, &a, 1, 1);
    fake_node_offers(f, &a, 2);
    fake_node_delivers(f, &a, 2, 0, 1);
    fake_node_lives(f, &a, 31 * SECOND);
    CHECK_EQUAL(2, store.scores);
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &a, 2, 1));
    hub_fixture_destroy(&f);
}

void add_hub_snapshot_tests(CU_pSuite suite)
{
    TEST(the_centre_is_scored_at_intervals);
    TEST(a_policy_knows_the_standard_error_of_the_score);
    TEST(the_best_is_kept_and_saved_with_the_centre);
    TEST(the_last_best_is_saved_at_the_end);
    TEST(with_a_goal_of_accuracy_the_best_is_the_most_accurate);
    TEST(the_centre_is_saved_at_intervals_when_it_has_changed);
    TEST(saving_is_tried_again_when_it_failed);
    TEST(a_disk_that_stays_full_is_told_now_and_then);
    TEST(the_best_is_saved_with_the_next_save_when_one_failed);
    TEST(a_last_save_is_tried_again_until_the_disk_is_cleared);
    TEST(a_run_that_cannot_be_saved_ends_after_30_seconds_and_says_so);
    TEST(who_asks_for_the_end_again_does_not_change_it);
    TEST(a_snapshot_waits_for_a_complete_version);
    TEST(offers_that_wait_for_a_snapshot_are_taken_after_it);
    TEST(a_stopped_uploader_holds_up_a_snapshot_for_half_a_minute);
}
