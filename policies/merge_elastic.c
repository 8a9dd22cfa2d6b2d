/* Elastic averaging: the centre and the nodes are tied by springs.
 *
 *     elastic         c' = c + alpha sum_i (x_i - c),  alpha = elastic / live
 *                     x_i' = x_i - alpha (x_i - c)
 *     elastic-first   c' = c + alpha n (mean_i x_i - c), of n nodes
 *                     x_i' = x_i - pull (x_i - c')
 *
 * `elastic` uses the old centre on both sides (the simultaneous form): what the
 * nodes lose the centre gains, so sum_i x_i + c does not change, with all nodes
 * in a round or one. The mean of `elastic-first` is weighed by samples, as
 * other rules' are (policies/shares.c); with elastic = pull = 1 it is averaging
 * of parameters, with elastic = 1 and a small pull it is PAPA. Source: EASGD,
 * Zhang, Choromanska and LeCun 2015, equations 5 and 6; Jolicoeur-Martineau et
 * al. 2023 (PAPA). */
#include "policies/policy.h"

static void step(const struct merge_tile *tile)
{
    double share =
        tile->live > tile->updates ? (double)tile->updates / tile->live : 1;
    double beta = tile->numbers->elastic * share;

    for (size_t i = 0; i < tile->count; i++) {
        double centre = (double)tile->theta[i];

        tile->theta[i] = (float)(centre + beta * (tile->value[i] - centre));
    }
}

static double alpha(const struct policy_numbers *numbers, unsigned live,
                    double delay)
{
    (void)delay;
    return numbers->elastic / (live ? live : 1);
}

const struct merge_rule merge_elastic = {
    .name = "elastic",
    .doc = "Centre and nodes draw each other closer; their sum stays.",
    .takes = 1u << EXCHANGE_PARAMETERS,
    .step = step,
    .verb = VERB_REBASE,
    .weight = alpha,
    .sends_previous = true,
};
const struct merge_rule merge_elastic_first = {
    .name = "elastic-first",
    .doc = "The centre goes to the nodes' mean, then they go to it.",
    .takes = 1u << EXCHANGE_PARAMETERS,
    .step = step,
    .verb = VERB_REBASE,
    .weight = merge_pull,
};
