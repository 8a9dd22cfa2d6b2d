#include "node/inbox.h"

#include <math.h>

#include "tests/check.h"

/* Vectors of 5 in chunks of 2. */
enum { ELEMENTS = 5 };

struct bench {
    struct pool *pool;
    struct inbox inbox;
    bool for_anchor; /* what it takes is for the anchor */
    float x[ELEMENTS];
    float anchor[ELEMENTS];
    double stepped[ELEMENTS];
};

static void bench_start(struct bench *bench)
{
    *bench = (struct bench){.pool = pool_new()};
    inbox_init(&bench->inbox, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        bench->x[i] = 10;
}

static void bench_end(struct bench *bench)
{
    inbox_free(&bench->inbox);
    pool_destroy(&bench->pool);
}

/* Chunk `chunk` of values 1, 2, 3, 4, 5. */
static void take(struct bench *bench, uint64_t exchange, uint32_t chunk,
                 enum verb verb)
{
    struct msg_apply apply = {.exchange = exchange,
                              .chunk = chunk,
                              .first = 2 * (uint64_t)chunk,
                              .parts = 3,
                              .verb = verb,
                              .weight = 0.5,
                              .anchor = bench->for_anchor};
    size_t count = chunk == 2 ? 1 : 2;
    struct blob *blob = blob_new(bench->pool, count * sizeof(float));

    for (size_t i = 0; i < count; i++)
        blob_floats(blob)[i] = (float)(2 * (size_t)chunk + i + 1);
    (void)inbox_take(&bench->inbox, &apply, blob);
    blob_unref(&blob);
}

static void step(void *context, const float *gradient, size_t first,
                 size_t count)
{
    struct bench *bench = context;

    for (size_t i = 0; i < count; i++)
        bench->stepped[first + i] += (double)gradient[i];
}

static void apply(struct bench *bench, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = {step, bench, NULL};

    (void)inbox_apply(&bench->inbox, exchange,
                      &(struct span){bench->x, ELEMENTS}, bench->anchor,
                      &optimizer);
}

static void check_verb(enum verb verb, double expected_of_last)
{
    struct bench bench;

    bench_start(&bench);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&bench, 1, chunk, verb);
    CHECK(inbox_complete(&bench.inbox, 1));
    CHECK((verb == VERB_REPLACE) == inbox_replaces(&bench.inbox, 1));
    apply(&bench, 1);
    CHECK_NEAR(expected_of_last, (double)bench.x[4], 0);
    CHECK_NEAR(verb == VERB_STEP ? 5 : 0, bench.stepped[4], 0);
    CHECK(!inbox_complete(&bench.inbox, 1));
    bench_end(&bench);
}

static void each_verb_does_what_it_says(void)
{
    check_verb(VERB_REBASE, 15);
    check_verb(VERB_REPLACE, 5);
    check_verb(VERB_PULL, 7.5);
    check_verb(VERB_ADD, 12.5);
    check_verb(VERB_STEP, 10);
}

static void chunks_may_come_in_any_order_and_twice(void)
{
    struct bench bench;

    bench_start(&bench);
    take(&bench, 4, 2, VERB_REBASE);
    take(&bench, 4, 2, VERB_REBASE);
    take(&bench, 3, 0, VERB_REBASE);
    take(&bench, 4, 0, VERB_REBASE);
    CHECK(!inbox_complete(&bench.inbox, 4));
    take(&bench, 4, 1, VERB_REBASE);
    CHECK(inbox_complete(&bench.inbox, 4));
    CHECK(!inbox_complete(&bench.inbox, 3));
    apply(&bench, 4);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(11 + i, (double)bench.x[i], 0);
    bench_end(&bench);
}

static void a_vector_may_lie_in_pieces(void)
{
    const struct inbox_optimizer optimizer = {step, NULL, NULL};
    float head[1] = {10}, middle[3] = {10, 10, 10}, tail[1] = {10};
    const struct span spans[] = {{head, 1}, {middle, 3}, {tail, 1}};
    struct bench bench;

    bench_start(&bench);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&bench, 1, chunk, VERB_REBASE);
    (void)inbox_apply(&bench.inbox, 1, spans, NULL, &optimizer);
    CHECK_NEAR(11, (double)head[0], 0);
    CHECK_NEAR(12, (double)middle[0], 0);
    CHECK_NEAR(14, (double)middle[2], 0);
    CHECK_NEAR(15, (double)tail[0], 0);
    bench_end(&bench);
}

static void what_is_forgotten_is_gone_and_nothing_else(void)
{
    struct bench bench;

    bench_start(&bench);
    for (uint64_t exchange = 0; exchange < 4; exchange++)
        for (uint32_t chunk = 0; chunk < 3; chunk++)
            take(&bench, exchange, chunk, VERB_REBASE);
    inbox_forget(&bench.inbox, 1, 2);
    CHECK(inbox_complete(&bench.inbox, 0));
    CHECK(!inbox_complete(&bench.inbox, 1));
    CHECK(!inbox_complete(&bench.inbox, 2));
    CHECK(inbox_complete(&bench.inbox, 3));
    bench_end(&bench);
}

static void it_holds_no_more_than_its_exchanges(void)
{
    struct bench bench;

    bench_start(&bench);
    for (uint64_t i = 0; i < (uint64_t)2 * INBOX_EXCHANGES; i++)
        for (uint32_t chunk = 0; chunk < 3; chunk++)
            take(&bench, i, chunk, VERB_REBASE);
    CHECK(inbox_complete(&bench.inbox, INBOX_EXCHANGES - 1));
    CHECK(!inbox_complete(&bench.inbox, INBOX_EXCHANGES));
    bench_end(&bench);
}

static void the_anchor_moves_when_its_result_is_applied(void)
{
    struct bench bench;

    bench_start(&bench);
    bench.for_anchor = true;
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&bench, 1, chunk, VERB_REBASE);
    CHECK(!inbox_complete(&bench.inbox, 1));
    bench.for_anchor = false;
    for (uint32_t chunk = 0; chunk < 3; chunk++) {
        take(&bench, 1, chunk, VERB_REBASE);
        take(&bench, 2, chunk, VERB_REBASE);
    }
    CHECK_NEAR(0, (double)bench.anchor[4], 0);
    apply(&bench, 1);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(i + 1, (double)bench.anchor[i], 0);
    bench.anchor[2] = 77;
    apply(&bench, 2); /* without one */
    CHECK_NEAR(77, (double)bench.anchor[2], 0);
    bench_end(&bench);
}

/* ---- SD-3 and SD-13: local pulling ---- */

static void pull(struct bench *bench, double strength, uint64_t every,
                 double anchor)
{
    const struct msg_schedule schedule = {
        .offering = 1, .anchor = strength, .every = every};
    const struct span spans[] = {{bench->x, 2}, {bench->x + 2, 3}};

    for (int i = 0; i < ELEMENTS; i++)
        bench->anchor[i] = (float)anchor;
    inbox_pull(&bench->inbox, &schedule, spans, bench->anchor,
               &(struct inbox_optimizer){step, bench, NULL});
}

static void sd_03_each_step_pulls_to_the_newest_result(void)
{
    struct bench bench;

    bench_start(&bench);
    pull(&bench, 0.5, 2, 2);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(0.75 * 10 + 0.25 * 2, (double)bench.x[i], 0);
    bench_end(&bench);
}

static void sd_03_a_strength_of_zero_is_no_operation(void)
{
    struct bench bench;

    bench_start(&bench);
    pull(&bench, 0, 2, (double)NAN);
    inbox_pull(&bench.inbox, &(struct msg_schedule){.every = 0},
               &(struct span){NULL, 0}, NULL,
               &(struct inbox_optimizer){step, NULL, NULL});
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(10, (double)bench.x[i], 0);
    bench_end(&bench);
}

/* First to the global leader of the last 16 steps, then to the local one. */
static void sd_13_two_leaders_pull_one_after_the_other(void)
{
    struct bench bench;

    bench_start(&bench);
    for (int i = 0; i < ELEMENTS; i++)
        bench.x[i] = 1;
    pull(&bench, 0.1, 16, 4);
    pull(&bench, 0.1, 4, 2);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(1.04328125, (double)bench.x[i], 1e-6);
    bench_end(&bench);
}

void add_node_inbox_tests(CU_pSuite suite)
{
    TEST(each_verb_does_what_it_says);
    TEST(chunks_may_come_in_any_order_and_twice);
    TEST(a_vector_may_lie_in_pieces);
    TEST(what_is_forgotten_is_gone_and_nothing_else);
    TEST(the_anchor_moves_when_its_result_is_applied);
    TEST(sd_03_each_step_pulls_to_the_newest_result);
    TEST(sd_03_a_strength_of_zero_is_no_operation);
    TEST(sd_13_two_leaders_pull_one_after_the_other);
    TEST(it_holds_no_more_than_its_exchanges);
}
