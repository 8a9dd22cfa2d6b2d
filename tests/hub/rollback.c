/* A centre that got much worse goes back. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

enum { EACH = SECOND }; /* that the centre is scored every */

/* A bench that saves when it must and not before. */
static struct bench *bench_for_scores(void)
{
    struct bench *bench = bench_new();

    bench->config.save_interval = 1000 * SECOND;
    store_lend(&store, bench);
    return bench;
}

/* Gives all chunks of the exchange and makes room for the next one's. */
static void give(struct bench *bench, struct guest *guest, uint64_t exchange,
                 double value)
{
    guest_gives(bench, guest, exchange, value);
    guest_credits(bench, guest, exchange, BENCH_CHUNKS);
}

/* Guest a is alone and has made the centre from 1 to 2, with a loss. */
static struct guest begin(struct bench *bench, double loss)
{
    struct guest a = guest_alone(bench);

    store.loss = loss;
    give(bench, &a, 1, 1);
    guest_lives(bench, &a, 2 * EACH);
    CHECK_NEAR(loss, bench_look(bench)->score, 0);
    return a;
}

/* Exchange 2 moves the centre by 100, and this is what it is then worth. */
static void spoil(struct bench *bench, struct guest *guest, double loss)
{
    store.loss = loss;
    give(bench, guest, 2, 100);
    guest_lives(bench, guest, 2 * EACH);
}

static bool is_rolled_back(struct bench *bench)
{
    return hand_note(&bench->hand, NOTE_ROLLED_BACK) != NULL;
}

/* Takes the centre and says what it is; NaN: it was not told to. */
static double take(struct bench *bench, struct guest *guest)
{
    if (guest_heard(bench, guest, MSG_WELCOME)->welcome.start != START_TAKE)
        return (double)NAN;
    guest_credits(bench, guest, 0, 0);
    return guest_result(bench, guest, 0, BENCH_CHUNKS - 1);
}

static void a_centre_twice_as_bad_goes_back(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);
    const struct note *note;

    spoil(bench, &a, 1.01);
    note = hand_note(&bench->hand, NOTE_ROLLED_BACK);
    if (CHECK(note != NULL)) {
        CHECK_CONTAINS("loss 1.01 at version 2", note->text);
        CHECK_CONTAINS("version 3 is version 1 again, loss 0.5", note->text);
    }
    CHECK_EQUAL(3, bench_look(bench)->version);
    CHECK_NEAR(0.5, bench_look(bench)->score, 0);
    CHECK_NEAR(2, take(bench, &a), 0);
    store.loss = 0.4;
    give(bench, &a, 3, 0.25);
    CHECK_NEAR(2.25, guest_result(bench, &a, 3, 0), 0);
    CHECK_EQUAL(4, bench_look(bench)->version);
    guest_lives(bench, &a, 2 * EACH);
    CHECK_NEAR(0.4, bench_look(bench)->score, 0);
    bench_destroy(&bench);
}

static void it_is_saved_at_once_and_once_more_scored_when_it_has_moved(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);
    unsigned scores = store.scores;

    spoil(bench, &a, 1.01);
    CHECK_EQUAL(1, store.saves);
    CHECK_EQUAL(3, store.version);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_EQUAL(scores + 1, store.scores);
    bench_destroy(&bench);
}

static void a_loss_that_is_no_number_is_bad(void)
{
    const double losses[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct bench *bench = bench_for_scores();
        struct guest a = begin(bench, 0.5);

        spoil(bench, &a, losses[i]);
        CHECK(is_rolled_back(bench));
        CHECK_NEAR(2, take(bench, &a), 0);
        bench_destroy(&bench);
    }
}

static bool goes_back(double rollback, double error, double loss)
{
    struct bench *bench = bench_for_scores();
    struct guest a;
    bool back;

    bench->config.policy.numbers.rollback = rollback;
    store.error = error;
    a = begin(bench, 0.5);
    spoil(bench, &a, loss);
    back = is_rolled_back(bench);
    CHECK_EQUAL(back ? 3 : 2, bench_look(bench)->version);
    CHECK_NEAR(back ? 0.5 : loss, bench_look(bench)->score, 0);
    bench_destroy(&bench);
    return back;
}

static void how_much_worse_is_a_number(void)
{
    CHECK(!goes_back(1, 0, 0.99));
    CHECK(goes_back(1, 0, 1.01));
    CHECK(!goes_back(0.1, 0, 0.54));
    CHECK(goes_back(0.1, 0, 0.56));
    CHECK(!goes_back(3, 0, 1.99));
    CHECK(goes_back(3, 0, 2.01));
}

/* Of a difference of 0.1, 3 errors are 3 sqrt(2) e. */
static void what_may_be_chance_is_not_bad(void)
{
    CHECK(!goes_back(0.1, 0.025, 0.6));
    CHECK(goes_back(0.1, 0.023, 0.6));
}

static void off_is_off(void)
{
    CHECK(!goes_back(0, 0, 1e9));
}

/* The mean of what nodes say of themselves falls, and rises a hundredfold. */
static void what_nodes_say_is_no_reason(void)
{
    struct bench *bench = bench_for_scores();
    struct msg_offer offer = {.samples = 1};
    struct guest a;

    bench->config.evaluate = NULL;
    a = guest_alone(bench);
    for (unsigned i = 1; i <= 2; i++) {
        offer.exchange = i;
        offer.base_version = i - 1;
        offer.score = i == 1 ? 0.5 : 50;
        guest_offer(bench, &a, &offer);
        guest_delivers_all(bench, &a, i, 1);
        guest_lives(bench, &a, 2 * EACH);
        CHECK_NEAR(offer.score, bench_look(bench)->score, 0);
    }
    CHECK(!is_rolled_back(bench));
    CHECK_EQUAL(2, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void the_good_one_is_the_newest_and_not_the_best(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.1);

    for (unsigned i = 0; i < 5; i++) {
        store.loss *= 1.9;
        give(bench, &a, 2 + i, 1);
        guest_lives(bench, &a, 2 * EACH);
    }
    CHECK(!is_rolled_back(bench));
    store.loss *= 2.1;
    give(bench, &a, 7, 1);
    guest_lives(bench, &a, 2 * EACH);
    CHECK(is_rolled_back(bench));
    CHECK_NEAR(7, take(bench, &a), 0);
    bench_destroy(&bench);
}

static void state_vectors_are_zeros_again(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a;

    bench->config.policy = preset_find("diloco")->policy;
    a = begin(bench, 0.5);
    spoil(bench, &a, 5);
    CHECK_EQUAL(3, store.version);
    CHECK_EQUAL(0, store.planes);
    (void)take(bench, &a);
    give(bench, &a, 3, 1);
    CHECK_NEAR(2.33 + 0.7 * 1.9, guest_result(bench, &a, 3, 0), 1e-5);
    bench_destroy(&bench);
}

/* Offers on their way depart from the bad centre: nothing of them is merged,
 * however far they have come, and their nodes take the centre. */
static void what_is_on_its_way_is_discarded(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a, b, c;

    bench->config.policy.gate = &gate_async;
    a = begin(bench, 0.5);
    b = guest_comes(bench, "b");
    c = guest_comes(bench, "c");
    store.loss = 5;
    give(bench, &a, 2, 100);
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
    CHECK_NEAR(2, take(bench, &a), 0);
    CHECK_NEAR(2, take(bench, &b), 0);
    CHECK_NEAR(2, take(bench, &c), 0);
    store.loss = 0.4;
    give(bench, &b, 2, 3);
    CHECK_NEAR(3, guest_result(bench, &b, 2, 0), 0);
    bench_destroy(&bench);
}

static void a_round_that_has_half_come_is_discarded(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5), b;

    store.loss = 5;
    give(bench, &a, 2, 100);
    b = guest_comes(bench, "b");
    guest_offers(bench, &a, 3);
    guest_offers(bench, &b, 1);
    guest_delivers_all(bench, &b, 1, 100);
    CHECK(!is_rolled_back(bench));
    hand_wait(&bench->hand, 900 * MILLISECOND);
    CHECK(is_rolled_back(bench));
    CHECK_NEAR(2, take(bench, &a), 0);
    CHECK_NEAR(2, take(bench, &b), 0);
    bench_destroy(&bench);
}

/* It waits until every chunk has merged the same rounds. */
static void it_waits_for_a_complete_version(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);
    struct job *scoring;

    store.loss = 5;
    give(bench, &a, 2, 100);
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
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);
    const struct msg_offer offer = {
        .exchange = 3, .base_version = 2, .samples = 1, .score = NO_SCORE};

    spoil(bench, &a, 5);
    CHECK(is_rolled_back(bench));
    guest_offer(bench, &a, &offer);
    CHECK_EQUAL(VERDICT_STALE, guest_verdict(bench, &a, 3, 0));
    bench_destroy(&bench);
}

static void who_was_away_takes_the_centre_when_it_is_back(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5), b;

    b = guest_comes(bench, "b");
    guest_breaks(bench, &b);
    spoil(bench, &a, 5);
    CHECK(is_rolled_back(bench));
    b.hello.run = 7;
    b.hello.base_version = 2;
    guest_comes_again(bench, &b);
    CHECK_NEAR(2, take(bench, &b), 0);
    bench_destroy(&bench);
}

static void the_last_version_is_looked_at_before_it_is_saved(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);

    store.loss = 5;
    bench_stop(bench);
    guest_gives_last(bench, &a, 2, 100);
    hand_wait(&bench->hand, SECOND);
    CHECK(bench_look(bench)->ended);
    CHECK(is_rolled_back(bench));
    CHECK_EQUAL(1, store.finals);
    CHECK_EQUAL(3, store.version);
    CHECK_NEAR(2, (double)store.theta[0], 0);
    CHECK_NEAR(0.5, bench_look(bench)->score, 0);
    bench_destroy(&bench);
}

static void nodes_that_stay_apart_keep_their_own(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a;

    bench->config.init = INIT_ELASTIC;
    bench->config.policy = preset_find("easgd")->policy;
    a = begin(bench, 0.5);
    spoil(bench, &a, 5);
    CHECK(is_rolled_back(bench));
    CHECK(isnan(take(bench, &a)));
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
    struct bench *bench = bench_for_scores();
    struct guest a;

    bench->config.tasks = 10;
    a = guest_alone(bench);
    store.loss = 0.5;
    do_task(bench, &a);
    do_task(bench, &a);
    give(bench, &a, 1, 1);
    guest_lives(bench, &a, 2 * EACH);
    do_task(bench, &a);
    CHECK_EQUAL(3, bench_look(bench)->tasks_done);
    spoil(bench, &a, 5);
    CHECK(is_rolled_back(bench));
    CHECK_EQUAL(2, bench_look(bench)->tasks_done);
    bench_destroy(&bench);
}

static void a_hub_that_is_started_again_remembers(void)
{
    struct bench *bench = bench_for_scores();
    struct guest a = begin(bench, 0.5);
    struct hub_saved saved;
    struct store before;
    struct why why;

    spoil(bench, &a, 5);
    before = store;
    bench_destroy(&bench);
    bench = bench_for_scores();
    bench_open(bench);
    saved = (struct hub_saved){.schema = bench->schema,
                               .theta = before.theta,
                               .state = before.state};
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    a.hello.run = 7;
    a.hello.base_version = 2;
    guest_comes_again(bench, &a);
    CHECK_NEAR(2, take(bench, &a), 0);
    bench_destroy(&bench);
}

void add_hub_rollback_tests(CU_pSuite suite)
{
    TEST(a_centre_twice_as_bad_goes_back);
    TEST(it_is_saved_at_once_and_once_more_scored_when_it_has_moved);
    TEST(a_loss_that_is_no_number_is_bad);
    TEST(how_much_worse_is_a_number);
    TEST(what_may_be_chance_is_not_bad);
    TEST(off_is_off);
    TEST(what_nodes_say_is_no_reason);
    TEST(the_good_one_is_the_newest_and_not_the_best);
    TEST(state_vectors_are_zeros_again);
    TEST(what_is_on_its_way_is_discarded);
    TEST(a_round_that_has_half_come_is_discarded);
    TEST(it_waits_for_a_complete_version);
    TEST(an_offer_from_before_is_stale);
    TEST(who_was_away_takes_the_centre_when_it_is_back);
    TEST(the_last_version_is_looked_at_before_it_is_saved);
    TEST(nodes_that_stay_apart_keep_their_own);
    TEST(tasks_done_since_are_to_be_done_again);
    TEST(a_hub_that_is_started_again_remembers);
}
