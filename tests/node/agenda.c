#include "node/agenda.h"

#include "tests/check.h"
#include "tests/hand.h"

/* Five elements in chunks of 2, 2 and 1; k = 1, d = 0. */
enum { ELEMENTS = 5, CHUNK = 2, CHUNKS = 3 };

struct bench {
    struct pool *pool;
    struct agenda agenda;
    float x[ELEMENTS];
};

static void bench_start(struct bench *bench, uint32_t fragments)
{
    struct msg msg = {.kind = MSG_SCHEDULE,
                      .schedule = {.attached = 1,
                                   .offering = 1,
                                   .every = 1,
                                   .exchange = EXCHANGE_PARAMETERS,
                                   .fragments = fragments,
                                   .chunk_elements = CHUNK}};

    *bench = (struct bench){.pool = pool_new()};
    agenda_init(&bench->agenda, ELEMENTS);
    (void)agenda_take(&bench->agenda, &msg, NULL);
    for (int i = 0; i < ELEMENTS; i++)
        bench->x[i] = (float)i;
}

static void bench_end(struct bench *bench)
{
    agenda_free(&bench->agenda);
    pool_destroy(&bench->pool);
}

static uint64_t offer(struct bench *bench)
{
    uint64_t exchange = 0;

    pacer_tick(&bench->agenda.pacer);
    CHECK(pacer_offer(&bench->agenda.pacer, false, &exchange));
    return exchange;
}

/* Chunks of nines. */
static void answer(struct bench *bench, uint64_t exchange, enum verb verb)
{
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct msg msg = {.kind = MSG_APPLY,
                          .apply = {.exchange = exchange,
                                    .chunk = chunk,
                                    .first = (uint64_t)chunk * CHUNK,
                                    .parts = CHUNKS,
                                    .verb = verb}};
        struct blob *nines =
            hand_floats(bench->pool, chunk == 2 ? 1 : CHUNK, 9);

        (void)agenda_take(&bench->agenda, &msg, nines);
        blob_unref(&nines);
    }
}

static bool apply(struct bench *bench, uint64_t exchange)
{
    const struct inbox_optimizer nobody = {NULL, NULL, NULL};
    const struct span span = {bench->x, ELEMENTS};
    bool replaced;

    CHECK_EQUAL(ELEMENTS, agenda_apply(&bench->agenda, exchange, &span, NULL,
                                       &nobody, &replaced));
    return replaced;
}

static void what_is_here_is_applied(void)
{
    uint64_t exchange = 77;
    struct bench bench;

    bench_start(&bench, 1);
    CHECK_EQUAL(1, offer(&bench));
    CHECK_EQUAL(PACER_WAIT, agenda_due(&bench.agenda, &exchange));
    answer(&bench, 1, VERB_REBASE);
    CHECK_EQUAL(PACER_APPLY, agenda_due(&bench.agenda, &exchange));
    CHECK_EQUAL(1, exchange);
    CHECK(!apply(&bench, 1));
    CHECK_NEAR(9 + 4, (double)bench.x[4], 0);
    CHECK_EQUAL(PACER_GO, agenda_due(&bench.agenda, &exchange));
    bench_end(&bench);
}

static void parameters_to_take_come_first_and_void_the_rest(void)
{
    uint64_t exchange = 77;
    struct bench bench;

    bench_start(&bench, 1);
    (void)offer(&bench);
    answer(&bench, 1, VERB_REBASE);
    answer(&bench, 0, VERB_REPLACE);
    CHECK_EQUAL(PACER_APPLY, agenda_due(&bench.agenda, &exchange));
    CHECK_EQUAL(0, exchange);
    CHECK(apply(&bench, 0));
    CHECK_NEAR(9, (double)bench.x[4], 0);
    CHECK_EQUAL(PACER_GO, agenda_due(&bench.agenda, &exchange));
    CHECK(!inbox_complete(&bench.agenda.inbox, 1));
    bench_end(&bench);
}

static void what_is_skipped_or_forgotten_is_gone(void)
{
    struct msg msg = {.kind = MSG_FORGET, .forget = {.first = 2, .last = 2}};
    uint64_t exchange = 77;
    struct bench bench;

    bench_start(&bench, 1);
    bench.agenda.pacer.schedule.delay = 5;
    answer(&bench, offer(&bench), VERB_REBASE);
    answer(&bench, offer(&bench), VERB_REBASE);
    agenda_skip(&bench.agenda, 1);
    (void)agenda_take(&bench.agenda, &msg, NULL);
    for (int i = 0; i < 9; i++)
        pacer_tick(&bench.agenda.pacer);
    CHECK_EQUAL(PACER_GO, agenda_due(&bench.agenda, &exchange));
    CHECK(!inbox_complete(&bench.agenda.inbox, 1));
    CHECK(!inbox_complete(&bench.agenda.inbox, 2));
    bench_end(&bench);
}

static void an_offer_says_what_it_holds_and_holds_it(void)
{
    struct msg_snapshot snapshot = {.exchange = 5};
    struct bench bench;
    struct span span = {bench.x, ELEMENTS};
    float out[ELEMENTS];
    uint64_t exchange;

    bench_start(&bench, 2);
    (void)offer(&bench);
    agenda_describe(&bench.agenda, &snapshot);
    CHECK_EQUAL(5, snapshot.exchange);
    CHECK_EQUAL(1, snapshot.iteration);
    CHECK_EQUAL(EXCHANGE_PARAMETERS, snapshot.kind);
    CHECK_EQUAL(0, snapshot.fragment);
    CHECK_EQUAL(2, snapshot.fragments);
    CHECK_EQUAL(3, agenda_elements(&bench.agenda));
    agenda_copy(&bench.agenda, &span, out);
    CHECK_NEAR(1, (double)out[1], 0);
    CHECK_NEAR(4, (double)out[2], 0);
    CHECK(pacer_offer(&bench.agenda.pacer, true, &exchange));
    agenda_describe(&bench.agenda, &snapshot);
    CHECK_EQUAL(FRAGMENT_ALL, snapshot.fragment);
    CHECK_EQUAL(ELEMENTS, agenda_elements(&bench.agenda));
    bench_end(&bench);
}

/* Who trained alone claimed all of that for the run's first four iterations,
 * and the first gradient was the mean of foreign ones. */
static void what_was_done_with_other_parameters_does_not_count(void)
{
    for (unsigned gradients = 0; gradients < 2; gradients++) {
        float values[ELEMENTS] = {8, 8, 8, 8, 8};
        const struct span span = {values, ELEMENTS};
        struct msg_snapshot snapshot;
        struct bench bench;
        uint64_t exchange;
        bool replaced;

        bench_start(&bench, 1);
        if (gradients)
            bench.agenda.pacer.schedule.exchange = EXCHANGE_GRADIENT;
        agenda_step(&bench.agenda, 1000, &span);
        CHECK(agenda_offer(&bench.agenda, false, &exchange));
        answer(&bench, exchange, VERB_REPLACE);
        agenda_step(&bench.agenda, 1000, &span);
        CHECK_EQUAL(PACER_APPLY, agenda_due(&bench.agenda, &exchange));
        (void)agenda_apply(
            &bench.agenda, exchange, &(struct span){bench.x, ELEMENTS}, NULL,
            &(struct inbox_optimizer){NULL, NULL, NULL}, &replaced);
        CHECK(replaced);
        for (int i = 0; i < ELEMENTS; i++)
            values[i] = 3;
        agenda_step(&bench.agenda, 32, &span);
        CHECK(agenda_offer(&bench.agenda, false, &exchange));
        agenda_copy(&bench.agenda, &(struct span){bench.x, ELEMENTS}, values);
        agenda_describe(&bench.agenda, &snapshot);
        CHECK_EQUAL(32, snapshot.samples);
        CHECK_NEAR(gradients ? 3 : 9, (double)values[1], 0);
        bench_end(&bench);
    }
}

static void gradients_have_no_last_offer_and_none_without_an_iteration(void)
{
    float values[ELEMENTS] = {8, 8, 8, 8, 8};
    const struct span span = {values, ELEMENTS};
    struct bench bench;
    uint64_t exchange;

    bench_start(&bench, 1);
    bench.agenda.pacer.schedule.exchange = EXCHANGE_GRADIENT;
    pacer_tick(&bench.agenda.pacer);
    CHECK(!agenda_offer(&bench.agenda, false, &exchange));
    agenda_step(&bench.agenda, 1, &span);
    CHECK(!agenda_offer(&bench.agenda, true, &exchange));
    CHECK(agenda_offer(&bench.agenda, false, &exchange));
    bench_end(&bench);
}

void add_node_agenda_tests(CU_pSuite suite)
{
    TEST(what_is_here_is_applied);
    TEST(parameters_to_take_come_first_and_void_the_rest);
    TEST(what_is_skipped_or_forgotten_is_gone);
    TEST(an_offer_says_what_it_holds_and_holds_it);
    TEST(what_was_done_with_other_parameters_does_not_count);
    TEST(gradients_have_no_last_offer_and_none_without_an_iteration);
}
