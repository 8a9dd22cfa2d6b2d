#include "node/inbox.h"

#include <math.h>

#include "tests/check.h"

/* Vectors of 5 in chunks of 2. */
enum { ELEMENTS = 5 };

struct fixture {
    struct pool *pool;
    struct inbox inbox;
    bool for_anchor; /* what it takes is for the anchor */
    float x[ELEMENTS];
    float anchor[ELEMENTS];
    double stepped[ELEMENTS];
};

static void fixture_start(struct fixture *fixture)
{
    *fixture = (struct fixture){.pool = pool_new()};
    inbox_init(&fixture->inbox, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        fixture->x[i] = 10;
}

static void fixture_end(struct fixture *fixture)
{
    inbox_free(&fixture->inbox);
    pool_destroy(&fixture->pool);
}

/* Chunk `chunk` of values 1, 2, 3, 4, 5. */
static void take(struct fixture *fixture, uint64_t exchange, uint32_t chunk,
                 enum verb verb)
{
    struct msg_local_result apply = {.exchange = exchange,
                                     .chunk = chunk,
                                     .first = 2 * (uint64_t)chunk,
                                     .parts = 3,
                                     .verb = verb,
                                     .weight = 0.5,
                                     .anchor = fixture->for_anchor};
    size_t count = chunk == 2 ? 1 : 2;
    struct blob *blob = blob_new(fixture->pool, count * sizeof(float));

    for (size_t i = 0; i < count; i++)
        blob_floats(blob)[i] = (float)(2 * (size_t)chunk + i + 1);
    (void)inbox_add(&fixture->inbox, &apply, blob);
    blob_unref(&blob);
}

static void step(void *context, const float *gradient, size_t first,
                 size_t count)
{
    struct fixture *fixture = context;

    for (size_t i = 0; i < count; i++)
        fixture->stepped[first + i] += (double)gradient[i];
}

static void apply(struct fixture *fixture, uint64_t exchange)
{
    const struct inbox_optimizer optimizer = {step, fixture, NULL, NULL};

    (void)inbox_apply(&fixture->inbox, exchange,
                      &(struct span){fixture->x, ELEMENTS}, fixture->anchor,
                      &optimizer);
}

static void check_verb(enum verb verb, double expected_of_last)
{
    struct fixture fixture;

    fixture_start(&fixture);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&fixture, 1, chunk, verb);
    CHECK(inbox_complete(&fixture.inbox, 1));
    CHECK((verb == VERB_REPLACE) == inbox_replaces(&fixture.inbox, 1));
    apply(&fixture, 1);
    CHECK_NEAR(expected_of_last, (double)fixture.x[4], 0);
    CHECK_NEAR(verb == VERB_STEP ? 5 : 0, fixture.stepped[4], 0);
    CHECK(!inbox_complete(&fixture.inbox, 1));
    fixture_end(&fixture);
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
    struct fixture fixture;

    fixture_start(&fixture);
    take(&fixture, 4, 2, VERB_REBASE);
    take(&fixture, 4, 2, VERB_REBASE);
    take(&fixture, 3, 0, VERB_REBASE);
    take(&fixture, 4, 0, VERB_REBASE);
    CHECK(!inbox_complete(&fixture.inbox, 4));
    take(&fixture, 4, 1, VERB_REBASE);
    CHECK(inbox_complete(&fixture.inbox, 4));
    CHECK(!inbox_complete(&fixture.inbox, 3));
    apply(&fixture, 4);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(11 + i, (double)fixture.x[i], 0);
    fixture_end(&fixture);
}

static void a_vector_may_lie_in_pieces(void)
{
    const struct inbox_optimizer optimizer = {step, NULL, NULL, NULL};
    float head[1] = {10}, middle[3] = {10, 10, 10}, tail[1] = {10};
    const struct span spans[] = {{head, 1}, {middle, 3}, {tail, 1}};
    struct fixture fixture;

    fixture_start(&fixture);
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&fixture, 1, chunk, VERB_REBASE);
    (void)inbox_apply(&fixture.inbox, 1, spans, NULL, &optimizer);
    CHECK_NEAR(11, (double)head[0], 0);
    CHECK_NEAR(12, (double)middle[0], 0);
    CHECK_NEAR(14, (double)middle[2], 0);
    CHECK_NEAR(15, (double)tail[0], 0);
    fixture_end(&fixture);
}

static void what_is_forgotten_is_gone_and_nothing_else(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    for (uint64_t exchange = 0; exchange < 4; exchange++)
        for (uint32_t chunk = 0; chunk < 3; chunk++)
            take(&fixture, exchange, chunk, VERB_REBASE);
    inbox_forget(&fixture.inbox, 1, 2);
    CHECK(inbox_complete(&fixture.inbox, 0));
    CHECK(!inbox_complete(&fixture.inbox, 1));
    CHECK(!inbox_complete(&fixture.inbox, 2));
    CHECK(inbox_complete(&fixture.inbox, 3));
    fixture_end(&fixture);
}

static void it_holds_no_more_than_its_exchanges(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    for (uint64_t i = 0; i < (uint64_t)2 * INBOX_EXCHANGES; i++)
        for (uint32_t chunk = 0; chunk < 3; chunk++)
            take(&fixture, i, chunk, VERB_REBASE);
    CHECK(inbox_complete(&fixture.inbox, INBOX_EXCHANGES - 1));
    CHECK(!inbox_complete(&fixture.inbox, INBOX_EXCHANGES));
    fixture_end(&fixture);
}

static void the_anchor_moves_when_its_result_is_applied(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    fixture.for_anchor = true;
    for (uint32_t chunk = 0; chunk < 3; chunk++)
        take(&fixture, 1, chunk, VERB_REBASE);
    CHECK(!inbox_complete(&fixture.inbox, 1));
    fixture.for_anchor = false;
    for (uint32_t chunk = 0; chunk < 3; chunk++) {
        take(&fixture, 1, chunk, VERB_REBASE);
        take(&fixture, 2, chunk, VERB_REBASE);
    }
    CHECK_NEAR(0, (double)fixture.anchor[4], 0);
    apply(&fixture, 1);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(i + 1, (double)fixture.anchor[i], 0);
    fixture.anchor[2] = 77;
    apply(&fixture, 2); /* without one */
    CHECK_NEAR(77, (double)fixture.anchor[2], 0);
    fixture_end(&fixture);
}

/* ---- SD-3 and SD-13: local pulling ---- */

static void pull(struct fixture *fixture, double strength, uint64_t every,
                 double anchor)
{
    const struct msg_local_tune schedule = {
        .offering = 1, .anchor = strength, .every = every};
    const struct span spans[] = {{fixture->x, 2}, {fixture->x + 2, 3}};

    for (int i = 0; i < ELEMENTS; i++)
        fixture->anchor[i] = (float)anchor;
    inbox_pull(&fixture->inbox, &schedule, spans, fixture->anchor,
               &(struct inbox_optimizer){step, fixture, NULL, NULL});
}

static void sd_03_each_step_pulls_to_the_newest_result(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    pull(&fixture, 0.5, 2, 2);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(0.75 * 10 + 0.25 * 2, (double)fixture.x[i], 0);
    fixture_end(&fixture);
}

static void sd_03_a_strength_of_zero_is_no_operation(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    pull(&fixture, 0, 2, (double)NAN);
    inbox_pull(&fixture.inbox, &(struct msg_local_tune){.every = 0},
               &(struct span){NULL, 0}, NULL,
               &(struct inbox_optimizer){step, NULL, NULL, NULL});
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(10, (double)fixture.x[i], 0);
    fixture_end(&fixture);
}

/* First to the global leader of the last 16 steps, then to the local one. */
static void sd_13_two_leaders_pull_one_after_the_other(void)
{
    struct fixture fixture;

    fixture_start(&fixture);
    for (int i = 0; i < ELEMENTS; i++)
        fixture.x[i] = 1;
    pull(&fixture, 0.1, 16, 4);
    pull(&fixture, 0.1, 4, 2);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_NEAR(1.04328125, (double)fixture.x[i], 1e-6);
    fixture_end(&fixture);
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
