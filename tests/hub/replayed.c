/* What comes twice, late, or from a life before is merged once or never. */
#include "tests/check.h"
#include "tests/hub/bench.h"

static void a_chunk_that_comes_twice_is_merged_once(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b");

    guest_offers(bench, &a, 1);
    guest_offers(bench, &b, 1);
    guest_delivers(bench, &a, 1, 0, 2);
    guest_delivers(bench, &a, 1, 0, 100);
    guest_delivers(bench, &b, 1, 0, 4);
    guest_delivers(bench, &b, 1, 0, 100);
    CHECK_NEAR(1 + 3, guest_result(bench, &a, 1, 0), 0);
    CHECK_EQUAL(2, bench_look(bench)->verdicts[VERDICT_MERGED]);
    CHECK(!hand_dropped(&bench->hand, a.bulk));
    bench_destroy(&bench);
}

static void a_chunk_of_an_exchange_that_is_over_changes_nothing(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_gives(bench, &a, 1, 1);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, &a, 1, i, 100);
    guest_gives(bench, &a, 2, 1);
    CHECK_NEAR(3, guest_result(bench, &a, 2, 0), 0);
    CHECK_EQUAL(2, bench_look(bench)->version);
    CHECK_EQUAL(2 * BENCH_CHUNKS, bench_look(bench)->offered);
    CHECK_EQUAL(2 * BENCH_CHUNKS, bench_look(bench)->verdicts[VERDICT_MERGED]);
    bench_destroy(&bench);
}

static void an_offer_of_a_former_exchange_is_not_taken_again(void)
{
    for (uint64_t old = 1; old <= 2; old++) {
        struct bench *bench = bench_new();
        struct guest a = guest_alone(bench);

        guest_gives(bench, &a, 1, 1);
        guest_gives(bench, &a, 2, 1);
        guest_offers(bench, &a, old);
        for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
            guest_delivers(bench, &a, old, i, 100);
        guest_gives(bench, &a, 3, 1);
        CHECK_EQUAL(3, bench_look(bench)->version);
        CHECK_NEAR(4, guest_result(bench, &a, 3, 0), 0);
        CHECK_EQUAL(3 * BENCH_CHUNKS,
                    bench_look(bench)->verdicts[VERDICT_MERGED]);
        bench_destroy(&bench);
    }
}

/* The same process, over another connection: a proxy or a recording. */
static void what_was_merged_is_a_duplicate_over_another_connection(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);

    guest_gives(bench, &a, 1, 1);
    guest_breaks(bench, &a);
    guest_comes_again(bench, &a);
    guest_offers(bench, &a, 1);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++)
        guest_delivers(bench, &a, 1, i, 100);
    CHECK_EQUAL(1, bench_look(bench)->version);
    CHECK_EQUAL(BENCH_CHUNKS, bench_look(bench)->verdicts[VERDICT_MERGED]);
    bench_destroy(&bench);
}

/* Announces the norm exactly, so that anything counted twice is too much. */
static void what_the_network_repeats_swaps_or_damages_adds_no_length(void)
{
    const struct msg_offer offer = {.exchange = 1, .norm = 3.1622777};
    const struct msg_chunk spoilt = {
        .exchange = 1, .chunk = 2, .codec = CODEC_RAW, .checksum = 1};
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench);
    struct blob *payload = hand_floats(bench->hand.pool, 2, 100);

    bench->hand.holds_jobs = true;
    guest_offer(bench, &a, &offer);
    guest_chunk(bench, &a, &spoilt, payload);
    for (uint32_t i = BENCH_CHUNKS - 1; i > 0; i--)
        for (int times = 0; times < 2; times++)
            guest_delivers(bench, &a, 1, i - 1, 1);
    hand_work(&bench->hand);
    guest_delivers(bench, &a, 1, 2, 1);
    hand_work(&bench->hand);
    CHECK_EQUAL(0, bench_look(bench)->verdicts[VERDICT_NORM]);
    CHECK_EQUAL(1, bench_look(bench)->verdicts[VERDICT_CORRUPT]);
    CHECK_EQUAL(2, bench_look(bench)->verdicts[VERDICT_MERGED]);
    blob_unref(&payload);
    bench_destroy(&bench);
}

void add_hub_replayed_tests(CU_pSuite suite)
{
    TEST(a_chunk_that_comes_twice_is_merged_once);
    TEST(a_chunk_of_an_exchange_that_is_over_changes_nothing);
    TEST(an_offer_of_a_former_exchange_is_not_taken_again);
    TEST(what_was_merged_is_a_duplicate_over_another_connection);
    TEST(what_the_network_repeats_swaps_or_damages_adds_no_length);
}
