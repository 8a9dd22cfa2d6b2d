/* The centre becomes what the round came to: theta = v.
 *
 *     copy     nodes take it as it is           x = v
 *     leader   nodes are pulled to it           x = (1 - pull) x + pull v
 *
 * With one update, the best one's, v is that node's parameters to the
 * last bit. Source: PBT's exploit step, Jaderberg et al. 2017; LSGD, Teng et
 * al. 2019, algorithm 1. */
#include "policies/policy.h"

static void step(const struct merge_tile *tile)
{
    for (size_t i = 0; i < tile->count; i++)
        tile->theta[i] = (float)tile->value[i];
}

const struct merge_rule merge_copy = {
    .name = "copy",
    .doc = "The centre becomes what was chosen; nodes that get it take it as "
           "it is.",
    .takes = 1u << EXCHANGE_PARAMETERS,
    .step = step,
    .verb = VERB_REPLACE,
};
const struct merge_rule merge_leader = {
    .name = "leader",
    .doc = "The centre becomes what was chosen; nodes are pulled to it.",
    .takes = 1u << EXCHANGE_PARAMETERS,
    .step = step,
    .verb = VERB_PULL,
    .weight = merge_pull,
};
