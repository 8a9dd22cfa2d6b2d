/* The averaged outer steps, and nodes that go a part of the way to the centre,
 * held to their equations. */
#include <float.h>
#include <math.h>

#include "tests/check.h"
#include "tests/policies/star.h"

enum { NODES = 3, ROUNDS = 30 };

/* Nodes that go `share` of the way to optima of their own in a round, each
 * result being applied a round after its offer. */
struct late {
    struct star star;
    double share, part;
    double x[NODES], sent[NODES], offered[NODES];
};

static const double optima[NODES] = {4, -1, 0.75};

static struct late late_of(double share, double pull, double delay)
{
    struct late late = {.star = star_of("mean", NODES, 0), .share = share};

    late.star.policy.merge = merge_find("schedule-free");
    late.star.policy.numbers.pull = pull;
    late.part =
        late.star.policy.merge->weight(&late.star.policy.numbers, NODES, delay);
    return late;
}

/* What was offered is merged while the nodes go on, and applied then. */
static void go_on(struct late *late)
{
    star_equal(&late->star, late->offered, NODES);
    for (unsigned i = 0; i < NODES; i++) {
        late->sent[i] = late->x[i];
        late->offered[i] = late->share * (optima[i] - late->x[i]);
        late->x[i] +=
            late->offered[i] + late->part * (late->star.sent - late->sent[i]);
    }
}

static double mean_of(const double *list)
{
    return (list[0] + list[1] + list[2]) / NODES;
}

static void nodes_go_the_less_of_the_way_the_later_results_are(void)
{
    CHECK_NEAR(1, late_of(0, 0, 0).part, 0);
    CHECK_NEAR(0.5, late_of(0, 0, 1).part, 0);
    CHECK_NEAR(0.2, late_of(0, 0, 4).part, 1e-15);
    CHECK_NEAR(0.3, late_of(0, 0.3, 4).part, 0);
}

/* Their mean is that of nodes which hear of each other at once, and the centre
 * has all of it but what is under way. */
static void the_mean_goes_as_without_delay(void)
{
    const double shares[] = {0.1, 0.6, 1};

    for (unsigned i = 0; i < 3; i++) {
        struct late late = late_of(shares[i], 0, 1);
        double mean = 0;

        for (unsigned round = 0; round < ROUNDS; round++) {
            go_on(&late);
            mean += late.share * (mean_of(optima) - mean);
            CHECK_NEAR(mean, mean_of(late.x), 1e-5);
            CHECK_NEAR(mean - mean_of(late.offered), (double)late.star.theta,
                       1e-5);
        }
    }
}

/* Its distance from the mean goes by 1 - r - a in a round, and so ends at
 * r e / (r + a); with a = 1, r = 1 it would swing for ever. */
static void distances_settle_whatever_share_of_the_way_is_gone(void)
{
    const double shares[] = {0.1, 0.6, 1};

    for (unsigned i = 0; i < 3; i++) {
        struct late late = late_of(shares[i], 0, 1);
        double apart = 0, r = late.share, a = late.part;

        for (unsigned round = 0; round < ROUNDS; round++) {
            go_on(&late);
            apart = (1 - r - a) * apart + r * (optima[0] - mean_of(optima));
            CHECK_NEAR(apart, late.x[0] - mean_of(late.x), 1e-5);
        }
        CHECK_NEAR(r * (optima[0] - mean_of(optima)) / (r + a), apart, 1e-4);
    }
}

/* ---- the centre ---- */

/* z takes steps, x is their mean by weights that sum to t^20 nearly, and the
 * centre is between them: from the paper, with nothing but z and x. */
struct averaged {
    double z, x, beta, rate;
    unsigned round;
};

static double averaged_step(struct averaged *averaged, double update)
{
    double c = 20. / (++averaged->round + 19);

    averaged->z += averaged->rate * update;
    averaged->x = (1 - c) * averaged->x + c * averaged->z;
    return (1 - averaged->beta) * averaged->z + averaged->beta * averaged->x;
}

static struct star star_between(double rate, double beta)
{
    struct star star = star_of("mean", NODES, 3);

    star.policy.merge = merge_find("schedule-free");
    star.policy.numbers.outer_lr = rate;
    star.policy.numbers.outer_momentum = beta;
    return star;
}

static void the_centre_is_between_the_steps_and_their_mean(void)
{
    const double betas[] = {0.3, 0.6, 0.9};

    for (unsigned i = 0; i < 3; i++) {
        struct star star = star_between(1.25, betas[i]);
        struct averaged averaged = {3, 3, betas[i], 1.25, 0};

        for (unsigned round = 0; round < 200; round++) {
            double own[NODES] = {sin(round), cos(round), 0.5};

            star_equal(&star, own, NODES);
            CHECK_NEAR(averaged_step(&averaged, mean_of(own)),
                       (double)star.theta, 1e-4);
        }
    }
}

/* sum t^19 t / sum t^19 is 20/21 of the last t: of a centre that moves evenly
 * the mean is a twentieth of the run behind. */
static void in_the_long_run_it_moves_by_the_whole_rate(void)
{
    struct star star = star_between(1.25, 1 - 1e-12);
    const double own[NODES] = {1, 1, 1};

    star.theta = 0;
    for (unsigned round = 1; round <= 1000; round++)
        star_equal(&star, own, NODES);
    CHECK_NEAR(1.25 * 1000 * 20 / 21, (double)star.theta, 2);
}

static void without_momentum_it_is_the_mean(void)
{
    struct star star = star_between(0.5, 0), other = star_of("mean", NODES, 3);
    const double own[NODES] = {0.25, -1, 7};

    other.policy.numbers.outer_lr = 0.5;
    for (unsigned round = 0; round < 5; round++) {
        star_equal(&star, own, NODES);
        star_equal(&other, own, NODES);
        CHECK_NEAR((double)other.theta, (double)star.theta, 0);
    }
    CHECK_EQUAL(0, star.policy.merge->slots(&star.policy.numbers));
}

/* c x 1/3 for each of three that come one by one. */
static void of_a_part_of_the_nodes_it_averages_a_part(void)
{
    const struct policy_numbers numbers = {.outer_lr = 1,
                                           .outer_momentum = 0.5};
    const double update = 3;
    float theta = 0, ahead = 0;
    struct merge_tile tile = {.value = &update,
                              .sign = 1,
                              .count = 1,
                              .theta = &theta,
                              .slot = {&ahead},
                              .updates = 1,
                              .live = 3,
                              .updates_before = 3,
                              .numbers = &numbers};

    merge_find("schedule-free")->step(&tile); /* t = 2: c = 20/21 / 3 */
    CHECK_NEAR(3 * (1 - 20. / 63), (double)ahead, 1e-6);
    CHECK_NEAR(3 * (1 - 0.5 * (1 - 20. / 63)), (double)theta, 1e-6);
}

/* Its last iterations would bring the noise of one into the mean of four. */
static void one_that_others_left_lately_moves_the_centre_by_a_part(void)
{
    const struct policy_numbers numbers = {.outer_lr = 1.25,
                                           .outer_momentum = 0.5};
    const double update = 8;
    float theta = 0, ahead = 0;
    struct merge_tile tile = {.value = &update,
                              .sign = 1,
                              .count = 1,
                              .theta = &theta,
                              .slot = {&ahead},
                              .updates = 1,
                              .live = 1,
                              .usual = 4,
                              .updates_before = 396,
                              .numbers = &numbers};
    double c = 20. / (100 + 19) / 4;

    merge_schedule_free.step(&tile);
    CHECK_NEAR(2.5 * (1 - c), (double)ahead, 1e-6);
    CHECK_NEAR(2.5 * (1 + c) / 2, (double)theta, 1e-6);
    tile.usual = 1; /* that was always alone: all of it, and nothing else */
    tile.updates_before++;
    merge_schedule_free.step(&tile);
    CHECK_NEAR(2.5 * (1 - c), (double)ahead, 1e-6);
    CHECK_NEAR(8 + 2.5 * (1 + c) / 2, (double)theta, 1e-6);
}

/* Exactly, also what is ahead of it since there were others. */
static void what_one_alone_learns_stays_as_it_is(void)
{
    struct star star = star_of("auto", 1, 3);
    double own = 0.25;

    star.slot[0] = 7;
    for (unsigned round = 1; round <= 50; round++) {
        star_equal(&star, &own, 1);
        CHECK_NEAR(3 + 0.25 * round, (double)star.theta, 0);
        CHECK_NEAR(7, (double)star.slot[0], 0);
    }
}

/* What nobody moves any more is not kept as a denormal number; what is beyond
 * all bounds moves nothing. */
static void what_fades_is_nothing_and_what_overflows_is_left(void)
{
    const struct policy_numbers numbers = {.outer_lr = 1,
                                           .outer_momentum = 0.5};
    const double updates[2] = {0, FLT_MAX};
    float theta[2] = {1, 1}, ahead[2] = {FLT_MIN, FLT_MAX};
    struct merge_tile tile = {.value = updates,
                              .sign = 1,
                              .count = 2,
                              .theta = theta,
                              .slot = {ahead},
                              .updates = 3,
                              .live = 3,
                              .updates_before = 300,
                              .numbers = &numbers};

    merge_schedule_free.step(&tile);
    CHECK_NEAR(0, (double)ahead[0], 0);
    CHECK_NEAR(1, (double)theta[0], 1e-6);
    CHECK_NEAR((double)FLT_MAX, (double)ahead[1], 0);
    CHECK_NEAR(1, (double)theta[1], 0);
}

void add_policies_schedule_free_tests(CU_pSuite suite)
{
    TEST(the_centre_is_between_the_steps_and_their_mean);
    TEST(in_the_long_run_it_moves_by_the_whole_rate);
    TEST(without_momentum_it_is_the_mean);
    TEST(of_a_part_of_the_nodes_it_averages_a_part);
    TEST(one_that_others_left_lately_moves_the_centre_by_a_part);
    TEST(what_one_alone_learns_stays_as_it_is);
    TEST(what_fades_is_nothing_and_what_overflows_is_left);
    TEST(nodes_go_the_less_of_the_way_the_later_results_are);
    TEST(the_mean_goes_as_without_delay);
    TEST(distances_settle_whatever_share_of_the_way_is_gone);
}
