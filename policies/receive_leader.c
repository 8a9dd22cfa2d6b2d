/* Everybody follows the best one: of all, or of a group of `group` neighbours.
 *
 * With groups, nodes 0 .. group - 1 are the first, and so on; in every
 * global_every-th round the leader is everybody's. A leader gets nothing: it
 * goes its own way. Only leaders are uploaded. Source: LSGD, Teng et al. 2019,
 * "Leader stochastic gradient descent", algorithm 1 (docs/ancestors.md, SD-11
 * and SD-12). */
#include <stdlib.h>

#include "policies/order.h"

/* Nodes of a group in this round; 0: all are one. */
static unsigned group_size(const struct policy_context *context)
{
    uint64_t every = (uint64_t)context->numbers->global_every;

    if (every < 2 || context->round % every == every - 1)
        return 0;
    return (unsigned)context->numbers->group;
}

static void donors(const struct candidate *list, unsigned count,
                   const struct policy_context *context, int *donor)
{
    unsigned size = group_size(context);
    unsigned *order = scratch_of(count, sizeof *order);
    unsigned able = candidates_order(list, count, context, order);

    for (unsigned i = 0; i < count; i++) {
        donor[i] = RECEIVE_NOTHING;
        for (unsigned j = 0; j < able; j++) {
            unsigned leader = order[j];

            if (size && list[leader].node / size != list[i].node / size)
                continue;
            if (leader != i)
                donor[i] = (int)leader;
            break;
        }
    }
    free(order);
}

const struct receive_rule receive_leader = {
    .name = "leader",
    .doc = "Everybody but the leader gets the leader's.",
    .donors = donors,
};
