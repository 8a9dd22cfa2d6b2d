/* Tests: calls of an epoch that some members have left behind. */
#include "tests/check.h"
#include "tests/collectives/elastic.h"

/* Member 0 calls in the epoch that a loss began, the newcomer begins another,
 * and member 1 learns of that alone: none may wait for the others for ever. */
static void a_call_of_an_epoch_that_a_member_has_passed_fails(void)
{
    struct virtual_group *group = elastic_built(3, false);
    unsigned place;

    virtual_kill(group, 2);
    virtual_run(group, SECOND);
    virtual_ask(group, 0, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    elastic_average(group, 0);
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking);
    place = virtual_newcomer(group);
    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    virtual_ask(group, 1, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK(!group->members[0].asking);
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    elastic_average(group, 1);
    elastic_average(group, place);
    elastic_average(group, 0); /* which builds the group anew */
    CHECK(virtual_settle(group, SECOND));
    elastic_check_all(group, ENDING_SUCCESS);
    virtual_destroy(&group);
}

static void giving_up_a_call_of_a_former_epoch_fails_it(void)
{
    struct virtual_group *group = elastic_built(3, false);
    unsigned place;

    elastic_average(group, 0);
    elastic_average(group, 1);
    virtual_run(group, SECOND);
    place = virtual_newcomer(group);
    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK(group->members[1].asking);
    virtual_ask(group, 0, ASK_FORGET);
    virtual_run(group, SECOND);
    CHECK(!group->members[1].asking);
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 1)->outcome);
    virtual_destroy(&group);
}

void add_collectives_epochs_tests(CU_pSuite suite)
{
    TEST(a_call_of_an_epoch_that_a_member_has_passed_fails);
    TEST(giving_up_a_call_of_a_former_epoch_fails_it);
}
