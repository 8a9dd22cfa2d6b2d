/* What a hub does for nodes whose exchanges are cut at their time. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void closes(struct hub_fixture *f, struct fake_node *node,
                   uint64_t exchange, uint32_t first, uint32_t chunks)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.exchange = exchange;
    msg.close.first = first;
    msg.close.chunks = chunks;
    hand_say(&f->hand, node->control, &msg, NULL);
}

static void waives(struct hub_fixture *f, struct fake_node *node,
                   uint64_t exchange)
{
    struct msg msg = {.kind = MSG_WAIVE};

    msg.waive.exchange = exchange;
    hand_say(&f->hand, node->control, &msg, NULL);
}

/* Two nodes, whose offers have been granted; all of the centre is 1. */
static void hub_fixture_two(struct hub_fixture *f, struct fake_node *a,
                            struct fake_node *b)
{
    f->config.miss = MISS_CUT;
    f->config.nodes = 2;
    hub_fixture_open(f);
    *a = fake_node_comes(f, "a");
    *b = fake_node_comes(f, "b");
    fake_node_founds(f, a, 1);
    fake_node_offers(f, a, 1);
    fake_node_offers(f, b, 1);
    hand_forget(&f->hand);
}

static struct hub_fixture *
hub_fixture_of_two(struct fake_node *a, struct fake_node *b, uint64_t window)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.window = window;
    hub_fixture_two(f, a, b);
    return f;
}

static void a_round_goes_on_without_what_is_closed(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &a, 1, 0.5);
    fake_node_delivers(f, &b, 1, 2, 0.5);
    CHECK(isnan(fake_node_result(f, &a, 1, 0)));
    closes(f, &b, 1, 0, 2);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    CHECK_NEAR(1.5, fake_node_result(f, &b, 1, 0), 0);
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &b, 1, 1));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 2));
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void what_is_closed_is_left_out_when_it_comes(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    closes(f, &b, 1, 0, UINT32_MAX);
    fake_node_delivers(f, &b, 1, 0, 99);
    fake_node_delivers_all(f, &a, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void what_is_on_its_way_is_still_awaited(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &a, 1, 0.5);
    closes(f, &b, 1, 1, 2);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 1), 0);
    CHECK(isnan(fake_node_result(f, &a, 1, 0)));
    fake_node_delivers(f, &b, 1, 0, 1.5);
    CHECK_NEAR(2, fake_node_result(f, &a, 1, 0), 0);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 0));
    hub_fixture_destroy(&f);
}

static void a_result_that_is_waived_is_not_sent(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &b, 1, 0.5);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    waives(f, &b, 1);
    fake_node_delivers(f, &a, 1, 1, 0.5);
    fake_node_delivers(f, &a, 1, 2, 0.5);
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_RESULT));
    CHECK_EQUAL(3, fake_node_heard_count(f, &a, MSG_RESULT));
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, i));
    hub_fixture_destroy(&f);
}

/* One chunk is on its way to b, which gives no credit back for it. */
static void what_is_queued_of_it_is_not_sent_either(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 1);

    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        fake_node_delivers(f, &a, 1, i, 0.5);
        fake_node_delivers(f, &b, 1, i, 0.5);
    }
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_RESULT));
    waives(f, &b, 1);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 1));
    fake_node_credits(f, &b, 1, FIXTURE_CHUNK_BYTES);
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_RESULT));
    hub_fixture_destroy(&f);
}

/* a sends its last chunk first and b its first, and the window is a chunk. */
static void nodes_that_send_in_different_orders_hold_nobody_up(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 1);

    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        hand_forget(&f->hand);
        fake_node_delivers(f, &a, 1, FIXTURE_CHUNKS - 1 - i, 0.5);
        fake_node_delivers(f, &b, 1, i, 0.5);
        if (i + 1 < FIXTURE_CHUNKS) {
            CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_CREDIT));
            CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_CREDIT));
        }
    }
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

/* Its first one is in the round that waits for b. */
static void an_offer_that_waits_for_a_round_is_withdrawn(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &a, 1, 0.5);
    fake_node_offers(f, &a, 2);
    waives(f, &a, 2);
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &a, 2, 0));
    fake_node_offers(f, &a, 3);
    fake_node_delivers_all(f, &b, 1, 0.5);
    fake_node_offers(f, &b, 2);
    CHECK_EQUAL(3, fake_node_heard(f, &a, MSG_GRANT)->grant.exchange);
    hub_fixture_destroy(&f);
}

/* Any other exchange is cut after a second without a byte. */
static void a_last_offer_may_pause(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &a, 1, 0.5);
    fake_node_delivers_all(f, &b, 1, 0.5);
    fake_node_returns(f, &a, 1);
    fake_node_returns(f, &b, 1);
    fake_node_offers(f, &a, 2);
    fake_node_offer(
        f, &b, &(struct msg_offer){.exchange = 2, .samples = 1, .last = 1});
    fake_node_delivers_all(f, &a, 2, 0.5);
    fake_node_delivers(f, &b, 2, 0, 0.5);
    for (unsigned i = 0; i < 6; i++) {
        hand_wait(&f->hand, 250 * MILLISECOND);
        fake_node_pings(f, &a, i);
        fake_node_pings(f, &b, i);
    }
    fake_node_delivers(f, &b, 2, 1, 0.5);
    fake_node_delivers(f, &b, 2, 2, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 2, 2));
    hub_fixture_destroy(&f);
}

/* Its node knows which chunks, and must not give them again. */
static void what_was_merged_in_part_and_is_forgotten_was_merged(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    fake_node_delivers_all(f, &a, 1, 0.5);
    fake_node_delivers(f, &b, 1, 0, 0.5);
    closes(f, &b, 1, 1, 2);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &b, 1, 1));
    for (uint64_t i = 2; i < 300; i++) {
        fake_node_offers(f, &b, i);
        waives(f, &b, i);
    }
    fake_node_breaks(f, &b);
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(1, fake_node_heard(f, &b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, &b, 1, 0));
    hub_fixture_destroy(&f);
}

static void offers_fragment(struct hub_fixture *f, struct fake_node *node,
                            uint64_t exchange, uint32_t fragment)
{
    struct msg_offer offer = {.exchange = exchange, .fragment = fragment};

    fake_node_offer(f, node, &offer);
}

/* The round of fragment 0 that is saved has b's exchange 3, but for chunk 2;
 * its exchange 2, of fragment 1, waits for the next. */
static struct fake_node save_with_one_that_waits(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    f->config.fragments = 2;
    store_lend(&store, f);
    hub_fixture_two(f, &a, &b);
    offers_fragment(f, &a, 2, 0);
    offers_fragment(f, &b, 2, 1);
    offers_fragment(f, &b, 3, 0);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i += 2) {
        fake_node_delivers(f, &a, 1, i, 0.5);
        fake_node_delivers(f, &b, 1, i, 0.5);
    }
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i += 2)
        fake_node_delivers(f, &a, 2, i, 0.5);
    fake_node_delivers(f, &b, 3, 0, 0.5);
    closes(f, &b, 3, 2, 1);
    (void)hub_fixture_order(f, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(2, store.version);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, &b, 2, 1));
    hub_fixture_destroy(&f);
    b.hello.run = 7;
    return b;
}

/* Else its node would take it for merged, as what it offered later is. */
static void what_waits_behind_what_was_merged_in_part_is_lost(void)
{
    struct fake_node b = save_with_one_that_waits();
    struct hub_fixture *f = hub_fixture_new();
    struct why why;

    hub_fixture_open(f);
    CHECK_OK(store_restore(&store, f, store.state, &why));
    fake_node_comes_again(f, &b);
    fake_node_lives(f, &b, 3 * SECOND);
    CHECK_EQUAL(1, fake_node_heard(f, &b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 3, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, fake_node_verdict(f, &b, 3, 2));
    CHECK_EQUAL(VERDICT_LOST, fake_node_verdict(f, &b, 2, 1));
    hub_fixture_destroy(&f);
}

static void what_nobody_knows_is_neither_closed_nor_waived(void)
{
    struct fake_node a, b;
    struct hub_fixture *f = hub_fixture_of_two(&a, &b, 0);

    closes(f, &a, 7, 0, 3);
    closes(f, &a, 1, 3, 1);
    waives(f, &a, 7);
    fake_node_delivers_all(f, &a, 1, 0.5);
    fake_node_delivers_all(f, &b, 1, 0.5);
    closes(f, &a, 1, 0, 3);
    waives(f, &a, 1);
    CHECK_EQUAL(0, fake_node_heard_count(f, &a, MSG_VERDICT));
    CHECK_EQUAL(3, fake_node_heard_count(f, &a, MSG_RESULT));
    hub_fixture_destroy(&f);
}

void add_hub_cut_tests(CU_pSuite suite)
{
    TEST(a_round_goes_on_without_what_is_closed);
    TEST(what_is_closed_is_left_out_when_it_comes);
    TEST(what_is_on_its_way_is_still_awaited);
    TEST(a_result_that_is_waived_is_not_sent);
    TEST(what_is_queued_of_it_is_not_sent_either);
    TEST(nodes_that_send_in_different_orders_hold_nobody_up);
    TEST(an_offer_that_waits_for_a_round_is_withdrawn);
    TEST(a_last_offer_may_pause);
    TEST(what_was_merged_in_part_and_is_forgotten_was_merged);
    TEST(what_waits_behind_what_was_merged_in_part_is_lost);
    TEST(what_nobody_knows_is_neither_closed_nor_waived);
}
