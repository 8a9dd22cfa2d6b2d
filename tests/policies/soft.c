/* Nodes that go a part of the way to the centre, held to their equations. */
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

    late.star.policy.merge = merge_find("soft");
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

void add_policies_soft_tests(CU_pSuite suite)
{
    TEST(nodes_go_the_less_of_the_way_the_later_results_are);
    TEST(the_mean_goes_as_without_delay);
    TEST(distances_settle_whatever_share_of_the_way_is_gone);
}
