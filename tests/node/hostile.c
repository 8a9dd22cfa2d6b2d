/* A hub that says anything: the node leaves it, and its trainer goes on. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"
#include "tests/node/keeper.h"

static void a_hub_whose_welcome_makes_no_sense_is_left(void)
{
    for (int i = 0; i < 7; i++) {
        struct desk *desk = desk_new();

        desk->welcome.every = i != 0;
        desk->welcome.window = i != 1;
        desk->welcome.chunk_elements = i == 2 ? 0 : 4;
        desk->welcome.wait = i == 3 ? INT64_MIN : 0;
        desk->welcome.anchor = i == 4 ? 1e300 : i == 5 ? -1 : 0;
        if (i != 6)
            desk_begins(desk, 1); /* else it has not even asked */
        desk_connects(desk);
        desk_welcomes(desk, START_GO);
        CHECK(!desk_sent(desk, MSG_ATTACH));
        CHECK_EQUAL(i != 6, hand_dropped(&desk->hand, PEER_CONTROL));
        desk_destroy(&desk);
    }
}

static void nothing_from_the_hub_upsets_a_node_that_knows_none(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    for (enum msg_kind kind = 0; kind < MSG_KINDS; kind++)
        if (kind != MSG_BYE && kind != MSG_WELCOME)
            desk_says(desk, kind);
    desk_grants(desk, 7, 1);
    desk_judges(desk, 7, 0, UINT32_MAX, VERDICT_MERGED);
    desk_answers(desk, 7, VERB_REBASE, 1);
    CHECK(!node_ended(desk->node));
    desk_welcomes(desk, START_GO);
    desk_offers(desk, 1, 3);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    desk_destroy(&desk);
}

/* The hub is left for this reason; the next one, which merges what this one has
 * not, is good. */
static void leaves(struct desk *desk, const char *why, double offered)
{
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_CONTAINS(why, hand_note(&desk->hand, NOTE_DETACHED)->text);
    CHECK(!node_ended(desk->node));
    hand_forget(&desk->hand);
    desk_rejoins(desk);
    desk_offers(desk, 9, 2);
    CHECK_NEAR(offered, desk_chunk(desk, 9, 0), 0);
    desk_destroy(&desk);
}

static void a_weight_beyond_all_or_nothing_is_left(void)
{
    static const double weights[] = {-1e-9, 1.5, -1e300, 1e300};

    for (unsigned i = 0; i < 4; i++)
        for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
            struct desk *desk = desk_offering();

            desk->weight = weights[i];
            desk_answers(desk, 1, verb, 5);
            CHECK(isnan(desk_apply(desk, 1, 0)));
            leaves(desk, "weight", 1);
        }
}

static void numbers_that_could_overflow_are_not_applied(void)
{
    static const double values[] = {3e38, -3e38, 1e31, INFINITY, NAN};

    for (unsigned i = 0; i < 5; i++)
        for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
            struct desk *desk = desk_offering();

            desk_answers(desk, 1, verb, values[i]);
            CHECK(isnan(desk_apply(desk, 1, 0)));
            leaves(desk, "damaged", 2 - 3);
        }
}

static void parameters_to_be_taken_only_replace(void)
{
    for (enum verb verb = 0; verb < VERB_COUNT; verb++) {
        struct desk *desk = desk_member();

        desk_welcomes(desk, START_TAKE);
        desk_answers(desk, 0, verb, 5);
        CHECK_EQUAL(verb != VERB_REPLACE,
                    hand_dropped(&desk->hand, PEER_CONTROL));
        CHECK_EQUAL(verb != VERB_REPLACE, isnan(desk_apply(desk, 0, 0)));
        desk_destroy(&desk);
    }
}

static void a_share_of_the_data_that_is_none_is_left(void)
{
    struct desk *desk = desk_member();
    struct msg msg = {.kind = MSG_VIEW, .view = {.shard = 3, .shards = 3}};

    hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
    CHECK_EQUAL(0, desk_told(desk, MSG_SCHEDULE)->schedule.shard);
    leaves(desk, "part of the data", 1);
}

static void a_clock_that_was_never_said_is_not_believed(void)
{
    static const nanos clocks[] = {INT64_MIN, -1, INT64_MAX};

    for (unsigned i = 0; i < 3; i++) {
        struct desk *desk = desk_member();
        struct msg msg = {.kind = MSG_PONG, .pong = {.sent = clocks[i]}};
        struct node_view view;

        hand_say(&desk->hand, PEER_CONTROL, &msg, NULL);
        node_look(desk->node, &view);
        CHECK_EQUAL(0, view.round_trip);
        desk_destroy(&desk);
    }
}

static void a_review_without_a_number_is_none(void)
{
    struct desk *desk = desk_reviewing();
    struct blob *payload = hand_floats(desk->hand.pool, DESK_CHUNK, 1);
    struct msg msg = {.kind = MSG_REVIEW};

    desk_ready(desk, 1);
    msg.review.checksum = payload->checksum;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    CHECK(!desk_sent(desk, MSG_REVIEWED));
    blob_unref(&payload);
    desk_destroy(&desk);
}

static void what_was_not_offered_is_not_granted(void)
{
    struct desk *desk = desk_member();

    desk->hand.holds_jobs = true;
    desk_offers(desk, 1, 3); /* and a grant, before it is formed */
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    CHECK(desk_sent(desk, MSG_OFFER) != NULL);
    CHECK_EQUAL(0, desk_chunks(desk, 1));
    desk_grants(desk, 1, DESK_CHUNKS);
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 1));
    desk_destroy(&desk);
}

static void a_hub_that_promises_itself_endless_room_is_left(void)
{
    struct desk *desk = desk_new();
    struct msg_result result = {.exchange = 1, .weight = 1};

    desk->welcome.codec_down = CODEC_F16;
    desk->welcome.window = UINT64_MAX;
    desk_ready(desk, 1);
    desk->hand.holds_jobs = true;
    for (int i = 0; i < NODE_MAX_FLIGHT + 2; i++)
        desk_result(desk, &result, 5);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    desk_result(desk, &result, 5);
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    leaves(desk, "more results than there is room for", 1);
}

static void a_trainer_is_not_held_up_for_ever(void)
{
    struct desk *desk = desk_new();
    const struct hand_sent *sent;

    desk->welcome.wait = INT64_MAX;
    desk_ready(desk, 1);
    sent = hand_last(&desk->hand, PEER_TRAINER, MSG_SCHEDULE);
    CHECK(sent && sent->msg.schedule.wait <= 600 * SECOND);
    desk_destroy(&desk);
}

static void a_manifest_that_was_damaged_is_passed_over(void)
{
    struct desk *desk = desk_offering();
    struct blob *manifest = keeper_manifest(desk, DESK_CHUNKS, 1, NULL);
    struct msg msg = {.kind = MSG_KEEP};

    desk_answers(desk, 1, VERB_REBASE, 5);
    msg.keep.epoch = desk->welcome.epoch;
    msg.keep.version = msg.keep.merged = 1;
    manifest->bytes[manifest->size / 2] ^= 1;
    hand_say(&desk->hand, PEER_BULK, &msg, manifest);
    blob_unref(&manifest);
    CHECK(hand_note(&desk->hand, NOTE_KEPT) == NULL);
    keeper_says(desk, 1, 1, NULL);
    CHECK(hand_note(&desk->hand, NOTE_KEPT) != NULL);
    desk_destroy(&desk);
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
}
