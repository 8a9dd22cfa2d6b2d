/* What a hub does for nodes whose exchanges are cut at their time. */
#include <math.h>

#include "tests/check.h"
#include "tests/hub/store.h"

static struct store store;

static void closes(struct bench *bench, struct guest *guest, uint64_t exchange,
                   uint32_t first, uint32_t chunks)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.exchange = exchange;
    msg.close.first = first;
    msg.close.chunks = chunks;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

static void waives(struct bench *bench, struct guest *guest, uint64_t exchange)
{
    struct msg msg = {.kind = MSG_WAIVE};

    msg.waive.exchange = exchange;
    hand_say(&bench->hand, guest->control, &msg, NULL);
}

/* Two guests, whose offers have been granted; all of the centre is 1. */
static void bench_two(struct bench *bench, struct guest *a, struct guest *b)
{
    bench->config.miss = MISS_CUT;
    bench->config.nodes = 2;
    bench_open(bench);
    *a = guest_comes(bench, "a");
    *b = guest_comes(bench, "b");
    guest_founds(bench, a, 1);
    guest_offers(bench, a, 1);
    guest_offers(bench, b, 1);
    hand_forget(&bench->hand);
}

static struct bench *bench_of_two(struct guest *a, struct guest *b,
                                  uint64_t window)
{
    struct bench *bench = bench_new();

    bench->config.window = window;
    bench_two(bench, a, b);
    return bench;
}

static void a_round_goes_on_without_what_is_closed(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &a, 1, 0.5);
    guest_delivers(bench, &b, 1, 2, 0.5);
    CHECK(isnan(guest_result(bench, &a, 1, 0)));
    closes(bench, &b, 1, 0, 2);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    CHECK_NEAR(1.5, guest_result(bench, &b, 1, 0), 0);
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &b, 1, 1));
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 2));
    CHECK_EQUAL(1, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void what_is_closed_is_left_out_when_it_comes(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    closes(bench, &b, 1, 0, UINT32_MAX);
    guest_delivers(bench, &b, 1, 0, 99);
    guest_delivers_all(bench, &a, 1, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void what_is_on_its_way_is_still_awaited(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &a, 1, 0.5);
    closes(bench, &b, 1, 1, 2);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 1), 0);
    CHECK(isnan(guest_result(bench, &a, 1, 0)));
    guest_delivers(bench, &b, 1, 0, 1.5);
    CHECK_NEAR(2, guest_result(bench, &a, 1, 0), 0);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 0));
    bench_destroy(&bench);
}

static void a_result_that_is_waived_is_not_sent(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &b, 1, 0.5);
    guest_delivers(bench, &a, 1, 0, 0.5);
    waives(bench, &b, 1);
    guest_delivers(bench, &a, 1, 1, 0.5);
    guest_delivers(bench, &a, 1, 2, 0.5);
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_RESULT));
    CHECK_EQUAL(3, guest_heard_count(bench, &a, MSG_RESULT));
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, i));
    bench_destroy(&bench);
}

/* One chunk is on its way to b, which gives no credit back for it. */
static void what_is_queued_of_it_is_not_sent_either(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 1);

    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        guest_delivers(bench, &a, 1, i, 0.5);
        guest_delivers(bench, &b, 1, i, 0.5);
    }
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_RESULT));
    waives(bench, &b, 1);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 1));
    guest_credits(bench, &b, 1, BENCH_CHUNK_BYTES);
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_RESULT));
    bench_destroy(&bench);
}

/* a sends its last chunk first and b its first, and the window is a chunk. */
static void nodes_that_send_in_different_orders_hold_nobody_up(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 1);

    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        hand_forget(&bench->hand);
        guest_delivers(bench, &a, 1, BENCH_CHUNKS - 1 - i, 0.5);
        guest_delivers(bench, &b, 1, i, 0.5);
        if (i + 1 < BENCH_CHUNKS) {
            CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_CREDIT));
            CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_CREDIT));
        }
    }
    CHECK_EQUAL(1, bench_look(bench)->version);
    bench_destroy(&bench);
}

/* Its first one is in the round that waits for b. */
static void an_offer_that_waits_for_a_round_is_withdrawn(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &a, 1, 0.5);
    guest_offers(bench, &a, 2);
    waives(bench, &a, 2);
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &a, 2, 0));
    guest_offers(bench, &a, 3);
    guest_delivers_all(bench, &b, 1, 0.5);
    guest_offers(bench, &b, 2);
    CHECK_EQUAL(3, guest_heard(bench, &a, MSG_GRANT)->grant.exchange);
    bench_destroy(&bench);
}

/* Any other exchange is cut after a second without a byte. */
static void a_last_offer_may_pause(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &a, 1, 0.5);
    guest_delivers_all(bench, &b, 1, 0.5);
    guest_returns(bench, &a, 1);
    guest_returns(bench, &b, 1);
    guest_offers(bench, &a, 2);
    guest_offer(bench, &b,
                &(struct msg_offer){.exchange = 2, .samples = 1, .last = 1});
    guest_delivers_all(bench, &a, 2, 0.5);
    guest_delivers(bench, &b, 2, 0, 0.5);
    for (unsigned i = 0; i < 6; i++) {
        hand_wait(&bench->hand, 250 * MILLISECOND);
        guest_pings(bench, &a, i);
        guest_pings(bench, &b, i);
    }
    guest_delivers(bench, &b, 2, 1, 0.5);
    guest_delivers(bench, &b, 2, 2, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 2, 2));
    bench_destroy(&bench);
}

/* Its node knows which chunks, and must not give them again. */
static void what_was_merged_in_part_and_is_forgotten_was_merged(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    guest_delivers_all(bench, &a, 1, 0.5);
    guest_delivers(bench, &b, 1, 0, 0.5);
    closes(bench, &b, 1, 1, 2);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &b, 1, 1));
    for (uint64_t i = 2; i < 300; i++) {
        guest_offers(bench, &b, i);
        waives(bench, &b, i);
    }
    guest_breaks(bench, &b);
    guest_comes_again(bench, &b);
    CHECK_EQUAL(1, guest_heard(bench, &b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_COUNT, guest_verdict(bench, &b, 1, 0));
    bench_destroy(&bench);
}

static void offers_fragment(struct bench *bench, struct guest *guest,
                            uint64_t exchange, uint32_t fragment)
{
    struct msg_offer offer = {.exchange = exchange, .fragment = fragment};

    guest_offer(bench, guest, &offer);
}

/* The round of fragment 0 that is saved has b's exchange 3, but for chunk 2;
 * its exchange 2, of fragment 1, waits for the next. */
static struct guest save_with_one_that_waits(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench->config.fragments = 2;
    store_lend(&store, bench);
    bench_two(bench, &a, &b);
    offers_fragment(bench, &a, 2, 0);
    offers_fragment(bench, &b, 2, 1);
    offers_fragment(bench, &b, 3, 0);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i += 2) {
        guest_delivers(bench, &a, 1, i, 0.5);
        guest_delivers(bench, &b, 1, i, 0.5);
    }
    for (uint32_t i = 0; i < BENCH_CHUNKS; i += 2)
        guest_delivers(bench, &a, 2, i, 0.5);
    guest_delivers(bench, &b, 3, 0, 0.5);
    closes(bench, &b, 3, 2, 1);
    (void)bench_order(bench, COMMAND_CHECKPOINT, "");
    CHECK_EQUAL(2, store.version);
    CHECK_EQUAL(VERDICT_COUNT, guest_verdict(bench, &b, 2, 1));
    bench_destroy(&bench);
    b.hello.run = 7;
    return b;
}

/* Else its node would take it for merged, as what it offered later is. */
static void what_waits_behind_what_was_merged_in_part_is_lost(void)
{
    struct guest b = save_with_one_that_waits();
    struct bench *bench = bench_new();
    const struct hub_saved saved = {
        .schema = bench->schema, .theta = store.theta, .state = store.state};
    struct why why;

    bench_open(bench);
    CHECK_OK(hub_restore(bench->hub, &saved, &why));
    guest_comes_again(bench, &b);
    guest_lives(bench, &b, 3 * SECOND);
    CHECK_EQUAL(1, guest_heard(bench, &b, MSG_WELCOME)->welcome.merged);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 3, 0));
    CHECK_EQUAL(VERDICT_EXPIRED, guest_verdict(bench, &b, 3, 2));
    CHECK_EQUAL(VERDICT_LOST, guest_verdict(bench, &b, 2, 1));
    bench_destroy(&bench);
}

static void what_nobody_knows_is_neither_closed_nor_waived(void)
{
    struct guest a, b;
    struct bench *bench = bench_of_two(&a, &b, 0);

    closes(bench, &a, 7, 0, 3);
    closes(bench, &a, 1, 3, 1);
    waives(bench, &a, 7);
    guest_delivers_all(bench, &a, 1, 0.5);
    guest_delivers_all(bench, &b, 1, 0.5);
    closes(bench, &a, 1, 0, 3);
    waives(bench, &a, 1);
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_VERDICT));
    CHECK_EQUAL(3, guest_heard_count(bench, &a, MSG_RESULT));
    bench_destroy(&bench);
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
