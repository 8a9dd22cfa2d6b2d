#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"

static const struct msg_schedule *schedule_of(const struct desk *desk)
{
    static const struct msg_schedule none = {.every = 99};
    const struct msg *told = desk_told(desk, MSG_SCHEDULE);

    return CHECK(told != NULL) ? &told->schedule : &none;
}

static void hello_waits_for_the_starting_parameters(void)
{
    struct desk *desk = desk_new();

    desk_connects(desk);
    hand_wait(&desk->hand, 3 * SECOND);
    CHECK(!desk_sent(desk, MSG_HELLO));
    desk_begins(desk, 1);
    if (CHECK(desk_sent(desk, MSG_HELLO) != NULL)) {
        CHECK_EQUAL(2, desk_sent(desk, MSG_HELLO)->hello.node_low);
        CHECK_EQUAL(desk->schema->hash,
                    desk_sent(desk, MSG_HELLO)->hello.schema);
        CHECK(desk_sent(desk, MSG_HELLO)->hello.lineage != 0);
    }
    desk_destroy(&desk);
}

static void a_hub_that_does_not_answer_is_asked_again(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    hand_wait(&desk->hand, 13 * SECOND);
    CHECK(hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO) >= 4);
    CHECK(hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO) <= 5);
    desk_destroy(&desk);
}

static void a_welcome_is_answered_on_bulk_and_told_to_the_trainer(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    CHECK_EQUAL(desk->welcome.session,
                desk_sent(desk, MSG_ATTACH)->attach.session);
    CHECK_EQUAL(1, schedule_of(desk)->attached);
    CHECK_EQUAL(1, schedule_of(desk)->offering);
    CHECK_EQUAL(1, schedule_of(desk)->every);
    CHECK_EQUAL(4, schedule_of(desk)->delay);
    desk_destroy(&desk);
}

static void a_hub_that_wants_another_protocol_ends_it(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    desk->welcome.protocol = PROTOCOL_MIN - 1;
    desk_welcomes(desk, START_GO);
    CHECK(node_ended(desk->node));
    CHECK_EQUAL(1, desk_told(desk, MSG_ENDED)->ended.refused);
    CHECK_EQUAL(FAREWELL_VERSION, desk_told(desk, MSG_ENDED)->ended.farewell);
    desk_destroy(&desk);
}

static void who_founds_sends_its_parameters_on_credit(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 3);
    desk_connects(desk);
    desk_welcomes(desk, START_FOUND);
    CHECK_EQUAL(0, desk_chunks(desk, 0));
    CHECK_EQUAL(0, schedule_of(desk)->offering);
    desk_grants(desk, 0, 2);
    CHECK_EQUAL(2, desk_chunks(desk, 0));
    desk_grants(desk, 0, 1);
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 0));
    CHECK_NEAR(3, desk_chunk(desk, 0, 2), 0);
    desk_restarts(desk, START_GO);
    CHECK_EQUAL(1, schedule_of(desk)->offering);
    desk_destroy(&desk);
}

static void who_has_nothing_finite_founds_nothing(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, (double)NAN);
    desk_connects(desk);
    desk_welcomes(desk, START_FOUND);
    desk_grants(desk, 0, 8);
    CHECK_EQUAL(0, desk_chunks(desk, 0));
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    CHECK_CONTAINS("NaN", desk_told(desk, MSG_ENDED)->ended.text);
    desk_destroy(&desk);
}

static void who_holds_makes_no_offers(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    desk_welcomes(desk, START_HOLD);
    CHECK_EQUAL(1, schedule_of(desk)->attached);
    CHECK_EQUAL(0, schedule_of(desk)->offering);
    desk_offers(desk, 1, 2);
    CHECK(desk_forgot(desk, 1));
    CHECK(!desk_sent(desk, MSG_OFFER));
    desk_destroy(&desk);
}

static void who_takes_asks_and_offers_when_it_has_taken(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    desk->version = 40;
    desk_welcomes(desk, START_TAKE);
    CHECK_EQUAL(0, desk_sent(desk, MSG_CREDIT)->credit.exchange);
    CHECK_EQUAL(0, desk_sent(desk, MSG_CREDIT)->credit.more);
    desk_answers(desk, 0, VERB_REPLACE, 9);
    CHECK_NEAR(9, desk_apply(desk, 0, 2), 0);
    CHECK_EQUAL(VERB_REPLACE, desk_told(desk, MSG_APPLY)->apply.verb);
    CHECK_EQUAL(0, schedule_of(desk)->offering);
    desk_applied(desk, 0);
    CHECK_EQUAL(1, schedule_of(desk)->offering);
    desk_offers(desk, 1, 11);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    CHECK_EQUAL(41, desk_sent(desk, MSG_OFFER)->offer.base_version);
    desk_destroy(&desk);
}

static void taking_again_forgets_what_came_before(void)
{
    struct desk *desk = desk_new();
    struct msg_result one = {.verb = VERB_REPLACE};

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    desk_restarts(desk, START_TAKE);
    CHECK(desk_forgot(desk, 1));
    desk_result(desk, &one, 9);
    desk_restarts(desk, START_TAKE);
    CHECK_EQUAL(3, hand_count(&desk->hand, PEER_CONTROL, MSG_CREDIT));
    desk_answers(desk, 0, VERB_REPLACE, 8);
    CHECK_NEAR(8, desk_apply(desk, 0, 0), 0);
    desk_applied(desk, 0);
    desk_offers(desk, 2, 8);
    CHECK_NEAR(0, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void the_view_gives_the_trainer_its_shard(void)
{
    struct desk *desk = desk_new();
    struct msg view = {.kind = MSG_VIEW};

    desk_ready(desk, 1);
    view.view.shard = 2;
    view.view.shards = 5;
    hand_say(&desk->hand, PEER_CONTROL, &view, NULL);
    CHECK_EQUAL(2, schedule_of(desk)->shard);
    CHECK_EQUAL(5, schedule_of(desk)->shards);
    desk_destroy(&desk);
}

static void pings_tell_how_the_trainer_is(void)
{
    struct desk *desk = desk_new();
    struct msg progress = {.kind = MSG_PROGRESS}, pong = {.kind = MSG_PONG};
    struct node_view view;

    desk_ready(desk, 1);
    progress.progress.iteration = 12;
    progress.progress.loss = 0.25;
    hand_say(&desk->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&desk->hand, SECOND);
    CHECK_EQUAL(12, desk_sent(desk, MSG_PING)->ping.iteration);
    CHECK_NEAR(0.25, desk_sent(desk, MSG_PING)->ping.loss, 0);
    CHECK_EQUAL(ACTIVITY_TRAIN, desk_sent(desk, MSG_PING)->ping.activity);
    pong.pong.sent = desk->hand.now - 3 * MILLISECOND;
    hand_say(&desk->hand, PEER_CONTROL, &pong, NULL);
    node_look(desk->node, &view);
    CHECK_EQUAL(3 * MILLISECOND, view.round_trip);
    hand_wait(&desk->hand, SECOND);
    hand_say(&desk->hand, PEER_CONTROL, &pong, NULL); /* again */
    node_look(desk->node, &view);
    CHECK_EQUAL(3 * MILLISECOND, view.round_trip);
    desk->ungranted = true;
    desk_offers(desk, 2, 1);
    hand_wait(&desk->hand, SECOND);
    CHECK_EQUAL(ACTIVITY_WAIT_GRANT, desk_sent(desk, MSG_PING)->ping.activity);
    progress.progress.blocked = 1;
    hand_say(&desk->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&desk->hand, SECOND);
    CHECK_EQUAL(ACTIVITY_WAIT_RESULT, desk_sent(desk, MSG_PING)->ping.activity);
    desk_destroy(&desk);
}

/* So much later the trainer has done so many iterations in all, and has waited
 * for so long. Returns what the next ping tells of its speed. */
static double rate_after(struct desk *desk, nanos span, uint64_t iteration,
                         nanos waited)
{
    struct msg progress = {.kind = MSG_PROGRESS};

    progress.progress.iteration = iteration;
    progress.progress.waited = waited;
    hand_wait(&desk->hand, span);
    hand_say(&desk->hand, PEER_TRAINER, &progress, NULL);
    hand_wait(&desk->hand, SECOND);
    return desk_sent(desk, MSG_PING)->ping.rate;
}

static void a_trainer_that_waits_is_not_slow(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    (void)rate_after(desk, 0, 10, 0);
    CHECK_NEAR(5, rate_after(desk, SECOND, 20, 0), 1e-9);
    CHECK_NEAR(5, rate_after(desk, SECOND, 20, 0), 1e-9);
    CHECK_NEAR(2, rate_after(desk, 3 * SECOND, 30, SECOND), 1e-9);
    desk_destroy(&desk);
}

static void a_hub_that_says_nothing_for_ten_seconds_is_left(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    hand_wait(&desk->hand, 9 * SECOND);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    hand_wait(&desk->hand, 2 * SECOND);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK(hand_dropped(&desk->hand, PEER_BULK));
    CHECK_EQUAL(0, schedule_of(desk)->attached);
    CHECK(!node_ended(desk->node));
    desk_destroy(&desk);
}

static void a_lost_connection_leaves_the_trainer_alone(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    desk_breaks(desk);
    CHECK_EQUAL(0, schedule_of(desk)->attached);
    CHECK(desk_forgot(desk, 1));
    CHECK(hand_note(&desk->hand, NOTE_DETACHED) != NULL);
    desk_connects(desk);
    CHECK_EQUAL(7, desk_sent(desk, MSG_HELLO)->hello.run);
    desk_destroy(&desk);
}

/* It is the run's only if it took the run's parameters. */
static void a_lineage_is_that_of_the_parameters(void)
{
    struct desk *desk = desk_new();
    uint64_t own;

    desk_ready(desk, 1);
    own = desk_sent(desk, MSG_HELLO)->hello.lineage;
    desk_offers(desk, 1, 2);
    CHECK_EQUAL(own, desk_sent(desk, MSG_OFFER)->offer.lineage);
    desk_restarts(desk, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 9);
    desk_applied(desk, 0);
    desk_offers(desk, 2, 10);
    CHECK_EQUAL(5, desk_sent(desk, MSG_OFFER)->offer.lineage);
    desk_breaks(desk);
    desk_connects(desk);
    CHECK_EQUAL(5, desk_sent(desk, MSG_HELLO)->hello.lineage);
    desk_destroy(&desk);
}

static void a_hub_that_was_started_again_gets_a_hello(void)
{
    struct desk *desk = desk_new();
    unsigned before;

    desk_ready(desk, 1);
    before = hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO);
    hand_wait(&desk->hand, SECOND);
    desk_says_bye(desk, FAREWELL_STRANGER);
    CHECK_EQUAL(before + 1, hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO));
    CHECK(!node_ended(desk->node));
    desk_destroy(&desk);
}

static void a_refusal_ends_it_with_its_reason(void)
{
    static const enum farewell reasons[] = {FAREWELL_VERSION, FAREWELL_SCHEMA,
                                            FAREWELL_REPLACED, FAREWELL_FULL,
                                            FAREWELL_OFFENCE};

    for (unsigned i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct desk *desk = desk_new();

        desk_begins(desk, 1);
        desk_connects(desk);
        desk_says_bye(desk, reasons[i]);
        CHECK(node_ended(desk->node));
        CHECK_EQUAL(1, desk_told(desk, MSG_ENDED)->ended.refused);
        CHECK_EQUAL(reasons[i], desk_told(desk, MSG_ENDED)->ended.farewell);
        CHECK(desk_told(desk, MSG_ENDED)->ended.text[0] != '\0');
        desk_destroy(&desk);
    }
}

static void a_hub_that_stands_down_is_not_the_end(void)
{
    struct desk *desk = desk_member();

    desk_says_bye(desk, FAREWELL_SUPERSEDED);
    CHECK(!node_ended(desk->node));
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    desk_rejoins(desk);
    desk_offers(desk, 1, 3);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    desk_destroy(&desk);
}

static void the_end_of_the_run_is_told_in_two_steps(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_says(desk, MSG_STOP);
    CHECK_EQUAL(0, desk_told(desk, MSG_ENDED)->ended.final);
    CHECK(!node_ended(desk->node));
    desk_leaves(desk, 1, 2);
    desk_answers(desk, 1, VERB_REBASE, 2);
    CHECK(!node_ended(desk->node));
    CHECK(!desk_sent(desk, MSG_BYE));
    desk_says_bye(desk, FAREWELL_DONE);
    CHECK(node_ended(desk->node));
    CHECK_EQUAL(1, desk_told(desk, MSG_ENDED)->ended.final);
    CHECK_EQUAL(0, desk_told(desk, MSG_ENDED)->ended.refused);
    desk_destroy(&desk);
}

/* What was under way it has dropped; the hub only knows that it was there. */
static void who_was_to_take_the_centre_asks_for_it_after_a_break(void)
{
    struct desk *desk = desk_offering();

    desk_restarts(desk, START_TAKE);
    desk_breaks(desk);
    desk_rejoins(desk);
    CHECK_EQUAL(0, desk_sent(desk, MSG_HELLO)->hello.lineage);
    CHECK(desk_sent(desk, MSG_ATTACH)->attach.session < desk->welcome.session);
    desk_welcomes(desk, START_TAKE);
    CHECK_EQUAL(desk->welcome.session,
                desk_sent(desk, MSG_ATTACH)->attach.session);
    desk_destroy(&desk);
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
