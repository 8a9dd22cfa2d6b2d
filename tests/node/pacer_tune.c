/* The pacer while k and d change, what is in flight keeping its due iteration,
 * and while nothing is trained. */
#include "tests/check.h"
#include "tests/node/pacing.h"

static void follow(struct pacer *pacer, uint64_t every, uint64_t delay)
{
    struct msg_local_tune schedule = {
        .attached = 1, .offering = 1, .every = every, .delay = delay};

    pacer_schedule(pacer, &schedule);
}

/* Neither before i+d of its offer's i, nor before an older one. */
static void with_a_smaller_d_the_younger_waits_for_the_older(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 20, MISS_LATE);
    (void)pacing_offer_at(&pacer, 10);
    follow(&pacer, 2, 1);
    (void)pacing_offer_at(&pacer, 12);
    CHECK_EQUAL(30, pacer.flight[0].due);
    CHECK_EQUAL(13, pacer.flight[1].due);
    pacer_ready(&pacer, 2);
    pacing_run_to(&pacer, 20);
    pacing_expect(&pacer, PACER_GO, 0);
    pacer_ready(&pacer, 1);
    pacing_run_to(&pacer, 29);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 30);
    pacing_expect(&pacer, PACER_APPLY, 1);
    pacing_expect(&pacer, PACER_APPLY, 2);
    CHECK_EQUAL(0, pacer.missed);
}

static void with_a_larger_d_the_older_keeps_its_turn(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 4, 3, MISS_LATE);
    pacer_ready(&pacer, pacing_offer_at(&pacer, 4));
    follow(&pacer, 2, 9);
    (void)pacing_offer_at(&pacer, 6);
    pacing_run_to(&pacer, 7);
    pacing_expect(&pacer, PACER_APPLY, 1);
    (void)pacing_offer_at(&pacer, 8);
    pacer_ready(&pacer, 2);
    pacer_ready(&pacer, 3);
    pacing_run_to(&pacer, 15);
    pacing_expect(&pacer, PACER_APPLY, 2);
    pacing_expect(&pacer, PACER_GO, 0);
    pacing_run_to(&pacer, 17);
    pacing_expect(&pacer, PACER_APPLY, 3);
}

/* k and d change at any time: nothing is applied early, or out of order. */
static void k_and_d_may_change_while_exchanges_are_in_flight(void)
{
    static const uint64_t everies[] = {20, 3, 1, 7, 40};
    static const uint64_t delays[] = {4, 11, 1, 60, 2};
    uint64_t offered[2000] = {0}, least[2000] = {0}, exchange, last = 0;
    uint64_t every = 20, delay = 4, count = 0;
    struct pacer pacer;

    pacing_start(&pacer, every, delay, MISS_LATE);
    for (uint64_t i = 1; i < 2000; i++) {
        pacer_tick(&pacer);
        if (i % 13 == 0) {
            every = everies[i / 13 % 5];
            delay = delays[i / 39 % 5];
            follow(&pacer, every, delay);
        }
        while (pacer_due(&pacer, &exchange) == PACER_APPLY) {
            CHECK(exchange > last);
            CHECK(i >= least[exchange]);
            last = exchange;
            pacer_done(&pacer, exchange);
        }
        if (pacer_offer(&pacer, false, &exchange)) {
            offered[exchange] = i;
            least[exchange] = i + delay;
            count++;
        }
        for (uint64_t j = last + 1; j < pacer.next_exchange; j++)
            if (i >= offered[j] + j % 9) /* it has come */
                pacer_ready(&pacer, j);
    }
    CHECK(count > 100);
    CHECK(last + PACER_FLIGHT > count);
}

static void what_results_have_taken_is_counted(void)
{
    struct pacer pacer;

    pacing_start(&pacer, 10, 8, MISS_LATE);
    (void)pacing_offer_at(&pacer, 10);
    pacing_run_to(&pacer, 13);
    pacer_ready(&pacer, 1);
    pacer_ready(&pacer, 1);
    CHECK_EQUAL(1, pacer.results);
    CHECK_EQUAL(4, pacer.taken); /* at the end of the next one it may be used */
}

static void idle_times_bring_turns_and_results_and_are_no_iterations(void)
{
    struct pacer pacer;
    uint64_t exchange;

    pacing_start(&pacer, 10, 4, MISS_LATE);
    pacing_run_to(&pacer, 7);
    for (int i = 0; i < 3; i++)
        pacer_idle(&pacer);
    CHECK(pacer_offer(&pacer, false, &exchange));
    pacer_ready(&pacer, exchange);
    CHECK_EQUAL(1, pacer.taken);
    for (int i = 0; i < 4; i++) {
        pacing_expect(&pacer, PACER_GO, 0);
        pacer_idle(&pacer);
    }
    pacing_expect(&pacer, PACER_APPLY, exchange);
    CHECK_EQUAL(7, pacer.iteration);
    CHECK_EQUAL(14, pacer_time(&pacer));
}

void add_node_pacer_tune_tests(CU_pSuite suite)
{
    TEST(with_a_smaller_d_the_younger_waits_for_the_older);
    TEST(with_a_larger_d_the_older_keeps_its_turn);
    TEST(k_and_d_may_change_while_exchanges_are_in_flight);
    TEST(what_results_have_taken_is_counted);
    TEST(idle_times_bring_turns_and_results_and_are_no_iterations);
}
