/* Results that are changes of what the node was sent before. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

/* A member whose results may be changes, with exchange 1 offered at 3. */
static struct node_fixture *node_fixture_down(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.codec_down = CODEC_F16;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    return f;
}

/* All chunks of a result that changes `base`; its own version: values. The
 * checksum is that of the payload plus `damage`. */
static void send(struct node_fixture *f, uint64_t exchange, uint64_t base,
                 uint64_t version, double value, uint64_t damage)
{
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        struct extent extent = {.elements = node_fixture_length(i)};
        enum codec_id codec = base == version ? CODEC_RAW : CODEC_F16;
        struct blob *values = hand_floats(f->hand.pool, extent.elements, value);
        struct blob *payload =
            blob_new(f->hand.pool, payload_bytes(&extent, codec));
        struct msg msg = {.kind = MSG_RESULT};

        payload_encode(&extent, codec, blob_floats(values), payload->bytes);
        blob_seal(payload);
        msg.result.exchange = exchange;
        msg.result.chunk = i;
        msg.result.codec = codec;
        msg.result.weight = 1;
        msg.result.version = version;
        msg.result.base = base;
        msg.result.lineage = f->welcome.lineage;
        msg.result.checksum = payload->checksum + damage;
        hand_say(&f->hand, PEER_BULK, &msg, payload);
        blob_unref(&payload);
        blob_unref(&values);
    }
}

/* Sent by node_fixture_down's hub: values of 10, and a change to 12 for
 * exchange 2, which is taken at x = 11. */
static void send_both(struct node_fixture *f)
{
    send(f, 1, 1, 1, 10, 0);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 11);
    send(f, 2, 1, 2, 2, 0);
}

static void t20_a_change_is_added_to_what_was_sent_before(void)
{
    struct node_fixture *f = node_fixture_down();

    send_both(f);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(1, node_fixture_apply(f, 2, i), 0);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 13);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void t20_what_nobody_applies_is_held_all_the_same(void)
{
    struct node_fixture *f = node_fixture_down();

    send(f, 1, 1, 1, 10, 0);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 11);
    node_fixture_skips(f, 2);
    send(f, 2, 1, 2, 2, 0);
    send(f, 77, 2, 3, 0.5, 0);
    node_fixture_offers(f, 3, 11);
    send(f, 3, 3, 4, 0.25, 0);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_NEAR(1.75, node_fixture_apply(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void t20_changes_that_come_at_once_are_decoded_in_order(void)
{
    struct node_fixture *f = node_fixture_down();

    f->hand.holds_jobs = true;
    send(f, 1, 1, 1, 10, 0);
    send(f, 99, 1, 2, 2, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, f->hand.job_count);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 12);
    send(f, 2, 2, 3, 3, 0);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_NEAR(3, node_fixture_apply(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void t20_a_change_of_what_is_not_held_drops_the_hub(void)
{
    static const uint64_t bases[] = {0, 2, 3, UINT64_MAX};

    for (unsigned i = 0; i < 4; i++) {
        struct node_fixture *f = node_fixture_down();

        send(f, 1, 1, 1, 10, 0);
        node_fixture_applied(f, 1);
        node_fixture_offers(f, 2, 11);
        send(f, 2, bases[i], 4, 2, 0);
        CHECK(hand_dropped(&f->hand, PEER_CONTROL));
        CHECK_CONTAINS("a change of what this node has not",
                       hand_note(&f->hand, NOTE_DETACHED)->text);
        CHECK(isnan(node_fixture_apply(f, 2, 0)));
        node_fixture_destroy(&f);
    }
}

static void t20_without_a_codec_no_change_is_taken(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    send(f, 1, 1, 1, 10, 0);
    node_fixture_applied(f, 1);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_offers(f, 2, 11);
    send(f, 2, 1, 2, 2, 0);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_destroy(&f);
}

static void t20_a_new_connection_holds_nothing(void)
{
    struct node_fixture *f = node_fixture_down();

    send(f, 1, 1, 1, 10, 0);
    node_fixture_applied(f, 1);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_offers(f, 2, 11);
    hand_forget(&f->hand);
    send(f, 2, 1, 2, 2, 0);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_destroy(&f);
}

static void t20_what_a_lost_connection_brought_is_not_decoded_any_more(void)
{
    struct node_fixture *f = node_fixture_down();

    f->hand.holds_jobs = true;
    send(f, 1, 1, 1, 10, 0);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    send(f, 9, 5, 5, 4, 0);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK(isnan(node_fixture_apply(f, 1, 0)));
    node_fixture_offers(f, 2, 3);
    send(f, 2, 5, 6, 2, 0);
    CHECK_NEAR(3, node_fixture_apply(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void t20_a_damaged_change_drops_the_hub(void)
{
    struct node_fixture *f = node_fixture_down();

    send(f, 1, 1, 1, 10, 0);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 11);
    send(f, 2, 1, 2, 2, 1);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_CONTAINS("damaged", hand_note(&f->hand, NOTE_DETACHED)->text);
    CHECK(isnan(node_fixture_apply(f, 2, 0)));
    node_fixture_destroy(&f);
}

/* Nor is it said to be damaged. */
static void t20_a_change_for_which_there_is_no_memory_drops_the_hub(void)
{
    struct node_fixture *f = node_fixture_down();

    f->hand.starves = 1;
    send(f, 1, 1, 1, 10, 0);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_CONTAINS("no memory", hand_note(&f->hand, NOTE_DETACHED)->text);
    CHECK(!node_ended(f->node));
    node_fixture_destroy(&f);
}

static void t20_a_change_of_a_wrong_size_drops_the_hub(void)
{
    struct node_fixture *f = node_fixture_down();
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload = hand_floats(f->hand.pool, 1, 1);

    send(f, 1, 1, 1, 10, 0);
    msg.result.exchange = 9;
    msg.result.codec = CODEC_F16;
    msg.result.base = 1;
    msg.result.version = 2;
    msg.result.checksum = payload->checksum;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    blob_unref(&payload);
    node_fixture_destroy(&f);
}

/* 3e38 + 3e38 is more than a float32 holds. */
static void t20_a_change_to_infinity_drops_the_hub(void)
{
    struct node_fixture *f = node_fixture_down();
    struct msg msg = {.kind = MSG_RESULT};
    struct blob *payload = hand_floats(f->hand.pool, 4, 3e38);

    msg.result.verb = VERB_REPLACE;
    msg.result.checksum = payload->checksum;
    msg.result.base = msg.result.version = 1;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    msg.result.version = 2;
    hand_say(&f->hand, PEER_BULK, &msg, payload);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    blob_unref(&payload);
    node_fixture_destroy(&f);
}

static unsigned credits(const struct node_fixture *f)
{
    return hand_count(&f->hand, PEER_CONTROL, MSG_CREDIT);
}

static void t20_room_for_more_is_there_once_results_are_decoded(void)
{
    struct node_fixture *f = node_fixture_down();

    f->hand.holds_jobs = true;
    send(f, 1, 1, 1, 10, 0);
    CHECK_EQUAL(0, credits(f));
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK_EQUAL(FIXTURE_CHUNKS, credits(f));
    node_fixture_destroy(&f);
}

static void t20_more_than_the_window_drops_the_hub(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.codec_down = CODEC_F16;
    f->welcome.window = sizeof(float) * 2 * FIXTURE_ELEMENTS;
    node_fixture_ready(f, 1);
    f->hand.holds_jobs = true;
    send(f, 9, 1, 1, 10, 0);
    send(f, 9, 2, 2, 10, 0);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    send(f, 9, 3, 3, 10, 0);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    node_fixture_destroy(&f);
}

static void t20_the_anchor_is_what_a_change_leads_to(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct hand_sent *sent = NULL;

    f->welcome.codec_down = CODEC_F16;
    f->welcome.anchor = 0.5;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    send_both(f);
    for (unsigned i = 0; i < f->hand.sent_count; i++)
        if (f->hand.sent[i].msg.kind == MSG_LOCAL_RESULT &&
            f->hand.sent[i].msg.local_result.anchor)
            sent = &f->hand.sent[i];
    CHECK(sent != NULL);
    if (sent)
        CHECK_NEAR(12, hand_float(sent->payload, 0), 0);
    node_fixture_destroy(&f);
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
    TEST(t20_a_change_for_which_there_is_no_memory_drops_the_hub);
    TEST(t20_a_change_of_a_wrong_size_drops_the_hub);
    TEST(t20_a_change_to_infinity_drops_the_hub);
    TEST(t20_room_for_more_is_there_once_results_are_decoded);
    TEST(t20_more_than_the_window_drops_the_hub);
    TEST(t20_the_anchor_is_what_a_change_leads_to);
}
