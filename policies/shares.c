/* The weight of an update before any data are known. */
#include <math.h>
#include <stdlib.h>

#include "policies/order.h"

/* What nodes say of their samples is believed up to so many times what the
 * middle one says. */
#define MOST_SHARE 10

/* Of an even number the lower one in the middle, so that one of two does not
 * set its own bound. Who brings nothing, as the last offer of a node that has
 * just made another, has no say. */
static void bound(const struct candidate *list, double *samples, unsigned count)
{
    double *sorted = scratch_of(count, sizeof *sorted), most;
    unsigned known = 0;

    for (unsigned i = 0; i < count; i++)
        if (samples[i] > 0 || list[i].norm > 0)
            sorted[known++] = samples[i];
    values_sort(sorted, known);
    most = known > 1 ? MOST_SHARE * sorted[(known - 1) / 2] : INFINITY;
    for (unsigned i = 0; i < count; i++)
        samples[i] = fmin(samples[i], most);
    free(sorted);
}

void policy_samples(const struct candidate *list, unsigned count,
                    double *samples)
{
    for (unsigned i = 0; i < count; i++)
        samples[i] = list[i].samples;
    if (count)
        bound(list, samples, count);
}

/* An offer staler than S, the most it may be, weighs S / lag. */
static double lateness(const struct policy_context *context, uint64_t lag)
{
    uint64_t most = context->staleness;

    return most && lag > most ? (double)most / (double)lag : 1;
}

/* Where nodes and centre move towards each other by the same, samples and lag
 * have no say: their sum would not stay what it is. */
static double share_of_one(const struct policy *policy, double samples,
                           double total, uint64_t lag)
{
    return policy->merge->sends_previous ? 1
                                         : policy->gate->share(samples, total) *
                                               policy->damping->factor(lag);
}

/* Of a round that does not wait for all, n of N nodes move the centre n/N as
 * far. So do those of the last one: there is nothing after it to make up for
 * who is not in it. */
static double missing(const struct policy *policy, unsigned count,
                      const struct policy_context *context)
{
    unsigned present = context->present ? context->present : count;
    bool partial = policy->gate->partial || context->last;

    return policy->gate->batch && partial && context->live > present
               ? (double)context->live / present
               : 1;
}

static double whole_of(const struct policy *policy, double total,
                       unsigned count, const struct policy_context *context)
{
    return policy->gate->divisor(total, count, context->live) *
           missing(policy, count, context);
}

void policy_means(const struct policy *policy, const struct candidate *list,
                  unsigned count, const struct policy_context *context,
                  double *means)
{
    double total = 0, whole;

    policy_samples(list, count, means);
    for (unsigned i = 0; i < count; i++)
        total += means[i];
    whole = whole_of(policy, total, count, context);
    for (unsigned i = 0; i < count; i++)
        means[i] = policy->gate->share(means[i], total) *
                   policy->damping->factor(list[i].lag) *
                   lateness(context, list[i].lag) / whole;
}

void policy_shares(const struct policy *policy, const struct candidate *list,
                   unsigned count, const struct policy_context *context,
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
        policy->reduce->weigh(list, count, context, samples, factor);
    bound(list, samples, count);
    for (unsigned i = 0; i < count; i++)
        total += samples[i];
    for (unsigned i = 0; i < count; i++) {
        share[i] = share_of_one(policy, samples[i], total, list[i].lag) *
                   lateness(context, list[i].lag) * factor[i];
        sum += share[i];
    }
    free(samples);
    free(factor);
    if (policy->exchange == EXCHANGE_PARAMETERS)
        *whole = policy->reduce->rows || sum <= 0 ? 1 : sum;
    else if (policy->reduce->rows)
        *whole = missing(policy, count, context); /* these know no shares */
    else
        *whole = whole_of(policy, total, count, context);
}

/* Rules that make sense only among several offers. */
static bool compares(const struct policy *policy)
{
    const struct reduce_rule *reduce = policy->reduce;

    return reduce->rows || reduce->blend ||
           (reduce->judge && reduce != &reduce_verified) ||
           policy->receive->donors || policy->select == &select_best ||
           policy->select == &select_top || policy->merge == &merge_leader;
}

static const char *merge_conflict(const struct policy *policy)
{
    const struct merge_rule *merge = policy->merge;

    if (!(merge->takes & 1u << policy->exchange))
        return "its merge rule cannot use what nodes are to offer: choose "
               "another --merge or --exchange";
    if (merge->correct && !(policy->numbers.outer_momentum > 0))
        return "its merge rule corrects updates by a momentum, and there is "
               "none: say --outer-momentum 0.5";
    if (merge == &merge_adam && (!policy->gate->batch || policy->gate->partial))
        return "steps of Adam are as long however few nodes are in a round: "
               "say --gate sync";
    if (merge == &merge_copy && policy->select != &select_best)
        return "the centre is to be the parameters of one node, and not a mean "
               "of unrelated ones: say --select best";
    return NULL;
}

const char *policy_conflict(const struct policy *policy)
{
    bool parameters = policy->exchange == EXCHANGE_PARAMETERS;
    const char *conflict = merge_conflict(policy);

    if (conflict)
        return conflict;
    if (policy->receive->donors && !parameters)
        return "nodes can be given parameters of others only where they offer "
               "parameters: say --exchange parameters";
    if (!policy->gate->batch && compares(policy))
        return "it compares nodes, so it needs a gate that gathers several: "
               "--gate sync or quorum";
    if (policy->exchange == EXCHANGE_GRADIENT && policy->reduce->by_loss)
        return "a gradient has no loss of its own: say --exchange delta or "
               "another --reduce";
    if (parameters && (policy->reduce->weigh || policy->reduce->blend))
        return "the length of parameters says nothing about them: say "
               "--exchange delta or another --reduce";
    if (parameters && !policy->gate->batch && policy->damping != &damping_none)
        return "parameters are averaged, and the mean of one is not damped by "
               "its weight: say --damping none or --exchange delta";
    return NULL;
}
