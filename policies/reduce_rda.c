/* The mean direction of the updates, as long as they are in the mean: where
 * they go different ways their mean is short, for no other reason than that.
 *
 *     d = sum_i w_i u_i / |u_i|        w_i: the shares
 *     u = (sum_i w_i |u_i| / sum_i w_i) d / |d|
 *
 * tensor by tensor. Those of length 0 in a tensor are passed over; where
 * directions cancel each other nothing moves. What clip holds an update to
 * holds here, too, and of three and more none counts in a tensor for longer
 * than twice the median of those that have changed it: no single one, exploding
 * or hostile, sets the length, and as a direction it is one of all. Embeddings,
 * of which a node changes the rows that its samples name and no others, get the
 * plain mean. Source: radial-directional averaging of Decoupled DiLoCo,
 * 2604.21428. */
#include <math.h>
#include <string.h>

#include "policies/order.h"

enum {
    FEW = 3,    /* fewer are not compared with each other */
    LONGEST = 2 /* medians that one counts for in a tensor */
};

/* What none counts for more than; `scratch` is overwritten. */
static double bound(const double *length, unsigned count, double *scratch)
{
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (length[i] > 0)
            scratch[known++] = length[i];
    return known < FEW ? HUGE_VAL : LONGEST * values_median(scratch, known);
}

static double blend(const double *length, const double *share, unsigned count,
                    double *factor)
{
    double most = bound(length, count, factor), all = 0, some = 0, sum = 0;

    for (unsigned i = 0; i < count; i++) {
        all += share[i];
        factor[i] = length[i] > 0 ? 1 / length[i] : 0;
        if (length[i] > 0) {
            some += share[i];
            sum += share[i] * fmin(length[i], most);
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
    .weigh = reduce_weigh,
    .blend = blend,
    .spares = spares,
};
