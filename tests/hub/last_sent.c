/* Results as changes of what nodes hold: who is sent what, and that it comes to
 * the same at both ends. */
#include <math.h>
#include <string.h>

#include "hub/work.h"
#include "tests/check.h"
#include "tests/hub/spoiled.h"

enum {
    ROUNDS = 12,
    WINDOW = 1 << 20,
    FIXTURE_VALUES = FIXTURE_ELEMENTS * sizeof(float),
    INT8_BYTES = FIXTURE_ELEMENTS + FIXTURE_CHUNKS * sizeof(float) /* scales */
};

/* What one that was sent all this holds of the centre. */
struct copy {
    float values[FIXTURE_ELEMENTS];
    uint64_t version[FIXTURE_CHUNKS];
    unsigned changes, plain, stray; /* stray: changes of something else */
};

static void copy_take(struct copy *copy, const struct msg_result *result,
                      const struct blob *payload)
{
    struct extent extent = {.elements = hub_fixture_length(result->chunk)};
    size_t first = (size_t)result->chunk * hub_fixture_length(0);
    bool change = result->base != result->version;

    copy->changes += change;
    copy->plain += !change;
    copy->stray += change && result->base != copy->version[result->chunk];
    CHECK_EQUAL(payload_bytes(&extent, result->codec), payload->size);
    for (size_t i = 0; i < extent.elements; i++) {
        double value = change ? (double)copy->values[first + i] : 0;

        payload_add(&extent, result->codec, payload->bytes, i, 1, 1, &value);
        copy->values[first + i] = (float)value;
    }
    copy->version[result->chunk] = result->version;
}

/* Takes all that the node has been sent since `from`. */
static void copy_all(struct copy *copy, const struct hub_fixture *f,
                     const struct fake_node *node, unsigned from)
{
    for (unsigned i = from; i < f->hand.sent_count; i++) {
        const struct hand_sent *sent = &f->hand.sent[i];

        if (sent->peer == node->bulk && sent->msg.kind == MSG_RESULT)
            copy_take(copy, &sent->msg.result, sent->payload);
    }
}

static bool same(const struct copy *one, const struct copy *other)
{
    return same_bytes(one->values, other->values, sizeof one->values);
}

/* Progress that is another for each element and exchange. */
static double progress(uint64_t exchange, size_t element)
{
    return sin((double)(exchange * 7 + element * 3)) / 16;
}

static void give(struct hub_fixture *f, struct fake_node *node,
                 uint64_t exchange, double scale)
{
    fake_node_offers(f, node, exchange);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++) {
        struct blob *payload =
            hand_floats(f->hand.pool, hub_fixture_length(i), 0);
        struct msg_chunk msg = {.exchange = exchange, .chunk = i};

        for (size_t j = 0; j < hub_fixture_length(i); j++)
            blob_floats(payload)[j] =
                (float)(scale *
                        progress(exchange, i * hub_fixture_length(0) + j));
        blob_seal(payload);
        msg.checksum = payload->checksum;
        fake_node_chunk(f, node, &msg, payload);
        blob_unref(&payload);
    }
}

static struct hub_fixture *hub_fixture_down(enum codec_id codec)
{
    struct hub_fixture *f = hub_fixture_new();

    f->config.codec_down = codec;
    f->config.window = WINDOW;
    return f;
}

/* A newcomer that takes the centre. */
static struct fake_node taker(struct hub_fixture *f, const char *name,
                              struct copy *copy)
{
    unsigned from = f->hand.sent_count;
    struct fake_node node = fake_node_comes(f, name);

    fake_node_credits(f, &node, 0, 0);
    memset(copy, 0, sizeof *copy);
    copy_all(copy, f, &node, from);
    return node;
}

static void two_give(struct hub_fixture *f, struct fake_node *a,
                     struct fake_node *b, uint64_t exchange)
{
    give(f, a, exchange, 1);
    give(f, b, exchange, 0.5);
}

/* What newcomers take is the hub's own. */
static void check_codec(enum codec_id codec)
{
    struct hub_fixture *f = hub_fixture_down(codec);
    struct fake_node a = fake_node_alone(f), b;
    struct copy ours = {.changes = 0}, theirs = {.changes = 0};

    b = fake_node_comes(f, "b");
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        unsigned from = f->hand.sent_count;
        struct copy fresh;
        struct fake_node c;

        two_give(f, &a, &b, i);
        copy_all(&ours, f, &a, from);
        copy_all(&theirs, f, &b, from);
        c = taker(f, "c", &fresh);
        CHECK_EQUAL(FIXTURE_CHUNKS, fresh.plain);
        CHECK_TEXT(codecs[codec].name,
                   same(&ours, &fresh) ? codecs[codec].name : "");
        CHECK(same(&theirs, &fresh));
        fake_node_says(f, &c, MSG_BYE);
        hand_forget(&f->hand);
    }
    CHECK_EQUAL(FIXTURE_CHUNKS, ours.plain);
    CHECK_EQUAL((ROUNDS - 1) * FIXTURE_CHUNKS, ours.changes);
    CHECK_EQUAL(0, ours.stray + theirs.stray);
    hub_fixture_destroy(&f);
}

static void t20_hub_and_nodes_hold_the_same_bits_after_every_round(void)
{
    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++)
        check_codec((enum codec_id)i);
}

static void t20_without_a_codec_all_results_are_values(void)
{
    struct hub_fixture *f = hub_fixture_down(CODEC_RAW);
    struct fake_node a = fake_node_alone(f);
    struct copy copy = {.changes = 0};

    for (uint64_t i = 1; i <= ROUNDS; i++)
        give(f, &a, i, 1);
    copy_all(&copy, f, &a, 0);
    CHECK_EQUAL(0, copy.changes);
    CHECK_EQUAL(ROUNDS * FIXTURE_CHUNKS, copy.plain);
    CHECK_EQUAL(CODEC_RAW,
                fake_node_heard(f, &a, MSG_WELCOME)->welcome.codec_down);
    hub_fixture_destroy(&f);
}

static void t20_who_took_no_part_in_a_round_is_sent_values(void)
{
    struct hub_fixture *f = hub_fixture_down(CODEC_INT8);
    struct fake_node a = fake_node_alone(f), b;
    struct copy ours = {.changes = 0}, theirs = {.changes = 0};

    b = fake_node_comes(f, "b");
    two_give(f, &a, &b, 1);
    fake_node_lives(f, &a, 3 * SECOND);
    give(f, &a, 2, 1);
    fake_node_pings(f, &b, 1);
    hand_forget(&f->hand);
    two_give(f, &a, &b, 3);
    CHECK_EQUAL(3, hub_fixture_look(f)->version);
    copy_all(&ours, f, &a, 0);
    copy_all(&theirs, f, &b, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, ours.changes);
    CHECK_EQUAL(FIXTURE_CHUNKS, theirs.plain);
    hand_forget(&f->hand);
    two_give(f, &a, &b, 4);
    copy_all(&theirs, f, &b, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, theirs.changes);
    CHECK_EQUAL(0, theirs.stray);
    hub_fixture_destroy(&f);
}

static void t20_who_comes_back_is_sent_values(void)
{
    struct hub_fixture *f = hub_fixture_down(CODEC_INT8);
    struct fake_node a = fake_node_alone(f);
    struct copy before = {.changes = 0}, after = {.changes = 0};

    give(f, &a, 1, 1);
    give(f, &a, 2, 1);
    copy_all(&before, f, &a, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, before.changes);
    fake_node_breaks(f, &a);
    a.hello.run = 7;
    a.hello.lineage = f->lineage;
    a.hello.base_version = 2;
    fake_node_comes_again(f, &a);
    give(f, &a, 3, 1);
    copy_all(&after, f, &a, 0);
    CHECK_EQUAL(0, after.changes);
    CHECK_EQUAL(FIXTURE_CHUNKS, after.plain);
    hub_fixture_destroy(&f);
}

/* The centre moves once; then nobody has anything to add. */
static void t20_what_a_codec_leaves_out_is_in_the_next_results(void)
{
    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++) {
        struct hub_fixture *f = hub_fixture_down((enum codec_id)i);
        struct fake_node a = fake_node_alone(f);
        struct copy copy = {.changes = 0};
        double apart = 0;

        give(f, &a, 1, 0);
        give(f, &a, 2, 1);
        for (uint64_t j = 3; j < 200; j++)
            give(f, &a, j, 0);
        copy_all(&copy, f, &a, 0);
        for (size_t j = 0; j < FIXTURE_ELEMENTS; j++)
            apart += fabs((double)copy.values[j] -
                          (double)(float)(1 + progress(2, j)));
        CHECK_EQUAL(198 * FIXTURE_CHUNKS, copy.changes);
        CHECK_TEXT(codecs[i].name, apart < 2e-6 ? codecs[i].name : "");
        hub_fixture_destroy(&f);
    }
}

static struct store store;

static void t20_a_centre_that_is_rolled_back_is_sent_as_values(void)
{
    struct hub_fixture *f = spoiled_fixture(&store);
    struct fake_node a;
    struct copy copy = {.changes = 0};

    f->config.codec_down = CODEC_INT8;
    f->config.window = WINDOW;
    a = spoiled_begin(f, &store, 0.5);
    spoil(f, &store, &a, 1.01);
    CHECK_NEAR(2, fake_node_takes(f, &a), 0);
    store.loss = 0.4;
    spoiled_give(f, &a, 3, 0.25);
    copy_all(&copy, f, &a, 0);
    CHECK_NEAR(2.25, (double)copy.values[0], 0.01);
    CHECK_EQUAL(0, copy.stray);
    hub_fixture_destroy(&f);
}

static void t20_results_that_wait_for_credit_are_changes_of_each_other(void)
{
    struct hub_fixture *f = hub_fixture_down(CODEC_INT8);
    struct fake_node a;
    struct copy copy = {.changes = 0}, fresh;

    f->config.window = FIXTURE_VALUES;
    f->config.delay = 3;
    a = fake_node_alone(f);
    for (uint64_t i = 1; i <= 4; i++)
        give(f, &a, i, 1);
    CHECK_EQUAL(FIXTURE_CHUNKS, fake_node_heard_count(f, &a, MSG_RESULT));
    fake_node_credits(f, &a, 1, FIXTURE_VALUES);
    fake_node_credits(f, &a, 2, INT8_BYTES);
    copy_all(&copy, f, &a, 0);
    CHECK_EQUAL(3 * FIXTURE_CHUNKS, copy.changes);
    CHECK_EQUAL(0, copy.stray);
    (void)taker(f, "b", &fresh);
    CHECK(same(&copy, &fresh));
    hub_fixture_destroy(&f);
}

static void t20_changes_that_were_never_sent_are_not_held(void)
{
    struct hub_fixture *f = hub_fixture_down(CODEC_INT8);
    struct fake_node a;
    struct copy copy = {.changes = 0};

    f->config.window = FIXTURE_VALUES;
    a = fake_node_alone(f);
    give(f, &a, 1, 1);
    give(f, &a, 2, 1);
    a.hello.run = 7;
    a.hello.base_version = 1;
    fake_node_hello(f, &a);
    fake_node_attach(f, &a);
    fake_node_credits(f, &a, 1, FIXTURE_VALUES);
    give(f, &a, 3, 1);
    copy_all(&copy, f, &a, 0);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS, copy.plain);
    CHECK_EQUAL(0, copy.changes);
    hub_fixture_destroy(&f);
}

/* A job of this kind on chunks of these values. */
static struct job *diff_of(struct pool *pool, double theta, double last_sent)
{
    static const struct work row = {"diff", diff_chunk, NULL};
    struct job *job = job_new(&row, pool, DIFF_INPUTS);

    job->in[DIFF_THETA].blob = hand_floats(pool, 4, theta);
    job->in[DIFF_LAST_SENT].blob = hand_floats(pool, 4, last_sent);
    job->in[DIFF_CHANGE].codec = CODEC_F16;
    job->extent.elements = 4;
    job_run(job);
    return job;
}

static void t20_a_centre_that_is_not_finite_has_no_last_sent_copy(void)
{
    struct pool *pool = pool_new();
    struct job *job = diff_of(pool, 1.5, 1);

    CHECK_EQUAL(STATUS_OK, job->status);
    CHECK_NEAR(1.5, hand_float(job->out[0], 3), 0);
    job_destroy(&job);
    job = diff_of(pool, (double)INFINITY, 1);
    CHECK_EQUAL(STATUS_CONFIG, job->status);
    job_destroy(&job);
    job = diff_of(pool, (double)NAN, 1);
    CHECK_EQUAL(STATUS_CONFIG, job->status);
    job_destroy(&job);
    pool_destroy(&pool);
}

void add_hub_last_sent_tests(CU_pSuite suite)
{
    TEST(t20_hub_and_nodes_hold_the_same_bits_after_every_round);
    TEST(t20_without_a_codec_all_results_are_values);
    TEST(t20_who_took_no_part_in_a_round_is_sent_values);
    TEST(t20_who_comes_back_is_sent_values);
    TEST(t20_what_a_codec_leaves_out_is_in_the_next_results);
    TEST(t20_a_centre_that_is_rolled_back_is_sent_as_values);
    TEST(t20_results_that_wait_for_credit_are_changes_of_each_other);
    TEST(t20_changes_that_were_never_sent_are_not_held);
    TEST(t20_a_centre_that_is_not_finite_has_no_last_sent_copy);
}
