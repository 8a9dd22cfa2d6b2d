/* Fragments have their turns spread over k iterations, and do not wait for
 * each other. */
#include "node/pacer.h"

#include "core/fragment.h"
#include "tests/check.h"

static void start(struct pacer *pacer, uint64_t every, uint64_t delay,
                  uint32_t fragments)
{
    struct msg_local_tune schedule = {.attached = 1,
                                      .offering = 1,
                                      .every = every,
                                      .delay = delay,
                                      .fragments = fragments};

    pacer_init(pacer);
    pacer_schedule(pacer, &schedule);
}

/* Fragment p is offered when (i - p k / F) mod k = 0, and only then. */
static void check_turns(uint64_t every, uint32_t fragments)
{
    struct pacer pacer;
    uint64_t exchange;

    start(&pacer, every, 0, fragments);
    CHECK(!pacer_offer(&pacer, false, &exchange));
    for (uint64_t i = 1; i <= 4 * every; i++) {
        pacer_tick(&pacer);
        for (uint32_t p = 0; p < fragments; p++) {
            uint64_t offset = p * every / fragments;

            if (i < offset || (i - offset) % every)
                continue;
            CHECK(pacer_offer(&pacer, false, &exchange));
            CHECK_EQUAL(p, pacer.fragment);
            pacer_done(&pacer, exchange);
        }
        CHECK(!pacer_offer(&pacer, false, &exchange));
    }
}

static void each_fragment_has_its_turn_every_k_iterations(void)
{
    for (uint64_t every = 1; every <= 12; every++)
        for (uint32_t fragments = 1; fragments <= 15; fragments++)
            check_turns(every, fragments);
}

/* k = 6 in two fragments: one at 6, 12 ..., the other at 3, 9, ... */
static void traffic_is_even_over_k(void)
{
    struct pacer pacer;
    uint64_t exchange;
    unsigned at[18] = {0};

    start(&pacer, 6, 1000, 3);
    for (unsigned i = 1; i < 18; i++) {
        pacer_tick(&pacer);
        while (pacer_offer(&pacer, false, &exchange))
            at[i]++;
        CHECK_EQUAL(i % 2 == 0, at[i]);
    }
}

/* d = 8 hides two offers of a fragment with k = 5; a third may be late. */
static void the_bound_on_flights_is_of_each_fragment(void)
{
    unsigned offered[2] = {0};
    struct pacer pacer;
    uint64_t exchange;

    start(&pacer, 5, 8, 2);
    for (unsigned i = 1; i <= 40; i++) {
        pacer_tick(&pacer);
        while (pacer_offer(&pacer, false, &exchange))
            offered[pacer.fragment]++;
    }
    CHECK_EQUAL(3, offered[0]);
    CHECK_EQUAL(3, offered[1]);
    pacer_forget(&pacer, 1, 1); /* fragment 1's first, at iteration 2 */
    for (unsigned i = 41; i <= 50; i++) {
        pacer_tick(&pacer);
        while (pacer_offer(&pacer, false, &exchange))
            offered[pacer.fragment]++;
    }
    CHECK_EQUAL(3, offered[0]);
    CHECK_EQUAL(4, offered[1]);
}

static void all_together_are_bounded_too(void)
{
    struct pacer pacer;
    uint64_t exchange;
    unsigned offered = 0;

    start(&pacer, 1, 1000, 40);
    for (unsigned i = 1; i <= 10; i++) {
        pacer_tick(&pacer);
        while (pacer_offer(&pacer, false, &exchange))
            offered++;
    }
    CHECK_EQUAL(PACER_FLIGHT, offered);
}

/* Fragment 1 is offered at 2, fragment 0 at 4; what is late of one does not
 * keep the other from being applied, but its own next one. */
static void a_late_fragment_keeps_only_its_own_back(void)
{
    struct pacer pacer;
    uint64_t exchange = 0;

    start(&pacer, 4, 4, 2);
    for (unsigned i = 1; i <= 10; i++) {
        pacer_tick(&pacer);
        while (pacer_offer(&pacer, false, &exchange))
            continue;
    }
    CHECK_EQUAL(4, pacer.count); /* fragments 1, 0, 1, 0, at 2, 4, 6, 8 */
    pacer_ready(&pacer, 3);
    CHECK_EQUAL(PACER_GO, pacer_due(&pacer, &exchange));
    pacer_ready(&pacer, 2);
    CHECK_EQUAL(PACER_APPLY, pacer_due(&pacer, &exchange));
    CHECK_EQUAL(2, exchange);
    pacer_done(&pacer, 2);
    CHECK_EQUAL(PACER_GO, pacer_due(&pacer, &exchange));
    pacer_ready(&pacer, 1);
    CHECK_EQUAL(PACER_APPLY, pacer_due(&pacer, &exchange));
    CHECK_EQUAL(1, exchange);
    pacer_done(&pacer, 1);
    CHECK_EQUAL(PACER_APPLY, pacer_due(&pacer, &exchange));
    CHECK_EQUAL(3, exchange);
}

static void the_last_offer_holds_all_and_comes_after_all(void)
{
    struct pacer pacer;
    uint64_t exchange = 0;

    start(&pacer, 4, 2, 2);
    for (unsigned i = 1; i <= 4; i++)
        pacer_tick(&pacer);
    CHECK(pacer_offer(&pacer, false, &exchange));
    CHECK(pacer_offer(&pacer, true, &exchange));
    CHECK_EQUAL(FRAGMENT_ALL, pacer.fragment);
    CHECK(!pacer_offer(&pacer, false, &exchange));
    pacer_tick(&pacer);
    pacer_tick(&pacer);
    pacer_ready(&pacer, 2);
    CHECK_EQUAL(PACER_GO, pacer_due(&pacer, &exchange));
    pacer_done(&pacer, 1);
    CHECK_EQUAL(PACER_APPLY, pacer_due(&pacer, &exchange));
}

void add_node_pacer_fragments_tests(CU_pSuite suite)
{
    TEST(each_fragment_has_its_turn_every_k_iterations);
    TEST(traffic_is_even_over_k);
    TEST(the_bound_on_flights_is_of_each_fragment);
    TEST(all_together_are_bounded_too);
    TEST(a_late_fragment_keeps_only_its_own_back);
    TEST(the_last_offer_holds_all_and_comes_after_all);
}
