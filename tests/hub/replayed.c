/* What comes twice, late, or from a life before is merged once or never. */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

static void a_chunk_that_comes_twice_is_merged_once(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b = fake_node_comes(f, "b");

    fake_node_offers(f, &a, 1);
    fake_node_offers(f, &b, 1);
    fake_node_delivers(f, &a, 1, 0, 2);
    fake_node_delivers(f, &a, 1, 0, 100);
    fake_node_delivers(f, &b, 1, 0, 4);
    fake_node_delivers(f, &b, 1, 0, 100);
    CHECK_NEAR(1 + 3, fake_node_result(f, &a, 1, 0), 0);
    CHECK_EQUAL(2, hub_fixture_look(f)->verdicts[VERDICT_MERGED]);
    CHECK(!hand_dropped(&f->hand, a.bulk));
    hub_fixture_destroy(&f);
}

static void a_chunk_of_an_exchange_that_is_over_changes_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_gives(f, &a, 1, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, &a, 1, i, 100);
    fake_node_gives(f, &a, 2, 1);
    CHECK_NEAR(3, fake_node_result(f, &a, 2, 0), 0);
    CHECK_EQUAL(2, hub_fixture_look(f)->version);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS, hub_fixture_look(f)->offered);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS,
                hub_fixture_look(f)->verdicts[VERDICT_MERGED]);
    hub_fixture_destroy(&f);
}

static void an_offer_of_a_former_exchange_is_not_taken_again(void)
{
    for (uint64_t old = 1; old <= 2; old++) {
        struct hub_fixture *f = hub_fixture_new();
        struct fake_node a = fake_node_alone(f);

        fake_node_gives(f, &a, 1, 1);
        fake_node_gives(f, &a, 2, 1);
        fake_node_offers(f, &a, old);
        for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
            fake_node_delivers(f, &a, old, i, 100);
        fake_node_gives(f, &a, 3, 1);
        CHECK_EQUAL(3, hub_fixture_look(f)->version);
        CHECK_NEAR(4, fake_node_result(f, &a, 3, 0), 0);
        CHECK_EQUAL(3 * FIXTURE_CHUNKS,
                    hub_fixture_look(f)->verdicts[VERDICT_MERGED]);
        hub_fixture_destroy(&f);
    }
}

/* The same process, over another connection: a proxy or a recording. */
static void what_was_merged_is_a_duplicate_over_another_connection(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);

    fake_node_gives(f, &a, 1, 1);
    fake_node_breaks(f, &a);
    fake_node_comes_again(f, &a);
    fake_node_offers(f, &a, 1);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        fake_node_delivers(f, &a, 1, i, 100);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    CHECK_EQUAL(FIXTURE_CHUNKS, hub_fixture_look(f)->verdicts[VERDICT_MERGED]);
    hub_fixture_destroy(&f);
}

/* Announces the norm exactly, so that anything counted twice is too much. */
static void what_the_network_repeats_swaps_or_damages_adds_no_length(void)
{
    const struct msg_offer offer = {.exchange = 1, .norm = 3.1622777};
    const struct msg_chunk spoilt = {
        .exchange = 1, .chunk = 2, .codec = CODEC_RAW, .checksum = 1};
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f);
    struct blob *payload = hand_floats(f->hand.pool, 2, 100);

    f->hand.holds_jobs = true;
    fake_node_offer(f, &a, &offer);
    fake_node_chunk(f, &a, &spoilt, payload);
    for (uint32_t i = FIXTURE_CHUNKS - 1; i > 0; i--)
        for (int times = 0; times < 2; times++)
            fake_node_delivers(f, &a, 1, i - 1, 1);
    hand_work(&f->hand);
    fake_node_delivers(f, &a, 1, 2, 1);
    hand_work(&f->hand);
    CHECK_EQUAL(0, hub_fixture_look(f)->verdicts[VERDICT_NORM]);
    CHECK_EQUAL(1, hub_fixture_look(f)->verdicts[VERDICT_CORRUPT]);
    CHECK_EQUAL(2, hub_fixture_look(f)->verdicts[VERDICT_MERGED]);
    blob_unref(&payload);
    hub_fixture_destroy(&f);
}

void add_hub_replayed_tests(CU_pSuite suite)
{
    TEST(a_chunk_that_comes_twice_is_merged_once);
    TEST(a_chunk_of_an_exchange_that_is_over_changes_nothing);
    TEST(an_offer_of_a_former_exchange_is_not_taken_again);
    TEST(what_was_merged_is_a_duplicate_over_another_connection);
    TEST(what_the_network_repeats_swaps_or_damages_adds_no_length);
}
