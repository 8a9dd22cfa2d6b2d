#include <string.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static struct fake_node fake_node_with_window(struct hub_fixture *f,
                                              uint64_t window)
{
    struct fake_node a;

    f->config.window = window;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    return a;
}

static void no_more_results_are_sent_than_there_is_room_for(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 2 * FIXTURE_CHUNK_BYTES);

    fake_node_gives(f, &a, 1, 0.5);
    CHECK_EQUAL(2, fake_node_heard_count(f, &a, MSG_RESULT));
    fake_node_credits(f, &a, 1, FIXTURE_CHUNK_BYTES);
    CHECK_EQUAL(3, fake_node_heard_count(f, &a, MSG_RESULT));
    fake_node_gives(f, &a, 2, 0.5); /* 8 bytes are left: one more */
    CHECK_EQUAL(4, fake_node_heard_count(f, &a, MSG_RESULT));
    fake_node_credits(f, &a, 1, 8);
    CHECK_EQUAL(4, fake_node_heard_count(f, &a, MSG_RESULT));
    fake_node_credits(f, &a, 1, 1);
    CHECK_EQUAL(5, fake_node_heard_count(f, &a, MSG_RESULT));
    hub_fixture_destroy(&f);
}

static void results_keep_their_order(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 1);

    fake_node_gives(f, &a, 1, 0.5);
    fake_node_gives(f, &a, 2, 0.5);
    for (unsigned i = 0; i < 2 * FIXTURE_CHUNKS; i++) {
        const struct msg_result *result =
            &fake_node_heard(f, &a, MSG_RESULT)->result;

        CHECK_EQUAL(1 + i / FIXTURE_CHUNKS, result->exchange);
        CHECK_EQUAL(i % FIXTURE_CHUNKS, result->chunk);
        fake_node_credits(f, &a, result->exchange,
                          hub_fixture_length(result->chunk) * sizeof(float));
    }
    hub_fixture_destroy(&f);
}

static void uploads_are_credited_as_chunks_are_merged(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 2 * FIXTURE_CHUNK_BYTES);

    fake_node_offers(f, &a, 1);
    hand_forget(&f->hand);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_CREDIT));
    CHECK_EQUAL(FIXTURE_CHUNK_BYTES,
                fake_node_heard(f, &a, MSG_CREDIT)->credit.more);
    CHECK_EQUAL(1, fake_node_heard(f, &a, MSG_CREDIT)->credit.exchange);
    hub_fixture_destroy(&f);
}

/* Whatever the window and whatever it is owed: nobody waits for ever. */
static void any_window_lets_chunks_through_one_at_a_time(void)
{
    for (uint64_t window = 1; window <= FIXTURE_CHUNK_BYTES; window++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node a = fake_node_with_window(f, window);
        int64_t credit;

        fake_node_offers(f, &a, 1);
        credit = (int64_t)fake_node_heard(f, &a, MSG_GRANT)->grant.credit;
        for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
            CHECK(credit > 0 && credit <= (int64_t)window);
            credit -= (int64_t)(hub_fixture_length(i) * sizeof(float));
            hand_forget(&f->hand);
            fake_node_delivers(f, &a, 1, i, 0.5);
            if (i + 1 < FIXTURE_CHUNKS)
                credit +=
                    (int64_t)fake_node_heard(f, &a, MSG_CREDIT)->credit.more;
        }
        CHECK_EQUAL(1, hub_fixture_look(f)->version);
        hub_fixture_destroy(&f);
    }
}

static void more_credit_than_was_sent_cuts(void)
{
    static const uint64_t too_much[] = {1, 33, UINT64_MAX};

    for (unsigned i = 0; i < 3; i++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node a = fake_node_with_window(f, 2 * FIXTURE_CHUNK_BYTES);

        if (i)
            fake_node_gives(f, &a, 1, 0.5);
        fake_node_credits(f, &a, 1, too_much[i]);
        CHECK(hand_dropped(&f->hand, a.control));
        hub_fixture_destroy(&f);
    }
}

static void a_newcomer_takes_the_centre_as_it_has_credit(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 2 * FIXTURE_CHUNK_BYTES), b;

    fake_node_gives(f, &a, 1, 0.5);
    b = fake_node_new(f, "b");
    b.hello.lineage = 99;
    fake_node_hello(f, &b);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    fake_node_credits(f, &b, 0, 0);
    fake_node_attach(f, &b);
    CHECK_EQUAL(2, fake_node_heard_count(f, &b, MSG_RESULT));
    fake_node_offers(f, &b, 1);
    CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &b, 1, 0));
    fake_node_credits(f, &b, 0, 2 * FIXTURE_CHUNK_BYTES);
    CHECK_EQUAL(3, fake_node_heard_count(f, &b, MSG_RESULT));
    CHECK_NEAR(1.5, fake_node_result(f, &b, 0, 2), 0);
    fake_node_offers(f, &b, 2);
    CHECK_EQUAL(1, fake_node_heard_count(f, &b, MSG_GRANT));
    hub_fixture_destroy(&f);
}

/* Control and bulk are two connections: what is sent on bulk may overtake a
 * WELCOME. So the hub sends nothing until the node says that it is ready. */
static void a_centre_is_sent_when_the_node_asks_for_it(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_new(f, "b");
    b.hello.lineage = 99;
    fake_node_comes_again(f, &b);
    fake_node_founds(f, &a, 1);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    CHECK_EQUAL(0, fake_node_heard_count(f, &b, MSG_RESULT));
    fake_node_credits(f, &b, 0, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, fake_node_heard_count(f, &b, MSG_RESULT));
    hub_fixture_destroy(&f);
}

static void who_needs_no_centre_gets_none(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 8 * FIXTURE_CHUNK_BYTES);

    fake_node_credits(f, &a, 0, 0);
    CHECK_EQUAL(0, fake_node_heard_count(f, &a, MSG_RESULT));
    CHECK(!hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&f);
}

static void a_new_bulk_connection_has_the_whole_window(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 2 * FIXTURE_CHUNK_BYTES);

    fake_node_gives(f, &a, 1, 0.5);
    a.hello.run = 7;
    a.hello.base_version = 1;
    fake_node_hello(f, &a);
    hand_leave(&f->hand, a.bulk);
    a.bulk = PEER_NONE;
    fake_node_attach(f, &a);
    hand_forget(&f->hand);
    fake_node_gives(f, &a, 2, 0.5);
    CHECK_EQUAL(2, fake_node_heard_count(f, &a, MSG_RESULT));
    hub_fixture_destroy(&f);
}

/* With d = 2 k three are in flight, and twice as many results may wait. */
static void who_has_no_room_for_results_may_not_offer_for_ever(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.policy = preset_find("easgd")->policy;
    f->config.init = INIT_ELASTIC;
    f->config.delay = 2;
    a = fake_node_with_window(f, 1);
    for (uint64_t i = 1; i <= 8; i++)
        fake_node_gives(f, &a, i, 0);
    for (uint64_t i = 1; i <= 8; i++)
        CHECK_EQUAL(i == 1   ? VERDICT_MERGED
                    : i == 8 ? VERDICT_SUPERSEDED
                             : VERDICT_COUNT,
                    fake_node_verdict(f, &a, i, 0));
    fake_node_credits(f, &a, 1, FIXTURE_CHUNK_BYTES);
    fake_node_gives(f, &a, 9, 0);
    CHECK_EQUAL(VERDICT_SUPERSEDED, fake_node_verdict(f, &a, 9, 0));
    for (uint32_t i = 0; i < 2; i++)
        fake_node_credits(f, &a, 1, i ? 8 : FIXTURE_CHUNK_BYTES);
    fake_node_gives(f, &a, 10, 0);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, &a, 10, 0));
    CHECK(!hand_dropped(&f->hand, a.control));
    hub_fixture_destroy(&f);
}

/* Of exchange 1 one chunk has been sent; 2 and 3 wait, and 4 comes. */
static struct hub_fixture *with_four_results(const char *preset,
                                             struct fake_node *a)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.policy = preset_find(preset)->policy;
    f->config.policy.gate = &gate_async;
    f->config.init = f->config.policy.exchange == EXCHANGE_PARAMETERS
                         ? INIT_ELASTIC
                         : INIT_HUB;
    f->config.delay = 3;
    *a = fake_node_with_window(f, 1);
    for (uint64_t i = 1; i <= 4; i++)
        fake_node_gives(f, a, i, 0.5);
    return f;
}

/* Takes all results in turn; how many of each exchange. */
static void take_results(struct hub_fixture *f, struct fake_node *a,
                         unsigned taken[5])
{
    unsigned seen = 0;

    while (fake_node_heard_count(f, a, MSG_RESULT) > seen) {
        const struct msg_result *result =
            &fake_node_heard(f, a, MSG_RESULT)->result;

        seen++;
        taken[result->exchange]++;
        fake_node_credits(f, a, result->exchange,
                          hub_fixture_length(result->chunk) * sizeof(float));
    }
}

static void for_a_slow_receiver_the_newest_result_wins(void)
{
    struct fake_node a;
    struct hub_fixture *f = with_four_results("mean", &a);
    unsigned taken[5] = {0};

    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 2, i));
        CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 3, i));
    }
    take_results(f, &a, taken);
    CHECK_EQUAL(FIXTURE_CHUNKS, taken[1]);
    CHECK_EQUAL(0, taken[2] + taken[3]);
    CHECK_EQUAL(FIXTURE_CHUNKS, taken[4]);
    CHECK_NEAR(3, fake_node_result(f, &a, 4, 2), 0);
    hub_fixture_destroy(&f);
}

static void a_result_that_does_not_come_again_is_kept(void)
{
    struct fake_node a;
    struct hub_fixture *f = with_four_results("easgd", &a);
    unsigned taken[5] = {0};

    take_results(f, &a, taken);
    for (unsigned i = 1; i <= 4; i++)
        CHECK_EQUAL(FIXTURE_CHUNKS, taken[i]);
    CHECK_EQUAL(0, fake_node_heard_count(f, &a, MSG_VERDICT));
    hub_fixture_destroy(&f);
}

/* Exchange 2 is passed over while its last chunk is on its way to the hub. */
static void a_result_under_way_is_passed_over_as_a_whole(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;
    unsigned taken[5] = {0};

    f->config.policy.gate = &gate_async;
    f->config.delay = 2;
    a = fake_node_with_window(f, 1);
    fake_node_gives(f, &a, 1, 0.5);
    fake_node_offers(f, &a, 2);
    fake_node_delivers(f, &a, 2, 0, 0.5);
    fake_node_delivers(f, &a, 2, 1, 0.5);
    fake_node_gives(f, &a, 3, 0.5);
    CHECK_EQUAL(VERDICT_COUNT, fake_node_verdict(f, &a, 2, 0));
    fake_node_delivers(f, &a, 2, 2, 0.5);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 2, i));
    take_results(f, &a, taken);
    CHECK_EQUAL(FIXTURE_CHUNKS, taken[1]);
    CHECK_EQUAL(0, taken[2]);
    CHECK_EQUAL(FIXTURE_CHUNKS, taken[3]);
    hub_fixture_destroy(&f);
}

static void all_receive_the_same_bytes(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_with_window(f, 8 * FIXTURE_CHUNK_BYTES);
    struct fake_node b = fake_node_comes(f, "b");
    const struct hand_sent *one, *other;

    fake_node_gives(f, &a, 1, 0.1);
    fake_node_gives(f, &b, 1, 0.2);
    one = hand_last(&f->hand, a.bulk, MSG_RESULT);
    other = hand_last(&f->hand, b.bulk, MSG_RESULT);
    CHECK(one->payload == other->payload);
    CHECK_EQUAL(one->payload->checksum, one->msg.result.checksum);
    hub_fixture_destroy(&f);
}

/* Found by the soak: a result of a hub that was killed may come after its node
 * has said HELLO to the next one. */
static void credit_before_attach_is_no_offence(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    hub_fixture_open(f);
    a = fake_node_new(f, "a");
    fake_node_hello(f, &a);
    fake_node_credits(f, &a, 5, FIXTURE_CHUNK_BYTES);
    CHECK(!hub_fixture_node(f, "a")->gone);
    fake_node_attach(f, &a);
    fake_node_credits(f, &a, 5, FIXTURE_CHUNK_BYTES);
    CHECK(hub_fixture_node(f, "a")->gone);
    hub_fixture_destroy(&f);
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
    TEST(who_has_no_room_for_results_may_not_offer_for_ever);
    TEST(for_a_slow_receiver_the_newest_result_wins);
    TEST(a_result_that_does_not_come_again_is_kept);
    TEST(a_result_under_way_is_passed_over_as_a_whole);
    TEST(all_receive_the_same_bytes);
}
