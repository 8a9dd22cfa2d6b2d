#include <string.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

static void a_merged_chunk_goes_out_before_the_others_are_here(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_offers(bench, &a, 1);
    guest_delivers(bench, &a, 1, 1, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 1), 0);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 1));
    CHECK_EQUAL(1, guest_heard(bench, &a, MSG_RESULT)->result.version);
    CHECK_EQUAL(VERB_REBASE, guest_heard(bench, &a, MSG_RESULT)->result.verb);
    CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_RESULT));
    CHECK_EQUAL(0, bench_look(bench)->version);
    bench_destroy(&bench);
}

static void updates_weigh_by_their_samples(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");
    struct msg_offer offer = {.exchange = 1, .samples = 3};

    guest_offer(bench, &a, &offer);
    offer.samples = 1;
    guest_offer(bench, &b, &offer);
    guest_delivers(bench, &a, 1, 0, 4);
    guest_delivers(bench, &b, 1, 0, 8);
    CHECK_NEAR(1 + 3 + 2, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

/* The bits of the first result of three nodes that deliver in this order. */
static double merged_in_order(const unsigned order[3])
{
    static const double values[3] = {1e8, 1, -1e8};
    struct bench *bench = bench_new();
    struct guest guests[3];
    double result;

    bench_open(bench);
    for (unsigned i = 0; i < 3; i++)
        guests[i] = guest_comes(bench, "n");
    guest_founds(bench, &guests[0], 0.1);
    for (unsigned i = 0; i < 3; i++)
        guest_offers(bench, &guests[order[i]], 1);
    for (unsigned i = 0; i < 3; i++)
        guest_delivers(bench, &guests[order[i]], 1, 0, values[order[i]] / 3);
    result = guest_result(bench, &guests[0], 1, 0);
    bench_destroy(&bench);
    return result;
}

static void the_sum_does_not_depend_on_who_delivers_first(void)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double first = merged_in_order(orders[0]);

    for (unsigned i = 1; i < 6; i++)
        CHECK_NEAR(first, merged_in_order(orders[i]), 0);
}

static void a_chunk_that_is_not_finite_is_left_out(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");

    guest_offers(bench, &a, 1);
    guest_offers(bench, &b, 1);
    guest_delivers(bench, &a, 1, 0, 1e300); /* infinity as a float */
    guest_delivers(bench, &b, 1, 0, 0.5);
    CHECK_EQUAL(VERDICT_NONFINITE, guest_verdict(bench, &a, 1, 0));
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &b, 1, 0));
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void a_chunk_with_a_wrong_checksum_is_corrupt(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    struct blob *payload = hand_floats(bench->hand.pool, 4, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .checksum = payload->checksum + 1};

    guest_offers(bench, &a, 1);
    guest_chunk(bench, &a, &chunk, payload);
    CHECK_EQUAL(VERDICT_CORRUPT, guest_verdict(bench, &a, 1, 0));
    CHECK_NEAR(1, guest_result(bench, &a, 1, 0), 0);
    blob_unref(&payload);
    bench_destroy(&bench);
}

static void a_chunk_of_a_wrong_size_is_corrupt(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    struct blob *payload = hand_floats(bench->hand.pool, 3, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .checksum = payload->checksum};

    guest_offers(bench, &a, 1);
    guest_chunk(bench, &a, &chunk, payload);
    CHECK_EQUAL(VERDICT_CORRUPT, guest_verdict(bench, &a, 1, 0));
    blob_unref(&payload);
    bench_destroy(&bench);
}

/* One chunk of four times 0.5 as f16; what became of it when nodes were told to
 * encode as `agreed`. `spare` bytes too many. */
static enum verdict verdict_on_half(enum codec_id agreed, size_t spare)
{
    struct bench *bench = bench_new();
    const struct extent extent = {.elements = 4};
    const float values[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    size_t bytes = payload_bytes(&extent, CODEC_F16) + spare;
    struct msg_chunk chunk = {.exchange = 1, .codec = CODEC_F16};
    struct blob *payload;
    struct guest a;
    enum verdict verdict;

    bench->config.codec_up = agreed;
    a = guest_alone(bench);
    CHECK_EQUAL(agreed, guest_heard(bench, &a, MSG_WELCOME)->welcome.codec);
    payload = blob_new(bench->hand.pool, bytes);
    memset(payload->bytes, 0, bytes);
    payload_encode(&extent, CODEC_F16, values, payload->bytes);
    blob_seal(payload);
    chunk.checksum = payload->checksum;
    guest_offers(bench, &a, 1);
    guest_chunk(bench, &a, &chunk, payload);
    verdict = guest_verdict(bench, &a, 1, 0);
    if (verdict == VERDICT_MERGED)
        CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    blob_unref(&payload);
    bench_destroy(&bench);
    return verdict;
}

static void a_chunk_is_decoded_by_its_codec(void)
{
    CHECK_EQUAL(VERDICT_MERGED, verdict_on_half(CODEC_F16, 0));
}

static void a_chunk_in_a_codec_that_was_not_agreed_is_corrupt(void)
{
    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on_half(CODEC_RAW, 0));
    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on_half(CODEC_INT8, 0));
}

static void an_encoded_chunk_of_a_wrong_size_is_corrupt(void)
{
    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on_half(CODEC_F16, 1));
}

static void raw_chunks_are_taken_whatever_was_agreed(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.codec_up = CODEC_INT8;
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 0));
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void a_chunk_beyond_the_model_cuts_its_sender(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    struct blob *payload = hand_floats(bench->hand.pool, 4, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .chunk = BENCH_CHUNKS};

    guest_offers(bench, &a, 1);
    guest_chunk(bench, &a, &chunk, payload);
    CHECK(hand_dropped(&bench->hand, a.bulk));
    blob_unref(&payload);
    bench_destroy(&bench);
}

static void a_chunk_that_nobody_granted_is_left_out(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_delivers_all(bench, &a, 1, 100);
    guest_delivers_all(bench, &a, 0, 100);
    guest_gives(bench, &a, 2, 0.5);
    CHECK_NEAR(1.5, guest_result(bench, &a, 2, 0), 0);
    CHECK_EQUAL(1, bench_look(bench)->rounds);
    bench_destroy(&bench);
}

static void a_chunk_that_comes_twice_counts_once(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    bench->hand.holds_jobs = true;
    guest_offers(bench, &a, 1);
    guest_delivers(bench, &a, 1, 0, 0.5);
    guest_delivers(bench, &a, 1, 0, 0.5);
    hand_work(&bench->hand);
    guest_delivers(bench, &a, 1, 0, 0.5);
    hand_work(&bench->hand);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    CHECK_EQUAL(1, guest_heard_count(bench, &a, MSG_RESULT));
    bench_destroy(&bench);
}

static void who_leaves_while_its_chunk_is_checked_is_not_merged(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");

    guest_offers(bench, &a, 1);
    guest_offers(bench, &b, 1);
    guest_delivers(bench, &a, 1, 0, 0.5);
    bench->hand.holds_jobs = true;
    guest_delivers(bench, &b, 1, 0, 100);
    guest_breaks(bench, &b);
    hand_work(&bench->hand);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void who_leaves_after_its_chunk_was_checked_is_merged(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");

    guest_offers(bench, &a, 1);
    guest_offers(bench, &b, 1);
    guest_delivers(bench, &b, 1, 0, 2);
    guest_breaks(bench, &b);
    guest_delivers(bench, &a, 1, 0, 1);
    CHECK_NEAR(2.5, guest_result(bench, &a, 1, 0), 0);
    bench_destroy(&bench);
}

static void a_gradient_is_a_step_downhill_and_comes_back_as_a_pull(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.policy.exchange = EXCHANGE_GRADIENT;
    bench->config.policy.numbers.outer_lr = 0.5;
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1);
    CHECK_NEAR(0.5, guest_result(bench, &a, 1, 0), 0);
    CHECK_EQUAL(VERB_PULL, guest_heard(bench, &a, MSG_RESULT)->result.verb);
    CHECK_NEAR(1, guest_heard(bench, &a, MSG_RESULT)->result.weight, 0);
    bench_destroy(&bench);
}

static void momentum_carries_over_from_round_to_round(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.policy.numbers.outer_momentum = 0.5;
    a = guest_alone(bench);
    guest_gives(bench, &a, 1, 1); /* m = -1, step 1 + 0.5 */
    CHECK_NEAR(2.5, guest_result(bench, &a, 1, 0), 0);
    guest_gives(bench, &a, 2, 0); /* m = -0.5, step 0.25 */
    CHECK_NEAR(2.75, guest_result(bench, &a, 2, 0), 0);
    bench_destroy(&bench);
}

/* Each of two weighs a half, though nobody has attached when they offer. */
static void offers_before_anybody_has_attached_wait_for_that(void)
{
    struct bench *bench = bench_new();
    struct guest a, b;

    bench->config.policy = preset_find("async")->policy;
    bench->config.nodes = 2;
    bench_open(bench);
    a = guest_comes(bench, "a");
    b = guest_comes(bench, "b");
    guest_founds(bench, &a, 1);
    guest_breaks(bench, &a);
    guest_breaks(bench, &b);
    guest_hello(bench, &a);
    guest_hello(bench, &b);
    guest_offers(bench, &a, 1);
    guest_attach(bench, &a);
    guest_attach(bench, &b);
    guest_delivers_all(bench, &a, 1, 1);
    CHECK_NEAR(1.5, guest_result(bench, &a, 1, 0), 1e-6);
    bench_destroy(&bench);
}

/* Who leaves does not wait for those that --nodes asks for. */
static void a_last_offer_is_merged_whoever_else_may_come(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.nodes = 2;
    bench_open(bench);
    a = guest_comes(bench, "a");
    guest_founds(bench, &a, 1);
    guest_gives_last(bench, &a, 1, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, guest_verdict(bench, &a, 1, 0));
    bench_destroy(&bench);
}

static void rounds_of_an_async_run_may_pass_each_other_in_a_chunk(void)
{
    struct bench *bench = bench_new();
    struct guest a;

    bench->config.policy.gate = &gate_async;
    a = guest_alone(bench);
    guest_offers(bench, &a, 1);
    guest_offers(bench, &a, 2);
    guest_delivers(bench, &a, 2, 0, 2);
    guest_delivers(bench, &a, 1, 0, 1);
    guest_delivers(bench, &a, 1, 1, 1);
    guest_delivers(bench, &a, 2, 1, 2);
    CHECK_NEAR(4, guest_result(bench, &a, 2, 1), 0);
    guest_delivers(bench, &a, 1, 2, 1);
    guest_delivers(bench, &a, 2, 2, 2);
    CHECK_EQUAL(2, bench_look(bench)->version);
    bench_destroy(&bench);
}

void add_hub_merge_tests(CU_pSuite suite)
{
    TEST(a_merged_chunk_goes_out_before_the_others_are_here);
    TEST(updates_weigh_by_their_samples);
    TEST(the_sum_does_not_depend_on_who_delivers_first);
    TEST(a_chunk_that_is_not_finite_is_left_out);
    TEST(a_chunk_with_a_wrong_checksum_is_corrupt);
    TEST(a_chunk_of_a_wrong_size_is_corrupt);
    TEST(a_chunk_is_decoded_by_its_codec);
    TEST(a_chunk_in_a_codec_that_was_not_agreed_is_corrupt);
    TEST(an_encoded_chunk_of_a_wrong_size_is_corrupt);
    TEST(raw_chunks_are_taken_whatever_was_agreed);
    TEST(a_chunk_beyond_the_model_cuts_its_sender);
    TEST(a_chunk_that_nobody_granted_is_left_out);
    TEST(a_chunk_that_comes_twice_counts_once);
    TEST(who_leaves_while_its_chunk_is_checked_is_not_merged);
    TEST(who_leaves_after_its_chunk_was_checked_is_merged);
    TEST(a_gradient_is_a_step_downhill_and_comes_back_as_a_pull);
    TEST(momentum_carries_over_from_round_to_round);
    TEST(offers_before_anybody_has_attached_wait_for_that);
    TEST(a_last_offer_is_merged_whoever_else_may_come);
    TEST(rounds_of_an_async_run_may_pass_each_other_in_a_chunk);
}
