/* The hubs that are there are of an earlier life of the run than the node
 * knows. */
#include "tests/check.h"
#include "tests/node/keeper.h"

/* Of life 2, whose exchange 1, of 2, is in the version that it keeps. */
static struct node_fixture *of_life_two(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.epoch = 2 * LIFE;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REBASE, 5);
    node_fixture_applied(f, 1);
    keeper_says(f, 1, 1, NULL);
    return f;
}

/* The hub of life 1 sends it on; the epoch that it says then. */
static uint64_t sent_on(struct node_fixture *f, nanos after)
{
    hand_wait(&f->hand, after);
    node_fixture_says_bye(f, FAREWELL_SUPERSEDED);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    hand_forget(&f->hand);
    node_fixture_connects(f);
    return node_fixture_sent(f, MSG_HELLO)->hello.epoch;
}

static void a_hub_of_a_former_life_is_left(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.epoch = 2 * LIFE;
    node_fixture_ready(f, 1);
    f->welcome.epoch = LIFE + 9;
    for (int i = 0; i < 2; i++) {
        node_fixture_breaks(f);
        node_fixture_connects(f);
        hand_forget(&f->hand);
        node_fixture_welcomes(f, START_GO);
        CHECK(hand_dropped(&f->hand, PEER_CONTROL));
        CHECK(!node_fixture_sent(f, MSG_ATTACH));
        CHECK_EQUAL(i == 0, hand_note(&f->hand, NOTE_SUPERSEDED) != NULL);
    }
    CHECK(!node_ended(f->node));
    f->welcome.epoch = 2 * LIFE + 1;
    node_fixture_rejoins(f);
    CHECK(node_fixture_sent(f, MSG_ATTACH) != NULL);
    node_fixture_destroy(&f);
}

static void a_life_that_no_hub_is_of_is_given_up(void)
{
    struct node_fixture *f = of_life_two();

    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE, sent_on(f, SECOND));
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_HELLO)->hello.kept);
    CHECK_EQUAL(0, sent_on(f, SECOND));
    CHECK_EQUAL(0, node_fixture_sent(f, MSG_HELLO)->hello.kept);
    f->welcome.epoch = LIFE + 9;
    node_fixture_welcomes(f, START_GO);
    CHECK(!hand_dropped(&f->hand, PEER_CONTROL));
    CHECK_CONTAINS("1 merged exchanges are offered again, 0 are lost",
                   hand_note(&f->hand, NOTE_RESTORED)->text);
    node_fixture_offers(f, 2, 6); /* 1 since, and the 2 of exchange 1 */
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void who_welcomes_it_to_an_earlier_life_is_followed_as_late(void)
{
    struct node_fixture *f = of_life_two();

    f->welcome.epoch = LIFE + 9;
    for (int i = 0; i < 7; i++) {
        hand_forget(&f->hand);
        node_fixture_breaks(f);
        node_fixture_connects(f);
        node_fixture_welcomes(f, START_GO);
        CHECK_EQUAL(i == 6, !hand_dropped(&f->hand, PEER_CONTROL));
        hand_wait(&f->hand, SECOND);
    }
    node_fixture_destroy(&f);
}

static void a_hub_of_the_later_life_is_gone_on_with(void)
{
    struct node_fixture *f = of_life_two();

    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE, sent_on(f, SECOND));
    f->welcome.epoch = 2 * LIFE + 1;
    f->welcome.merged = 1;
    node_fixture_welcomes(f, START_GO);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(2 * LIFE + 1, sent_on(f, SECOND));
    node_fixture_destroy(&f);
}

/* Each time would else be a loss of the hub, after which it waits anew. */
static void who_leaves_meanwhile_is_not_held_up(void)
{
    struct node_fixture *f = of_life_two();

    (void)sent_on(f, SECOND);
    node_fixture_leaves(f, 2, 6);
    for (int i = 0; i < 9 && !node_ended(f->node); i++) {
        node_fixture_welcomes(f, START_GIVE);
        (void)sent_on(f, SECOND);
    }
    CHECK(!node_ended(f->node));
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

void add_node_superseded_tests(CU_pSuite suite)
{
    TEST(a_hub_of_a_former_life_is_left);
    TEST(a_life_that_no_hub_is_of_is_given_up);
    TEST(who_welcomes_it_to_an_earlier_life_is_followed_as_late);
    TEST(a_hub_of_the_later_life_is_gone_on_with);
    TEST(who_leaves_meanwhile_is_not_held_up);
}
