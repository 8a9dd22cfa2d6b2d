/* The worst take after the best: of n nodes with a score the floor(q n) worst
 * get the parameters of one of the floor(q n) best, each by a draw of its own;
 * the others get nothing. Nobody is given what is not better. With q = 1/4 and
 * fewer than 4 nodes nothing happens. Source: population based training,
 * Jaderberg et al. 2017, truncation selection. */
#include <stdlib.h>

#include "core/prng.h"
#include "policies/order.h"

static void donors(const struct candidate *list, unsigned count,
                   const struct policy_context *context, int *donor)
{
    struct policy_context plain = *context;
    unsigned *order = scratch_of(count, sizeof *order), able, some;
    struct prng prng;

    plain.pinned = -1;
    able = candidates_order(list, count, &plain, order);
    some = share_of(context->numbers->quantile, able);
    for (unsigned i = 0; i < count; i++)
        donor[i] = RECEIVE_NOTHING;
    prng_seed(&prng, prng_mix(context->seed ^ prng_mix(context->round)));
    for (unsigned i = 0; i < some; i++) {
        unsigned worse = order[able - 1 - i];
        unsigned better = order[prng_below(&prng, some)];

        if (list[better].score < list[worse].score)
            donor[worse] = (int)better;
    }
    free(order);
}

const struct receive_rule receive_quantile = {
    .name = "quantile",
    .doc = "The worst share of the nodes gets the parameters of the best.",
    .donors = donors,
};
