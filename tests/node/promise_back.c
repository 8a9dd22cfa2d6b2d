/* What a node was to give again, and a later hub has all the same. */
#include "tests/check.h"
#include "tests/node/keeper.h"

static void what_is_there_after_all_counts_once(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 0, START_GO);
    hand_forget(&f->hand);
    keeper_comes_back(f, 1, START_GO);
    CHECK_CONTAINS("has 1 exchanges that were to be offered again",
                   hand_note(&f->hand, NOTE_RESTORED)->text);
    node_fixture_offers(f, 2, 6);
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(1, node_fixture_chunk(f, 2, i), 0);
    node_fixture_destroy(&f);
}

/* A hub may have merged what was in flight when it went. */
static void what_was_in_flight_counts_once(void)
{
    struct node_fixture *f = node_fixture_offering();

    keeper_comes_back(f, 0, START_GO);
    keeper_comes_back(f, 1, START_GO);
    node_fixture_offers(f, 2, 6); /* 3 since */
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void what_the_next_life_says_was_not_merged_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = 1;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    node_fixture_welcomes(f, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(5, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* It goes on from a newer version after all, in the same session. */
static void what_a_hub_that_looks_once_more_says_is_heard(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = 1;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    node_fixture_welcomes(f, START_GO);
    node_fixture_restarts(f, START_HOLD);
    f->welcome.epoch += LIFE;
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    node_fixture_restarts(f, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(5, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* The newer version has what waited when the older one was saved. */
static void what_was_lost_and_is_merged_after_all_counts_once(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    f->welcome.epoch += LIFE;
    f->welcome.merged = 1;
    node_fixture_connects(f);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_LOST);
    node_fixture_welcomes(f, START_GO);
    node_fixture_restarts(f, START_HOLD);
    f->welcome.epoch += LIFE;
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    node_fixture_restarts(f, START_GO);
    node_fixture_offers(f, 2, 6); /* 3 since */
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* The hub that it was offered to has the last word. */
static void what_the_same_life_has_not_merged_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    keeper_comes_back(f, 1, START_GO);
    node_fixture_offers(f, 2, 6);
    CHECK_NEAR(5, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* Exchange 1, of 2, was given again in 2, of 3: no version has both. */
static struct node_fixture *node_fixture_in_two_branches(void)
{
    struct node_fixture *f = node_fixture_merged();

    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 2, 6);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_applied(f, 2);
    return f;
}

static void the_newest_exchange_says_which_branch_it_is(void)
{
    struct node_fixture *f = node_fixture_in_two_branches();

    keeper_comes_back(f, 1, START_GO); /* 4 learnt, and 2 there */
    node_fixture_offers(f, 3, 9);
    CHECK_NEAR(2, node_fixture_chunk(f, 3, 0), 0);
    keeper_comes_back(f, 2, START_GO); /* and 3 there */
    node_fixture_offers(f, 4, 9);
    CHECK_NEAR(1, node_fixture_chunk(f, 4, 0), 0);
    keeper_comes_back(f, 1, START_GO);
    keeper_comes_back(f, 0, START_GO);
    node_fixture_offers(f, 5, 9);
    CHECK_NEAR(4, node_fixture_chunk(f, 5, 0), 0);
    node_fixture_destroy(&f);
}

static void gradients_are_taken_back_too(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 0.5);
    node_fixture_answers(f, 1, VERB_PULL, 5);
    node_fixture_applied(f, 1);
    keeper_comes_back(f, 0, START_GO);
    keeper_comes_back(f, 1, START_GO);
    node_fixture_offers(f, 2, 0.25);
    CHECK_NEAR(0.25, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* Who takes the centre has nothing left that it was to give again. */
static void what_is_replaced_is_not_taken_back(void)
{
    struct node_fixture *f = node_fixture_merged();

    f->welcome.lineage = 5;
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_welcomes(f, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 5);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 7);
    node_fixture_answers(f, 2, VERB_REBASE, 8);
    node_fixture_applied(f, 2);
    keeper_comes_back(f, 1, START_GO);   /* 2 is given again, */
    keeper_comes_back(f, 2, START_TAKE); /* and there after all */
    node_fixture_answers(f, 0, VERB_REPLACE, 8);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 3, 9);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
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
