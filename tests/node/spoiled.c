/* A trainer's parameters go bad: nobody gets them. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/desk.h"

static void parameters_that_are_not_finite_are_never_sent(void)
{
    struct desk *desk = desk_member();

    hand_forget(&desk->hand);
    desk_offers(desk, 1, (double)NAN);
    CHECK(!desk_sent(desk, MSG_OFFER));
    CHECK_EQUAL(0, desk_chunks(desk, 1));
    CHECK(desk_forgot(desk, 1));
    CHECK_CONTAINS("NaN", hand_note(&desk->hand, NOTE_DECLINED)->text);
    if (CHECK(desk_sent(desk, MSG_HELLO) != NULL))
        CHECK_EQUAL(0, desk_sent(desk, MSG_HELLO)->hello.lineage);
    desk_welcomes(desk, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 4);
    desk_applied(desk, 0);
    desk_offers(desk, 2, 5);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(1, desk_chunk(desk, 2, 2), 0);
    desk_destroy(&desk);
}

static void who_goes_bad_again_and_again_asks_and_says_so_now_and_then(void)
{
    struct desk *desk = desk_member();
    unsigned before = hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO);

    for (uint64_t i = 1; i <= 20; i++) {
        desk_offers(desk, i, (double)NAN);
        if (i == 1)
            CHECK(hand_note(&desk->hand, NOTE_DECLINED) != NULL);
        CHECK_EQUAL(before + 1,
                    hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO));
        desk_restarts(desk, i % 2 ? START_GO : START_TAKE);
    }
    hand_wait(&desk->hand, 10 * SECOND);
    desk_breaks(desk);
    desk_rejoins(desk);
    hand_forget(&desk->hand);
    desk_offers(desk, 21, (double)NAN);
    CHECK(hand_note(&desk->hand, NOTE_DECLINED) != NULL);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_CONTROL, MSG_HELLO));
    desk_destroy(&desk);
}

/* Its hub is lost, and what comes instead has no parameters. */
static void who_went_bad_in_a_run_founds_none_and_goes_on(void)
{
    struct desk *desk = desk_member();

    desk_offers(desk, 1, (double)NAN);
    desk_breaks(desk);
    hand_wait(&desk->hand, 10 * SECOND);
    desk_connects(desk);
    desk_welcomes(desk, START_FOUND);
    desk_grants(desk, 0, 8);
    CHECK_EQUAL(0, desk_chunks(desk, 0));
    if (CHECK(desk_sent(desk, MSG_BYE) != NULL))
        CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK(!node_ended(desk->node));
    hand_forget(&desk->hand);
    desk_connects(desk);
    CHECK(!desk_sent(desk, MSG_HELLO)); /* not at once */
    hand_wait(&desk->hand, 10 * SECOND);
    CHECK(desk_sent(desk, MSG_HELLO) != NULL);
    desk_destroy(&desk);
}

void add_node_spoiled_tests(CU_pSuite suite)
{
    TEST(parameters_that_are_not_finite_are_never_sent);
    TEST(who_goes_bad_again_and_again_asks_and_says_so_now_and_then);
    TEST(who_went_bad_in_a_run_founds_none_and_goes_on);
}
