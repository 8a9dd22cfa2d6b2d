#include <string.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

static struct guest guest_with_window(struct bench *bench, uint64_t window)
{
    struct guest a;

    bench->config.window = window;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    return a;
}

static void no_more_results_are_sent_than_there_is_room_for(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 2 * BENCH_CHUNK_BYTES);

    guest_gives(bench, &a, 1, 0.5);
    CHECK_EQUAL(2, guest_heard_count(bench, &a, MSG_RESULT));
    guest_credits(bench, &a, 1, BENCH_CHUNK_BYTES);
    CHECK_EQUAL(3, guest_heard_count(bench, &a, MSG_RESULT));
    guest_gives(bench, &a, 2, 0.5); /* 8 bytes are left: one more */
    CHECK_EQUAL(4, guest_heard_count(bench, &a, MSG_RESULT));
    guest_credits(bench, &a, 1, 8);
    CHECK_EQUAL(4, guest_heard_count(bench, &a, MSG_RESULT));
    guest_credits(bench, &a, 1, 1);
    CHECK_EQUAL(5, guest_heard_count(bench, &a, MSG_RESULT));
    bench_destroy(&bench);
}

static void results_keep_their_order(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 1);

    guest_gives(bench, &a, 1, 0.5);
    guest_gives(bench, &a, 2, 0.5);
    for (unsigned i = 0; i < 2 * BENCH_CHUNKS; i++) {
        const struct msg_result *result =
            &guest_heard(bench, &a, MSG_RESULT)->result;

        CHECK_EQUAL(1 + i / BENCH_CHUNKS, result->exchange);
        CHECK_EQUAL(i % BENCH_CHUNKS, result->chunk);
        guest_credits(bench, &a, result->exchange,
                      bench_length(result->chunk) * sizeof(float));
    }
    bench_destroy(&bench);
}

static void uploads_are_credited_as_chunks_are_merged(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 2 * BENCH_CHUNK_BYTES);

    guest_offers(bench, &a, 1);
    hand_forget(&bench->hand);
    guest_delivers(bench, &a, 1, 0, 0.5);
    CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_CREDIT));
    CHECK_EQUAL(BENCH_CHUNK_BYTES,
                guest_heard(bench, &a, MSG_CREDIT)->credit.more);
    CHECK_EQUAL(1, guest_heard(bench, &a, MSG_CREDIT)->credit.exchange);
    bench_destroy(&bench);
}

/* Whatever the window and whatever it is owed: nobody waits for ever. */
static void any_window_lets_chunks_through_one_at_a_time(void)
{
    for (uint64_t window = 1; window <= BENCH_CHUNK_BYTES; window++) {
        struct bench *bench = bench_new();
        struct guest a = guest_with_window(bench, window);
        int64_t credit;

        guest_offers(bench, &a, 1);
        credit = (int64_t)guest_heard(bench, &a, MSG_GRANT)->grant.credit;
        for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
            CHECK(credit > 0 && credit <= (int64_t)window);
            credit -= (int64_t)(bench_length(i) * sizeof(float));
            hand_forget(&bench->hand);
            guest_delivers(bench, &a, 1, i, 0.5);
            if (i + 1 < BENCH_CHUNKS)
                credit +=
                    (int64_t)guest_heard(bench, &a, MSG_CREDIT)->credit.more;
        }
        CHECK_EQUAL(1, bench_look(bench)->version);
        bench_destroy(&bench);
    }
}

static void more_credit_than_was_sent_cuts(void)
{
    static const uint64_t too_much[] = {1, 33, UINT64_MAX};

    for (unsigned i = 0; i < 3; i++) {
        struct bench *bench = bench_new();
        struct guest a = guest_with_window(bench, 2 * BENCH_CHUNK_BYTES);

        if (i)
            guest_gives(bench, &a, 1, 0.5);
        guest_credits(bench, &a, 1, too_much[i]);
        CHECK(hand_dropped(&bench->hand, a.control));
        bench_destroy(&bench);
    }
}

static void a_newcomer_takes_the_centre_as_it_has_credit(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 2 * BENCH_CHUNK_BYTES), b;

    guest_gives(bench, &a, 1, 0.5);
    b = guest_new(bench, "b");
    b.hello.lineage = 99;
    guest_hello(bench, &b);
    CHECK_EQUAL(START_TAKE, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    guest_credits(bench, &b, 0, 0);
    guest_attach(bench, &b);
    CHECK_EQUAL(2, guest_heard_count(bench, &b, MSG_RESULT));
    guest_offers(bench, &b, 1);
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &b, 1, 0));
    guest_credits(bench, &b, 0, 2 * BENCH_CHUNK_BYTES);
    CHECK_EQUAL(3, guest_heard_count(bench, &b, MSG_RESULT));
    CHECK_NEAR(1.5, guest_result(bench, &b, 0, 2), 0);
    guest_offers(bench, &b, 2);
    CHECK_EQUAL(1, guest_heard_count(bench, &b, MSG_GRANT));
    bench_destroy(&bench);
}

/* Control and bulk are two connections: what is sent on bulk may overtake a
 * WELCOME. So the hub sends nothing until the node says that it is ready. */
static void a_centre_is_sent_when_the_node_asks_for_it(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench_open(bench);
    a = guest_comes(bench, "a");
    b = guest_new(bench, "b");
    b.hello.lineage = 99;
    guest_comes_again(bench, &b);
    guest_founds(bench, &a, 1);
    CHECK_EQUAL(START_TAKE, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(0, guest_heard_count(bench, &b, MSG_RESULT));
    guest_credits(bench, &b, 0, 0);
    CHECK_EQUAL(BENCH_CHUNKS, guest_heard_count(bench, &b, MSG_RESULT));
    bench_destroy(&bench);
}

static void who_needs_no_centre_gets_none(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 8 * BENCH_CHUNK_BYTES);

    guest_credits(bench, &a, 0, 0);
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_RESULT));
    CHECK(!hand_dropped(&bench->hand, a.control));
    bench_destroy(&bench);
}

static void a_new_bulk_connection_has_the_whole_window(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 2 * BENCH_CHUNK_BYTES);

    guest_gives(bench, &a, 1, 0.5);
    a.hello.run = 7;
    a.hello.base_version = 1;
    guest_hello(bench, &a);
    hand_leave(&bench->hand, a.bulk);
    a.bulk = PEER_NONE;
    guest_attach(bench, &a);
    hand_forget(&bench->hand);
    guest_gives(bench, &a, 2, 0.5);
    CHECK_EQUAL(2, guest_heard_count(bench, &a, MSG_RESULT));
    bench_destroy(&bench);
}

static void who_never_has_room_for_results_may_not_offer_for_ever(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.policy = preset_find("easgd")->policy;
    bench->config.init = INIT_ELASTIC;
    a = guest_with_window(bench, 1);
    for (uint64_t i = 1; i <= 70; i++) {
        hand_forget(&bench->hand);
        guest_gives(bench, &a, i, 0);
    }
    CHECK_EQUAL(VERDICT_SUPERSEDED, guest_verdict(bench, &a, 70, 0));
    CHECK(!hand_dropped(&bench->hand, a.control));
    bench_destroy(&bench);
}

/* Of exchange 1 one chunk has been sent; 2 and 3 wait, and 4 comes. */
static struct bench *with_four_results(const char *preset, struct guest *a)
{
    struct bench *bench = bench_new();

    bench->config.policy = preset_find(preset)->policy;
    bench->config.policy.gate = &gate_async;
    bench->config.init = bench->config.policy.exchange == EXCHANGE_PARAMETERS
                             ? INIT_ELASTIC
                             : INIT_HUB;
    *a = guest_with_window(bench, 1);
    for (uint64_t i = 1; i <= 4; i++)
        guest_gives(bench, a, i, 0.5);
    return bench;
}

/* Takes all results in turn; how many of each exchange. */
static void take_results(struct bench *bench, struct guest *a,
                         unsigned taken[5])
{
    unsigned seen = 0;

    while (guest_heard_count(bench, a, MSG_RESULT) > seen) {
        const struct msg_result *result =
            &guest_heard(bench, a, MSG_RESULT)->result;

        seen++;
        taken[result->exchange]++;
        guest_credits(bench, a, result->exchange,
                      bench_length(result->chunk) * sizeof(float));
    }
}

static void for_a_slow_receiver_the_newest_result_wins(void)
{
    struct guest a;
    struct bench *bench = with_four_results("mean", &a);
    unsigned taken[5] = {0};

    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 2, i));
        CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 3, i));
    }
    take_results(bench, &a, taken);
    CHECK_EQUAL(BENCH_CHUNKS, taken[1]);
    CHECK_EQUAL(0, taken[2] + taken[3]);
    CHECK_EQUAL(BENCH_CHUNKS, taken[4]);
    CHECK_NEAR(3, guest_result(bench, &a, 4, 2), 0);
    bench_destroy(&bench);
}

static void a_result_that_does_not_come_again_is_kept(void)
{
    struct guest a;
    struct bench *bench = with_four_results("easgd", &a);
    unsigned taken[5] = {0};

    take_results(bench, &a, taken);
    for (unsigned i = 1; i <= 4; i++)
        CHECK_EQUAL(BENCH_CHUNKS, taken[i]);
    CHECK_EQUAL(0, guest_heard_count(bench, &a, MSG_VERDICT));
    bench_destroy(&bench);
}

/* Exchange 2 is passed over while its last chunk is on its way to the hub. */
static void a_result_under_way_is_passed_over_as_a_whole(void)
{
    struct bench *bench = bench_new();
    struct guest a;
    unsigned taken[5] = {0};

    bench->config.policy.gate = &gate_async;
    a = guest_with_window(bench, 1);
    guest_gives(bench, &a, 1, 0.5);
    guest_offers(bench, &a, 2);
    guest_delivers(bench, &a, 2, 0, 0.5);
    guest_delivers(bench, &a, 2, 1, 0.5);
    guest_gives(bench, &a, 3, 0.5);
    CHECK_EQUAL(VERDICT_COUNT, guest_verdict(bench, &a, 2, 0));
    guest_delivers(bench, &a, 2, 2, 0.5);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 2, i));
    take_results(bench, &a, taken);
    CHECK_EQUAL(BENCH_CHUNKS, taken[1]);
    CHECK_EQUAL(0, taken[2]);
    CHECK_EQUAL(BENCH_CHUNKS, taken[3]);
    bench_destroy(&bench);
}

static void all_receive_the_same_bytes(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_with_window(bench, 8 * BENCH_CHUNK_BYTES);
    struct guest b = guest_comes(bench, "b");
    const struct hand_sent *one, *other;

    guest_gives(bench, &a, 1, 0.1);
    guest_gives(bench, &b, 1, 0.2);
    one = hand_last(&bench->hand, a.bulk, MSG_RESULT);
    other = hand_last(&bench->hand, b.bulk, MSG_RESULT);
    CHECK(one->payload == other->payload);
    CHECK_EQUAL(one->payload->checksum, one->msg.result.checksum);
    bench_destroy(&bench);
}

/* Found by the soak: a result of a hub that was killed may come after its node
 * has said HELLO to the next one. */
static void credit_before_attach_is_no_offence(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench_open(bench);
    a = guest_new(bench, "a");
    guest_hello(bench, &a);
    guest_credits(bench, &a, 5, BENCH_CHUNK_BYTES);
    CHECK(!bench_node(bench, "a")->gone);
    guest_attach(bench, &a);
    guest_credits(bench, &a, 5, BENCH_CHUNK_BYTES);
    CHECK(bench_node(bench, "a")->gone);
    bench_destroy(&bench);
}

void add_hub_delivery_tests(CU_pSuite suite)
{
    TEST(credit_before_attach_is_no_offence);
    TEST(no_more_results_are_sent_than_there_is_room_for);
    TEST(results_keep_their_order);
    TEST(uploads_are_credited_as_chunks_are_merged);
    TEST(any_window_lets_chunks_through_one_at_a_time);
    TEST(more_credit_than_was_sent_cuts);
    TEST(a_newcomer_takes_the_centre_as_it_has_credit);
    TEST(a_centre_is_sent_when_the_node_asks_for_it);
    TEST(who_needs_no_centre_gets_none);
    TEST(a_new_bulk_connection_has_the_whole_window);
    TEST(who_never_has_room_for_results_may_not_offer_for_ever);
    TEST(for_a_slow_receiver_the_newest_result_wins);
    TEST(a_result_that_does_not_come_again_is_kept);
    TEST(a_result_under_way_is_passed_over_as_a_whole);
    TEST(all_receive_the_same_bytes);
}
