/* The plain choice of each kind: everything, undamped, nothing discarded. */
#include "policies/policy.h"

static unsigned choose(const struct candidate *list, unsigned count,
                       const struct policy_context *context, unsigned *order,
                       unsigned *wanted)
{
    (void)list;
    (void)context;
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    *wanted = count;
    return count;
}

static double undamped(uint64_t lag)
{
    (void)lag;
    return 1;
}

const struct select_rule select_all = {
    "all", "Every offer is uploaded and merged.", choose};
const struct reduce_rule reduce_mean = {
    .name = "mean", .doc = "The weighted mean of the updates."};
const struct receive_rule receive_all = {.name = "all",
                                         .doc = "Everybody gets the centre."};
const struct damping_rule damping_none = {
    "none", "An offer weighs the same however old its base is.", undamped};
const struct preempt_rule preempt_off = {
    .name = "off", .doc = "Nobody's parameters are discarded."};
