/* Delayed Nesterov, for updates that come one by one.
 *
 * N = live updates are a period. With g_t = -u_t / N of each:
 *
 *     D += g_t
 *     ends a period:  m = mu m + D;  D = 0
 *                     theta -= epsilon (g_t + (1 - (N - 1) c) mu m)
 *     else:           theta -= epsilon (g_t + c mu m)
 *
 * so the momentum of a period is one Nesterov step's, where N plain Nesterov
 * steps would move the centre 6.4 times as far (mu = 0.9, N = 4). The gate
 * must divide by N: async, quorum. Updates that come together are taken
 * as one after the other, and the last of them ends the period that any of them
 * ends. When they are a whole period, the step is merge_mean's to the last bit.
 * Source: Liu et al. 2024, "Asynchronous local-SGD training for language
 * modeling", algorithm 3; c = `early`, in [0, 1/N]. */
#include "policies/policy.h"

static unsigned slots(const struct policy_numbers *numbers)
{
    return numbers->outer_momentum > 0 ? 2 : 0;
}

static void go_on(const struct merge_tile *tile, double early)
{
    double lr = tile->numbers->outer_lr, mu = tile->numbers->outer_momentum;
    const float *velocity = tile->slot[0];
    float *buffer = tile->slot[1];

    for (size_t i = 0; i < tile->count; i++) {
        double gradient = -tile->sign * tile->value[i];
        double pushed = early * mu * (double)velocity[i];

        buffer[i] = (float)((double)buffer[i] + gradient);
        tile->theta[i] =
            (float)((double)tile->theta[i] - lr * (gradient + pushed));
    }
}

/* `early` is what of the old momentum goes with it, `rest` of the new. */
static void end_period(const struct merge_tile *tile, double early, double rest)
{
    double lr = tile->numbers->outer_lr, mu = tile->numbers->outer_momentum;
    float *velocity = tile->slot[0], *buffer = tile->slot[1];

    for (size_t i = 0; i < tile->count; i++) {
        double gradient = -tile->sign * tile->value[i];
        double next = mu * (double)velocity[i] + (double)buffer[i] + gradient;
        double pushed = early * mu * (double)velocity[i] + rest * mu * next;

        velocity[i] = (float)next;
        buffer[i] = 0;
        tile->theta[i] =
            (float)((double)tile->theta[i] - lr * (gradient + pushed));
    }
}

static void step(const struct merge_tile *tile)
{
    unsigned period = tile->live ? tile->live : 1;
    float *velocity = tile->slot[0];
    double early = tile->numbers->early;

    if (!tile->slot[0]) {
        merge_step(tile);
        return;
    }
    for (size_t i = 0; tile->lost > 0 && i < tile->count; i++)
        velocity[i] = (float)((1 - tile->lost) * (double)velocity[i]);
    if (early > 1. / period)
        early = 1. / period;
    if (tile->updates_before % period + tile->updates < period)
        go_on(tile, tile->updates * early);
    else
        end_period(tile, (tile->updates - 1) * early, 1 - (period - 1) * early);
}

const struct merge_rule merge_delayed = {
    .name = "delayed",
    .doc = "Contributions move the centre at once, the momentum once for all "
           "of a period.",
    .takes = 1u << EXCHANGE_DELTA | 1u << EXCHANGE_GRADIENT,
    .slots = slots,
    .step = step,
    .verb = VERB_REBASE,
};
