/* As clip, but one counts for n_i (n_i / s_i) and not for n_i, with n_i its
 * samples and s_i the iterations that they took: of two that bring as many
 * samples, the one with the larger batches has followed the better gradients,
 * and has gone fewer steps for them. Where nobody says how many iterations, or
 * all batches are alike, the shares are clip's. Source: the token weight of
 * Decoupled DiLoCo, 2604.21428. */
#include <stdlib.h>
#include <string.h>

#include "policies/order.h"

static void weigh(const struct candidate *list, unsigned count,
                  const struct policy_context *context, double *samples,
                  double *factor)
{
    struct candidate *weighed = scratch_of(count, sizeof *weighed);
    bool known = true;

    memcpy(weighed, list, count * sizeof *weighed);
    for (unsigned i = 0; i < count; i++)
        known = known && (list[i].steps || !(list[i].samples > 0));
    for (unsigned i = 0; known && i < count; i++)
        if (list[i].steps)
            weighed[i].samples *= list[i].samples / (double)list[i].steps;
    reduce_weigh(weighed, count, context, samples, factor);
    free(weighed);
}

const struct reduce_rule reduce_tokens = {
    .name = "tokens",
    .doc = "As clip, by samples times samples of an iteration.",
    .weigh = weigh,
};
