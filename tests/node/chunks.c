/* A hub that cuts the model otherwise than the one before. */
#include "tests/check.h"
#include "tests/node/desk.h"

/* What was offered to the hub before and is not merged is offered again. */
static void a_hub_that_cuts_otherwise_than_before_is_followed(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk_connects(desk);
    desk->welcome.chunk_elements = 5;
    desk_welcomes(desk, START_GO);
    CHECK(!node_ended(desk->node));
    CHECK_EQUAL(5, desk_told(desk, MSG_SCHEDULE)->schedule.chunk_elements);
    CHECK_EQUAL(1, desk_told(desk, MSG_SCHEDULE)->schedule.offering);
    hand_forget(&desk->hand);
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(2, desk_chunks(desk, 2));
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(3, desk_chunk(desk, 2, 1), 0);
    desk_destroy(&desk);
}

/* The trainer is still to apply what is cut as before. */
static void a_hub_that_cuts_otherwise_waits_for_what_is_to_be_applied(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_breaks(desk);
    desk_connects(desk);
    desk->welcome.chunk_elements = 5;
    desk_welcomes(desk, START_GO);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK(!node_ended(desk->node));
    desk_applied(desk, 1);
    hand_wait(&desk->hand, SECOND);
    desk_connects(desk);
    desk_welcomes(desk, START_GO);
    hand_forget(&desk->hand);
    desk_offers(desk, 2, 7);
    CHECK_EQUAL(2, desk_chunks(desk, 2));
    CHECK_NEAR(2, desk_chunk(desk, 2, 1), 0);
    desk_destroy(&desk);
}

void add_node_chunks_tests(CU_pSuite suite)
{
    TEST(a_hub_that_cuts_otherwise_than_before_is_followed);
    TEST(a_hub_that_cuts_otherwise_waits_for_what_is_to_be_applied);
}
