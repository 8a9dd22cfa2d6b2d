#include "node/agenda.h"

#include "tests/check.h"
#include "tests/hand.h"

/* Five elements in chunks of 2, 2 and 1; k = 1, d = 0. */
enum { ELEMENTS = 5, CHUNK = 2, CHUNKS = 3 };

struct fixture {
    struct pool *pool;
    struct agenda agenda;
    float x[ELEMENTS];
};

static bool tune(struct fixture *fixture, enum exchange exchange,
                 uint32_t fragments)
{
    struct msg msg = {.kind = MSG_LOCAL_TUNE,
                      .local_tune = {.attached = 1,
                                     .offering = 1,
                                     .every = 1,
                                     .exchange = exchange,
                                     .fragments = fragments,
                                     .chunk_elements = CHUNK}};

    return agenda_receive(&fixture->agenda, &msg, NULL);
}

static void fixture_start(struct fixture *fixture, uint32_t fragments)
{
    *fixture = (struct fixture){.pool = pool_new()};
    agenda_init(&fixture->agenda, ELEMENTS);
    CHECK(tune(fixture, EXCHANGE_PARAMETERS, fragments));
    for (int i = 0; i < ELEMENTS; i++)
        fixture->x[i] = (float)i;
}

static void fixture_end(struct fixture *fixture)
{
    agenda_free(&fixture->agenda);
    pool_destroy(&fixture->pool);
}

static uint64_t offer(struct fixture *fixture)
{
    uint64_t exchange = 0;

    pacer_tick(&fixture->agenda.pacer);
    CHECK(pacer_offer(&fixture->agenda.pacer, false, &exchange));
    return exchange;
}

/* Chunks of nines. */
static void answer(struct fixture *fixture, uint64_t exchange, enum verb verb)
{
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct msg msg = {.kind = MSG_LOCAL_RESULT,
                          .local_result = {.exchange = exchange,
                                           .chunk = chunk,
                                           .first = (uint64_t)chunk * CHUNK,
                                           .parts = CHUNKS,
                                           .verb = verb}};
        struct blob *nines =
            hand_floats(fixture->pool, chunk == 2 ? 1 : CHUNK, 9);

        (void)agenda_receive(&fixture->agenda, &msg, nines);
        blob_unref(&nines);
    }
}

static bool apply(struct fixture *fixture, uint64_t exchange)
{
    const struct inbox_optimizer nobody = {NULL, NULL, NULL, NULL};
    const struct span span = {fixture->x, ELEMENTS};
    bool replaced;

    CHECK_EQUAL(ELEMENTS, agenda_apply(&fixture->agenda, exchange, &span, NULL,
                                       &nobody, &replaced));
    return replaced;
}

static void what_is_here_is_applied(void)
{
    uint64_t exchange = 77;
    struct fixture fixture;

    fixture_start(&fixture, 1);
    CHECK_EQUAL(1, offer(&fixture));
    CHECK_EQUAL(PACER_WAIT, agenda_due(&fixture.agenda, &exchange));
    answer(&fixture, 1, VERB_REBASE);
    CHECK_EQUAL(PACER_APPLY, agenda_due(&fixture.agenda, &exchange));
    CHECK_EQUAL(1, exchange);
    CHECK(!apply(&fixture, 1));
    CHECK_NEAR(9 + 4, (double)fixture.x[4], 0);
    CHECK_EQUAL(PACER_GO, agenda_due(&fixture.agenda, &exchange));
    fixture_end(&fixture);
}

static void parameters_to_take_come_first_and_void_the_rest(void)
{
    uint64_t exchange = 77;
    struct fixture fixture;

    fixture_start(&fixture, 1);
    (void)offer(&fixture);
    answer(&fixture, 1, VERB_REBASE);
    answer(&fixture, 0, VERB_REPLACE);
    CHECK_EQUAL(PACER_APPLY, agenda_due(&fixture.agenda, &exchange));
    CHECK_EQUAL(0, exchange);
    CHECK(apply(&fixture, 0));
    CHECK_NEAR(9, (double)fixture.x[4], 0);
    CHECK_EQUAL(PACER_GO, agenda_due(&fixture.agenda, &exchange));
    CHECK(!inbox_complete(&fixture.agenda.inbox, 1));
    fixture_end(&fixture);
}

static void what_is_skipped_or_forgotten_is_gone(void)
{
    struct msg msg = {.kind = MSG_LOCAL_VERDICT,
                      .local_verdict = {.first = 2, .last = 2}};
    uint64_t exchange = 77;
    struct fixture fixture;

    fixture_start(&fixture, 1);
    fixture.agenda.pacer.schedule.delay = 5;
    answer(&fixture, offer(&fixture), VERB_REBASE);
    answer(&fixture, offer(&fixture), VERB_REBASE);
    agenda_skip(&fixture.agenda, 1);
    (void)agenda_receive(&fixture.agenda, &msg, NULL);
    for (int i = 0; i < 9; i++)
        pacer_tick(&fixture.agenda.pacer);
    CHECK_EQUAL(PACER_GO, agenda_due(&fixture.agenda, &exchange));
    CHECK(!inbox_complete(&fixture.agenda.inbox, 1));
    CHECK(!inbox_complete(&fixture.agenda.inbox, 2));
    fixture_end(&fixture);
}

static void an_offer_says_what_it_holds_and_holds_it(void)
{
    struct msg_local_offer snapshot = {.exchange = 5};
    struct fixture fixture;
    struct span span = {fixture.x, ELEMENTS};
    float out[ELEMENTS];
    uint64_t exchange;

    fixture_start(&fixture, 2);
    (void)offer(&fixture);
    agenda_describe(&fixture.agenda, false, &snapshot);
    CHECK_EQUAL(5, snapshot.exchange);
    CHECK_EQUAL(1, snapshot.iteration);
    CHECK_EQUAL(EXCHANGE_PARAMETERS, snapshot.kind);
    CHECK_EQUAL(0, snapshot.fragment);
    CHECK_EQUAL(2, snapshot.fragments);
    CHECK_EQUAL(3, agenda_elements(&fixture.agenda));
    agenda_copy(&fixture.agenda, &span, out);
    CHECK_NEAR(1, (double)out[1], 0);
    CHECK_NEAR(4, (double)out[2], 0);
    CHECK(pacer_offer(&fixture.agenda.pacer, true, &exchange));
    agenda_describe(&fixture.agenda, true, &snapshot);
    CHECK_EQUAL(FRAGMENT_ALL, snapshot.fragment);
    CHECK_EQUAL(ELEMENTS, agenda_elements(&fixture.agenda));
    fixture_end(&fixture);
}

/* Who trained alone claimed all of that for the run's first four iterations,
 * and the first gradient was the mean of foreign ones. */
static void what_was_done_with_other_parameters_does_not_count(void)
{
    for (unsigned gradients = 0; gradients < 2; gradients++) {
        float values[ELEMENTS] = {8, 8, 8, 8, 8};
        const struct span span = {values, ELEMENTS};
        struct msg_local_offer snapshot;
        struct fixture fixture;
        uint64_t exchange;
        bool replaced;

        fixture_start(&fixture, 1);
        if (gradients)
            CHECK(tune(&fixture, EXCHANGE_GRADIENT, 1));
        agenda_step(&fixture.agenda, 1000, &span);
        CHECK(agenda_offer(&fixture.agenda, false, &exchange));
        answer(&fixture, exchange, VERB_REPLACE);
        agenda_step(&fixture.agenda, 1000, &span);
        CHECK_EQUAL(PACER_APPLY, agenda_due(&fixture.agenda, &exchange));
        (void)agenda_apply(
            &fixture.agenda, exchange, &(struct span){fixture.x, ELEMENTS},
            NULL, &(struct inbox_optimizer){NULL, NULL, NULL, NULL}, &replaced);
        CHECK(replaced);
        for (int i = 0; i < ELEMENTS; i++)
            values[i] = 3;
        agenda_step(&fixture.agenda, 32, &span);
        CHECK(agenda_offer(&fixture.agenda, false, &exchange));
        agenda_copy(&fixture.agenda, &(struct span){fixture.x, ELEMENTS},
                    values);
        agenda_describe(&fixture.agenda, false, &snapshot);
        CHECK_EQUAL(32, snapshot.samples);
        CHECK_NEAR(gradients ? 3 : 9, (double)values[1], 0);
        fixture_end(&fixture);
    }
}

static void gradients_have_no_last_offer_and_none_without_an_iteration(void)
{
    float values[ELEMENTS] = {8, 8, 8, 8, 8};
    const struct span span = {values, ELEMENTS};
    struct fixture fixture;
    uint64_t exchange;

    fixture_start(&fixture, 1);
    CHECK(tune(&fixture, EXCHANGE_GRADIENT, 1));
    pacer_tick(&fixture.agenda.pacer);
    CHECK(!agenda_offer(&fixture.agenda, false, &exchange));
    agenda_step(&fixture.agenda, 1, &span);
    CHECK(!agenda_offer(&fixture.agenda, true, &exchange));
    CHECK(agenda_offer(&fixture.agenda, false, &exchange));
    fixture_end(&fixture);
}

/* A node in a run of gradients went on for ever without an offer, and nobody
 * was told. */
static void gradients_are_wanted_once_there_is_memory_for_their_sum(void)
{
    struct fixture fixture;

    fixture_start(&fixture, 1);
    fixture.agenda.inbox.elements = (size_t)1 << 50; /* too many */
    CHECK(!tune(&fixture, EXCHANGE_GRADIENT, 1));
    CHECK(!agenda_wants_gradients(&fixture.agenda));
    CHECK(tune(&fixture, EXCHANGE_PARAMETERS, 1));
    fixture.agenda.inbox.elements = ELEMENTS;
    CHECK(tune(&fixture, EXCHANGE_GRADIENT, 1));
    CHECK(agenda_wants_gradients(&fixture.agenda));
    fixture_end(&fixture);
}

/* What the offer says that is due now; its result is there at once. */
static uint64_t samples_of_offer(struct fixture *fixture)
{
    struct msg_local_offer snapshot;
    uint64_t exchange;

    CHECK(agenda_offer(&fixture->agenda, false, &exchange));
    agenda_describe(&fixture->agenda, false, &snapshot);
    pacer_done(&fixture->agenda.pacer, exchange);
    return snapshot.samples;
}

/* Who waited for tasks weighed as much as who trained. */
static void no_sample_counts_again_while_time_passes_without_iterations(void)
{
    struct fixture fixture;

    fixture_start(&fixture, 1);
    agenda_step(&fixture.agenda, 8, NULL);
    CHECK_EQUAL(8, samples_of_offer(&fixture));
    for (int i = 0; i < 2; i++) {
        pacer_idle(&fixture.agenda.pacer);
        CHECK_EQUAL(0, samples_of_offer(&fixture));
    }
    agenda_step(&fixture.agenda, 5, NULL);
    CHECK_EQUAL(5, samples_of_offer(&fixture));
    fixture_end(&fixture);
}

static void a_fragment_whose_turn_comes_while_it_waits_counts_once(void)
{
    static const uint64_t told[] = {8, 0, 0, 0};
    struct fixture fixture;

    fixture_start(&fixture, 2);
    fixture.agenda.pacer.schedule.every = 4;
    for (int i = 0; i < 2; i++)
        agenda_step(&fixture.agenda, 4, NULL);
    CHECK_EQUAL(8, samples_of_offer(&fixture));
    for (int i = 0; i < 4; i++) {
        pacer_idle(&fixture.agenda.pacer);
        pacer_idle(&fixture.agenda.pacer);
        CHECK_EQUAL(told[i], samples_of_offer(&fixture));
    }
    agenda_step(&fixture.agenda, 5, NULL);
    agenda_step(&fixture.agenda, 5, NULL);
    CHECK_EQUAL(10, samples_of_offer(&fixture));
    fixture_end(&fixture);
}

void add_node_agenda_tests(CU_pSuite suite)
{
    TEST(what_is_here_is_applied);
    TEST(parameters_to_take_come_first_and_void_the_rest);
    TEST(what_is_skipped_or_forgotten_is_gone);
    TEST(an_offer_says_what_it_holds_and_holds_it);
    TEST(what_was_done_with_other_parameters_does_not_count);
    TEST(gradients_have_no_last_offer_and_none_without_an_iteration);
    TEST(gradients_are_wanted_once_there_is_memory_for_their_sum);
    TEST(no_sample_counts_again_while_time_passes_without_iterations);
    TEST(a_fragment_whose_turn_comes_while_it_waits_counts_once);
}
