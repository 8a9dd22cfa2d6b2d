#include "sim/study/arms.h"

#include <math.h>

#include "tests/check.h"

struct fixture {
    struct grid grid;
    struct arms *arms;
};

static void set_up(struct fixture *fixture, const char *grid,
                   const char *const settings[])
{
    struct options options;
    struct why why = {""};

    options_defaults(&options);
    for (unsigned i = 0; settings[i]; i += 2)
        CHECK_OK(options_set(&options, PROGRAM_SIM, settings[i],
                             settings[i + 1], OPTION_ARGUMENT, &why));
    CHECK_OK(grid_parse(grid, "over", &fixture->grid, &why));
    CHECK_OK(arms_new(&fixture->grid, &options, &fixture->arms, &why));
}

/* A run as if it had been played. */
static void put(struct arms *arms, unsigned place, unsigned seed, double time,
                bool reached)
{
    struct arm_run *run = &arms->runs[(size_t)seed * arms->count + place];

    run->outcome = (struct outcome){.done = true,
                                    .reached = reached,
                                    .time = time,
                                    .loss = reached ? 0.1 : 0.3,
                                    .up = 1e6,
                                    .down = 2e6};
}

static const char *const to_a_goal[] = {"goal",  "0.1", "seeds", "3",
                                        "nodes", "8",   NULL};

/* easgd is best; the second run of diloco, and all of mean, get nowhere. */
static void put_three(struct arms *arms)
{
    static const double easgd[] = {10, 11, 12}, diloco[] = {20, 99, 48};

    for (unsigned i = 0; i < 3; i++) {
        put(arms, 0, i, 600, false);
        put(arms, 1, i, diloco[i], i != 1);
        put(arms, 2, i, easgd[i], true);
    }
    arms_rank(arms);
}

static void arms_are_ranked_by_the_median_time_to_the_goal(void)
{
    struct fixture fixture;

    set_up(&fixture, "policy=mean,diloco,easgd", to_a_goal);
    put_three(fixture.arms);
    CHECK_EQUAL(2, fixture.arms->order[0]);
    CHECK_EQUAL(1, fixture.arms->order[1]);
    CHECK_EQUAL(0, fixture.arms->order[2]);
    CHECK_NEAR(11, fixture.arms->list[2].result.median, 0);
    CHECK_NEAR(48, fixture.arms->list[1].result.median, 0);
    CHECK_NEAR(24e6, fixture.arms->list[1].medians[ARM_BYTES], 0);
    arms_destroy(&fixture.arms);
}

static void a_run_that_did_not_reach_the_goal_is_not_forgotten(void)
{
    struct fixture fixture;
    const struct arm *diloco, *mean;

    set_up(&fixture, "policy=mean,diloco,easgd", to_a_goal);
    put_three(fixture.arms);
    mean = &fixture.arms->list[0];
    diloco = &fixture.arms->list[1];
    CHECK_EQUAL(3, diloco->done);
    CHECK_EQUAL(2, diloco->reached);
    CHECK(isinf(diloco->result.high));
    CHECK_EQUAL(3, mean->done);
    CHECK_EQUAL(0, mean->reached);
    CHECK(isinf(mean->result.low));
    arms_destroy(&fixture.arms);
}

static void arms_are_set_beside_the_best_in_pairs(void)
{
    struct fixture fixture;
    const struct pairs *pairs;

    set_up(&fixture, "policy=mean,diloco,easgd", to_a_goal);
    put_three(fixture.arms);
    pairs = &fixture.arms->list[1].best;
    /* 20 / 10 and 48 / 12: logarithms 1 and 2 of the base 2. */
    CHECK_EQUAL(2, pairs->count);
    CHECK_NEAR(pow(2, 1.5), pairs->mean.value, 1e-9);
    CHECK_NEAR(pow(2, 1.5) * log(2) / 2, pairs->mean.error, 1e-9);
    CHECK_EQUAL(3, pairs->above);
    CHECK_EQUAL(3, fixture.arms->list[2].wins);
    CHECK_EQUAL(0, fixture.arms->list[1].wins);
    CHECK_EQUAL(0, fixture.arms->list[0].best.count);
    arms_destroy(&fixture.arms);
}

static void without_a_goal_the_loss_at_the_end_is_compared(void)
{
    static const char *const settings[] = {"seeds", "1", NULL};
    struct fixture fixture;

    set_up(&fixture, "every=10,20", settings);
    put(fixture.arms, 0, 0, 5, false);
    put(fixture.arms, 1, 0, 600, true);
    arms_rank(fixture.arms);
    CHECK(!arms_have_goal(fixture.arms));
    CHECK_EQUAL(1, fixture.arms->order[0]);
    CHECK_NEAR(0.1, fixture.arms->list[1].result.median, 0);
    CHECK_NEAR(3, fixture.arms->list[0].best.mean.value, 1e-12);
    arms_destroy(&fixture.arms);
}

/* every=20 takes 1.1 times every=10; delay=5 twice delay=0, and delay=9 gets
 * nowhere with every=20. */
static void put_grid(struct arms *arms)
{
    static const double times[] = {10, 20, 50, 11, 22, 60};

    for (unsigned i = 0; i < 6; i++)
        put(arms, i, 0, times[i], i != 5);
    arms_rank(arms);
}

static void the_option_that_matters_most_comes_first(void)
{
    static const char *const settings[] = {"goal", "0.1", "seeds", "1", NULL};
    struct fixture fixture;
    struct worth worths[GRID_AXES];

    set_up(&fixture, "every=10,20 delay=0,5,9", settings);
    put_grid(fixture.arms);
    arms_weigh(fixture.arms, worths);
    CHECK_EQUAL(1, worths[0].axis);
    CHECK_NEAR(1, worths[0].times[0], 0);
    CHECK_NEAR(2, worths[0].times[1], 1e-12);
    CHECK(isinf(worths[0].times[2]) && isinf(worths[0].factor));
    CHECK_EQUAL(0, worths[1].axis);
    CHECK_NEAR(1, worths[1].times[0], 0);
    CHECK_NEAR(1.1, worths[1].times[1], 1e-12);
    CHECK_NEAR(1.1, worths[1].factor, 1e-12);
    arms_destroy(&fixture.arms);
}

static void what_was_left_out_has_no_worth(void)
{
    static const char *const settings[] = {"goal", "0.1", "seeds", "1", NULL};
    struct fixture fixture;
    struct worth worths[GRID_AXES];

    set_up(&fixture, "every=10,20 delay=0,5,9", settings);
    fixture.arms->runs[2].refused = fixture.arms->runs[5].refused = true;
    put(fixture.arms, 0, 0, 10, true);
    put(fixture.arms, 1, 0, 20, true);
    put(fixture.arms, 3, 0, 11, true);
    put(fixture.arms, 4, 0, 22, true);
    arms_rank(fixture.arms);
    CHECK_EQUAL(4, fixture.arms->played);
    arms_weigh(fixture.arms, worths);
    CHECK_EQUAL(1, worths[0].axis);
    CHECK(isnan(worths[0].times[2]));
    arms_destroy(&fixture.arms);
}

static void what_does_not_go_together_is_refused_and_ranked_last(void)
{
    static const char *const settings[] = {
        "goal", "0.1", "seeds", "2", "workers", "2", "params", "1000", NULL};
    struct fixture fixture;

    set_up(&fixture, "policy=banana,diloco", settings);
    CHECK(arms_play(fixture.arms, NULL));
    CHECK(fixture.arms->list[0].refused);
    CHECK(!fixture.arms->list[1].refused);
    CHECK_EQUAL(1, fixture.arms->played);
    CHECK_EQUAL(1, fixture.arms->order[0]);
    CHECK_EQUAL(2, fixture.arms->list[1].reached);
    CHECK_CONTAINS("banana", arms_run(fixture.arms, 0, 0)->outcome.trouble);
    arms_destroy(&fixture.arms);
}

static void check_same(const struct arm_run *one, const struct arm_run *two)
{
    CHECK(one->outcome.reached && two->outcome.reached);
    CHECK_NEAR(one->outcome.time, two->outcome.time, 0);
    CHECK_NEAR(one->outcome.loss, two->outcome.loss, 0);
    CHECK_NEAR(one->outcome.up, two->outcome.up, 0);
    CHECK_EQUAL(one->outcome.steps, two->outcome.steps);
    CHECK_EQUAL(one->count, two->count);
    for (unsigned i = 0; i < one->count; i++)
        CHECK_NEAR((double)one->points[i].loss, (double)two->points[i].loss, 0);
}

static void the_same_seeds_give_the_same_with_more_workers(void)
{
    static const char *const settings[] = {"goal",   "0.1",  "seeds", "2",
                                           "params", "1000", NULL};
    struct fixture one, two;

    set_up(&one, "policy=mean,easgd", settings);
    set_up(&two, "policy=mean,easgd", settings);
    one.arms->curves = two.arms->curves = true;
    one.arms->options.workers = 1;
    two.arms->options.workers = 2;
    CHECK(arms_play(one.arms, NULL) && arms_play(two.arms, NULL));
    for (unsigned i = 0; i < 4; i++)
        check_same(&one.arms->runs[i], &two.arms->runs[i]);
    arms_destroy(&one.arms);
    arms_destroy(&two.arms);
}

static void a_curve_goes_from_the_start_to_the_goal(void)
{
    static const char *const settings[] = {"goal",   "0.1",  "seeds", "3",
                                           "params", "1000", NULL};
    struct fixture fixture;
    const struct arm *arm;

    set_up(&fixture, "policy=mean", settings);
    fixture.arms->curves = true;
    CHECK(arms_play(fixture.arms, NULL));
    arm = &fixture.arms->list[0];
    CHECK(arms_run(fixture.arms, 0, 0)->count > 5);
    CHECK(arms_loss_at(fixture.arms, 0, arm->medians[ARM_TIME] / 2) > 0.1);
    CHECK(arms_loss_at(fixture.arms, 0, 1e6) <= 0.1);
    CHECK(isnan(arms_loss_at(fixture.arms, 0, -1)));
    arms_destroy(&fixture.arms);
}

static void more_than_100000_runs_are_refused(void)
{
    struct grid grid = {.count = 0};
    struct arms *arms = NULL;
    struct options options;
    struct why why = {""};

    options_defaults(&options);
    options.seeds = 10000;
    CHECK_OK(grid_parse("every=1,2,3,4,5,6,7,8,9,10,11", "over", &grid, &why));
    CHECK_STATUS(STATUS_USAGE, arms_new(&grid, &options, &arms, &why));
    CHECK_CONTAINS("fewer --seeds", why.text);
}

void add_sim_study_arms_tests(CU_pSuite suite)
{
    TEST(arms_are_ranked_by_the_median_time_to_the_goal);
    TEST(a_run_that_did_not_reach_the_goal_is_not_forgotten);
    TEST(arms_are_set_beside_the_best_in_pairs);
    TEST(without_a_goal_the_loss_at_the_end_is_compared);
    TEST(the_option_that_matters_most_comes_first);
    TEST(what_was_left_out_has_no_worth);
    TEST(what_does_not_go_together_is_refused_and_ranked_last);
    TEST(the_same_seeds_give_the_same_with_more_workers);
    TEST(a_curve_goes_from_the_start_to_the_goal);
    TEST(more_than_100000_runs_are_refused);
}
