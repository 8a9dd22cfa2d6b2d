/* What a contribution weighs before any data are known. */
#include "policies/policy.h"

void policy_shares(const struct policy *policy, const struct candidate *list,
                   unsigned count, const struct standing *standing,
                   double *share, double *whole)
{
    double samples[POLICY_MOST], factor[POLICY_MOST];

    for (unsigned i = 0; i < count; i++) {
        samples[i] = list[i].samples;
        factor[i] = 1;
    }
    if (policy->reduce->weigh)
        policy->reduce->weigh(list, count, standing, factor);
    for (unsigned i = 0; i < count; i++)
        share[i] = policy->gate->share(samples, count, i) * factor[i] *
                   policy->damping->factor(list[i].lag);
    *whole = policy->gate->whole(samples, count, standing->live);
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
    if (!policy->gate->batch &&
        (policy->reduce->rows || policy->reduce->judge ||
         policy->receive->donors))
        return "it compares nodes, so it needs a gate that gathers several: "
               "--gate sync or quorum";
    return NULL;
}
