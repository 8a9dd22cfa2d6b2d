/* Schedule-Free averaging of outer steps: the speed of longer steps without
 * their noise.
 *
 * z takes the whole step along the mean update, u, of round t; x is the mean of
 * all z so far, of which the later ones weigh more; the centre is between them:
 *
 *     z = z + epsilon u
 *     x = x + c (z - x),  c = (r + 1) / (t + r),  r = 19
 *     theta = (1 - beta) z + beta x
 *
 * with epsilon = `outer_lr`, beta = `outer_momentum`. In the long run theta
 * moves by epsilon u a round, of which (1 - beta) epsilon at once; what noise
 * moves z by is averaged over the last twentieth of all rounds. beta = 0 is the
 * mean's step. A node that is alone moves z, x and theta by its own
 * step, epsilon <= 1: there is no mean whose noise would be less, and what it
 * learns stays as it is. One that others have left is never alone again: it
 * goes on averaging, and its step is shorter by how many there are of those
 * that there were of late (`usual`), lest its last iterations bring the noise
 * of one into the mean of all. Only z - x is kept, w below. Of a round that not
 * all nodes were in, or of one of the updates that come one by one, c is the
 * part that the updates are of the nodes. Source: Defazio et al. 2024, "The
 * road less scheduled", equations (1) to (3); the weights t^r are those of
 * Shamir and Zhang 2013, "Stochastic gradient descent for non-smooth
 * optimization".
 *
 * Nodes go a part of the way from what they sent, y += a (theta - y_sent), and
 * keep the rest of their distance. With s the share of the way to its own
 * optimum that a node goes in k iterations and a result that comes k later, its
 * distance from the mean goes by 1 - s - a in a round: with a = 1 it swings,
 * undamped as s nears 1. a = k / (k + d) unless `pull` says otherwise, which
 * is 1 where results come at once (docs/decisions/what-the-delay-costs.md). */
#include <float.h>
#include <math.h>

#include "core/floats.h"
#include "policies/policy.h"

#define LATER 19 /* r */

static double averaged(const struct merge_tile *tile, double nodes)
{
    double t = 1 + (double)tile->updates_before / nodes;
    double c = (LATER + 1) / (t + LATER) * tile->updates / nodes;

    return c < 1 ? c : 1;
}

static void step(const struct merge_tile *tile)
{
    double lr = tile->numbers->outer_lr;
    double at_once = 1 - tile->numbers->outer_momentum;
    float *theta = tile->theta, *ahead = tile->slot[0];
    double live = fmax(tile->live, 1);
    double nodes = ahead ? fmax(tile->usual, live) : live;
    double c = averaged(tile, nodes);
    bool alone = ahead && nodes <= 1;
    double rate = tile->sign * (alone ? fmin(lr, 1) : lr * live / nodes);

    if (!ahead || alone) {
        floats_move(tile->value, tile->count, rate, theta);
        return;
    }
    for (size_t i = 0; i < tile->count; i++) {
        double w = (double)ahead[i], moved = w + rate * tile->value[i];
        double next = (1 - c) * moved;

        if (!(fabs(moved) <= FLT_MAX))
            continue; /* it would stay beyond all bounds */
        if (fabs(next) < FLT_MIN)
            next = 0; /* denormal numbers are slow */
        ahead[i] = (float)next;
        theta[i] = (float)((double)theta[i] + c * moved + at_once * (next - w));
    }
}

static double part_of_way(const struct policy_numbers *numbers, unsigned live,
                          double delay)
{
    (void)live;
    return numbers->pull > 0 ? numbers->pull : 1 / (1 + delay);
}

static const struct policy_numbers own = {.outer_lr = 1.25,
                                          .outer_momentum = 0.5};

const struct merge_rule merge_schedule_free = {
    .name = "schedule-free",
    .doc = "Steps averaged over the run; nodes go k / (k + d) of the way.",
    .takes = 1u << EXCHANGE_DELTA,
    .slots = merge_slots,
    .step = step,
    .verb = VERB_REBASE,
    .weight = part_of_way,
    .own = &own,
};
