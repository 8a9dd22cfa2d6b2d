/* A hub that says anything: the node leaves it, and its trainer goes on. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/keeper.h"
#include "tests/node/node_fixture.h"

static void a_hub_whose_welcome_makes_no_sense_is_left(void)
{
    for (int i = 0; i < 7; i++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.every = i != 0;
        f->welcome.window = i != 1;
        f->welcome.chunk_elements = i == 2 ? 0 : 4;
        f->welcome.wait = i == 3 ? INT64_MIN : 0;
        f->welcome.anchor = i == 4 ? 1e300 : i == 5 ? -1 : 0;
        if (i != 6)
            node_fixture_begins(f, 1); /* else it has not even asked */
        node_fixture_connects(f);
        node_fixture_welcomes(f, START_GO);
        CHECK(!node_fixture_sent(f, MSG_ATTACH));
        CHECK_EQUAL(i != 6, hand_dropped(&f->hand, PEER_CONTROL));
        node_fixture_destroy(&f);
    }
}

static void nothing_from_the_hub_upsets_a_node_that_knows_none(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_connects(f);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        if (kind != MSG_BYE && kind != MSG_WELCOME)
            node_fixture_says(f, kind);
    node_fixture_grants(f, 7, 1);
    node_fixture_verdicts(f, 7, 0, UINT32_MAX, VERDICT_MERGED);
    node_fixture_answers(f, 7, VERB_REBASE, 1);
    CHECK(!node_ended(f->node));
    node_fixture_welcomes(f, START_GO);
    node_fixture_offers(f, 1, 3);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    node_fixture_destroy(&f);
}

/* The hub is left for this reason; the next one, which merges what this one has
 * not, is good. */
static void leaves(struct node_fixture *f, const char *why, double offered)
{
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_CONTAINS(why, hand_note(&f->hand, NOTE_DETACHED)->text);
    CHECK(!node_ended(f->node));
    hand_forget(&f->hand);
    node_fixture_rejoins(f);
    node_fixture_offers(f, 9, 2);
    CHECK_NEAR(offered, node_fixture_chunk(f, 9, 0), 0);
    node_fixture_destroy(&f);
}

static void a_weight_beyond_all_or_nothing_is_left(void)
{
    static const double weights[] = {-1e-9, 1.5, -1e300, 1e300};

    for (unsigned i = 0; i < 4; i++)
        for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
            struct node_fixture *f = node_fixture_offering();

            f->weight = weights[i];
            node_fixture_answers(f, 1, verb, 5);
            CHECK(isnan(node_fixture_apply(f, 1, 0)));
            leaves(f, "weight", 1);
        }
}

static void numbers_that_could_overflow_are_not_applied(void)
{
    static const double values[] = {3e38, -3e38, 1e31, INFINITY, NAN};

    for (unsigned i = 0; i < 5; i++)
        for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
            struct node_fixture *f = node_fixture_offering();

            node_fixture_answers(f, 1, verb, values[i]);
            CHECK(isnan(node_fixture_apply(f, 1, 0)));
            leaves(f, "damaged", 2 - 3);
        }
}

static void parameters_to_be_taken_only_replace(void)
{
    for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
        struct node_fixture *f = node_fixture_member();

        node_fixture_welcomes(f, START_TAKE);
        node_fixture_answers(f, 0, verb, 5);
        CHECK_EQUAL(verb != VERB_REPLACE, hand_dropped(&f->hand, PEER_CONTROL));
        CHECK_EQUAL(verb != VERB_REPLACE, isnan(node_fixture_apply(f, 0, 0)));
        node_fixture_destroy(&f);
    }
}

static void a_share_of_the_data_that_is_none_is_left(void)
{
    struct node_fixture *f = node_fixture_member();
    struct msg msg = {.kind = MSG_VIEW, .view = {.shard = 3, .shards = 3}};

    hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.shard);
    leaves(f, "part of the data", 1);
}

static void a_clock_that_was_never_said_is_not_believed(void)
{
    static const nanos clocks[] = {INT64_MIN, -1, INT64_MAX};

    for (unsigned i = 0; i < 3; i++) {
        struct node_fixture *f = node_fixture_member();
        struct msg msg = {.kind = MSG_PONG, .pong = {.sent = clocks[i]}};
        struct node_view view;

        hand_say(&f->hand, PEER_CONTROL, &msg, NULL);
        node_look(f->node, &view);
        CHECK_EQUAL(0, view.round_trip);
        node_fixture_destroy(&f);
    }
}

static void a_review_without_a_number_is_none(void)
{
    struct node_fixture *f = node_fixture_reviewing();
    struct blob *payload = hand_floats(f->hand.pool, FIXTURE_CHUNK, 1);
    struct msg msg = {.kind = MSG_REVIEW};

    node_fixture_ready(f, 1);
    msg.review.checksum = payload->checksum;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    CHECK(!node_fixture_sent(f, MSG_REVIEWED));
    blob_unref(&payload);
    node_fixture_destroy(&f);
}

static void what_was_not_offered_is_not_granted(void)
{
    struct node_fixture *f = node_fixture_member();

    f->hand.holds_jobs = true;
    node_fixture_offers(f, 1, 3); /* and a grant, before it is formed */
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK(node_fixture_sent(f, MSG_OFFER) != NULL);
    CHECK_EQUAL(0, node_fixture_chunks(f, 1));
    node_fixture_grants(f, 1, FIXTURE_CHUNKS);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 1));
    node_fixture_destroy(&f);
}

static void a_hub_that_promises_itself_endless_room_is_left(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg_result result = {.exchange = 1, .weight = 1};

    f->welcome.codec_down = CODEC_F16;
    f->welcome.window = UINT64_MAX;
    node_fixture_ready(f, 1);
    f->hand.holds_jobs = true;
    for (int i = 0; i < NODE_MAX_FLIGHT + 2; i++)
        node_fixture_result(f, &result, 5);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_result(f, &result, 5);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    leaves(f, "more results than there is room for", 1);
}

static void a_trainer_is_not_held_up_for_ever(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct hand_sent *sent;

    f->welcome.wait = INT64_MAX;
    node_fixture_ready(f, 1);
    sent = hand_last(&f->hand, PEER_TRAINER, MSG_LOCAL_TUNE);
    CHECK(sent && sent->msg.local_tune.wait <= 600 * SECOND);
    node_fixture_destroy(&f);
}

static void a_manifest_that_was_damaged_is_passed_over(void)
{
    struct node_fixture *f = node_fixture_offering();
    struct blob *manifest = keeper_manifest(f, FIXTURE_CHUNKS, 1, NULL);
    struct msg msg = {.kind = MSG_KEEP};

    node_fixture_answers(f, 1, VERB_REBASE, 5);
    msg.keep.epoch = f->welcome.epoch;
    msg.keep.version = msg.keep.merged = 1;
    manifest->bytes[manifest->size / 2] ^= 1;
    hand_say(&f->hand, PEER_BULK, &msg, manifest);
    blob_unref(&manifest);
    CHECK(hand_note(&f->hand, NOTE_KEPT) == NULL);
    keeper_says(f, 1, 1, NULL);
    CHECK(hand_note(&f->hand, NOTE_KEPT) != NULL);
    node_fixture_destroy(&f);
}

static void what_the_trainer_says_of_unknown_results_is_ignored(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_applied(f, 1); /* it has not got it yet */
    node_fixture_applied(f, 0);
    node_fixture_applied(f, 7);
    node_fixture_skips(f, 7);
    node_fixture_answers(f, 1, VERB_REBASE, 10);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    node_fixture_destroy(&f);
}

void add_node_hostile_tests(CU_pSuite suite)
{
    TEST(a_hub_whose_welcome_makes_no_sense_is_left);
    TEST(nothing_from_the_hub_upsets_a_node_that_knows_none);
    TEST(a_weight_beyond_all_or_nothing_is_left);
    TEST(numbers_that_could_overflow_are_not_applied);
    TEST(parameters_to_be_taken_only_replace);
    TEST(a_share_of_the_data_that_is_none_is_left);
    TEST(a_clock_that_was_never_said_is_not_believed);
    TEST(a_review_without_a_number_is_none);
    TEST(what_was_not_offered_is_not_granted);
    TEST(a_hub_that_promises_itself_endless_room_is_left);
    TEST(a_trainer_is_not_held_up_for_ever);
    TEST(a_manifest_that_was_damaged_is_passed_over);
    TEST(what_the_trainer_says_of_unknown_results_is_ignored);
}
