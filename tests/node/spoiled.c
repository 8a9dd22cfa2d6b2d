/* A trainer's parameters go bad: nobody gets them. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void parameters_that_are_not_finite_are_never_sent(void)
{
    struct node_fixture *f = node_fixture_member();

    hand_forget(&f->hand);
    node_fixture_offers(f, 1, (double)NAN);
    CHECK(!node_fixture_sent(f, MSG_OFFER));
    CHECK_EQUAL(0, node_fixture_chunks(f, 1));
    CHECK(node_fixture_forgot(f, 1));
    CHECK_CONTAINS("NaN", hand_note(&f->hand, NOTE_DECLINED)->text);
    if (CHECK(node_fixture_sent(f, MSG_HELLO) != NULL))
        CHECK_EQUAL(0, node_fixture_sent(f, MSG_HELLO)->hello.lineage);
    node_fixture_welcomes(f, START_TAKE);
    node_fixture_answers(f, 0, VERB_REPLACE, 4);
    node_fixture_applied(f, 0);
    node_fixture_offers(f, 2, 5);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void who_goes_bad_again_and_again_asks_and_says_so_now_and_then(void)
{
    struct node_fixture *f = node_fixture_member();
    unsigned before = hand_count(&f->hand, PEER_CONTROL, MSG_HELLO);

    for (uint64_t i = 1; i <= 20; i++) {
        node_fixture_offers(f, i, (double)NAN);
        if (i == 1)
            CHECK(hand_note(&f->hand, NOTE_DECLINED) != NULL);
        CHECK_EQUAL(before + 1, hand_count(&f->hand, PEER_CONTROL, MSG_HELLO));
        node_fixture_restarts(f, i % 2 ? START_GO : START_TAKE);
    }
    hand_wait(&f->hand, 10 * SECOND);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    hand_forget(&f->hand);
    node_fixture_offers(f, 21, (double)NAN);
    CHECK(hand_note(&f->hand, NOTE_DECLINED) != NULL);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_CONTROL, MSG_HELLO));
    node_fixture_destroy(&f);
}

/* Its hub is lost, and what comes instead has no parameters. */
static void who_went_bad_in_a_run_founds_none_and_goes_on(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_offers(f, 1, (double)NAN);
    node_fixture_breaks(f);
    hand_wait(&f->hand, 10 * SECOND);
    node_fixture_connects(f);
    node_fixture_welcomes(f, START_FOUND);
    node_fixture_grants(f, 0, 8);
    CHECK_EQUAL(0, node_fixture_chunks(f, 0));
    if (CHECK(node_fixture_sent(f, MSG_BYE) != NULL))
        CHECK_EQUAL(FAREWELL_LEAVING,
                    node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(hand_dropped(&f->hand, PEER_CONTROL));
    CHECK(!node_ended(f->node));
    hand_forget(&f->hand);
    node_fixture_connects(f);
    CHECK(!node_fixture_sent(f, MSG_HELLO)); /* not at once */
    hand_wait(&f->hand, 10 * SECOND);
    CHECK(node_fixture_sent(f, MSG_HELLO) != NULL);
    node_fixture_destroy(&f);
}

void add_node_spoiled_tests(CU_pSuite suite)
{
    TEST(parameters_that_are_not_finite_are_never_sent);
    TEST(who_goes_bad_again_and_again_asks_and_says_so_now_and_then);
    TEST(who_went_bad_in_a_run_founds_none_and_goes_on);
}
