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
    BENCH_VALUES = BENCH_ELEMENTS * sizeof(float),
    INT8_BYTES = BENCH_ELEMENTS + BENCH_CHUNKS * sizeof(float) /* scales */
};

/* What one that was sent all this holds of the centre. */
struct copy {
    float values[BENCH_ELEMENTS];
    uint64_t version[BENCH_CHUNKS];
    unsigned changes, plain, stray; /* stray: changes of something else */
};

static void copy_take(struct copy *copy, const struct msg_result *result,
                      const struct blob *payload)
{
    struct extent extent = {.elements = bench_length(result->chunk)};
    size_t first = (size_t)result->chunk * bench_length(0);
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

/* Takes all that the guest has been sent since `from`. */
static void copy_all(struct copy *copy, const struct bench *bench,
                     const struct guest *guest, unsigned from)
{
    for (unsigned i = from; i < bench->hand.sent_count; i++) {
        const struct hand_sent *sent = &bench->hand.sent[i];

        if (sent->peer == guest->bulk && sent->msg.kind == MSG_RESULT)
            copy_take(copy, &sent->msg.result, sent->payload);
    }
}

static bool same(const struct copy *one, const struct copy *other)
{
    // NOLINTNEXTLINE(bugprone-*,cert-*): bit for bit
    return memcmp(one->values, other->values, sizeof one->values) == 0;
}

/* Progress that is another for each element and exchange. */
static double progress(uint64_t exchange, size_t element)
{
    return sin((double)(exchange * 7 + element * 3)) / 16;
}

static void give(struct bench *bench, struct guest *guest, uint64_t exchange,
                 double scale)
{
    guest_offers(bench, guest, exchange);
    for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
        struct blob *payload =
            hand_floats(bench->hand.pool, bench_length(i), 0);
        struct msg_chunk msg = {.exchange = exchange, .chunk = i};

        for (size_t j = 0; j < bench_length(i); j++)
            blob_floats(payload)[j] =
                (float)(scale * progress(exchange, i * bench_length(0) + j));
        blob_seal(payload);
        msg.checksum = payload->checksum;
        guest_chunk(bench, guest, &msg, payload);
        blob_unref(&payload);
    }
}

static struct bench *bench_down(enum codec_id codec)
{
    struct bench *bench = bench_new();

    bench->config.codec_down = codec;
    bench->config.window = WINDOW;
    return bench;
}

/* A newcomer that takes the centre. */
static struct guest taker(struct bench *bench, const char *name,
                          struct copy *copy)
{
    unsigned from = bench->hand.sent_count;
    struct guest guest = guest_comes(bench, name);

    guest_credits(bench, &guest, 0, 0);
    memset(copy, 0, sizeof *copy);
    copy_all(copy, bench, &guest, from);
    return guest;
}

static void two_give(struct bench *bench, struct guest *a, struct guest *b,
                     uint64_t exchange)
{
    give(bench, a, exchange, 1);
    give(bench, b, exchange, 0.5);
}

/* What newcomers take is the hub's own. */
static void check_codec(enum codec_id codec)
{
    struct bench *bench = bench_down(codec);
    struct guest a = guest_alone(bench), b;
    struct copy ours = {.changes = 0}, theirs = {.changes = 0};

    b = guest_comes(bench, "b");
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        unsigned from = bench->hand.sent_count;
        struct copy fresh;
        struct guest c;

        two_give(bench, &a, &b, i);
        copy_all(&ours, bench, &a, from);
        copy_all(&theirs, bench, &b, from);
        c = taker(bench, "c", &fresh);
        CHECK_EQUAL(BENCH_CHUNKS, fresh.plain);
        CHECK_TEXT(codecs[codec].name,
                   same(&ours, &fresh) ? codecs[codec].name : "");
        CHECK(same(&theirs, &fresh));
        guest_says(bench, &c, MSG_BYE);
        hand_forget(&bench->hand);
    }
    CHECK_EQUAL(BENCH_CHUNKS, ours.plain);
    CHECK_EQUAL((ROUNDS - 1) * BENCH_CHUNKS, ours.changes);
    CHECK_EQUAL(0, ours.stray + theirs.stray);
    bench_destroy(&bench);
}

static void t20_hub_and_nodes_hold_the_same_bits_after_every_round(void)
{
    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++)
        check_codec((enum codec_id)i);
}

static void t20_without_a_codec_all_results_are_values(void)
{
    struct bench *bench = bench_down(CODEC_RAW);
    struct guest a = guest_alone(bench);
    struct copy copy = {.changes = 0};

    for (uint64_t i = 1; i <= ROUNDS; i++)
        give(bench, &a, i, 1);
    copy_all(&copy, bench, &a, 0);
    CHECK_EQUAL(0, copy.changes);
    CHECK_EQUAL(ROUNDS * BENCH_CHUNKS, copy.plain);
    CHECK_EQUAL(CODEC_RAW,
                guest_heard(bench, &a, MSG_WELCOME)->welcome.codec_down);
    bench_destroy(&bench);
}

static void t20_who_took_no_part_in_a_round_is_sent_values(void)
{
    struct bench *bench = bench_down(CODEC_INT8);
    struct guest a = guest_alone(bench), b;
    struct copy ours = {.changes = 0}, theirs = {.changes = 0};

    b = guest_comes(bench, "b");
    two_give(bench, &a, &b, 1);
    guest_lives(bench, &a, 3 * SECOND);
    give(bench, &a, 2, 1);
    guest_pings(bench, &b, 1);
    hand_forget(&bench->hand);
    two_give(bench, &a, &b, 3);
    CHECK_EQUAL(3, bench_look(bench)->version);
    copy_all(&ours, bench, &a, 0);
    copy_all(&theirs, bench, &b, 0);
    CHECK_EQUAL(BENCH_CHUNKS, ours.changes);
    CHECK_EQUAL(BENCH_CHUNKS, theirs.plain);
    hand_forget(&bench->hand);
    two_give(bench, &a, &b, 4);
    copy_all(&theirs, bench, &b, 0);
    CHECK_EQUAL(BENCH_CHUNKS, theirs.changes);
    CHECK_EQUAL(0, theirs.stray);
    bench_destroy(&bench);
}

static void t20_who_comes_back_is_sent_values(void)
{
    struct bench *bench = bench_down(CODEC_INT8);
    struct guest a = guest_alone(bench);
    struct copy before = {.changes = 0}, after = {.changes = 0};

    give(bench, &a, 1, 1);
    give(bench, &a, 2, 1);
    copy_all(&before, bench, &a, 0);
    CHECK_EQUAL(BENCH_CHUNKS, before.changes);
    guest_breaks(bench, &a);
    a.hello.run = 7;
    a.hello.lineage = bench->lineage;
    a.hello.base_version = 2;
    guest_comes_again(bench, &a);
    give(bench, &a, 3, 1);
    copy_all(&after, bench, &a, 0);
    CHECK_EQUAL(0, after.changes);
    CHECK_EQUAL(BENCH_CHUNKS, after.plain);
    bench_destroy(&bench);
}

/* The centre moves once; then nobody has anything to add. */
static void t20_what_a_codec_leaves_out_is_in_the_next_results(void)
{
    for (unsigned i = CODEC_RAW + 1; i < CODEC_COUNT; i++) {
        struct bench *bench = bench_down((enum codec_id)i);
        struct guest a = guest_alone(bench);
        struct copy copy = {.changes = 0};
        double apart = 0;

        give(bench, &a, 1, 0);
        give(bench, &a, 2, 1);
        for (uint64_t j = 3; j < 200; j++)
            give(bench, &a, j, 0);
        copy_all(&copy, bench, &a, 0);
        for (size_t j = 0; j < BENCH_ELEMENTS; j++)
            apart += fabs((double)copy.values[j] -
                          (double)(float)(1 + progress(2, j)));
        CHECK_EQUAL(198 * BENCH_CHUNKS, copy.changes);
        CHECK_TEXT(codecs[i].name, apart < 2e-6 ? codecs[i].name : "");
        bench_destroy(&bench);
    }
}

static struct store store;

static void t20_a_centre_that_is_rolled_back_is_sent_as_values(void)
{
    struct bench *bench = spoiled_bench(&store);
    struct guest a;
    struct copy copy = {.changes = 0};

    bench->config.codec_down = CODEC_INT8;
    bench->config.window = WINDOW;
    a = spoiled_begin(bench, &store, 0.5);
    spoil(bench, &store, &a, 1.01);
    CHECK_NEAR(2, guest_takes(bench, &a), 0);
    store.loss = 0.4;
    spoiled_give(bench, &a, 3, 0.25);
    copy_all(&copy, bench, &a, 0);
    CHECK_NEAR(2.25, (double)copy.values[0], 0.01);
    CHECK_EQUAL(0, copy.stray);
    bench_destroy(&bench);
}

static void t20_results_that_wait_for_credit_are_changes_of_each_other(void)
{
    struct bench *bench = bench_down(CODEC_INT8);
    struct guest a;
    struct copy copy = {.changes = 0}, fresh;

    bench->config.window = BENCH_VALUES;
    a = guest_alone(bench);
    for (uint64_t i = 1; i <= 4; i++)
        give(bench, &a, i, 1);
    CHECK_EQUAL(BENCH_CHUNKS, guest_heard_count(bench, &a, MSG_RESULT));
    guest_credits(bench, &a, 1, BENCH_VALUES);
    guest_credits(bench, &a, 2, INT8_BYTES);
    copy_all(&copy, bench, &a, 0);
    CHECK_EQUAL(3 * BENCH_CHUNKS, copy.changes);
    CHECK_EQUAL(0, copy.stray);
    (void)taker(bench, "b", &fresh);
    CHECK(same(&copy, &fresh));
    bench_destroy(&bench);
}

static void t20_changes_that_were_never_sent_are_not_held(void)
{
    struct bench *bench = bench_down(CODEC_INT8);
    struct guest a;
    struct copy copy = {.changes = 0};

    bench->config.window = BENCH_VALUES;
    a = guest_alone(bench);
    give(bench, &a, 1, 1);
    give(bench, &a, 2, 1);
    a.hello.run = 7;
    a.hello.base_version = 1;
    guest_hello(bench, &a);
    guest_attach(bench, &a);
    guest_credits(bench, &a, 1, BENCH_VALUES);
    give(bench, &a, 3, 1);
    copy_all(&copy, bench, &a, 0);
    CHECK_EQUAL(2 * BENCH_CHUNKS, copy.plain);
    CHECK_EQUAL(0, copy.changes);
    bench_destroy(&bench);
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
