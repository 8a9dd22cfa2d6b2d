#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

static const struct msg_local_tune *schedule_of(const struct node_fixture *f)
{
    static const struct msg_local_tune none = {.every = 99};
    const struct msg *told = node_fixture_told(f, MSG_LOCAL_TUNE);

    return CHECK(told != NULL) ? &told->local_tune : &none;
}

static void hello_waits_for_the_starting_parameters(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_connects(f);
    hand_wait(&f->hand, 3 * SECOND);
    CHECK(!node_fixture_sent(f, MSG_HELLO));
    node_fixture_begins(f, 1);
    if (CHECK(node_fixture_sent(f, MSG_HELLO) != NULL)) {
        CHECK_EQUAL(2, node_fixture_sent(f, MSG_HELLO)->hello.node_low);
        CHECK_EQUAL(f->schema->hash,
                    node_fixture_sent(f, MSG_HELLO)->hello.schema);
        CHECK(node_fixture_sent(f, MSG_HELLO)->hello.lineage != 0);
    }
    node_fixture_destroy(&f);
}

static void a_hub_that_does_not_answer_is_asked_again(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    hand_wait(&f->hand, 13 * SECOND);
    CHECK(hand_count(&f->hand, PEER_CONTROL, MSG_HELLO) >= 4);
    CHECK(hand_count(&f->hand, PEER_CONTROL, MSG_HELLO) <= 5);
    node_fixture_destroy(&f);
}

static void a_welcome_is_answered_on_bulk_and_told_to_the_trainer(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    CHECK_EQUAL(f->welcome.session,
                node_fixture_sent(f, MSG_ATTACH)->attach.session);
    CHECK_EQUAL(1, schedule_of(f)->attached);
    CHECK_EQUAL(1, schedule_of(f)->offering);
    CHECK_EQUAL(1, schedule_of(f)->every);
    CHECK_EQUAL(4, schedule_of(f)->delay);
    node_fixture_destroy(&f);
}

static void a_hub_that_wants_another_protocol_ends_it(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    f->welcome.protocol = PROTOCOL_MIN - 1;
    node_fixture_welcomes(f, START_GO);
    CHECK(node_ended(f->node));
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.refused);
    CHECK_EQUAL(FAREWELL_VERSION,
                node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.farewell);
    node_fixture_destroy(&f);
}

static void who_founds_sends_its_parameters_on_credit(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 3);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    CHECK_EQUAL(0, schedule_of(f)->offering);
    node_fixture_grants(f, 0, 2);
    CHECK_EQUAL(2, node_fixture_chunks(f, 0));
    node_fixture_grants(f, 0, 1);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 0));
    CHECK_NEAR(3, node_fixture_chunk(f, 0, 2), 0);
    node_fixture_restarts(f, START_GO);
    CHECK_EQUAL(1, schedule_of(f)->offering);
    node_fixture_destroy(&f);
}

static void who_has_nothing_finite_founds_nothing(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, (double)NAN);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 8);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    CHECK_CONTAINS("NaN", node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.text);
    node_fixture_destroy(&f);
}

static void who_holds_makes_no_offers(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_HOLD);
    CHECK_EQUAL(1, schedule_of(f)->attached);
    CHECK_EQUAL(0, schedule_of(f)->offering);
    node_fixture_offers(f, 1, 2);
    CHECK(node_fixture_forgot(f, 1));
    CHECK(!node_fixture_sent(f, MSG_OFFER));
    node_fixture_destroy(&f);
}

static void who_takes_asks_and_offers_when_it_has_taken(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    f->version = 40;
    node_fixture_welcomes(f, START_TAKE);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_CREDIT)->credit.exchange);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_CREDIT)->credit.more);
    node_fixture_answers(f, 0, VERB_REPLACE, 9);
    CHECK_NEAR(9, node_fixture_apply(f, 0, 2), 0);
    CHECK_EQUAL(VERB_REPLACE,
                node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.verb);
    CHECK_EQUAL(0, schedule_of(f)->offering);
    node_fixture_applied(f, 0);
    CHECK_EQUAL(1, schedule_of(f)->offering);
    node_fixture_offers(f, 1, 11);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    CHECK_EQUAL(41, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_destroy(&f);
}

static void taking_again_forgets_what_came_before(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result one = {.verb = VERB_REPLACE};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    node_fixture_restarts(f, START_TAKE);
    CHECK(node_fixture_forgot(f, 1));
    node_fixture_result(f, &one, 9);
    node_fixture_restarts(f, START_TAKE);
    CHECK_EQUAL(3, hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT));
    node_fixture_answers(f, 0, VERB_REPLACE, 8);
    CHECK_NEAR(8, node_fixture_apply(f, 0, 0), 0);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 8);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void the_view_gives_the_trainer_its_shard(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg view = {.kind = MSG_VIEW};

    node_fixture_ready(f, 1);
    view.view.shard = 2;
    view.view.shards = 5;
    hand_say(&f->hand, PEER_CONTROL, &view, NULL);
    CHECK_EQUAL(2, schedule_of(f)->shard);
    CHECK_EQUAL(5, schedule_of(f)->shards);
    node_fixture_destroy(&f);
}

static void pings_tell_how_the_trainer_is(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg progress = {.kind = MSG_LOCAL_PING}, pong = {.kind = MSG_PONG};
    struct node_view view;

    node_fixture_ready(f, 1);
    progress.local_ping.iteration = 12;
    progress.local_ping.loss = 0.25;
    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(12, node_fixture_sent(f, MSG_PING)->ping.iteration);
    CHECK_NEAR(0.25, node_fixture_sent(f, MSG_PING)->ping.loss, 0);
    CHECK_EQUAL(ACTIVITY_TRAIN, node_fixture_sent(f, MSG_PING)->ping.activity);
    pong.pong.sent = f->hand.now - 3 * MILLISECOND;
    hand_say(&f->hand, PEER_CONTROL, &pong, NULL);
    node_look(f->node, &view);
    CHECK_EQUAL(3 * MILLISECOND, view.round_trip);
    hand_wait(&f->hand, SECOND);
    hand_say(&f->hand, PEER_CONTROL, &pong, NULL); /* again */
    node_look(f->node, &view);
    CHECK_EQUAL(3 * MILLISECOND, view.round_trip);
    f->ungranted = true;
    node_fixture_offers(f, 2, 1);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(ACTIVITY_WAIT_GRANT,
                node_fixture_sent(f, MSG_PING)->ping.activity);
    progress.local_ping.blocked = 1;
    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&f->hand, SECOND);
    CHECK_EQUAL(ACTIVITY_WAIT_RESULT,
                node_fixture_sent(f, MSG_PING)->ping.activity);
    node_fixture_destroy(&f);
}

/* So much later the trainer has done so many iterations in all, and has waited
 * for so long. Returns what the next ping tells of its speed. */
static double rate_after(struct node_fixture *f, nanos span, uint64_t iteration,
                         nanos waited)
{
    struct msg progress = {.kind = MSG_LOCAL_PING};

    progress.local_ping.iteration = iteration;
    progress.local_ping.waited = waited;
    hand_wait(&f->hand, span);
    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&f->hand, SECOND);
    return node_fixture_sent(f, MSG_PING)->ping.rate;
}

static void a_trainer_that_waits_is_not_slow(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    (void)rate_after(f, 0, 10, 0);
    CHECK_NEAR(5, rate_after(f, SECOND, 20, 0), 1e-9);
    CHECK_NEAR(5, rate_after(f, SECOND, 20, 0), 1e-9);
    CHECK_NEAR(2, rate_after(f, 3 * SECOND, 30, SECOND), 1e-9);
    node_fixture_destroy(&f);
}

static void a_hub_that_says_nothing_for_ten_seconds_is_left(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(hand_dropped(&f->hand, PEER_BULK));
    CHECK_EQUAL(0, schedule_of(f)->attached);
    CHECK(!node_ended(f->node));
    node_fixture_destroy(&f);
}

static void a_lost_connection_leaves_the_trainer_alone(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    node_fixture_breaks(f);
    CHECK_EQUAL(0, schedule_of(f)->attached);
    CHECK(node_fixture_forgot(f, 1));
    CHECK(hand_note(&f->hand, NOTE_DETACHED) != NULL);
    node_fixture_connects(f);
    CHECK_EQUAL(7, node_fixture_sent(f, MSG_HELLO)->hello.run);
    node_fixture_destroy(&f);
}

/* It is the run's only if it took the run's parameters. */
static void a_lineage_is_that_of_the_parameters(void)
{
    struct node_fixture *f = node_fixture_new();
    uint64_t own;

    node_fixture_ready(f, 1);
    own = node_fixture_sent(f, MSG_HELLO)->hello.lineage;
    node_fixture_offers(f, 1, 2);
    CHECK_EQUAL(own, node_fixture_sent(f, MSG_OFFER)->offer.lineage);
    node_fixture_restarts(f, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 9);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 10);
    CHECK_EQUAL(5, node_fixture_sent(f, MSG_OFFER)->offer.lineage);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    CHECK_EQUAL(5, node_fixture_sent(f, MSG_HELLO)->hello.lineage);
    node_fixture_destroy(&f);
}

static void a_hub_that_was_started_again_gets_a_hello(void)
{
    struct node_fixture *f = node_fixture_new();
    unsigned before;

    node_fixture_ready(f, 1);
    before = hand_count(&f->hand, PEER_CONTROL, MSG_HELLO);
    hand_wait(&f->hand, SECOND);
    node_fixture_says_bye(f, FAREWELL_STRANGER);
    CHECK_EQUAL(before + 1, hand_count(&f->hand, PEER_CONTROL, MSG_HELLO));
    CHECK(!node_ended(f->node));
    node_fixture_destroy(&f);
}

static void a_refusal_ends_it_with_its_reason(void)
{
    static const enum farewell reasons[] = {FAREWELL_VERSION, FAREWELL_SCHEMA,
                                            FAREWELL_REPLACED, FAREWELL_FULL,
                                            FAREWELL_OFFENCE};

    for (unsigned i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct node_fixture *f = node_fixture_new();

        node_fixture_begins(f, 1);
        node_fixture_connects(f);
        node_fixture_says_bye(f, reasons[i]);
        CHECK(node_ended(f->node));
        CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.refused);
        CHECK_EQUAL(reasons[i],
                    node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.farewell);
        CHECK(node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.text[0] != '\0');
        node_fixture_destroy(&f);
    }
}

static void a_hub_that_stands_down_is_not_the_end(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_says_bye(f, FAREWELL_SUPERSEDED);
    CHECK(!node_ended(f->node));
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_rejoins(f);
    node_fixture_offers(f, 1, 3);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    node_fixture_destroy(&f);
}

static void the_end_of_the_run_is_told_in_two_steps(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_says(f, MSG_STOP);
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.final);
    CHECK(!node_ended(f->node));
    node_fixture_leaves(f, 1, 2);
    node_fixture_answers(f, 1, VERB_REBASE, 2);
    CHECK(!node_ended(f->node));
    CHECK(!node_fixture_sent(f, MSG_BYE));
    node_fixture_says_bye(f, FAREWELL_DONE);
    CHECK(node_ended(f->node));
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.final);
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.refused);
    node_fixture_destroy(&f);
}

/* What was under way it has dropped; the hub only knows that it was there. */
static void who_was_to_take_the_centre_asks_for_it_after_a_break(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_restarts(f, START_TAKE);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_HELLO)->hello.lineage);
    CHECK(node_fixture_sent(f, MSG_ATTACH)->attach.session <
          f->welcome.session);
    node_fixture_welcomes(f, START_TAKE);
    CHECK_EQUAL(f->welcome.session,
                node_fixture_sent(f, MSG_ATTACH)->attach.session);
    node_fixture_destroy(&f);
}

void add_node_joining_tests(CU_pSuite suite)
{
    TEST(hello_waits_for_the_starting_parameters);
    TEST(a_hub_that_does_not_answer_is_asked_again);
    TEST(a_welcome_is_answered_on_bulk_and_told_to_the_trainer);
    TEST(a_hub_that_wants_another_protocol_ends_it);
    TEST(who_founds_sends_its_parameters_on_credit);
    TEST(who_has_nothing_finite_founds_nothing);
    TEST(who_holds_makes_no_offers);
    TEST(who_takes_asks_and_offers_when_it_has_taken);
    TEST(taking_again_forgets_what_came_before);
    TEST(the_view_gives_the_trainer_its_shard);
    TEST(pings_tell_how_the_trainer_is);
    TEST(a_trainer_that_waits_is_not_slow);
    TEST(a_hub_that_says_nothing_for_ten_seconds_is_left);
    TEST(a_lost_connection_leaves_the_trainer_alone);
    TEST(a_lineage_is_that_of_the_parameters);
    TEST(a_hub_that_was_started_again_gets_a_hello);
    TEST(a_refusal_ends_it_with_its_reason);
    TEST(a_hub_that_stands_down_is_not_the_end);
    TEST(the_end_of_the_run_is_told_in_two_steps);
    TEST(who_was_to_take_the_centre_asks_for_it_after_a_break);
}
