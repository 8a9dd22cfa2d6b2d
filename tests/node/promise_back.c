/* What a node was to give again, and a later hub has all the same. */
#include "tests/check.h"
#include "tests/node/keeper.h"

/* Exchange 1, of 2, has been merged; the centre is 5, and so is x. */
static struct desk *desk_merged(void)
{
    struct desk *desk = desk_offering();

    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_applied(desk, 1);
    return desk;
}

static void what_is_there_after_all_counts_once(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 0, START_GO);
    hand_forget(&desk->hand);
    keeper_comes_back(desk, 1, START_GO);
    CHECK_CONTAINS("has 1 exchanges that were to be offered again",
                   hand_note(&desk->hand, NOTE_RESTORED)->text);
    desk_offers(desk, 2, 6);
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(1, desk_chunk(desk, 2, i), 0);
    desk_destroy(&desk);
}

/* A hub may have merged what was in flight when it went. */
static void what_was_in_flight_counts_once(void)
{
    struct desk *desk = desk_offering();

    keeper_comes_back(desk, 0, START_GO);
    keeper_comes_back(desk, 1, START_GO);
    desk_offers(desk, 2, 6); /* 3 since */
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void what_the_next_life_says_was_not_merged_is_offered_again(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk->welcome.merged = 1;
    desk_connects(desk);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_LOST);
    desk_welcomes(desk, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(5, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* It goes on from a newer version after all, in the same session. */
static void what_a_hub_that_looks_once_more_says_is_heard(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk->welcome.merged = 1;
    desk_connects(desk);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_LOST);
    desk_welcomes(desk, START_GO);
    desk_restarts(desk, START_HOLD);
    desk->welcome.epoch += LIFE;
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_LOST);
    desk_restarts(desk, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(5, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* The newer version has what waited when the older one was saved. */
static void what_was_lost_and_is_merged_after_all_counts_once(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk->welcome.epoch += LIFE;
    desk->welcome.merged = 1;
    desk_connects(desk);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_LOST);
    desk_welcomes(desk, START_GO);
    desk_restarts(desk, START_HOLD);
    desk->welcome.epoch += LIFE;
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_MERGED);
    desk_restarts(desk, START_GO);
    desk_offers(desk, 2, 6); /* 3 since */
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* The hub that it was offered to has the last word. */
static void what_the_same_life_has_not_merged_is_offered_again(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk_rejoins(desk);
    keeper_comes_back(desk, 1, START_GO);
    desk_offers(desk, 2, 6);
    CHECK_NEAR(5, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* Exchange 1, of 2, was given again in 2, of 3: no version has both. */
static struct desk *desk_in_two_branches(void)
{
    struct desk *desk = desk_merged();

    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 2, 6);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_applied(desk, 2);
    return desk;
}

static void the_newest_exchange_says_which_branch_it_is(void)
{
    struct desk *desk = desk_in_two_branches();

    keeper_comes_back(desk, 1, START_GO); /* 4 learnt, and 2 there */
    desk_offers(desk, 3, 9);
    CHECK_NEAR(2, desk_chunk(desk, 3, 0), 0);
    keeper_comes_back(desk, 2, START_GO); /* and 3 there */
    desk_offers(desk, 4, 9);
    CHECK_NEAR(1, desk_chunk(desk, 4, 0), 0);
    keeper_comes_back(desk, 1, START_GO);
    keeper_comes_back(desk, 0, START_GO);
    desk_offers(desk, 5, 9);
    CHECK_NEAR(4, desk_chunk(desk, 5, 0), 0);
    desk_destroy(&desk);
}

static void gradients_are_taken_back_too(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_GRADIENT;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 0.5);
    desk_answers(desk, 1, VERB_PULL, 5);
    desk_applied(desk, 1);
    keeper_comes_back(desk, 0, START_GO);
    keeper_comes_back(desk, 1, START_GO);
    desk_offers(desk, 2, 0.25);
    CHECK_NEAR(0.25, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* Who takes the centre has nothing left that it was to give again. */
static void what_is_replaced_is_not_taken_back(void)
{
    struct desk *desk = desk_merged();

    desk->welcome.lineage = 5;
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_welcomes(desk, START_TAKE);
    desk_answers(desk, 0, VERB_REPLACE, 5);
    desk_applied(desk, 0);
    desk_offers(desk, 2, 7);
    desk_answers(desk, 2, VERB_REBASE, 8);
    desk_applied(desk, 2);
    keeper_comes_back(desk, 1, START_GO);   /* 2 is given again, */
    keeper_comes_back(desk, 2, START_TAKE); /* and there after all */
    desk_answers(desk, 0, VERB_REPLACE, 8);
    desk_applied(desk, 0);
    desk_offers(desk, 3, 9);
    CHECK_NEAR(1, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

void add_node_promise_back_tests(CU_pSuite suite)
{
    TEST(what_is_there_after_all_counts_once);
    TEST(what_was_in_flight_counts_once);
    TEST(what_the_next_life_says_was_not_merged_is_offered_again);
    TEST(what_a_hub_that_looks_once_more_says_is_heard);
    TEST(what_was_lost_and_is_merged_after_all_counts_once);
    TEST(what_the_same_life_has_not_merged_is_offered_again);
    TEST(the_newest_exchange_says_which_branch_it_is);
    TEST(gradients_are_taken_back_too);
    TEST(what_is_replaced_is_not_taken_back);
}
