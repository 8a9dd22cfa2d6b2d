/* The hub says goodbye, and results are still on their way. */
#include "tests/check.h"
#include "tests/node/desk.h"

static struct desk *overtaken(void)
{
    struct desk *desk = desk_offering();

    desk_says(desk, MSG_STOP);
    desk_leaves(desk, 2, 4);
    desk_answers(desk, 1, VERB_REBASE, 2);
    desk_says_bye(desk, FAREWELL_DONE);
    CHECK(!node_ended(desk->node));
    return desk;
}

static void a_result_that_the_goodbye_has_overtaken_is_heard(void)
{
    struct desk *desk = overtaken();

    desk_answers(desk, 2, VERB_REBASE, 2);
    CHECK(node_ended(desk->node));
    CHECK_EQUAL(0, desk_told(desk, MSG_ENDED)->ended.refused);
    desk_destroy(&desk);
}

static void it_is_not_waited_for_without_a_connection(void)
{
    struct desk *desk = overtaken();

    desk_breaks(desk);
    CHECK(node_ended(desk->node));
    CHECK_EQUAL(0, desk_told(desk, MSG_ENDED)->ended.refused);
    desk_destroy(&desk);
}

static void nor_for_more_than_two_seconds(void)
{
    struct desk *desk = overtaken();

    hand_wait(&desk->hand, 2 * SECOND - MILLISECOND);
    CHECK(!node_ended(desk->node));
    hand_wait(&desk->hand, 2 * MILLISECOND);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

void add_node_parting_tests(CU_pSuite suite)
{
    TEST(a_result_that_the_goodbye_has_overtaken_is_heard);
    TEST(it_is_not_waited_for_without_a_connection);
    TEST(nor_for_more_than_two_seconds);
}
