#include "tests/check.h"
#include "tests/node/pacing.h"

static bool offers(struct pacer *pacer)
{
    uint64_t exchange;

    return pacer_offer(pacer, false, &exchange);
}

/* Else it would be a round behind the others for ever. */
static void who_is_late_at_its_next_turn_leaves_it_out(void)
{
    struct pacer pacer;
    uint64_t exchange;

    pacing_start(&pacer, 8, 4, MISS_LATE);
    exchange = pacing_offer_at(&pacer, 8);
    pacing_run_to(&pacer, 12);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 16);
    CHECK(!offers(&pacer));
    pacing_run_to(&pacer, 17);
    pacer_ready(&pacer, exchange);
    pacing_expect(&pacer, PACER_APPLY, exchange);
    CHECK(!offers(&pacer));
    CHECK_EQUAL(exchange + 1, pacing_offer_at(&pacer, 24));
}

static void offers_come_every_k_iterations(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 5, 2, MISS_LATE);
    CHECK(!offers(&pacer));
    for (uint64_t i = 1; i <= 50; i++) {
        pacer_tick(&pacer);
        CHECK_EQUAL(i % 5 == 0, offers(&pacer));
        CHECK(!offers(&pacer));
        pacer_forget(&pacer, 0, UINT64_MAX);
    }
}

static void exchanges_are_numbered_from_one(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 1, 5, MISS_LATE);
    for (uint64_t i = 1; i <= 5; i++)
        CHECK_EQUAL(i, pacing_offer_at(&pacer, i));
}

static void nothing_is_offered_when_nobody_wants_it(void)
{
    struct pacer pacer;
    uint64_t exchange;

    pacer_init(&pacer);
    pacing_run_to(&pacer, 3);
    CHECK(!offers(&pacer));
    pacing_start(&pacer, 1, 1, MISS_LATE);
    pacing_run_to(&pacer, 3);
    pacer.schedule.attached = 0;
    CHECK(!offers(&pacer));
    CHECK(!pacer_offer(&pacer, true, &exchange));
    pacer.schedule.attached = 1;
    pacer.schedule.offering = 0;
    CHECK(!offers(&pacer));
    pacer.schedule.offering = 1;
    CHECK(offers(&pacer));
}

static void the_last_offer_comes_out_of_turn(void)
{
    struct pacer pacer;
    uint64_t exchange = 0;

    pacing_start(&pacer, 10, 2, MISS_LATE);
    pacing_run_to(&pacer, 7);
    CHECK(!offers(&pacer));
    CHECK(pacer_offer(&pacer, true, &exchange));
    CHECK_EQUAL(1, exchange);
}

/* A tournament's result replaces what the trainer has. */
static void parameters_are_never_skipped(void)
{
    struct pacer pacer;
    uint64_t exchange;

    pacing_start(&pacer, 8, 4, MISS_SKIP);
    pacer.schedule.exchange = EXCHANGE_PARAMETERS;
    exchange = pacing_offer_at(&pacer, 8);
    pacing_run_to(&pacer, 12);
    pacing_expect(&pacer, PACER_GO, 0);
    CHECK_EQUAL(1, pacer.missed);
    pacer_ready(&pacer, exchange);
    pacing_expect(&pacer, PACER_APPLY, exchange);
}

static void at_most_64_are_in_flight_and_the_last_one(void)
{
    struct pacer pacer;
    uint64_t exchange;

    pacing_start(&pacer, 1, 1000, MISS_LATE);
    for (unsigned i = 1; i <= 100; i++) {
        pacer_tick(&pacer);
        CHECK_EQUAL(i <= PACER_FLIGHT, offers(&pacer));
    }
    pacer_forget(&pacer, 1, 1);
    pacer_tick(&pacer);
    CHECK(offers(&pacer));
    CHECK_EQUAL(PACER_FLIGHT + 2, pacer.next_exchange);
    CHECK(pacer_offer(&pacer, true, &exchange));
}

static void no_more_are_in_flight_than_d_hides_and_one(void)
{
    static const struct {
        uint64_t every, delay;
        unsigned most;
    } rows[] = {{10, 0, 1}, {10, 1, 2}, {10, 10, 2}, {10, 11, 3}, {2, 5, 4}};

    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct pacer pacer;

        pacing_start(&pacer, rows[row].every, rows[row].delay, MISS_LATE);
        for (unsigned i = 0; i < 100; i++) {
            pacer_tick(&pacer);
            (void)offers(&pacer);
        }
        CHECK_EQUAL(rows[row].most, pacer.count);
    }
}

static void a_result_is_applied_at_i_plus_d_and_not_before(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 4, MISS_LATE);
    pacer_ready(&pacer, pacing_offer_at(&pacer, 10));
    for (uint64_t i = 10; i < 14; i++) {
        pacing_run_to(&pacer, i);
        pacing_expect(&pacer, PACER_GO, 0);
    }
    pacing_run_to(&pacer, 14);
    pacing_expect(&pacer, PACER_APPLY, 1);
    pacing_expect(&pacer, PACER_GO, 0);
    CHECK_EQUAL(0, pacer.missed);
    CHECK_EQUAL(0, pacer.count);
}

static void late_is_counted_once_and_applied_when_it_comes(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 4, MISS_LATE);
    (void)pacing_offer_at(&pacer, 10);
    for (uint64_t i = 14; i < 18; i++) {
        pacing_run_to(&pacer, i);
        pacing_expect(&pacer, PACER_GO, 0);
        CHECK_EQUAL(1, pacer.missed);
    }
    pacer_ready(&pacer, 1);
    pacing_expect(&pacer, PACER_APPLY, 1);
    CHECK_EQUAL(1, pacer.missed);
}

static void skip_never_applies_what_is_late(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 4, MISS_SKIP);
    (void)pacing_offer_at(&pacer, 10);
    pacing_run_to(&pacer, 13);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 14);
    pacing_expect(&pacer, PACER_SKIP, 1);
    pacer_ready(&pacer, 1);
    pacing_expect(&pacer, PACER_GO, 0);
    CHECK_EQUAL(1, pacer.missed);
    (void)pacing_offer_at(&pacer,
                          20); /* the hub is not done with the first one */
    pacing_run_to(&pacer, 30);
    CHECK(!offers(&pacer));
    pacer_forget(&pacer, 1, 1);
    CHECK(offers(&pacer));
}

static void wait_waits_and_then_treats_it_as_late(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 4, MISS_WAIT);
    (void)pacing_offer_at(&pacer, 10);
    pacing_run_to(&pacer, 14);
    pacing_expect(&pacer, PACER_WAIT, 1);
    pacing_expect(&pacer, PACER_WAIT, 1);
    CHECK_EQUAL(0, pacer.missed);
    pacer_give_up(&pacer, 1);
    pacer_give_up(&pacer, 1);
    CHECK_EQUAL(1, pacer.missed);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 16);
    pacer_ready(&pacer, 1);
    pacing_expect(&pacer, PACER_APPLY, 1);
    CHECK_EQUAL(1, pacer.missed);
}

static void no_delay_blocks_at_once_whatever_the_policy(void)
{
    for (enum miss miss = 0; miss < MISS_COUNT; miss++) {
        struct pacer pacer;

        pacing_start(&pacer, 10, 0, miss);
        pacing_run_to(&pacer, 10);
        pacing_expect(&pacer, PACER_GO, 0);
        (void)pacing_offer_at(&pacer, 10);
        pacing_expect(&pacer, PACER_WAIT, 1);
        pacer_ready(&pacer, 1);
        pacing_expect(&pacer, PACER_APPLY, 1);
        pacing_expect(&pacer, PACER_GO, 0);
        (void)pacing_offer_at(&pacer, 20);
        pacing_expect(&pacer, PACER_WAIT, 2);
        pacer_give_up(&pacer, 2);
        pacing_expect(&pacer, PACER_GO, 0);
        pacer_ready(&pacer, 2);
        pacing_expect(&pacer, PACER_APPLY, 2);
        CHECK_EQUAL(1, pacer.missed);
    }
}

static void each_exchange_is_waited_for_though_an_older_one_is_late(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 5, MISS_WAIT);
    (void)pacing_offer_at(&pacer, 10);
    pacing_run_to(&pacer, 15);
    pacing_expect(&pacer, PACER_WAIT, 1);
    pacer_give_up(&pacer, 1);
    (void)pacing_offer_at(&pacer, 20);
    pacing_run_to(&pacer, 25);
    pacing_expect(&pacer, PACER_WAIT, 2);
    pacer_ready(&pacer, 2);
    pacing_expect(&pacer, PACER_GO, 0);
    pacer_ready(&pacer, 1);
    pacing_expect(&pacer, PACER_APPLY, 1);
    pacing_expect(&pacer, PACER_APPLY, 2);
}

static void a_younger_result_waits_for_an_older_one(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 2, 5, MISS_LATE);
    (void)pacing_offer_at(&pacer, 2);
    (void)pacing_offer_at(&pacer, 4);
    pacer_ready(&pacer, 2);
    pacing_run_to(&pacer, 9);
    pacing_expect(&pacer, PACER_GO, 0);
    pacer_ready(&pacer, 1);
    pacing_expect(&pacer, PACER_APPLY, 1);
    pacing_expect(&pacer, PACER_APPLY, 2);
    CHECK_EQUAL(1, pacer.missed);
}

static void what_is_forgotten_holds_nobody_up(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 2, 5, MISS_WAIT);
    for (uint64_t i = 1; i <= 4; i++)
        (void)pacing_offer_at(&pacer, 2 * i);
    pacer_ready(&pacer, 4);
    pacing_run_to(&pacer, 20);
    pacing_expect(&pacer, PACER_WAIT, 1);
    pacer_forget(&pacer, 1, 2);
    pacing_expect(&pacer, PACER_WAIT, 3);
    pacer_forget(&pacer, 3, 3);
    pacing_expect(&pacer, PACER_APPLY, 4);
    CHECK_EQUAL(0, pacer.count);
    CHECK_EQUAL(0, pacer.missed);
}

static void what_is_not_in_flight_is_ignored(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 2, 5, MISS_LATE);
    (void)pacing_offer_at(&pacer, 2);
    pacer_ready(&pacer, 0);
    pacer_ready(&pacer, 2);
    pacer_done(&pacer, 2);
    pacer_give_up(&pacer, 7);
    pacer_forget(&pacer, 2, UINT64_MAX);
    CHECK_EQUAL(1, pacer.count);
    CHECK_EQUAL(PACER_PENDING, pacer.flight[0].state);
    CHECK_EQUAL(0, pacer.missed);
}

static void what_is_in_flight_keeps_its_iteration(void)
{
    struct msg_local_tune schedule = {
        .attached = 1, .offering = 1, .every = 10, .delay = 1};
    struct pacer pacer;

    pacing_start(&pacer, 10, 8, MISS_LATE);
    pacer_ready(&pacer, pacing_offer_at(&pacer, 10));
    pacer_schedule(&pacer, &schedule);
    pacing_run_to(&pacer, 17);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 18);
    pacing_expect(&pacer, PACER_APPLY, 1);
    (void)pacing_offer_at(&pacer, 20);
    CHECK_EQUAL(21, pacer.flight[0].due);
}

static void an_endless_delay_is_never_due(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 1, UINT64_MAX, MISS_WAIT);
    pacer_ready(&pacer, pacing_offer_at(&pacer, 1));
    pacing_run_to(&pacer, 100);
    pacing_expect(&pacer, PACER_GO, 0);
}

void add_node_pacer_tests(CU_pSuite suite)
{
    TEST(offers_come_every_k_iterations);
    TEST(who_is_late_at_its_next_turn_leaves_it_out);
    TEST(exchanges_are_numbered_from_one);
    TEST(nothing_is_offered_when_nobody_wants_it);
    TEST(the_last_offer_comes_out_of_turn);
    TEST(parameters_are_never_skipped);
    TEST(at_most_64_are_in_flight_and_the_last_one);
    TEST(no_more_are_in_flight_than_d_hides_and_one);
    TEST(a_result_is_applied_at_i_plus_d_and_not_before);
    TEST(late_is_counted_once_and_applied_when_it_comes);
    TEST(skip_never_applies_what_is_late);
    TEST(wait_waits_and_then_treats_it_as_late);
    TEST(no_delay_blocks_at_once_whatever_the_policy);
    TEST(each_exchange_is_waited_for_though_an_older_one_is_late);
    TEST(a_younger_result_waits_for_an_older_one);
    TEST(what_is_forgotten_holds_nobody_up);
    TEST(what_is_not_in_flight_is_ignored);
    TEST(what_is_in_flight_keeps_its_iteration);
    TEST(an_endless_delay_is_never_due);
}
