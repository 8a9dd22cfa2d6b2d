#include "node/deferred.h"

#include <string.h>

#include "node/training.h"
#include "tests/check.h"
#include "tests/hand.h"

enum { ELEMENTS = 4, SAMPLES = 8, POSTED = 16 + DEFERRED_BEHIND };

/* Parameters x that lie elsewhere; copies of them go to `memory`. k = 3, d = 4.
 */
struct bench {
    struct pool *pool;
    struct training training;
    struct span span;
    float x[ELEMENTS], memory[ELEMENTS];
    struct msg posted[POSTED];
    double first[POSTED]; /* value of what was posted with it */
    unsigned count;
};

static void post(void *self, const struct msg *msg, struct blob *payload)
{
    struct bench *bench = self;

    bench->first[bench->count] = payload ? hand_float(payload, 0) : -1;
    bench->posted[bench->count++] = *msg;
    blob_unref(&payload);
}

static void change(void *self, double keep, double scale, const float *values,
                   size_t first, size_t count)
{
    struct bench *bench = self;

    for (size_t i = 0; i < count; i++)
        bench->x[first + i] = (float)(keep * (double)bench->x[first + i] +
                                      scale * (double)values[i]);
}

static void say(struct bench *bench, const struct msg *msg,
                struct blob *payload)
{
    CHECK(agenda_receive(&bench->training.agenda, msg, payload));
}

static void bench_start(struct bench *bench, enum miss miss)
{
    const struct training_owner owner = {
        .self = bench, .post = post, .change = change};
    const struct msg msg = {.kind = MSG_LOCAL_TUNE,
                            .local_tune = {.attached = 1,
                                           .offering = 1,
                                           .every = 3,
                                           .delay = 4,
                                           .miss = miss,
                                           .exchange = EXCHANGE_DELTA,
                                           .fragments = 1,
                                           .chunk_elements = ELEMENTS}};

    *bench = (struct bench){.pool = pool_new()};
    bench->span = (struct span){bench->memory, ELEMENTS};
    CHECK(training_init(&bench->training, &owner, bench->pool, ELEMENTS));
    bench->training.values = &bench->span;
    say(bench, &msg, NULL);
}

static void bench_end(struct bench *bench)
{
    training_free(&bench->training);
    pool_destroy(&bench->pool);
}

/* An iteration, which adds one; returns its number. */
static uint64_t step(struct bench *bench)
{
    for (int i = 0; i < ELEMENTS; i++)
        bench->x[i]++;
    training_iterated(&bench->training, 1, SAMPLES, NULL);
    CHECK(training_apply(&bench->training, 0, false));
    training_offer(&bench->training, false);
    return bench->training.agenda.pacer.iteration;
}

/* Time passes without one. */
static void idle(struct bench *bench, unsigned times)
{
    while (times-- > 0) {
        training_idled(&bench->training);
        CHECK(training_apply(&bench->training, 0, false));
        training_offer(&bench->training, false);
    }
}

static bool give(struct bench *bench, uint64_t iteration)
{
    memcpy(bench->memory, bench->x, sizeof bench->x);
    return training_give(&bench->training, iteration, bench->training.values);
}

static void answer(struct bench *bench, uint64_t exchange, enum verb verb)
{
    const struct msg msg = {
        .kind = MSG_LOCAL_RESULT,
        .local_result = {.exchange = exchange, .parts = 1, .verb = verb}};
    struct blob *nines = hand_floats(bench->pool, ELEMENTS, 9);

    say(bench, &msg, nines);
    blob_unref(&nines);
}

static const struct msg *last(const struct bench *bench)
{
    return &bench->posted[bench->count - 1];
}

static void an_offer_waits_for_its_copy_and_the_next_for_it(void)
{
    struct bench bench;

    bench_start(&bench, MISS_WAIT);
    while (step(&bench) < 3)
        CHECK(!training_awaits(&bench.training));
    CHECK(training_awaits(&bench.training));
    while (step(&bench) < 6)
        continue;
    CHECK_EQUAL(0, bench.count);
    CHECK(give(&bench, 3));
    CHECK(!training_awaits(&bench.training));
    CHECK_EQUAL(1, bench.count);
    CHECK_EQUAL(MSG_LOCAL_OFFER, last(&bench)->kind);
    CHECK_EQUAL(1, last(&bench)->local_offer.exchange);
    CHECK_EQUAL(3, last(&bench)->local_offer.iteration);
    CHECK_EQUAL(3 * SAMPLES, last(&bench)->local_offer.samples);
    CHECK(!give(&bench, 3));
    CHECK(!give(&bench, 2));
    bench_end(&bench);
}

static void
one_that_is_late_is_left_out_and_its_samples_come_with_the_next(void)
{
    static const enum miss misses[] = {MISS_LATE, MISS_WAIT, MISS_SKIP,
                                       MISS_CUT};

    for (unsigned i = 0; i < 4; i++) {
        struct bench bench;

        bench_start(&bench, misses[i]);
        while (step(&bench) < 7)
            continue;
        CHECK_EQUAL(misses[i] == MISS_CUT, /* which has begun another at 6 */
                    training_awaits(&bench.training));
        CHECK(!give(&bench, 3));
        while (step(&bench) < 9)
            continue;
        CHECK(give(&bench, 9));
        CHECK_EQUAL(1, bench.count);
        CHECK_EQUAL(1, last(&bench)->local_offer.exchange);
        CHECK_EQUAL(9 * SAMPLES, last(&bench)->local_offer.samples);
        bench_end(&bench);
    }
}

static void what_is_applied_meanwhile_is_told_behind_it(void)
{
    const struct msg done = {.kind = MSG_LOCAL_REPORT};
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 3)
        continue;
    CHECK(give(&bench, 3));
    while (step(&bench) < 6)
        continue;
    answer(&bench, 1, VERB_REBASE);
    CHECK_EQUAL(7, step(&bench));
    CHECK_NEAR(16, (double)bench.x[0], 0);
    training_say(&bench.training, &done);
    CHECK_EQUAL(1, bench.count);
    CHECK(training_give(&bench.training, 6, bench.training.values));
    CHECK_EQUAL(4, bench.count);
    CHECK_EQUAL(2, bench.posted[1].local_offer.exchange);
    CHECK_EQUAL(MSG_APPLIED, bench.posted[2].kind);
    CHECK_EQUAL(MSG_LOCAL_REPORT, bench.posted[3].kind);
    bench_end(&bench);
}

static void what_replaces_the_parameters_ends_it(void)
{
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 3)
        continue;
    answer(&bench, 0, VERB_REPLACE);
    CHECK_EQUAL(4, step(&bench));
    CHECK(!training_awaits(&bench.training));
    CHECK_EQUAL(MSG_APPLIED, last(&bench)->kind);
    CHECK_NEAR(9, (double)bench.x[0], 0);
    while (step(&bench) < 6)
        continue;
    CHECK(give(&bench, 6));
    CHECK_EQUAL(2 * SAMPLES, last(&bench)->local_offer.samples);
    bench_end(&bench);
}

static void the_last_offer_is_of_what_was_given_last_or_none(void)
{
    for (int fresh = 0; fresh < 2; fresh++) {
        struct bench bench;

        bench_start(&bench, MISS_LATE);
        while (step(&bench) < 3)
            continue;
        CHECK_EQUAL(4, step(&bench));
        if (fresh)
            CHECK(give(&bench, 4));
        training_offer(&bench.training, true);
        CHECK_EQUAL(1, bench.count);
        CHECK(last(&bench)->local_offer.last);
        CHECK_EQUAL(fresh, last(&bench)->local_offer.exchange);
        CHECK_NEAR(fresh ? 4 : -1, bench.first[0], 0);
        bench_end(&bench);
    }
}

/* It was taken back by the last offer, out of a copy that it is not in. */
static void nothing_is_applied_to_what_is_copied_while_time_passes(void)
{
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 3)
        continue;
    CHECK(give(&bench, 3));
    while (step(&bench) < 6)
        continue;
    memcpy(bench.memory, bench.x, sizeof bench.x);
    answer(&bench, 1, VERB_REBASE);
    idle(&bench, 1);
    CHECK_NEAR(6, (double)bench.x[0], 0);
    CHECK(training_give(&bench.training, 6, bench.training.values));
    CHECK_EQUAL(2, last(&bench)->local_offer.exchange);
    idle(&bench, 1);
    CHECK_NEAR(15, (double)bench.x[0], 0);
    training_offer(&bench.training, true);
    CHECK(last(&bench)->local_offer.last);
    CHECK_NEAR(-1, bench.first[bench.count - 1], 0);
    bench_end(&bench);
}

/* More is told meanwhile than can wait: the offer is left out. */
static void tell_too_much(struct bench *bench)
{
    const struct msg msg = {.kind = MSG_LOCAL_PING};

    CHECK(training_awaits(&bench->training));
    for (unsigned i = 0; i <= DEFERRED_BEHIND; i++)
        training_say(&bench->training, &msg);
    CHECK(!training_awaits(&bench->training));
}

static void time_that_passes_does_not_leave_a_copy_out(void)
{
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 3)
        continue;
    CHECK(give(&bench, 3));
    while (step(&bench) < 6)
        continue;
    answer(&bench, 1, VERB_REBASE);
    idle(&bench, 20);
    CHECK_NEAR(6, (double)bench.x[0], 0);
    CHECK(give(&bench, 6));
    CHECK_EQUAL(2, last(&bench)->local_offer.exchange);
    bench_end(&bench);
}

static void a_copy_that_is_late_is_not_that_of_a_later_offer(void)
{
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 3)
        continue;
    CHECK(give(&bench, 3));
    while (step(&bench) < 6)
        continue;
    memcpy(bench.memory, bench.x, sizeof bench.x);
    answer(&bench, 1, VERB_REBASE);
    tell_too_much(&bench);
    idle(&bench, 4);
    CHECK_NEAR(15, (double)bench.x[0], 0);
    CHECK(!training_give(&bench.training, 6, bench.training.values));
    CHECK_EQUAL(MSG_APPLIED, last(&bench)->kind);
    idle(&bench, 3);
    CHECK(training_awaits(&bench.training));
    CHECK(give(&bench, 6));
    CHECK_EQUAL(2, last(&bench)->local_offer.exchange);
    CHECK_NEAR(15, bench.first[bench.count - 1], 0);
    bench_end(&bench);
}

/* And what was applied meanwhile is in what is copied after it. */
static void the_last_offer_is_not_of_a_copy_that_came_too_late(void)
{
    for (int again = 0; again < 2; again++) {
        struct bench bench;

        bench_start(&bench, MISS_LATE);
        while (step(&bench) < 3)
            continue;
        CHECK(give(&bench, 3));
        while (step(&bench) < 6)
            continue;
        memcpy(bench.memory, bench.x, sizeof bench.x);
        answer(&bench, 1, VERB_REBASE);
        tell_too_much(&bench);
        idle(&bench, 4);
        (void)training_give(&bench.training, 6, bench.training.values);
        if (again)
            CHECK(give(&bench, 6));
        training_offer(&bench.training, true);
        CHECK(last(&bench)->local_offer.last);
        CHECK_NEAR(again ? 15 : -1, bench.first[bench.count - 1], 0);
        bench_end(&bench);
    }
}

static void who_has_no_memory_for_a_last_offer_says_goodbye(void)
{
    struct bench bench;

    bench_start(&bench, MISS_LATE);
    while (step(&bench) < 4)
        continue;
    CHECK(give(&bench, 4));
    bench.training.agenda.pacer.schedule.chunk_elements = UINT32_MAX;
    bench.training.agenda.inbox.elements = (size_t)1 << 40; /* too many */
    training_offer(&bench.training, true);
    CHECK_EQUAL(1, bench.training.left_out);
    CHECK_EQUAL(1, bench.count);
    CHECK(bench.posted[0].local_offer.last);
    CHECK_EQUAL(0, bench.posted[0].local_offer.exchange);
    bench_end(&bench);
}

void add_node_deferred_tests(CU_pSuite suite)
{
    TEST(an_offer_waits_for_its_copy_and_the_next_for_it);
    TEST(one_that_is_late_is_left_out_and_its_samples_come_with_the_next);
    TEST(what_is_applied_meanwhile_is_told_behind_it);
    TEST(what_replaces_the_parameters_ends_it);
    TEST(the_last_offer_is_of_what_was_given_last_or_none);
    TEST(nothing_is_applied_to_what_is_copied_while_time_passes);
    TEST(time_that_passes_does_not_leave_a_copy_out);
    TEST(a_copy_that_is_late_is_not_that_of_a_later_offer);
    TEST(the_last_offer_is_not_of_a_copy_that_came_too_late);
    TEST(who_has_no_memory_for_a_last_offer_says_goodbye);
}
