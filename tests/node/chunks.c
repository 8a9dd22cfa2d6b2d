/* Runs are cut into chunks for good; another run may be cut otherwise. */
#include "tests/check.h"
#include "tests/node/keeper.h"

/* A hub of the next run cuts the model in two. */
static void another_run(struct desk *desk)
{
    desk_breaks(desk);
    desk_connects(desk);
    desk->welcome.run++;
    desk->welcome.chunk_elements = 5;
    desk_welcomes(desk, START_GO);
}

/* What was granted in the former run is left there: the founder of this one may
 * have been sent it. */
static void another_run_that_is_cut_otherwise_is_followed(void)
{
    struct desk *desk = desk_offering();

    another_run(desk);
    CHECK(!node_ended(desk->node));
    CHECK_EQUAL(5, desk_told(desk, MSG_SCHEDULE)->schedule.chunk_elements);
    CHECK_EQUAL(1, desk_told(desk, MSG_SCHEDULE)->schedule.offering);
    hand_forget(&desk->hand);
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(2, desk_chunks(desk, 2));
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(1, desk_chunk(desk, 2, 1), 0);
    desk_destroy(&desk);
}

/* The trainer is still to apply what is cut as before. */
static void another_cut_waits_for_what_is_to_be_applied(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    another_run(desk);
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

/* Nothing is lost by it, and the next hub may be in order. */
static void a_hub_that_cuts_the_run_otherwise_is_left(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk_connects(desk);
    desk->welcome.chunk_elements = 5;
    desk_welcomes(desk, START_GO);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_CONTAINS("other chunks than it has",
                   hand_note(&desk->hand, NOTE_DETACHED)->text);
    CHECK(!node_ended(desk->node));
    hand_forget(&desk->hand);
    desk_connects(desk);
    CHECK(!desk_sent(desk, MSG_HELLO));
    hand_wait(&desk->hand, 4 * SECOND);
    CHECK(desk_sent(desk, MSG_HELLO) != NULL);
    desk->welcome.chunk_elements = DESK_CHUNK;
    desk_welcomes(desk, START_GO);
    hand_forget(&desk->hand);
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 2));
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* A hub that looks for its centre does not know yet how that is cut. */
static void what_is_kept_is_given_as_it_is_cut(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    keeper_says(desk, 1, 1, NULL);
    desk_breaks(desk);
    hand_forget(&desk->hand);
    desk_connects(desk);
    CHECK_EQUAL(DESK_CHUNK, desk_sent(desk, MSG_HELLO)->hello.kept_chunk);
    desk->welcome.run++; /* what a run would be if nobody kept one */
    desk->welcome.chunk_elements = 5;
    desk_welcomes(desk, START_HOLD);
    desk_restarts(desk, START_GIVE);
    desk_grants(desk, 0, DESK_CHUNKS);
    CHECK_EQUAL(1, hand_count(&desk->hand, PEER_BULK, MSG_KEPT));
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 0));
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    desk_destroy(&desk);
}

void add_node_chunks_tests(CU_pSuite suite)
{
    TEST(another_run_that_is_cut_otherwise_is_followed);
    TEST(another_cut_waits_for_what_is_to_be_applied);
    TEST(a_hub_that_cuts_the_run_otherwise_is_left);
    TEST(what_is_kept_is_given_as_it_is_cut);
}
