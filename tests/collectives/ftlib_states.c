/* FTLib's criteria on a hub: members that come and go. */
#include <string.h>

#include "collectives/roster.h"
#include "tests/check.h"
#include "tests/collectives/elastic.h"

enum { CHURNING = 8 };

static unsigned clients(const struct circle *circle)
{
    unsigned count = 0;

    for (unsigned i = 0; i < circle->count; i++)
        count += circle->members[i].client != NULL;
    return count;
}

static void ft_10_a_report_does_not_disturb_a_collective_under_way(void)
{
    struct circle *circle = elastic_built(2, false);
    unsigned place = circle_newcomer(circle);

    elastic_average(circle, 0);
    circle_run(circle, 100 * MILLISECOND);
    circle_ask(circle, place, ASK_BUILD); /* reports while 0 is inside */
    circle_run(circle, SECOND);
    CHECK(circle->members[0].asking);
    elastic_average(circle, 1);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, elastic_told(circle, 0)->outcome);
    CHECK_EQUAL(ENDING_SUCCESS, elastic_told(circle, 1)->outcome);
    CHECK_NEAR(1.5, (double)circle_float(circle, 0, 0), 0);
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED));
    circle_destroy(&circle);
}

static void ft_11_initialized_goes_false_on_exactly_these(void)
{
    struct circle *circle = elastic_built(2, false);
    struct msg_ask late = {.ask = ASK_COLLECTIVE,
                           .collective = COLLECTIVE_BARRIER,
                           .limit = SECOND};
    unsigned place;

    /* Time and successes change nothing. */
    circle_run(circle, 1000 * SECOND);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    elastic_average_all(circle);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    /* A time-out does. */
    circle_request(circle, 0, &late);
    CHECK(circle_settle(circle, 2 * SECOND));
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED));
    elastic_average_all(circle); /* 1 is of the old epoch */
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 1)->outcome);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    /* A member that is lost, once a collective has failed. */
    circle_kill(circle, 1);
    circle_run(circle, SECOND);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    elastic_average_all(circle);
    CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, 0)->outcome);
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED));
    /* A report. */
    circle_start(circle, 1);
    circle_ask(circle, 1, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    place = circle_newcomer(circle);
    circle_run(circle, SECOND);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED)); /* not yet */
    circle_ask(circle, place, ASK_BUILD);
    circle_run(circle, SECOND);
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED));
    circle_destroy(&circle);
}

static void ft_12_a_rebuild_that_fails_changes_nothing(void)
{
    struct circle *circle = elastic_built(3, false);
    struct msg_told before;

    circle_kill(circle, 2);
    circle_run(circle, SECOND);
    before = *elastic_told(circle, 0);
    circle->members[0].deaf = true;
    circle_ask(circle, 0, ASK_BUILD);
    CHECK(circle_settle(circle, 61 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, elastic_told(circle, 0)->outcome);
    CHECK_EQUAL(before.epoch, elastic_told(circle, 0)->epoch);
    CHECK_EQUAL(3, elastic_told(circle, 0)->size);
    circle->members[0].deaf = false;
    circle_ask(circle, 0, ASK_BUILD);
    CHECK(circle_settle(circle, 61 * SECOND));
    circle_ask_all(circle, ASK_BUILD);
    CHECK(circle_settle(circle, 61 * SECOND));
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK_EQUAL(2, elastic_told(circle, 0)->size);
    CHECK(elastic_told(circle, 0)->epoch > before.epoch);
    CHECK_EQUAL(elastic_told(circle, 0)->epoch, elastic_told(circle, 1)->epoch);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    CHECK(!elastic_asks(circle, 0, ASK_SKIP));
    circle_destroy(&circle);
}

/* One list at one hub: a confirm is one round trip, or given up after 25 s. */
static void ft_13_a_confirm_takes_less_than_a_rebuild_may(void)
{
    struct circle *circle = elastic_built(3, true);
    nanos before = circle->now;

    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    CHECK_EQUAL(2 * circle->latency, circle->now - before);
    circle->members[0].deaf = true;
    before = circle->now;
    circle_ask(circle, 0, ASK_INITIALIZED);
    CHECK(circle_settle(circle, 60 * SECOND));
    CHECK_EQUAL(ENDING_ABORT, elastic_told(circle, 0)->outcome);
    CHECK(circle->now - before <= 25 * SECOND);
    CHECK(circle->now - before >= 24 * SECOND);
    circle_destroy(&circle);
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
    struct circle *circle = elastic_built(2, false);
    struct msg msg = {.kind = MSG_ROSTER,
                      .roster = {.number = 2, .epoch = 9, .rank = 2,
                                 .size = 2}};
    struct event event = {
        .kind = EVENT_MESSAGE, .peer = PEER_CONTROL, .msg = &msg};

    circle_ask(circle, 0, ASK_BUILD);
    circle_step(circle, 0, &event);
    CHECK_EQUAL(ENDING_ABORT, elastic_told(circle, 0)->outcome);
    CHECK_CONTAINS("without us", elastic_told(circle, 0)->text);
    circle_destroy(&circle);
}

static void ft_15_a_leave_passive_fails_once_active_never(void)
{
    struct circle *passive = elastic_built(3, false);
    struct circle *active = elastic_built(3, true);

    circle_kill(passive, 0);
    circle_run(passive, SECOND);
    elastic_average_all(passive);
    elastic_check_all(passive, ENDING_FAIL); /* one batch is lost */
    elastic_average_all(passive);
    elastic_check_all(passive, ENDING_SUCCESS);
    CHECK_EQUAL(2, elastic_told(passive, 1)->size);
    CHECK_EQUAL(0, elastic_told(passive, 1)->rank);

    circle_kill(active, 0);
    circle_run(active, SECOND);
    elastic_average_all(active);
    elastic_check_all(active, ENDING_SUCCESS); /* none is */
    CHECK_NEAR(2.5, (double)circle_float(active, 1, 0), 0);
    CHECK_EQUAL(2, elastic_told(active, 1)->size);
    circle_destroy(&passive);
    circle_destroy(&active);
}

static void ft_16_a_join_is_known_to_rank_0_and_all_rebuild(void)
{
    struct circle *circle = elastic_built(3, false);
    unsigned place = circle_newcomer(circle);

    circle_run(circle, SECOND);
    CHECK_EQUAL(3, circle_view(circle).members); /* it has not reported */
    circle_ask(circle, place, ASK_BUILD);
    circle_run(circle, SECOND);
    CHECK(!elastic_asks(circle, 0, ASK_INITIALIZED)); /* only rank 0 knows */
    CHECK(elastic_asks(circle, 1, ASK_INITIALIZED));
    CHECK(elastic_asks(circle, 2, ASK_INITIALIZED));
    for (unsigned i = 0; i < 3; i++)
        elastic_average(circle, i);
    CHECK(circle_settle(circle, SECOND));
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(ENDING_FAIL, elastic_told(circle, i)->outcome);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK_EQUAL(4, elastic_told(circle, 0)->size);
    CHECK_EQUAL(3, elastic_told(circle, place)->rank);
    /* It never reports again: rank 0 is not disturbed when it comes back. */
    circle_cut(circle, place);
    circle_run(circle, SECOND);
    circle_ask(circle, place, ASK_BUILD);
    circle_run(circle, SECOND);
    CHECK_EQUAL(ENDING_SUCCESS, elastic_told(circle, place)->outcome);
    CHECK(elastic_asks(circle, 0, ASK_INITIALIZED));
    circle_destroy(&circle);
}

/* One builds before each batch, the other does not: they meet. */
static void ft_12_a_rebuild_of_the_same_members_disturbs_nobody(void)
{
    struct circle *circle = elastic_built(2, false);

    for (unsigned batch = 0; batch < 3; batch++) {
        circle_ask(circle, 0, ASK_BUILD);
        CHECK(circle_settle(circle, SECOND));
        elastic_average_all(circle);
        elastic_check_all(circle, ENDING_SUCCESS);
    }
    CHECK_EQUAL(3, elastic_told(circle, 1)->averages);
    circle_destroy(&circle);
}

/* Even if a newcomer's id is the lowest of all. */
static void ef_13_a_change_is_a_new_epoch_and_rank_0_the_oldest(void)
{
    struct circle *circle = elastic_built(2, false);
    uint64_t epoch = elastic_told(circle, 0)->epoch;
    unsigned place = circle_newcomer(circle);

    circle_kill(circle, place);
    circle->members[place].config.low = 0;
    circle_start(circle, place);
    for (unsigned i = 0; i < 3; i++)
        elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK(elastic_told(circle, 0)->epoch > epoch);
    CHECK_EQUAL(0, elastic_told(circle, 0)->rank);
    CHECK_EQUAL(2, elastic_told(circle, place)->rank);
    epoch = elastic_told(circle, 0)->epoch;
    circle_kill(circle, 0);
    for (unsigned i = 0; i < 3; i++)
        elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK(elastic_told(circle, 1)->epoch > epoch);
    CHECK_EQUAL(0, elastic_told(circle, 1)->rank);
    CHECK_EQUAL(1, elastic_told(circle, place)->rank);
    circle_destroy(&circle);
}

static void ft_17_counts_are_adopted_and_who_is_behind_exits_with_3(void)
{
    struct circle *circle = elastic_built(3, false);
    unsigned place;

    for (unsigned i = 0; i < 5; i++)
        elastic_average_all(circle);
    CHECK_EQUAL(5, elastic_told(circle, 0)->averages);
    /* A newcomer adopts the count. */
    place = circle_newcomer(circle);
    circle_ask(circle, place, ASK_BUILD);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(5, elastic_told(circle, place)->averages);
    elastic_average_all(circle);
    elastic_average_all(circle);
    elastic_check_all(circle, ENDING_SUCCESS);
    CHECK_EQUAL(6, elastic_told(circle, place)->averages);
    /* Who was cut off and has missed some must be started again. */
    circle->members[1].deaf = true;
    circle_cut(circle, 1);
    circle_run(circle, SECOND);
    for (unsigned k = 0; k < 2; k++) {
        elastic_average(circle, 0);
        elastic_average(circle, 2);
        elastic_average(circle, place);
        CHECK(circle_settle(circle, SECOND));
    }
    CHECK_EQUAL(7, elastic_told(circle, 0)->averages);
    circle->members[1].deaf = false;
    circle_cut(circle, 1);
    circle_run(circle, SECOND);
    elastic_average(circle, 1);
    CHECK(circle_settle(circle, SECOND));
    CHECK_EQUAL(ENDING_ABORT, elastic_told(circle, 1)->outcome);
    CHECK_EQUAL(3, elastic_told(circle, 1)->exit);
    circle_destroy(&circle);
}

/* Somebody comes or goes; one always stays. */
static void change_somebody(struct circle *circle)
{
    unsigned place = (unsigned)prng_below(&circle->prng, CHURNING);

    if (!circle->members[place].client)
        circle_start(circle, place);
    else if (clients(circle) > 1)
        circle_kill(circle, place);
}

/* How many did their batch: with the others or, if there are none, alone. */
static unsigned batches_done(const struct circle *circle)
{
    unsigned done = 0;

    for (unsigned i = 0; i < CHURNING; i++)
        if (circle->members[i].client &&
            elastic_told(circle, i)->outcome != ENDING_FAIL) {
            CHECK(elastic_told(circle, i)->outcome != ENDING_ABORT);
            done++;
        }
    return done;
}

static bool churn(uint64_t seed)
{
    struct circle *circle = elastic_built(3, seed % 2);
    unsigned done = 0;
    bool settled = true;

    circle->jitter = 3 * MILLISECOND;
    prng_seed(&circle->prng, seed);
    while (circle->count < CHURNING)
        (void)circle_newcomer(circle);
    for (unsigned batch = 0; batch < 100 && settled; batch++) {
        for (unsigned i = 0; i < CHURNING; i++)
            if (circle->members[i].client)
                elastic_average(circle, i);
        circle_run(circle,
                   (nanos)prng_below(&circle->prng, 20) * MILLISECOND);
        if (batch % 3 == 0)
            change_somebody(circle);
        settled = circle_settle(circle, 200 * SECOND);
        done += batches_done(circle);
    }
    circle_destroy(&circle);
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
