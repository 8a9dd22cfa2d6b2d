/* Payloads that decode to nothing good, a name for a terminal to choke on, and
 * what is left when everybody is gone. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

/* What becomes of a first chunk of four elements that is these bytes. */
static enum verdict verdict_on(enum codec_id codec, const void *bytes,
                               size_t size)
{
    struct bench *bench = bench_new();
    struct msg_chunk chunk = {.exchange = 1, .codec = codec};
    struct guest a;
    struct blob *payload;
    enum verdict verdict;

    bench->config.codec_up = codec;
    a = guest_alone(bench);
    payload = blob_new(bench->hand.pool, size);
    memcpy(payload->bytes, bytes, size);
    blob_seal(payload);
    chunk.checksum = payload->checksum;
    guest_offers(bench, &a, 1);
    guest_chunk(bench, &a, &chunk, payload);
    guest_delivers(bench, &a, 1, 1, 0.5);
    guest_delivers(bench, &a, 1, 2, 0.5);
    verdict = guest_verdict(bench, &a, 1, 0);
    CHECK(isnan(guest_result(bench, &a, 1, 0)) ||
          guest_result(bench, &a, 1, 0) == 1);
    blob_unref(&payload);
    bench_destroy(&bench);
    return verdict;
}

static void a_scale_that_is_no_number_is_rejected(void)
{
    const float scales[] = {NAN, INFINITY, -INFINITY};
    unsigned char bytes[sizeof(float) + 4] = {0, 0, 0, 0, 1, 2, 3, 4};

    for (unsigned i = 0; i < 3; i++) {
        memcpy(bytes, &scales[i], sizeof scales[i]);
        CHECK_EQUAL(VERDICT_NONFINITE,
                    verdict_on(CODEC_INT8, bytes, sizeof bytes));
    }
}

static void a_payload_of_another_size_is_rejected(void)
{
    const unsigned char bytes[9] = {0};

    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on(CODEC_INT8, bytes, 7));
    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on(CODEC_INT8, bytes, 9));
}

static void a_place_that_top_does_not_have_is_rejected(void)
{
    const size_t size = codecs[CODEC_TOP10].bound(4);
    unsigned char bytes[64] = {0};

    CHECK(size <= sizeof bytes);
    memset(bytes, 0xff, 2); /* the place of its only value */
    CHECK_EQUAL(VERDICT_CORRUPT, verdict_on(CODEC_TOP10, bytes, size));
}

static void the_centre_is_kept_when_all_nodes_are_gone(void)
{
    struct bench *bench = bench_new();
    struct guest a = guest_alone(bench), b;

    guest_gives(bench, &a, 1, 0.5);
    guest_breaks(bench, &a);
    hand_wait(&bench->hand, 3600 * SECOND);
    CHECK_EQUAL(1, bench_look(bench)->version);
    CHECK(bench_look(bench)->founded);
    b = guest_new(bench, "b");
    b.hello.lineage = 0;
    guest_comes_again(bench, &b);
    CHECK_EQUAL(START_TAKE, guest_heard(bench, &b, MSG_WELCOME)->welcome.start);
    guest_says(bench, &b, MSG_CREDIT);
    CHECK_NEAR(1.5, guest_result(bench, &b, 0, 0), 0);
    bench_destroy(&bench);
}

/* A model of 2^20 chunks, of which nobody has ever sent one: what is offered
 * and withdrawn is remembered in a few bytes. */
static void offers_of_a_giant_cost_next_to_nothing(void)
{
    enum { OFFERS = 504 };
    const uint64_t shape[1] = {(uint64_t)4 << 20};
    struct bench *bench = bench_new();
    struct msg waive = {.kind = MSG_WAIVE};
    struct rusage before, after;
    struct guest a, b;

    schema_destroy(&bench->schema);
    bench->schema = schema_new();
    CHECK_EQUAL(STATUS_OK, schema_add(bench->schema, "w", 1, shape, NULL));
    bench->config.init = INIT_TOURNAMENT;
    bench->config.nodes = 3;
    bench_open(bench);
    bench->hand.check = NULL; /* it looks at each chunk */
    a = guest_comes(bench, "a");
    b = guest_comes(bench, "b");
    guest_offers(bench, &b, 1);
    guest_offers(bench, &a, 1);
    (void)getrusage(RUSAGE_SELF, &before);
    for (uint64_t i = 2; i < OFFERS; i++) {
        guest_offers(bench, &a, i);
        waive.waive.exchange = i;
        hand_say(&bench->hand, a.control, &waive, NULL);
        hand_forget(&bench->hand);
    }
    (void)getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 64L * 1024);
    bench_destroy(&bench);
}

void add_hub_attacks_tests(CU_pSuite suite)
{
    TEST(a_scale_that_is_no_number_is_rejected);
    TEST(a_payload_of_another_size_is_rejected);
    TEST(a_place_that_top_does_not_have_is_rejected);
    TEST(offers_of_a_giant_cost_next_to_nothing);
    TEST(the_centre_is_kept_when_all_nodes_are_gone);
}
