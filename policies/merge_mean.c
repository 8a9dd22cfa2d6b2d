/* The mean of the updates through an outer optimizer.
 *
 * With D = -mean (a pseudo-gradient) the outer step is Nesterov's in PyTorch's
 * form: m = mu m + D; theta -= epsilon (D + mu m). epsilon = 1, mu = 0 is
 * plain averaging. Of m only the share is carried over of the nodes that are
 * still there. Source: DiLoCo (Douillard et al. 2023), algorithm 1.
 *
 * `mixing` is the same step, but nodes take a mixture,
 * x = (1 - pull) x + pull theta, where the paper's alpha is 1 - pull, and what
 * they offer next is measured from theta. Source: Streaming DiLoCo (Douillard
 * et al. 2025), algorithm 2. */
#include "core/floats.h"
#include "policies/policy.h"

unsigned merge_slots(const struct policy_numbers *numbers)
{
    return numbers->outer_momentum > 0 ? 1 : 0;
}

void merge_step(const struct merge_tile *tile)
{
    double lr = tile->numbers->outer_lr;
    double mu = tile->numbers->outer_momentum;
    double stays = mu * (1 - tile->lost);
    float *theta = tile->theta, *velocity = tile->slot[0];

    if (!velocity) {
        floats_move(tile->value, tile->count, lr * tile->sign, theta);
        return;
    }
    for (size_t i = 0; i < tile->count; i++) {
        double gradient = -tile->sign * tile->value[i];
        double next = stays * (double)velocity[i] + gradient;

        velocity[i] = (float)next;
        theta[i] = (float)((double)theta[i] - lr * (gradient + mu * next));
    }
}

double merge_pull(const struct policy_numbers *numbers, unsigned live,
                  double delay)
{
    (void)live;
    (void)delay;
    return numbers->pull;
}

const struct merge_rule merge_mean = {
    .name = "mean",
    .doc = "The centre takes a Nesterov step along the mean update.",
    .takes = 1u << EXCHANGE_DELTA | 1u << EXCHANGE_GRADIENT,
    .slots = merge_slots,
    .step = merge_step,
    .verb = VERB_REBASE,
};
const struct merge_rule merge_mixing = {
    .name = "mixing",
    .doc = "mean's step; nodes mix the centre into what they have.",
    .takes = 1u << EXCHANGE_DELTA,
    .slots = merge_slots,
    .step = merge_step,
    .verb = VERB_PULL,
    .weight = merge_pull,
};
