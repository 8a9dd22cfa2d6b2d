/* Results that are changes of what the node was sent before. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"

/* A member whose results may be changes, with exchange 1 offered at 3. */
static struct desk *desk_down(void)
{
    struct desk *desk = desk_new();

    desk->welcome.codec_down = CODEC_F16;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    return desk;
}

/* All chunks of a result that changes `base`; its own version: values. The
 * checksum is that of the payload plus `damage`. */
static void send(struct desk *desk, uint64_t exchange, uint64_t base,
                 uint64_t version, double value, uint64_t damage)
{
    for (uint32_t i = 0; i < DESK_CHUNKS; i++) {
        struct extent extent = {.elements = desk_length(i)};
        enum codec_id codec = base == version ? CODEC_RAW : CODEC_F16;
        struct blob *values =
            hand_floats(desk->hand.pool, extent.elements, value);
        struct blob *payload =
            blob_new(desk->hand.pool, payload_bytes(&extent, codec));
        struct msg msg = {.kind = MSG_RESULT};

        payload_encode(&extent, codec, blob_floats(values), payload->bytes);
        blob_seal(payload);
        msg.result.exchange = exchange;
        msg.result.chunk = i;
        msg.result.codec = codec;
        msg.result.weight = 1;
        msg.result.version = version;
        msg.result.base = base;
        msg.result.lineage = desk->welcome.lineage;
        msg.result.checksum = payload->checksum + damage;
        hand_say(&desk->hand, PEER_BULK, &msg, payload);
        blob_unref(&payload);
        blob_unref(&values);
    }
}

/* Sent by desk_down's hub: values of 10, and a change to 12 for exchange 2,
 * which is taken at x = 11. */
static void send_both(struct desk *desk)
{
    send(desk, 1, 1, 1, 10, 0);
    desk_applied(desk, 1);
    desk_offers(desk, 2, 11);
    send(desk, 2, 1, 2, 2, 0);
}

static void t20_a_change_is_added_to_what_was_sent_before(void)
{
    struct desk *desk = desk_down();

    send_both(desk);
    CHECK_NEAR(7, desk_apply(desk, 1, 0), 0);
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(1, desk_apply(desk, 2, i), 0);
    desk_applied(desk, 2);
    desk_offers(desk, 3, 13);
    CHECK_NEAR(1, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void t20_what_nobody_applies_is_held_all_the_same(void)
{
    struct desk *desk = desk_down();

    send(desk, 1, 1, 1, 10, 0);
    desk_applied(desk, 1);
    desk_offers(desk, 2, 11);
    desk_skips(desk, 2);
    send(desk, 2, 1, 2, 2, 0);
    send(desk, 77, 2, 3, 0.5, 0);
    desk_offers(desk, 3, 11);
    send(desk, 3, 3, 4, 0.25, 0);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_NEAR(1.75, desk_apply(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void t20_changes_that_come_at_once_are_decoded_in_order(void)
{
    struct desk *desk = desk_down();

    desk->hand.holds_jobs = true;
    send(desk, 1, 1, 1, 10, 0);
    send(desk, 99, 1, 2, 2, 0);
    CHECK_EQUAL(DESK_CHUNKS, desk->hand.job_count);
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    desk_applied(desk, 1);
    desk_offers(desk, 2, 12);
    send(desk, 2, 2, 3, 3, 0);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_NEAR(3, desk_apply(desk, 2, 2), 0);
    desk_destroy(&desk);
}

static void t20_a_change_of_what_is_not_held_drops_the_hub(void)
{
    static const uint64_t bases[] = {0, 2, 3, UINT64_MAX};

    for (unsigned i = 0; i < 4; i++) {
        struct desk *desk = desk_down();

        send(desk, 1, 1, 1, 10, 0);
        desk_applied(desk, 1);
        desk_offers(desk, 2, 11);
        send(desk, 2, bases[i], 4, 2, 0);
        CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
        CHECK_CONTAINS("a change of what this node has not",
                       hand_note(&desk->hand, NOTE_DETACHED)->text);
        CHECK(isnan(desk_apply(desk, 2, 0)));
        desk_destroy(&desk);
    }
}

static void t20_without_a_codec_no_change_is_taken(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    send(desk, 1, 1, 1, 10, 0);
    desk_applied(desk, 1);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    desk_offers(desk, 2, 11);
    send(desk, 2, 1, 2, 2, 0);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    desk_destroy(&desk);
}

static void t20_a_new_connection_holds_nothing(void)
{
    struct desk *desk = desk_down();

    send(desk, 1, 1, 1, 10, 0);
    desk_applied(desk, 1);
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_offers(desk, 2, 11);
    hand_forget(&desk->hand);
    send(desk, 2, 1, 2, 2, 0);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    desk_destroy(&desk);
}

static void t20_what_a_lost_connection_brought_is_not_decoded_any_more(void)
{
    struct desk *desk = desk_down();

    desk->hand.holds_jobs = true;
    send(desk, 1, 1, 1, 10, 0);
    desk_breaks(desk);
    desk_rejoins(desk);
    send(desk, 9, 5, 5, 4, 0);
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    CHECK(isnan(desk_apply(desk, 1, 0)));
    desk_offers(desk, 2, 3);
    send(desk, 2, 5, 6, 2, 0);
    CHECK_NEAR(3, desk_apply(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void t20_a_damaged_change_drops_the_hub(void)
{
    struct desk *desk = desk_down();

    send(desk, 1, 1, 1, 10, 0);
    desk_applied(desk, 1);
    desk_offers(desk, 2, 11);
    send(desk, 2, 1, 2, 2, 1);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_CONTAINS("damaged", hand_note(&desk->hand, NOTE_DETACHED)->text);
    CHECK(isnan(desk_apply(desk, 2, 0)));
    desk_destroy(&desk);
}

static void t20_a_change_of_a_wrong_size_drops_the_hub(void)
{
    struct desk *desk = desk_down();
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload = hand_floats(desk->hand.pool, 1, 1);

    send(desk, 1, 1, 1, 10, 0);
    msg.result.exchange = 9;
    msg.result.codec = CODEC_F16;
    msg.result.base = 1;
    msg.result.version = 2;
    msg.result.checksum = payload->checksum;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    blob_unref(&payload);
    desk_destroy(&desk);
}

/* 3e38 + 3e38 is more than a float32 holds. */
static void t20_a_change_to_infinity_drops_the_hub(void)
{
    struct desk *desk = desk_down();
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload = hand_floats(desk->hand.pool, 4, 3e38);

    msg.result.verb = VERB_REPLACE;
    msg.result.checksum = payload->checksum;
    msg.result.base = msg.result.version = 1;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    msg.result.version = 2;
    hand_say(&desk->hand, PEER_BULK, &msg, payload);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    blob_unref(&payload);
    desk_destroy(&desk);
}

static unsigned credits(const struct desk *desk)
{
    return hand_count(&desk->hand, PEER_CONTROL, MSG_CREDIT);
}

static void t20_room_for_more_is_there_once_results_are_decoded(void)
{
    struct desk *desk = desk_down();

    desk->hand.holds_jobs = true;
    send(desk, 1, 1, 1, 10, 0);
    CHECK_EQUAL(0, credits(desk));
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    CHECK_EQUAL(DESK_CHUNKS, credits(desk));
    desk_destroy(&desk);
}

static void t20_more_than_the_window_drops_the_hub(void)
{
    struct desk *desk = desk_new();

    desk->welcome.codec_down = CODEC_F16;
    desk->welcome.window = sizeof(float) * 2 * DESK_ELEMENTS;
    desk_ready(desk, 1);
    desk->hand.holds_jobs = true;
    send(desk, 9, 1, 1, 10, 0);
    send(desk, 9, 2, 2, 10, 0);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    send(desk, 9, 3, 3, 10, 0);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    desk_destroy(&desk);
}

static void t20_the_anchor_is_what_a_change_leads_to(void)
{
    struct desk *desk = desk_new();
    const struct hand_sent *sent = NULL;

    desk->welcome.codec_down = CODEC_F16;
    desk->welcome.anchor = 0.5;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    send_both(desk);
    for (unsigned i = 0; i < desk->hand.sent_count; i++)
        if (desk->hand.sent[i].msg.kind == MSG_APPLY &&
            desk->hand.sent[i].msg.apply.anchor)
            sent = &desk->hand.sent[i];
    CHECK(sent != NULL);
    if (sent)
        CHECK_NEAR(12, hand_float(sent->payload, 0), 0);
    desk_destroy(&desk);
}

void add_node_held_tests(CU_pSuite suite)
{
    TEST(t20_a_change_is_added_to_what_was_sent_before);
    TEST(t20_what_nobody_applies_is_held_all_the_same);
    TEST(t20_changes_that_come_at_once_are_decoded_in_order);
    TEST(t20_a_change_of_what_is_not_held_drops_the_hub);
    TEST(t20_without_a_codec_no_change_is_taken);
    TEST(t20_a_new_connection_holds_nothing);
    TEST(t20_what_a_lost_connection_brought_is_not_decoded_any_more);
    TEST(t20_a_damaged_change_drops_the_hub);
    TEST(t20_a_change_of_a_wrong_size_drops_the_hub);
    TEST(t20_a_change_to_infinity_drops_the_hub);
    TEST(t20_room_for_more_is_there_once_results_are_decoded);
    TEST(t20_more_than_the_window_drops_the_hub);
    TEST(t20_the_anchor_is_what_a_change_leads_to);
}
