/* FTLib's criteria on a hub: members that come and go. */
#include <string.h>

#include "collectives/roster.h"
#include "tests/check.h"
#include "tests/collectives/elastic.h"

enum { CHURNING = 8 };

static unsigned clients(const struct virtual_group *group)
{
    unsigned count = 0;

    for (unsigned i = 0; i < group->count; i++)
        count += group->members[i].client != NULL;
    return count;
}

static void ft_10_a_report_does_not_disturb_a_collective_under_way(void)
{
    struct virtual_group *group = elastic_built(2, false);
    unsigned place = virtual_newcomer(group);

    elastic_average(group, 0);
    virtual_run(group, 100 * MILLISECOND);
    virtual_ask(group, place, ASK_BUILD); /* reports while 0 is inside */
    virtual_run(group, SECOND);
    CHECK(group->members[0].asking);
    elastic_average(group, 1);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, 1)->outcome);
    CHECK_NEAR(1.5, (double)virtual_float(group, 0, 0), 0);
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED));
    virtual_destroy(&group);
}

static void ft_11_initialized_goes_false_on_exactly_these(void)
{
    struct virtual_group *group = elastic_built(2, false);
    struct msg_ask late = {.ask = ASK_COLLECTIVE,
                           .collective = COLLECTIVE_BARRIER,
                           .limit = SECOND};
    unsigned place;

    /* Time and successes change nothing. */
    virtual_run(group, 1000 * SECOND);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    elastic_average_all(group);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    /* A time-out does. */
    virtual_request(group, 0, &late);
    CHECK(virtual_settle(group, 2 * SECOND));
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED));
    elastic_average_all(group); /* 1 is of the old epoch */
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 1)->outcome);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    /* A member that is lost, once a collective has failed. */
    virtual_kill(group, 1);
    virtual_run(group, SECOND);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    elastic_average_all(group);
    CHECK_EQUAL(ENDING_FAIL, virtual_told(group, 0)->outcome);
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED));
    /* A report. */
    virtual_start(group, 1);
    virtual_ask(group, 1, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    place = virtual_newcomer(group);
    virtual_run(group, SECOND);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED)); /* not yet */
    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED));
    virtual_destroy(&group);
}

static void ft_12_a_rebuild_that_fails_changes_nothing(void)
{
    struct virtual_group *group = elastic_built(3, false);
    struct msg_told before;

    virtual_kill(group, 2);
    virtual_run(group, SECOND);
    before = *virtual_told(group, 0);
    group->members[0].deaf = true;
    virtual_ask(group, 0, ASK_BUILD);
    CHECK(virtual_settle(group, 61 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK_EQUAL(before.epoch, virtual_told(group, 0)->epoch);
    CHECK_EQUAL(3, virtual_told(group, 0)->size);
    group->members[0].deaf = false;
    virtual_ask(group, 0, ASK_BUILD);
    CHECK(virtual_settle(group, 61 * SECOND));
    virtual_ask_all(group, ASK_BUILD);
    CHECK(virtual_settle(group, 61 * SECOND));
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK_EQUAL(2, virtual_told(group, 0)->size);
    CHECK(virtual_told(group, 0)->epoch > before.epoch);
    CHECK_EQUAL(virtual_told(group, 0)->epoch, virtual_told(group, 1)->epoch);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    CHECK(!elastic_asks(group, 0, ASK_SKIP));
    virtual_destroy(&group);
}

/* One list at one hub: a confirm is one round trip, or given up after 25 s. */
static void ft_13_a_confirm_takes_less_than_a_rebuild_may(void)
{
    struct virtual_group *group = elastic_built(3, true);
    nanos before = group->now;

    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    CHECK_EQUAL(2 * group->latency, group->now - before);
    group->members[0].deaf = true;
    before = group->now;
    virtual_ask(group, 0, ASK_INITIALIZED);
    CHECK(virtual_settle(group, 60 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK(group->now - before <= 25 * SECOND);
    CHECK(group->now - before >= 24 * SECOND);
    virtual_destroy(&group);
}

static void ft_14_ranks_are_a_pure_function_of_the_list(void)
{
    struct entrant list[6] = {{3, 5, 5}, {0, 9, 1}, {0, 9, 0},
                              {0, 2, 7}, {3, 1, 9}, {2, 8, 8}};
    const unsigned ranks[6] = {5, 2, 1, 0, 4, 3};

    for (unsigned turn = 0; turn < 6; turn++) { /* in whatever order */
        struct entrant first = list[0];

        for (unsigned i = 0; i < 6; i++)
            CHECK_EQUAL(ranks[(i + turn) % 6],
                        roster_rank(list, 6, list[i].high, list[i].low));
        memmove(list, list + 1, 5 * sizeof *list);
        list[5] = first;
    }
    CHECK_EQUAL(6, roster_rank(list, 6, 9, 9)); /* not one of them */
}

/* A roster that this member is not on is an error, and nobody's rank. */
static void ft_14_who_is_not_on_the_list_has_an_error(void)
{
    struct virtual_group *group = elastic_built(2, false);
    struct msg msg = {
        .kind = MSG_ROSTER,
        .roster = {.number = 2, .epoch = 9, .rank = 2, .size = 2}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    virtual_ask(group, 0, ASK_BUILD);
    virtual_step(group, 0, &event);
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 0)->outcome);
    CHECK_CONTAINS("without us", virtual_told(group, 0)->text);
    virtual_destroy(&group);
}

static void ft_15_a_leave_passive_fails_once_active_never(void)
{
    struct virtual_group *passive = elastic_built(3, false);
    struct virtual_group *active = elastic_built(3, true);

    virtual_kill(passive, 0);
    virtual_run(passive, SECOND);
    elastic_average_all(passive);
    elastic_check_all(passive, ENDING_FAIL); /* one batch is lost */
    elastic_average_all(passive);
    elastic_check_all(passive, ENDING_SUCCESS);
    CHECK_EQUAL(2, virtual_told(passive, 1)->size);
    CHECK_EQUAL(0, virtual_told(passive, 1)->rank);

    virtual_kill(active, 0);
    virtual_run(active, SECOND);
    elastic_average_all(active);
    elastic_check_all(active, ENDING_SUCCESS); /* none is */
    CHECK_NEAR(2.5, (double)virtual_float(active, 1, 0), 0);
    CHECK_EQUAL(2, virtual_told(active, 1)->size);
    virtual_destroy(&passive);
    virtual_destroy(&active);
}

static void ft_16_a_join_is_known_to_rank_0_and_all_rebuild(void)
{
    struct virtual_group *group = elastic_built(3, false);
    unsigned place = virtual_newcomer(group);

    virtual_run(group, SECOND);
    CHECK_EQUAL(3, virtual_view(group).members); /* it has not reported */
    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK(!elastic_asks(group, 0, ASK_INITIALIZED)); /* only rank 0 knows */
    CHECK(elastic_asks(group, 1, ASK_INITIALIZED));
    CHECK(elastic_asks(group, 2, ASK_INITIALIZED));
    for (unsigned i = 0; i < 3; i++)
        elastic_average(group, i);
    CHECK(virtual_settle(group, SECOND));
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(ENDING_FAIL, virtual_told(group, i)->outcome);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK_EQUAL(4, virtual_told(group, 0)->size);
    CHECK_EQUAL(3, virtual_told(group, place)->rank);
    /* It never reports again: rank 0 is not disturbed when it comes back. */
    virtual_cut(group, place);
    virtual_run(group, SECOND);
    virtual_ask(group, place, ASK_BUILD);
    virtual_run(group, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, virtual_told(group, place)->outcome);
    CHECK(elastic_asks(group, 0, ASK_INITIALIZED));
    virtual_destroy(&group);
}

/* One builds before each batch, the other does not: they meet. */
static void ft_12_a_rebuild_of_the_same_members_disturbs_nobody(void)
{
    struct virtual_group *group = elastic_built(2, false);

    for (unsigned batch = 0; batch < 3; batch++) {
        virtual_ask(group, 0, ASK_BUILD);
        CHECK(virtual_settle(group, SECOND));
        elastic_average_all(group);
        elastic_check_all(group, ENDING_SUCCESS);
    }
    CHECK_EQUAL(3, virtual_told(group, 1)->averages);
    virtual_destroy(&group);
}

/* Even if a newcomer's id is the lowest of all. */
static void ef_13_a_change_is_a_new_epoch_and_rank_0_the_oldest(void)
{
    struct virtual_group *group = elastic_built(2, false);
    uint64_t epoch = virtual_told(group, 0)->epoch;
    unsigned place = virtual_newcomer(group);

    virtual_kill(group, place);
    group->members[place].config.low = 0;
    virtual_start(group, place);
    for (unsigned i = 0; i < 3; i++)
        elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK(virtual_told(group, 0)->epoch > epoch);
    CHECK_EQUAL(0, virtual_told(group, 0)->rank);
    CHECK_EQUAL(2, virtual_told(group, place)->rank);
    epoch = virtual_told(group, 0)->epoch;
    virtual_kill(group, 0);
    for (unsigned i = 0; i < 3; i++)
        elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK(virtual_told(group, 1)->epoch > epoch);
    CHECK_EQUAL(0, virtual_told(group, 1)->rank);
    CHECK_EQUAL(1, virtual_told(group, place)->rank);
    virtual_destroy(&group);
}

static void ft_17_counts_are_adopted_and_who_is_behind_exits_with_3(void)
{
    struct virtual_group *group = elastic_built(3, false);
    unsigned place;

    for (unsigned i = 0; i < 5; i++)
        elastic_average_all(group);
    CHECK_EQUAL(5, virtual_told(group, 0)->averages);
    /* A newcomer adopts the count. */
    place = virtual_newcomer(group);
    virtual_ask(group, place, ASK_BUILD);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(5, virtual_told(group, place)->averages);
    elastic_average_all(group);
    elastic_average_all(group);
    elastic_check_all(group, ENDING_SUCCESS);
    CHECK_EQUAL(6, virtual_told(group, place)->averages);
    /* Who was cut off and has missed some must be started again. */
    group->members[1].deaf = true;
    virtual_cut(group, 1);
    virtual_run(group, SECOND);
    for (unsigned k = 0; k < 2; k++) {
        elastic_average(group, 0);
        elastic_average(group, 2);
        elastic_average(group, place);
        CHECK(virtual_settle(group, SECOND));
    }
    CHECK_EQUAL(7, virtual_told(group, 0)->averages);
    group->members[1].deaf = false;
    virtual_cut(group, 1);
    virtual_run(group, SECOND);
    elastic_average(group, 1);
    CHECK(virtual_settle(group, SECOND));
    CHECK_EQUAL(ENDING_ABORT, virtual_told(group, 1)->outcome);
    CHECK_EQUAL(3, virtual_told(group, 1)->exit);
    virtual_destroy(&group);
}

/* Somebody comes or goes; one always stays. */
static void change_somebody(struct virtual_group *group)
{
    unsigned place = (unsigned)prng_below(&group->prng, CHURNING);

    if (!group->members[place].client)
        virtual_start(group, place);
    else if (clients(group) > 1)
        virtual_kill(group, place);
}

/* How many did their batch: with the others or, if there are none, alone. */
static unsigned batches_done(const struct virtual_group *group)
{
    unsigned done = 0;

    for (unsigned i = 0; i < CHURNING; i++)
        if (group->members[i].client &&
            virtual_told(group, i)->outcome != ENDING_FAIL) {
            CHECK(virtual_told(group, i)->outcome != ENDING_ABORT);
            done++;
        }
    return done;
}

static bool churn(uint64_t seed)
{
    struct virtual_group *group = elastic_built(3, seed % 2);
    unsigned done = 0;
    bool settled = true;

    group->jitter = 3 * MILLISECOND;
    prng_seed(&group->prng, seed);
    while (group->count < CHURNING)
        (void)virtual_newcomer(group);
    for (unsigned batch = 0; batch < 100 && settled; batch++) {
        for (unsigned i = 0; i < CHURNING; i++)
            if (group->members[i].client)
                elastic_average(group, i);
        virtual_run(group, (nanos)prng_below(&group->prng, 20) * MILLISECOND);
        if (batch % 3 == 0)
            change_somebody(group);
        settled = virtual_settle(group, 200 * SECOND);
        done += batches_done(group);
    }
    virtual_destroy(&group);
    return CHECK(settled) && CHECK(done > 100);
}

/* Members come and go at random; whoever is there averages, and as long as
 * there is one, batches succeed. */
static void ft_18_training_goes_on_as_long_as_one_member_lives(void)
{
    bool good = true;

    for (uint64_t seed = 1; seed <= (runs_slowly() ? 2 : 10) && good; seed++)
        good = churn(seed);
}

void add_collectives_ftlib_states_tests(CU_pSuite suite)
{
    TEST(ft_10_a_report_does_not_disturb_a_collective_under_way);
    TEST(ft_11_initialized_goes_false_on_exactly_these);
    TEST(ft_12_a_rebuild_that_fails_changes_nothing);
    TEST(ft_12_a_rebuild_of_the_same_members_disturbs_nobody);
    TEST(ft_13_a_confirm_takes_less_than_a_rebuild_may);
    TEST(ft_14_ranks_are_a_pure_function_of_the_list);
    TEST(ft_14_who_is_not_on_the_list_has_an_error);
    TEST(ft_15_a_leave_passive_fails_once_active_never);
    TEST(ft_16_a_join_is_known_to_rank_0_and_all_rebuild);
    TEST(ef_13_a_change_is_a_new_epoch_and_rank_0_the_oldest);
    TEST(ft_17_counts_are_adopted_and_who_is_behind_exits_with_3);
    TEST(ft_18_training_goes_on_as_long_as_one_member_lives);
}
