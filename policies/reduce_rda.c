/* The mean direction of the updates, as long as they are in the mean: where
 * they go different ways their mean is short, for no other reason than that.
 *
 *     d = sum_i w_i u_i / |u_i|        w_i: the shares
 *     u = (sum_i w_i |u_i| / sum_i w_i) d / |d|
 *
 * tensor by tensor. Those of length 0 in a tensor are passed over; where
 * directions cancel each other nothing moves. Embeddings, of which a node
 * changes the rows that its samples name and no others, get the plain mean.
 * Source: radial-directional averaging of Decoupled DiLoCo, 2604.21428. */
#include <string.h>

#include "policies/policy.h"

static double blend(const double *length, const double *share, unsigned count,
                    double *factor)
{
    double all = 0, some = 0, sum = 0;

    for (unsigned i = 0; i < count; i++) {
        all += share[i];
        factor[i] = length[i] > 0 ? 1 / length[i] : 0;
        if (length[i] > 0) {
            some += share[i];
            sum += share[i] * length[i];
        }
    }
    return some > 0 ? sum / some * all : 0;
}

/* By the names that are used for them. */
static bool spares(const struct tensor *tensor)
{
    static const char *const words[] = {"embed", "emb.", "wte", "wpe"};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(tensor->name, words[i]))
            return true;
    return false;
}

const struct reduce_rule reduce_rda = {
    .name = "rda",
    .doc = "The mean direction of each tensor, of the updates' mean length.",
    .blend = blend,
    .spares = spares,
};
