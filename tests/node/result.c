#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void a_rebase_moves_by_what_the_centre_has_moved(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 2), 0);
    CHECK_EQUAL(VERB_REBASE,
                node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.verb);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 10.5); /* 3 + 7 + its own 0.5 */
    CHECK_NEAR(0.5, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void nothing_is_handed_over_before_all_of_it_is_here(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result result = {.exchange = 1, .version = 1, .weight = 1};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_result(f, &result, 10);
    result.chunk = 2;
    node_fixture_result(f, &result, 10);
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    result.chunk = 1;
    node_fixture_result(f, &result, 10);
    CHECK_EQUAL(FIXTURE_CHUNKS,
                hand_count(&f->hand, PEER_TRAINER, MSG_LOCAL_RESULT));
    node_fixture_destroy(&f);
}

static void every_result_is_credited_even_an_unknown_one(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result stray = {.exchange = 99, .chunk = 1};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK_EQUAL(3, hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT));
    node_fixture_result(f, &stray, 1);
    CHECK_EQUAL(4, hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT));
    CHECK_EQUAL(16, node_fixture_sent(f, MSG_CREDIT)->credit.more);
    node_fixture_destroy(&f);
}

static void a_result_that_was_damaged_drops_the_connection(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result result = {.exchange = 1, .version = 1, .checksum = 12};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++)
        node_fixture_result(f, &result, 10);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(hand_dropped(&f->hand, PEER_BULK));
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    CHECK(!node_ended(f->node));
    node_fixture_destroy(&f);
}

static void damage_is_found_before_the_rest_of_the_result_is_here(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result result = {.exchange = 1, .version = 1, .checksum = 12};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_result(f, &result, 10);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(hand_dropped(&f->hand, PEER_BULK));
    node_fixture_destroy(&f);
}

static void a_result_that_is_not_finite_drops_the_connection(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, (double)INFINITY);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    node_fixture_destroy(&f);
}

static void a_result_of_a_wrong_size_is_left_out(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload = hand_floats(f->hand.pool, 3, 1);

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    msg.result.exchange = 1;
    msg.result.checksum = payload->checksum;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    msg.result.chunk = FIXTURE_CHUNKS;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    hand_say(&f->hand, PEER_BULK, &msg, NULL);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    blob_unref(&payload);
    node_fixture_destroy(&f);
}

static void the_base_is_the_oldest_version_that_was_applied(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result result = {.exchange = 1};

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++) {
        result.version = 20 + result.chunk;
        node_fixture_result(f, &result, 3);
    }
    node_fixture_offers(f, 2, 3);
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 3, 3);
    CHECK_EQUAL(20, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_destroy(&f);
}

/* x = 3 and 4 were sent; the first result moves x by 7, so the second, which
 * was sent without it, moves it by only what is new. */
static void a_correction_counts_on_those_before_it(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    node_fixture_answers(f, 2, VERB_REBASE, 12);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    CHECK_NEAR(1, node_fixture_apply(f, 2, 0), 0); /* 12 - (4 + 7) */
    node_fixture_applied(f, 1);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 12);
    CHECK_NEAR(0, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void a_later_result_waits_for_an_earlier_one(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 2, VERB_REBASE, 12);
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK_NEAR(1, node_fixture_apply(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void a_skipped_result_changes_nothing(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_skips(f, 1);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    node_fixture_answers(f, 2, VERB_REBASE, 12);
    CHECK_NEAR(8, node_fixture_apply(f, 2, 0), 0);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 12);
    CHECK_NEAR(0, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

/* What r = x_sent = 3 becomes by each verb with v = 10 and a = 0.5. */
static void every_verb_is_carried_over_to_the_reference(void)
{
    static const double becomes[VERB_COUNT] = {[VERB_REBASE] =
                                                   3 + 0.5 * (10 - 3),
                                               [VERB_REPLACE] = 10,
                                               [VERB_PULL] = 10,
                                               [VERB_ADD] = 3 + 0.5 * 10,
                                               [VERB_STEP] = 3};

    for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
        struct node_fixture *f = node_fixture_new();

        f->weight = 0.5;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3);
        node_fixture_answers(f, 1, verb, 10);
        CHECK_NEAR(verb == VERB_REBASE ? 3.5 : 10, node_fixture_apply(f, 1, 1),
                   0);
        CHECK_NEAR(verb == VERB_REBASE ? 1 : 0.5, /* 3.5 has it */
                   node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.weight,
                   0);
        node_fixture_applied(f, 1);
        node_fixture_offers(f, 2, becomes[verb]);
        CHECK_NEAR(0, node_fixture_chunk(f, 2, 1), 0);
        node_fixture_destroy(&f);
    }
}

/* The same with another exchange in flight: its x_sent moves along, unless it
 * is void because its parameters were replaced. */
static void every_verb_is_carried_over_to_what_is_in_flight(void)
{
    static const double becomes[VERB_COUNT] = {[VERB_REBASE] =
                                                   4 + 0.5 * (10 - 3),
                                               [VERB_PULL] = 4 + (10 - 3),
                                               [VERB_ADD] = 4 + 0.5 * 10,
                                               [VERB_STEP] = 4};

    for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
        struct node_fixture *f = node_fixture_new();

        f->weight = 0.5;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3);
        node_fixture_offers(f, 2, 4);
        node_fixture_answers(f, 1, verb, 10);
        node_fixture_applied(f, 1);
        f->weight = 1;
        node_fixture_answers(f, 2, VERB_REBASE, 20);
        if (verb == VERB_REPLACE) {
            CHECK(node_fixture_forgot(f, 2));
            CHECK(isnan(node_fixture_apply(f, 2, 0)));
            node_fixture_destroy(&f);
            continue;
        }
        CHECK_NEAR(20 - becomes[verb], node_fixture_apply(f, 2, 0), 0);
        node_fixture_applied(f, 2);
        node_fixture_offers(f, 3, 21);
        CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* Until then it is in flight: the trainer offers no more beside it than d
 * iterations can hide. */
static void who_skips_hears_when_the_hub_is_done(void)
{
    enum { JUDGED, LOST, TAKEN, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.miss = MISS_SKIP;
        node_fixture_ready(f, 1);
        node_fixture_offers(f, 1, 3);
        node_fixture_skips(f, 1);
        node_fixture_verdicts(f, 1, 0, 1, VERDICT_MERGED);
        if (way == LOST)
            node_fixture_breaks(f);
        CHECK(!node_fixture_forgot(f, 1));
        if (way == LOST)
            node_fixture_rejoins(f);
        else if (way == TAKEN)
            node_fixture_welcomes(f, START_TAKE);
        else
            node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_EXPIRED);
        CHECK(node_fixture_forgot(f, 1));
        node_fixture_destroy(&f);
    }
}

/* A part of the way, twice, with both in flight: the second one counts from
 * where the first will have put the node. */
static void a_part_of_a_rebase_counts_on_those_before_it(void)
{
    struct node_fixture *f = node_fixture_new();

    f->weight = 0.5;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 1, VERB_REBASE, 11);
    node_fixture_answers(f, 2, VERB_REBASE, 20);
    CHECK_NEAR(0.5 * (11 - 3), node_fixture_apply(f, 1, 0), 0);
    CHECK_NEAR(0.5 * (20 - (4 + 4)), node_fixture_apply(f, 2, 0), 0);
    node_fixture_applied(f, 1);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 4 + 4 + 6 + 0.25);
    CHECK_NEAR(0.25, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

void add_node_result_tests(CU_pSuite suite)
{
    TEST(a_rebase_moves_by_what_the_centre_has_moved);
    TEST(nothing_is_handed_over_before_all_of_it_is_here);
    TEST(every_result_is_credited_even_an_unknown_one);
    TEST(a_result_that_was_damaged_drops_the_connection);
    TEST(damage_is_found_before_the_rest_of_the_result_is_here);
    TEST(a_result_that_is_not_finite_drops_the_connection);
    TEST(a_result_of_a_wrong_size_is_left_out);
    TEST(the_base_is_the_oldest_version_that_was_applied);
    TEST(a_correction_counts_on_those_before_it);
    TEST(a_later_result_waits_for_an_earlier_one);
    TEST(a_skipped_result_changes_nothing);
    TEST(every_verb_is_carried_over_to_the_reference);
    TEST(every_verb_is_carried_over_to_what_is_in_flight);
    TEST(who_skips_hears_when_the_hub_is_done);
    TEST(a_part_of_a_rebase_counts_on_those_before_it);
}
