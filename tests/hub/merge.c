#include <string.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void a_merged_chunk_goes_out_before_the_others_are_here(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_offers(f, &a, 1);
    fake_node_delivers(f, &a, 1, 1, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 1), 0);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 1, 1));
    CHECK_EQUAL(1, fake_node_heard(f, &a, MSG_RESULT)->result.version);
    CHECK_EQUAL(VERB_REBASE, fake_node_heard(f, &a, MSG_RESULT)->result.verb);
    CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_RESULT));
    CHECK_EQUAL(0, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

static void updates_weigh_by_their_samples(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");
    struct msg_offer offer = {.exchange = 1, .samples = 3};

    fake_node_offer(f, &a, &offer);
    offer.samples = 1;
    fake_node_offer(f, &b, &offer);
    fake_node_delivers(f, &a, 1, 0, 4);
    fake_node_delivers(f, &b, 1, 0, 8);
    CHECK_NEAR(1 + 3 + 2, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

/* One of a sample an iteration, and one of three. */
static void updates_may_weigh_by_their_batches(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;
    struct msg_offer offer = {.exchange = 1, .samples = 6, .iteration = 6};

    f->config.policy.reduce = &reduce_tokens;
    a = fake_node_alone(f);
    b = fake_node_comes(f, "b");
    fake_node_offer(f, &a, &offer);
    offer.iteration = 2;
    fake_node_offer(f, &b, &offer);
    fake_node_delivers(f, &a, 1, 0, 4);
    fake_node_delivers(f, &b, 1, 0, 8);
    CHECK_NEAR(1 + 7, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

/* The bits of the first result of three nodes that deliver in this order. */
static double merged_in_order(const unsigned order[3])
{
    static const double values[3] = {1e8, 1, -1e8};
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[3];
    double result;

    hub_fixture_open(f);
    for (unsigned i = 0; i < 3; i++)
        nodes[i] = fake_node_comes(f, "n");
    fake_node_founds(f, &nodes[0], 0.1);
    for (unsigned i = 0; i < 3; i++)
        fake_node_offers(f, &nodes[order[i]], 1);
    for (unsigned i = 0; i < 3; i++)
        fake_node_delivers(f, &nodes[order[i]], 1, 0, values[order[i]] / 3);
    result = fake_node_result(f, &nodes[0], 1, 0);
    hub_fixture_destroy(&f);
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
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");

    fake_node_offers(f, &a, 1);
    fake_node_offers(f, &b, 1);
    fake_node_delivers(f, &a, 1, 0, 1e300); /* infinity as a float */
    fake_node_delivers(f, &b, 1, 0, 0.5);
    CHECK_EQUAL(VERDICT_NONFINITE, fake_node_verdict(f, &a, 1, 0));
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &b, 1, 0));
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_chunk_with_a_wrong_checksum_is_corrupt(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    struct blob *payload = hand_floats(f->hand.pool, 4, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .checksum = payload->checksum + 1};

    fake_node_offers(f, &a, 1);
    fake_node_chunk(f, &a, &chunk, payload);
    CHECK_EQUAL(VERDICT_CORRUPT, fake_node_verdict(f, &a, 1, 0));
    CHECK_NEAR(1, fake_node_result(f, &a, 1, 0), 0);
    blob_unref(&payload);
    hub_fixture_destroy(&f);
}

static void a_chunk_of_a_wrong_size_is_corrupt(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    struct blob *payload = hand_floats(f->hand.pool, 3, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .checksum = payload->checksum};

    fake_node_offers(f, &a, 1);
    fake_node_chunk(f, &a, &chunk, payload);
    CHECK_EQUAL(VERDICT_CORRUPT, fake_node_verdict(f, &a, 1, 0));
    blob_unref(&payload);
    hub_fixture_destroy(&f);
}

/* One chunk of four times 0.5 as f16; what became of it when nodes were told to
 * encode as `agreed`. `spare` bytes too many. */
static enum verdict verdict_on_half(enum codec_id agreed, size_t spare)
{
    struct hub_fixture *f = hub_fixture_new();
    const struct extent extent = {.elements = 4};
    const float values[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    size_t bytes = payload_bytes(&extent, CODEC_F16) + spare;
    struct msg_chunk chunk = {.exchange = 1, .codec = CODEC_F16};
    struct blob *payload;
    struct fake_node a;
    enum verdict verdict;

    f->config.codec_up = agreed;
    a = fake_node_alone(f);
    CHECK_EQUAL(agreed, fake_node_heard(f, &a, MSG_WELCOME)->welcome.codec);
    payload = blob_new(f->hand.pool, bytes);
    memset(payload->bytes, 0, bytes);
    payload_encode(&extent, CODEC_F16, values, payload->bytes);
    blob_seal(payload);
    chunk.checksum = payload->checksum;
    fake_node_offers(f, &a, 1);
    fake_node_chunk(f, &a, &chunk, payload);
    verdict = fake_node_verdict(f, &a, 1, 0);
    if (verdict == VERDICT_MERGED)
        CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    blob_unref(&payload);
    hub_fixture_destroy(&f);
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
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.codec_up = CODEC_INT8;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 1, 0));
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_chunk_beyond_the_model_cuts_its_sender(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    struct blob *payload = hand_floats(f->hand.pool, 4, 0.5);
    struct msg_chunk chunk = {.exchange = 1, .chunk = FIXTURE_CHUNKS};

    fake_node_offers(f, &a, 1);
    fake_node_chunk(f, &a, &chunk, payload);
    CHECK(hand_dropped(&f->hand, a.bulk));
    blob_unref(&payload);
    hub_fixture_destroy(&f);
}

static void a_chunk_that_nobody_granted_is_left_out(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_delivers_all(f, &a, 1, 100);
    fake_node_delivers_all(f, &a, 0, 100);
    fake_node_gives(f, &a, 2, 0.5);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 2, 0), 0);
    CHECK_EQUAL(1, hub_fixture_look(f)->rounds);
    hub_fixture_destroy(&f);
}

static void a_chunk_that_comes_twice_counts_once(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    f->hand.holds_jobs = true;
    fake_node_offers(f, &a, 1);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    hand_work(&f->hand);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    hand_work(&f->hand);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    CHECK_EQUAL(1, fake_node_heard_count(f, &a, MSG_RESULT));
    hub_fixture_destroy(&f);
}

static void who_leaves_while_its_chunk_is_checked_is_not_merged(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");

    fake_node_offers(f, &a, 1);
    fake_node_offers(f, &b, 1);
    fake_node_delivers(f, &a, 1, 0, 0.5);
    f->hand.holds_jobs = true;
    fake_node_delivers(f, &b, 1, 0, 100);
    fake_node_breaks(f, &b);
    hand_work(&f->hand);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void who_leaves_after_its_chunk_was_checked_is_merged(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");

    fake_node_offers(f, &a, 1);
    fake_node_offers(f, &b, 1);
    fake_node_delivers(f, &b, 1, 0, 2);
    fake_node_breaks(f, &b);
    fake_node_delivers(f, &a, 1, 0, 1);
    CHECK_NEAR(2.5, fake_node_result(f, &a, 1, 0), 0);
    hub_fixture_destroy(&f);
}

static void a_gradient_is_a_step_downhill_and_comes_back_as_a_pull(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.policy.exchange = EXCHANGE_GRADIENT;
    f->config.policy.numbers.outer_lr = 0.5;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1);
    CHECK_NEAR(0.5, fake_node_result(f, &a, 1, 0), 0);
    CHECK_EQUAL(VERB_PULL, fake_node_heard(f, &a, MSG_RESULT)->result.verb);
    CHECK_NEAR(1, fake_node_heard(f, &a, MSG_RESULT)->result.weight, 0);
    hub_fixture_destroy(&f);
}

static void momentum_carries_over_from_round_to_round(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.policy.numbers.outer_momentum = 0.5;
    a = fake_node_alone(f);
    fake_node_gives(f, &a, 1, 1); /* m = -1, step 1 + 0.5 */
    CHECK_NEAR(2.5, fake_node_result(f, &a, 1, 0), 0);
    fake_node_gives(f, &a, 2, 0); /* m = -0.5, step 0.25 */
    CHECK_NEAR(2.75, fake_node_result(f, &a, 2, 0), 0);
    hub_fixture_destroy(&f);
}

/* Each of two weighs a half, though nobody has attached when they offer. */
static void offers_before_anybody_has_attached_wait_for_that(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a, b;

    f->config.policy = preset_find("async")->policy;
    f->config.nodes = 2;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    fake_node_founds(f, &a, 1);
    fake_node_breaks(f, &a);
    fake_node_breaks(f, &b);
    fake_node_hello(f, &a);
    fake_node_hello(f, &b);
    fake_node_offers(f, &a, 1);
    fake_node_attach(f, &a);
    fake_node_attach(f, &b);
    fake_node_delivers_all(f, &a, 1, 1);
    CHECK_NEAR(1.5, fake_node_result(f, &a, 1, 0), 1e-6);
    hub_fixture_destroy(&f);
}

/* Who leaves does not wait for those that --nodes asks for. */
static void a_last_offer_is_merged_whoever_else_may_come(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.nodes = 2;
    hub_fixture_open(f);
    a = fake_node_comes(f, "a");
    fake_node_founds(f, &a, 1);
    fake_node_gives_last(f, &a, 1, 0.5);
    CHECK_EQUAL(VERDICT_MERGED, fake_node_verdict(f, &a, 1, 0));
    hub_fixture_destroy(&f);
}

static void rounds_of_an_async_run_may_pass_each_other_in_a_chunk(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    f->config.policy.gate = &gate_async;
    a = fake_node_alone(f);
    fake_node_offers(f, &a, 1);
    fake_node_offers(f, &a, 2);
    fake_node_delivers(f, &a, 2, 0, 2);
    fake_node_delivers(f, &a, 1, 0, 1);
    fake_node_delivers(f, &a, 1, 1, 1);
    fake_node_delivers(f, &a, 2, 1, 2);
    CHECK_NEAR(4, fake_node_result(f, &a, 2, 1), 0);
    fake_node_delivers(f, &a, 1, 2, 1);
    fake_node_delivers(f, &a, 2, 2, 2);
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
}

void add_hub_merge_tests(CU_pSuite suite)
{
    TEST(a_merged_chunk_goes_out_before_the_others_are_here);
    TEST(updates_weigh_by_their_samples);
    TEST(updates_may_weigh_by_their_batches);
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
