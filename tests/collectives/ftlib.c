/* FTLib's criteria on a hub: the wrapper around a collective. */
#include <starswitch_group.h>

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
    struct circle *passive = elastic_built(2, false);
    struct circle *active = elastic_built(2, true);
    nanos before;

    circle_kill(passive, 1);
    circle_kill(active, 1);
    circle_run(passive, SECOND);
    circle_run(active, SECOND);
    before = passive->now;
    CHECK(elastic_asks(passive, 0, ASK_INITIALIZED));
    CHECK_EQUAL(before, passive->now);
    before = active->now;
    CHECK(!elastic_asks(active, 0, ASK_INITIALIZED));
    CHECK(active->now > before);
    circle_destroy(&passive);
    circle_destroy(&active);
}

static void ft_04_skip_allreduce_is_true_of_the_only_member(void)
{
    struct circle *circle = circle_new(MANNER_ELASTIC, 1);

    circle_start_all(circle);
    CHECK(!elastic_asks(circle, 0, ASK_SKIP));
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 0)->outcome);
    CHECK_EQUAL(0, elastic_told(circle, 0)->rank);
    CHECK_EQUAL(1, elastic_told(circle, 0)->size);
    CHECK(elastic_asks(circle, 0, ASK_SKIP));
    /* A new member's report clears the flag, before any rebuild. */
    (void)circle_newcomer(circle);
    circle_run(circle, SECOND);
    CHECK(elastic_asks(circle, 0, ASK_SKIP));
    circle_ask(circle, 1, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    CHECK(!elastic_asks(circle, 0, ASK_SKIP));
    /* An active member learns by asking that it has become the only one. */
    circle->members[1].config.active = true;
    circle_kill(circle, 1);
    circle_start(circle, 1);
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    circle_kill(circle, 0);
    circle_run(circle, SECOND);
    CHECK(elastic_asks(circle, 1, ASK_SKIP));
    circle_destroy(&circle);
}

static void ft_05_allreduce_average_1_skip_touches_nothing(void)
{
    struct circle *circle = circle_new(MANNER_ELASTIC, 1);

    circle_start_all(circle);
    elastic_average(circle, 0); /* 2: a rebuild, which says SKIP */
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 0)->outcome);
    elastic_average(circle, 0); /* 1: skip */
    CHECK(!circle->members[0].asking);
    CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 0)->outcome);
    CHECK_EQUAL(0, circle->members[0].prepared);
    circle_destroy(&circle);
}

static void ft_05_allreduce_average_2_rebuilds_or_aborts(void)
{
    struct circle *circle = elastic_started(2, false);

    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK_NEAR(1.5, (double)circle_float(circle, 0, 3), 0);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    circle_destroy(&circle);
    /* A rebuild that cannot be is an ABORT: no hub is heard. */
    circle = elastic_started(2, false);
    circle->members[0].deaf = true;
    elastic_average(circle, 0);
    CHECK(circle_settle(circle, 61 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, elastic_told(circle, 0)->outcome);
    circle_destroy(&circle);
}

static void ft_05_allreduce_average_3_rank_0_fails_for_a_newcomer(void)
{
    struct circle *circle = elastic_built(2, false);
    unsigned place = circle_newcomer(circle);

    circle_ask(circle, place, ASK_BUILD);
    circle_run(circle, SECOND);
    elastic_average(circle, 0);
    CHECK(!circle->members[0].asking); /* at once, before anything is sent */
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 0)->outcome);
    CHECK_TEXT("a new member has joined", elastic_told(circle, 0)->text);
    CHECK_EQUAL(0, circle->inputs);
    circle_destroy(&circle);
}

static void ft_05_allreduce_average_4_success_5_failure(void)
{
    struct circle *circle = elastic_built(3, false);

    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS); /* 4 */
    CHECK_EQUAL(1, elastic_told(circle, 2)->averages);
    elastic_average(circle, 0);
    circle_run(circle, 100 * MILLISECOND);
    circle_kill(circle, 2); /* 5 */
    CHECK(circle_settle(circle, 10 * SECOND));
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 0)->outcome);
    CHECK_CONTAINS("n2", elastic_told(circle, 0)->text);
    CHECK_EQUAL(1, elastic_told(circle, 0)->averages);
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED));
    circle_destroy(&circle);
}

static void ft_06_the_sum_is_divided_by_the_members_of_that_call(void)
{
    struct circle *circle = elastic_built(3, false);

    elastic_average_all(circle);
    CHECK_NEAR(2, (double)circle_float(circle, 1, 0), 0); /* (1+2+3)/3 */
    circle_kill(circle, 2);
    circle_run(circle, SECOND);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_FAIL);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK_NEAR(1.5, (double)circle_float(circle, 1, 0), 0); /* (1+2)/2 */
    circle_destroy(&circle);
}

/* Adds what each member averaged, or its own, or nothing. */
static void step(const struct circle *circle, double *weights)
{
    for (unsigned i = 0; i < 3; i++)
        if (elastic_told(circle, i)->outcome == ENDING_SUCCESS)
            weights[i] += (double)circle_float(circle, i, 0);
        else if (elastic_told(circle, i)->outcome == ENDING_NO_NEED)
            weights[i] += i + 1;
}

static void ft_07_success_steps_no_need_steps_alone_failure_drops(void)
{
    struct circle *circle = elastic_built(3, false);
    double weights[3] = {0, 0, 0};

    for (unsigned batch = 0; batch < 12; batch++) {
        for (unsigned i = 0; i < 3; i++)
            if (circle->members[i].client)
                elastic_average(circle, i);
        if (batch == 4 || batch == 8)
            circle_kill(circle, batch == 4 ? 2 : 1);
        CHECK(circle_settle(circle, 100 * SECOND));
        step(circle, weights);
        if (batch < 8)
            CHECK_NEAR(weights[0], weights[1], 0);
    }
    /* 4 steps of 2, one dropped, 3 of 1.5, one dropped, 3 alone of 1. */
    CHECK_NEAR(4 * 2 + 3 * 1.5 + 3, weights[0], 1e-9);
    circle_destroy(&circle);
}

static void ft_08_broadcast_barrier_allreduce_are_wrapped_alike(void)
{
    struct circle *circle = elastic_started(2, false);
    const enum collective all[] = {COLLECTIVE_BROADCAST, COLLECTIVE_BARRIER,
                                   COLLECTIVE_ALLREDUCE};

    for (unsigned k = 0; k < 3; k++) { /* each rebuilds by itself */
        circle_ask_all(circle, ASK_FORGET);
        for (unsigned i = 0; i < 2; i++) {
            circle_floats(circle, i, 10, i + 5);
            circle_call(circle, i, all[k]);
        }
        CHECK(circle_settle(circle, SECOND));
        elastic_check_all(circle, ENDING_SUCCESS);
        if (k == 0)
            CHECK_NEAR(5, (double)circle_float(circle, 1, 9), 0);
    }
    CHECK_EQUAL(3, elastic_told(circle, 0)->averages);
    circle_kill(circle, 1);
    for (unsigned k = 0; k < 3; k++) {
        circle_ask_all(circle, ASK_FORGET);
        circle_call(circle, 0, all[k]);
        CHECK(circle_settle(circle, 70 * SECOND));
        CHECK_EQUAL(ENDING_NO_NEED, elastic_told(circle, 0)->outcome);
    }
    circle_destroy(&circle);
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
