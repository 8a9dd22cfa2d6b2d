#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void the_centre_is_scored_at_intervals(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 0.25;
    store.error = 0.01;
    a = guest_alone(bench);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK_EQUAL(1, store.scores);
    CHECK_NEAR(0.25, bench_look(bench)->score, 0);
    CHECK_NEAR(0.01, bench_look(bench)->error, 0);
    guest_gives(bench, &a, 1, 1);
    guest_lives(bench, &a, 4 * SECOND);
    CHECK_EQUAL(2, store.scores);
    bench_destroy(&bench);
}

static enum verdict verdict_of_score(double centre, double error, double score)
{
    struct bench *bench = bench_new();
    struct msg_offer offer = {.exchange = 1, .samples = 1, .score = score};
    enum verdict verdict;
    struct guest a;

    bench->config.policy = preset_find("better")->policy;
    store_lend(&store, bench);
    store.loss = centre;
    store.error = error;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_offer(bench, &a, &offer);
    guest_delivers_all(bench, &a, 1, 1);
    verdict = guest_verdict(bench, &a, 1, 0);
    bench_destroy(&bench);
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
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 0.5;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    store.loss = 0.25;
    guest_gives(bench, &a, 1, 1);
    guest_lives(bench, &a, 2 * SECOND);
    store.loss = 0.45;
    guest_gives(bench, &a, 2, 1);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK_NEAR(0.25, bench_look(bench)->best_score, 0);
    CHECK_EQUAL(0, store.bests);
    guest_lives(bench, &a, 6 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(1, store.best_version);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(2, store.version);
    CHECK_NEAR(2, store.best_first, 0);
    CHECK_CONTAINS("best 1 0.25", store.state);
    guest_gives(bench, &a, 3, 1);
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(2, store.saves);
    bench_destroy(&bench);
}

static void the_last_best_is_saved_at_the_end(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 0.5;
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    store.loss = 0.25;
    bench_stop(bench);
    guest_gives_last(bench, &a, 2, 1);
    hand_wait(&bench->hand, SECOND);
    CHECK(bench_look(bench)->ended);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(2, store.best_version);
    CHECK_EQUAL(1, store.finals);
    bench_destroy(&bench);
}

static void with_a_goal_of_accuracy_the_best_is_the_most_accurate(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.goal = GOAL_ACCURACY;
    bench->config.goal_value = 2;
    store_lend(&store, bench);
    store.loss = 1;
    store.accuracy = 0.5;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 1);
    store.loss = 2;
    store.accuracy = 0.75;
    guest_lives(bench, &a, 2 * SECOND);
    CHECK_EQUAL(1, bench_look(bench)->best_version);
    CHECK_NEAR(0.75, bench_look(bench)->best_accuracy, 0);
    guest_lives(bench, &a, 10 * SECOND);
    CHECK_EQUAL(1, store.best_version);
    bench_destroy(&bench);
}

static void without_a_trainer_the_nodes_losses_are_the_score(void)
{
    struct bench *bench = bench_new();
    struct msg_offer offer = {.exchange = 1, .samples = 2, .score = 0.5};
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");

    guest_offer(bench, &a, &offer);
    offer.samples = 1;
    offer.score = 2;
    guest_offer(bench, &b, &offer);
    guest_delivers_all(bench, &a, 1, 0);
    guest_delivers_all(bench, &b, 1, 0);
    guest_lives(bench, &a, SECOND);
    CHECK_NEAR(2, bench_look(bench)->score, 1e-12);
    bench_destroy(&bench);
}

static void the_centre_is_saved_at_intervals_when_it_has_changed(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    guest_lives(bench, &a, 9 * SECOND);
    CHECK_EQUAL(0, store.saves);
    guest_lives(bench, &a, 2 * SECOND);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(1, store.version);
    CHECK_NEAR(2, (double)store.theta[9], 0);
    guest_lives(bench, &a, 20 * SECOND);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(0, store.finals);
    bench_destroy(&bench);
}

static void saving_is_tried_again_when_it_failed(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    store.fails = true;
    guest_lives(bench, &a, 12 * SECOND);
    CHECK(hand_note(&bench->hand, NOTE_SAVE_FAILED) != NULL);
    store.fails = false;
    guest_gives(bench, &a, 2, 1);
    CHECK_NEAR(3, guest_result(bench, &a, 2, 0), 0);
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(2, store.version);
    bench_destroy(&bench);
}

static unsigned told_of_failures(struct bench *bench)
{
    unsigned count = 0;

    for (unsigned i = 0; i < bench->hand.note_count; i++)
        count += bench->hand.notes[i].kind == NOTE_SAVE_FAILED;
    return count;
}

static void a_disk_that_stays_full_is_told_now_and_then(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    store.fails = true;
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(1, told_of_failures(bench));
    guest_lives(bench, &a, 50 * SECOND);
    CHECK_EQUAL(1, told_of_failures(bench));
    guest_lives(bench, &a, 20 * SECOND);
    CHECK_EQUAL(2, told_of_failures(bench));
    CHECK_CONTAINS("saves in a row",
                   hand_note(&bench->hand, NOTE_SAVE_FAILED)->text);
    store.fails = false;
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_CONTAINS("saving works again, after 8 saves that failed",
                   hand_note(&bench->hand, NOTE_SAVED)->text);
    bench_destroy(&bench);
}

static void the_best_is_saved_with_the_next_save_when_one_failed(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    store.loss = 0.5;
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 1);
    store.fails = true;
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(0, store.bests);
    store.fails = false;
    guest_lives(bench, &a, 12 * SECOND);
    CHECK_EQUAL(1, store.bests);
    CHECK_EQUAL(0, store.best_version);
    CHECK_NEAR(1, store.best_first, 0);
    bench_destroy(&bench);
}

/* Two exchanges of `guest`, then the end; the last save has failed. */
static struct bench *ends_on_a_full_disk(struct guest *guest)
{
    struct bench *bench = bench_new();

    store_lend(&store, bench);
    store.loss = 0.5;
    *guest = guest_alone(bench);
    guest_gives(bench, guest, 1, 1);
    guest_lives(bench, guest, SECOND);
    store.fails = true;
    bench_stop(bench);
    guest_gives_last(bench, guest, 2, 1);
    CHECK_EQUAL(1, store.failures);
    return bench;
}

static void a_last_save_is_tried_again_until_the_disk_is_cleared(void)
{
    struct guest a;
    struct bench *bench = ends_on_a_full_disk(&a);

    hand_wait(&bench->hand, 20 * SECOND);
    CHECK(!bench_look(bench)->ended);
    CHECK_CONTAINS("cannot be saved", bench_look(bench)->state);
    CHECK(guest_heard(bench, &a, MSG_BYE) == NULL);
    CHECK(store.failures > 15 && store.failures <= 21);
    store.fails = false;
    hand_wait(&bench->hand, 2 * SECOND);
    CHECK(bench_look(bench)->ended);
    CHECK(!bench_look(bench)->unsaved);
    CHECK_EQUAL(1, store.finals);
    CHECK_EQUAL(2, store.version);
    CHECK_EQUAL(1, store.bests);
    bench_destroy(&bench);
}

static void a_run_that_cannot_be_saved_ends_after_30_seconds_and_says_so(void)
{
    struct guest a;
    struct bench *bench = ends_on_a_full_disk(&a);

    hand_wait(&bench->hand, 29 * SECOND);
    CHECK(!bench_look(bench)->ended);
    hand_wait(&bench->hand, 3 * SECOND);
    CHECK(bench_look(bench)->ended);
    if (CHECK(bench_look(bench)->unsaved))
        CHECK_TEXT(status_words(STATUS_IO), bench_look(bench)->unsaved);
    CHECK_TEXT("ended by hand; version 2 is not saved",
               bench_look(bench)->reason);
    CHECK_EQUAL(FAREWELL_DONE, guest_farewell(bench, &a));
    bench_destroy(&bench);
}

static void who_asks_for_the_end_again_does_not_change_it(void)
{
    struct guest a;
    struct bench *bench = ends_on_a_full_disk(&a);

    for (int i = 0; i < 100; i++) {
        bench_stop(bench);
        hand_wait(&bench->hand, 100 * MILLISECOND);
    }
    CHECK(!bench_look(bench)->ended);
    CHECK(store.failures <= 11);
    bench_destroy(&bench);
}

static void a_snapshot_waits_for_a_complete_version(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 1);
    guest_offers(bench, &a, 2);
    guest_delivers(bench, &a, 2, 0, 1);
    hand_wait(&bench->hand, 700 * MILLISECOND);
    CHECK_EQUAL(1, store.scores);
    guest_delivers(bench, &a, 2, 1, 1);
    guest_delivers(bench, &a, 2, 2, 1);
    CHECK_EQUAL(2, store.scores);
    bench_destroy(&bench);
}

static void offers_that_wait_for_a_snapshot_are_taken_after_it(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench->config.policy.gate = &gate_async;
    store_lend(&store, bench);
    a = guest_alone(bench);
    b = guest_comes(bench, "b");
    guest_lives(bench, &a, SECOND);
    guest_pings(bench, &b, 1);
    guest_gives(bench, &a, 1, 1);
    guest_offers(bench, &a, 2);
    guest_delivers(bench, &a, 2, 0, 1);
    hand_wait(&bench->hand, 700 * MILLISECOND);
    hand_forget(&bench->hand);
    guest_offers(bench, &b, 1);
    CHECK(guest_heard(bench, &b, MSG_GRANT) == NULL);
    guest_delivers(bench, &a, 2, 1, 1);
    guest_delivers(bench, &a, 2, 2, 1);
    CHECK(guest_heard(bench, &b, MSG_GRANT) != NULL);
    bench_destroy(&bench);
}

static void a_stopped_uploader_holds_up_a_snapshot_for_half_a_minute(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    store_lend(&store, bench);
    a = guest_alone(bench);
    guest_lives(bench, &a, SECOND);
    guest_gives(bench, &a, 1, 1);
    guest_offers(bench, &a, 2);
    guest_delivers(bench, &a, 2, 0, 1);
    guest_lives(bench, &a, 31 * SECOND);
    CHECK_EQUAL(2, store.scores);
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &a, 2, 1));
    bench_destroy(&bench);
}

void add_hub_snapshot_tests(CU_pSuite suite)
{
    TEST(the_centre_is_scored_at_intervals);
    TEST(a_policy_knows_the_standard_error_of_the_score);
    TEST(the_best_is_kept_and_saved_with_the_centre);
    TEST(the_last_best_is_saved_at_the_end);
    TEST(with_a_goal_of_accuracy_the_best_is_the_most_accurate);
    TEST(without_a_trainer_the_nodes_losses_are_the_score);
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
