/* The hub says goodbye, and results are still on their way. */
#include "tests/check.h"
#include "tests/node/node_fixture.h"

static struct node_fixture *overtaken(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_says(f, MSG_STOP);
    node_fixture_leaves(f, 2, 4);
    node_fixture_answers(f, 1, VERB_REBASE, 2);
    node_fixture_says_bye(f, FAREWELL_DONE);
    CHECK(!node_ended(f->node));
    return f;
}

static void a_result_that_the_goodbye_has_overtaken_is_heard(void)
{
    struct node_fixture *f = overtaken();

    node_fixture_answers(f, 2, VERB_REBASE, 2);
    CHECK(node_ended(f->node));
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.refused);
    node_fixture_destroy(&f);
}

static void it_is_not_waited_for_without_a_connection(void)
{
    struct node_fixture *f = overtaken();

    node_fixture_breaks(f);
    CHECK(node_ended(f->node));
    CHECK_EQUAL(0, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.refused);
    node_fixture_destroy(&f);
}

static void nor_for_more_than_two_seconds(void)
{
    struct node_fixture *f = overtaken();

    hand_wait(&f->hand, 2 * SECOND - MILLISECOND);
    CHECK(!node_ended(f->node));
    hand_wait(&f->hand, 2 * MILLISECOND);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

void add_node_parting_tests(CU_pSuite suite)
{
    TEST(a_result_that_the_goodbye_has_overtaken_is_heard);
    TEST(it_is_not_waited_for_without_a_connection);
    TEST(nor_for_more_than_two_seconds);
}
