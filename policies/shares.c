/* What a contribution weighs before any data are known. */
#include <stdlib.h>

#include "policies/order.h"

void policy_shares(const struct policy *policy, const struct candidate *list,
                   unsigned count, const struct standing *standing,
                   double *share, double *whole)
{
    double *factor = scratch_of(count, sizeof *factor);
    double *samples = scratch_of(count, sizeof *samples);
    double total = 0, sum = 0;

    for (unsigned i = 0; i < count; i++) {
        samples[i] = list[i].samples;
        factor[i] = 1;
    }
    if (policy->reduce->weigh)
        policy->reduce->weigh(list, count, standing, samples, factor);
    for (unsigned i = 0; i < count; i++)
        total += samples[i];
    for (unsigned i = 0; i < count; i++) {
        share[i] = policy->gate->share(samples[i], total) * factor[i] *
                   policy->damping->factor(list[i].lag);
        sum += share[i];
    }
    free(samples);
    free(factor);
    *whole = policy->gate->whole(total, count, standing->live);
    if (policy->exchange == EXCHANGE_PARAMETERS && sum > 0)
        *whole = sum;
}

/* Rules that make sense only among several offers. */
static bool compares(const struct policy *policy)
{
    const struct reduce_rule *reduce = policy->reduce;

    return reduce->rows ||
           (reduce->judge && reduce != &reduce_verified) ||
           policy->receive->donors || policy->select == &select_best ||
           policy->select == &select_top;
}

const char *policy_conflict(const struct policy *policy)
{
    bool parameters = policy->exchange == EXCHANGE_PARAMETERS;

    if (!(policy->merge->takes & 1u << policy->exchange))
        return "its merge rule cannot use what nodes are to offer: choose "
               "another --merge or --exchange";
    if (policy->receive->donors && !parameters)
        return "nodes can be given parameters of others only where they offer "
               "parameters: say --exchange parameters";
    if (!policy->gate->batch && compares(policy))
        return "it compares nodes, so it needs a gate that gathers several: "
               "--gate sync or quorum";
    if (policy->exchange == EXCHANGE_GRADIENT && policy->reduce->by_loss)
        return "a gradient has no loss of its own: say --exchange delta or "
               "another --reduce";
    if (parameters && policy->reduce->weigh)
        return "the length of parameters says nothing about them: say "
               "--exchange delta or another --reduce";
    if (parameters && !policy->gate->batch &&
        policy->damping != &damping_none)
        return "parameters are averaged, and the mean of one is not damped by "
               "its weight: say --damping none or --exchange delta";
    return NULL;
}
