/* Payloads that decode to nothing good, a name for a terminal to choke on, and
 * what is left when everybody is gone. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* What becomes of a first chunk of four elements that is these bytes. */
static enum verdict verdict_on(enum codec_id codec, const void *bytes,
                               size_t size)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_chunk chunk = {.exchange = 1, .codec = codec};
    struct fake_node a;
    struct blob *payload;
    enum verdict verdict;

    f->config.codec_up = codec;
    a = fake_node_alone(f);
    payload = blob_new(f->hand.pool, size);
    memcpy(payload->bytes, bytes, size);
    blob_seal(payload);
    chunk.checksum = payload->checksum;
    fake_node_offers(f, &a, 1);
    fake_node_chunk(f, &a, &chunk, payload);
    fake_node_delivers(f, &a, 1, 1, 0.5);
    fake_node_delivers(f, &a, 1, 2, 0.5);
    verdict = fake_node_verdict(f, &a, 1, 0);
    CHECK(isnan(fake_node_result(f, &a, 1, 0)) ||
          fake_node_result(f, &a, 1, 0) == 1);
    blob_unref(&payload);
    hub_fixture_destroy(&f);
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
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a = fake_node_alone(f), b;

    fake_node_gives(f, &a, 1, 0.5);
    fake_node_breaks(f, &a);
    hand_wait(&f->hand, 3600 * SECOND);
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    CHECK(hub_fixture_look(f)->founded);
    b = fake_node_new(f, "b");
    b.hello.lineage = 0;
    fake_node_comes_again(f, &b);
    CHECK_EQUAL(START_TAKE, fake_node_heard(f, &b, MSG_WELCOME)->welcome.start);
    fake_node_says(f, &b, MSG_CREDIT);
    CHECK_NEAR(1.5, fake_node_result(f, &b, 0, 0), 0);
    hub_fixture_destroy(&f);
}

/* A model of 2^20 chunks, of which nobody has ever sent one: what is offered
 * and withdrawn is remembered in a few bytes. */
static void offers_of_a_giant_cost_next_to_nothing(void)
{
    enum { OFFERS = 504 };
    const uint64_t shape[1] = {(uint64_t)4 << 20};
    struct hub_fixture *f = hub_fixture_new();
    struct msg waive = {.kind = MSG_WAIVE};
    struct rusage before, after;
    struct fake_node a, b;

    schema_destroy(&f->schema);
    f->schema = schema_new();
    CHECK_EQUAL(STATUS_OK, schema_add(f->schema, "w", 1, shape, NULL));
    f->config.init = INIT_TOURNAMENT;
    f->config.nodes = 3;
    hub_fixture_open(f);
    f->hand.check = NULL; /* it looks at each chunk */
    a = fake_node_comes(f, "a");
    b = fake_node_comes(f, "b");
    fake_node_offers(f, &b, 1);
    fake_node_offers(f, &a, 1);
    (void)getrusage(RUSAGE_SELF, &before);
    for (uint64_t i = 2; i < OFFERS; i++) {
        fake_node_offers(f, &a, i);
        waive.waive.exchange = i;
        hand_say(&f->hand, a.control, &waive, NULL);
        hand_forget(&f->hand);
    }
    (void)getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 64L * 1024);
    hub_fixture_destroy(&f);
}

void add_hub_attacks_tests(CU_pSuite suite)
{
    TEST(a_scale_that_is_no_number_is_rejected);
    TEST(a_payload_of_another_size_is_rejected);
    TEST(a_place_that_top_does_not_have_is_rejected);
    TEST(offers_of_a_giant_cost_next_to_nothing);
    TEST(the_centre_is_kept_when_all_nodes_are_gone);
}
