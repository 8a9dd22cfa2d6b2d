/* FTLib's criteria on a hub: the wrapper around a collective. */
#include <starswitch_ancestors.h>

#include "tests/check.h"
#include "tests/collectives/elastic.h"

static void ft_01_the_statuses_are_ftlibs_numbers(void)
{
    CHECK_EQUAL(-1, STAR_GROUP_NO_NEED);
    CHECK_EQUAL(0, STAR_GROUP_SUCCESS);
    CHECK_EQUAL(1, STAR_GROUP_FAIL);
    CHECK_EQUAL(2, STAR_GROUP_ABORT);
    CHECK_EQUAL(-1, STAR_REBUILD_SKIP_ALLREDUCE);
    CHECK_EQUAL(0, STAR_REBUILD_SUCCESS);
    CHECK_EQUAL(1, STAR_REBUILD_FAIL);
    CHECK_EQUAL(2, STAR_REBUILD_ABORT);
    CHECK_EQUAL(-1, STAR_CONSENSUS_SKIP_ALLREDUCE);
    CHECK_EQUAL(0, STAR_CONSENSUS_SUCCESS);
    CHECK_EQUAL(1, STAR_CONSENSUS_FAIL);
    CHECK_EQUAL(0, STAR_COMMLIB_SUCCESS);
    CHECK_EQUAL(1, STAR_COMMLIB_FAIL);
    CHECK_EQUAL(0, STAR_PASSIVE);
    CHECK_EQUAL(1, STAR_ACTIVE);
}

/* A passive member believes its flag even when nobody else is there. */
static void ft_03_initialized_passive_the_flag_active_asks_first(void)
{
    struct virtual_group *passive = elastic_built(2, false);
    struct virtual_group *active = elastic_built(2, true);
    nanos before;

    virtual_kill(passive, 1);
    virtual_kill(active, 1);
    virtual_run(passive, SECOND);
    virtual_run(active, SECOND);
    before = passive->now;
    CHECK(elastic_asks(passive, 0, ASK_INITIALIZED));
    CHECK_EQUAL(before, passive->now);
    before = active->now;
    CHECK(!elastic_asks(active, 0, ASK_INITIALIZED));
    CHECK(active->now > before);
    virtual_destroy(&passive);
    virtual_destroy(&active);
}

static void ft_04_skip_allreduce_is_true_of_the_only_member(void)
{
    struct virtual_group *group = virtual_new(MANNER_ELASTIC, 1);

    virtual_start_all(group);
    CHECK(!elastic_asks(group, 0, ASK_SKIP));
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(0, virtual_told(group, 0)->rank);
    CHECK_EQUAL(1, virtual_told(group, 0)->size);
    CHECK(elastic_asks(group, 0, ASK_SKIP));
    /* A new member's report clears the flag, before any rebuild. */
    (void)virtual_newcomer(group);
    virtual_run(group, SECOND);
    CHECK(elastic_asks(group, 0, ASK_SKIP));
    virtual_ask(group, 1, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    CHECK(!elastic_asks(group, 0, ASK_SKIP));
    /* An active member learns by asking that it has become the only one. */
    group->members[1].config.active = true;
    virtual_kill(group, 1);
    virtual_start(group, 1);
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    virtual_kill(group, 0);
    virtual_run(group, SECOND);
    CHECK(elastic_asks(group, 1, ASK_SKIP));
    virtual_destroy(&group);
}

static void ft_05_allreduce_average_1_skip_touches_nothing(void)
{
    struct virtual_group *group = virtual_new(MANNER_ELASTIC, 1);

    virtual_start_all(group);
    elastic_average(group, 0); /* 2: a rebuild, which says SKIP */
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 0)->outcome);
    elastic_average(group, 0); /* 1: skip */
    CHECK(!group->members[0].asking);
    CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(0, group->members[0].prepared);
    virtual_destroy(&group);
}

static void ft_05_allreduce_average_2_rebuilds_or_aborts(void)
{
    struct virtual_group *group = elastic_started(2, false);

    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK_NEAR(1.5, (double)virtual_float(group, 0, 3), 0);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    virtual_destroy(&group);
    /* A rebuild that cannot be is an ABORT: no hub is heard. */
    group = elastic_started(2, false);
    group->members[0].deaf = true;
    elastic_average(group, 0);
    CHECK(virtual_settle(group, 61 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    virtual_destroy(&group);
}

static void ft_05_allreduce_average_3_rank_0_fails_for_a_newcomer(void)
{
    struct virtual_group *group = elastic_built(2, false);
    unsigned place = virtual_newcomer(group);

    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    elastic_average(group, 0);
    CHECK(!group->members[0].asking); /* at once, before anything is sent */
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    CHECK_TEXT("a new member has joined", virtual_told(group, 0)->text);
    CHECK_EQUAL(0, group->inputs);
    virtual_destroy(&group);
}

static void ft_05_allreduce_average_4_success_5_failure(void)
{
    struct virtual_group *group = elastic_built(3, false);

    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS); /* 4 */
    CHECK_EQUAL(1, virtual_told(group, 2)->averages);
    elastic_average(group, 0);
    virtual_run(group, 100 * MILLISECOND);
    virtual_kill(group, 2); /* 5 */
    CHECK(virtual_settle(group, 10 * SECOND));
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    CHECK_CONTAINS("n2", virtual_told(group, 0)->text);
    CHECK_EQUAL(1, virtual_told(group, 0)->averages);
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED));
    virtual_destroy(&group);
}

static void ft_06_the_sum_is_divided_by_the_members_of_that_call(void)
{
    struct virtual_group *group = elastic_built(3, false);

    elastic_average_all(group);
    CHECK_NEAR(2, (double)virtual_float(group, 1, 0), 0); /* (1+2+3)/3 */
    virtual_kill(group, 2);
    virtual_run(group, SECOND);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_FAIL);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK_NEAR(1.5, (double)virtual_float(group, 1, 0), 0); /* (1+2)/2 */
    virtual_destroy(&group);
}

/* Adds what each member averaged, or its own, or nothing. */
static void step(const struct virtual_group *group, double *weights)
{
    for (unsigned i = 0; i < 3; i++)
        if (virtual_told(group, i)->outcome == ENDING_SUCCESS)
            weights[i] += (double)virtual_float(group, i, 0);
        else if (virtual_told(group, i)->outcome == ENDING_NO_NEED)
            weights[i] += i + 1;
}

static void ft_07_success_steps_no_need_steps_alone_failure_drops(void)
{
    struct virtual_group *group = elastic_built(3, false);
    double weights[3] = {0, 0, 0};

    for (unsigned batch = 0; batch < 12; batch++) {
        for (unsigned i = 0; i < 3; i++)
            if (group->members[i].client)
                elastic_average(group, i);
        if (batch == 4 || batch == 8)
            virtual_kill(group, batch == 4 ? 2 : 1);
        CHECK(virtual_settle(group, 100 * SECOND));
        step(group, weights);
        if (batch < 8)
            CHECK_NEAR(weights[0], weights[1], 0);
    }
    /* 4 steps of 2, one dropped, 3 of 1.5, one dropped, 3 alone of 1. */
    CHECK_NEAR(4 * 2 + 3 * 1.5 + 3, weights[0], 1e-9);
    virtual_destroy(&group);
}

static void ft_08_broadcast_barrier_allreduce_are_wrapped_alike(void)
{
    struct virtual_group *group = elastic_started(2, false);
    const enum collective all[] = {COLLECTIVE_BROADCAST, COLLECTIVE_BARRIER,
                                   COLLECTIVE_ALLREDUCE};

    for (unsigned k = 0; k < 3; k++) { /* each rebuilds by itself */
        virtual_ask_all(group, ASK_FORGET);
        for (unsigned i = 0; i < 2; i++) {
            virtual_floats(group, i, 10, i + 5);
            virtual_call(group, i, all[k]);
        }
        CHECK(virtual_settle(group, SECOND));
        elastic_check_all(group, ENDING_SUCCESS);
        if (k == 0)
            CHECK_NEAR(5, (double)virtual_float(group, 1, 9), 0);
    }
    CHECK_EQUAL(3, virtual_told(group, 0)->averages);
    virtual_kill(group, 1);
    for (unsigned k = 0; k < 3; k++) {
        virtual_ask_all(group, ASK_FORGET);
        virtual_call(group, 0, all[k]);
        CHECK(virtual_settle(group, 70 * SECOND));
        CHECK_EQUAL(ENDING_NO_NEED, virtual_told(group, 0)->outcome);
    }
    virtual_destroy(&group);
}

void add_collectives_ftlib_tests(CU_pSuite suite)
{
    TEST(ft_01_the_statuses_are_ftlibs_numbers);
    TEST(ft_03_initialized_passive_the_flag_active_asks_first);
    TEST(ft_04_skip_allreduce_is_true_of_the_only_member);
    TEST(ft_05_allreduce_average_1_skip_touches_nothing);
    TEST(ft_05_allreduce_average_2_rebuilds_or_aborts);
    TEST(ft_05_allreduce_average_3_rank_0_fails_for_a_newcomer);
    TEST(ft_05_allreduce_average_4_success_5_failure);
    TEST(ft_06_the_sum_is_divided_by_the_members_of_that_call);
    TEST(ft_07_success_steps_no_need_steps_alone_failure_drops);
    TEST(ft_08_broadcast_barrier_allreduce_are_wrapped_alike);
}
