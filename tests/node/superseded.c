/* The hubs that are there are of an earlier life of the run than the node
 * knows. */
#include "tests/check.h"
#include "tests/node/keeper.h"

/* Of life 2, whose exchange 1, of 2, is in the version that it keeps. */
static struct desk *of_life_two(void)
{
    struct desk *desk = desk_new();

    desk->welcome.epoch = 2 * LIFE;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_answers(desk, 1, VERB_REBASE, 5);
    desk_applied(desk, 1);
    keeper_says(desk, 1, 1, NULL);
    return desk;
}

/* The hub of life 1 sends it on; the epoch that it says then. */
static uint64_t sent_on(struct desk *desk, nanos after)
{
    hand_wait(&desk->hand, after);
    desk_says_bye(desk, FAREWELL_SUPERSEDED);
    CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
    hand_forget(&desk->hand);
    desk_connects(desk);
    return desk_sent(desk, MSG_HELLO)->hello.epoch;
}

static void a_hub_of_a_former_life_is_left(void)
{
    struct desk *desk = desk_new();

    desk->welcome.epoch = 2 * LIFE;
    desk_ready(desk, 1);
    desk->welcome.epoch = LIFE + 9;
    for (int i = 0; i < 2; i++) {
        desk_breaks(desk);
        desk_connects(desk);
        hand_forget(&desk->hand);
        desk_welcomes(desk, START_GO);
        CHECK(hand_dropped(&desk->hand, PEER_CONTROL));
        CHECK(!desk_sent(desk, MSG_ATTACH));
        CHECK_EQUAL(i == 0, hand_note(&desk->hand, NOTE_SUPERSEDED) != NULL);
    }
    CHECK(!node_ended(desk->node));
    desk->welcome.epoch = 2 * LIFE + 1;
    desk_rejoins(desk);
    CHECK(desk_sent(desk, MSG_ATTACH) != NULL);
    desk_destroy(&desk);
}

static void a_life_that_no_hub_is_of_is_given_up(void)
{
    struct desk *desk = of_life_two();

    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE, sent_on(desk, SECOND));
    CHECK_EQUAL(2, desk_sent(desk, MSG_HELLO)->hello.kept);
    CHECK_EQUAL(0, sent_on(desk, SECOND));
    CHECK_EQUAL(0, desk_sent(desk, MSG_HELLO)->hello.kept);
    desk->welcome.epoch = LIFE + 9;
    desk_welcomes(desk, START_GO);
    CHECK(!hand_dropped(&desk->hand, PEER_CONTROL));
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&desk->hand, NOTE_RESTORED)->text);
    desk_offers(desk, 2, 6); /* 1 since, and the 2 of exchange 1 */
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void who_welcomes_it_to_an_earlier_life_is_followed_as_late(void)
{
    struct desk *desk = of_life_two();

    desk->welcome.epoch = LIFE + 9;
    for (int i = 0; i < 7; i++) {
        hand_forget(&desk->hand);
        desk_breaks(desk);
        desk_connects(desk);
        desk_welcomes(desk, START_GO);
        CHECK_EQUAL(i == 6, !hand_dropped(&desk->hand, PEER_CONTROL));
        hand_wait(&desk->hand, SECOND);
    }
    desk_destroy(&desk);
}

static void a_hub_of_the_later_life_is_gone_on_with(void)
{
    struct desk *desk = of_life_two();

    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE, sent_on(desk, SECOND));
    desk->welcome.epoch = 2 * LIFE + 1;
    desk->welcome.merged = 1;
    desk_welcomes(desk, START_GO);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE + 1, sent_on(desk, SECOND));
    desk_destroy(&desk);
}

/* Each time would else be a loss of the hub, after which it waits anew. */
static void who_leaves_meanwhile_is_not_held_up(void)
{
    struct desk *desk = of_life_two();

    (void)sent_on(desk, SECOND);
    desk_leaves(desk, 2, 6);
    for (int i = 0; i < 9 && !node_ended(desk->node); i++) {
        desk_welcomes(desk, START_GIVE);
        (void)sent_on(desk, SECOND);
    }
    CHECK(!node_ended(desk->node));
    hand_wait(&desk->hand, 2 * SECOND);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

void add_node_superseded_tests(CU_pSuite suite)
{
    TEST(a_hub_of_a_former_life_is_left);
    TEST(a_life_that_no_hub_is_of_is_given_up);
    TEST(who_welcomes_it_to_an_earlier_life_is_followed_as_late);
    TEST(a_hub_of_the_later_life_is_gone_on_with);
    TEST(who_leaves_meanwhile_is_not_held_up);
}
