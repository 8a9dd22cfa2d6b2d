/* The mean of the updates through Adam at the hub.
 *
 * With u = the mean progress of a round, for each coordinate:
 *
 *     m = beta_1 m + (1 - beta_1) u
 *     v = beta_2 v + (1 - beta_2) u^2
 *     theta += epsilon m / (sqrt(v) + tau)
 *
 * beta_1 = `outer_momentum`, epsilon = `outer_lr`, beta_2 and tau as the paper
 * has them. m and v start at 0 and are not corrected for it. Where v would be
 * beyond a float nothing changes: as infinity it would stay, and hold theta for
 * good. Source: FedAdam, Reddi et al. 2021, "Adaptive federated optimization",
 * algorithm 2. */
#include <float.h>
#include <math.h>

#include "policies/policy.h"

static const double BETA_2 = 0.99, TAU = 1e-3;

static unsigned slots(const struct policy_numbers *numbers)
{
    (void)numbers;
    return 2;
}

static void step(const struct merge_tile *tile)
{
    double lr = tile->numbers->outer_lr, beta = tile->numbers->outer_momentum;

    for (size_t i = 0; i < tile->count; i++) {
        double mean = tile->sign * tile->value[i];
        double first = (double)tile->slot[0][i];
        double second = (double)tile->slot[1][i];

        first = beta * first + (1 - beta) * mean;
        second = BETA_2 * second + (1 - BETA_2) * mean * mean;
        if (second > (double)FLT_MAX)
            continue;
        tile->slot[0][i] = (float)first;
        tile->slot[1][i] = (float)second;
        tile->theta[i] =
            (float)((double)tile->theta[i] + lr * first / (sqrt(second) + TAU));
    }
}

static const struct policy_numbers own = {.outer_lr = 0.01,
                                          .outer_momentum = 0.9};

const struct merge_rule merge_adam = {
    .name = "adam",
    .doc = "The centre takes a step of Adam along the mean update.",
    .takes = 1u << EXCHANGE_DELTA | 1u << EXCHANGE_GRADIENT,
    .slots = slots,
    .step = step,
    .verb = VERB_REBASE,
    .own = &own,
};
