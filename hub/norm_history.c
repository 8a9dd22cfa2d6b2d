#include "hub/norm_history.h"

#include <math.h>
#include <stdlib.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"

/* Series 0 is of the whole model. */
static uint32_t series_of(const struct round *round)
{
    return round->part.stride > 1 ? 1 + round->part.first : 0;
}

/* k of the node: its own with --dylu. */
static uint64_t every_of(const struct hub *hub, const struct member *member)
{
    return hub->config.dylu && member->every ? member->every : hub->adapt.every;
}

/* Of what the node has offered lately, as if by today's k; 0: nothing. */
static double usual_of(const struct norm_history *norms, uint64_t every)
{
    unsigned count = norms->count < NORMS_KEPT ? norms->count : NORMS_KEPT;
    double lengths[NORMS_KEPT];

    for (unsigned i = 0; i < count; i++)
        lengths[i] =
            norms->recent[i] * fmax(1, (double)every / (double)norms->every[i]);
    return values_median(lengths, count);
}

/* What is usual for those members that are here, or are not. */
static unsigned usual_for(const struct hub *hub, uint32_t series, bool here,
                          double *lengths)
{
    unsigned count = 0;

    EACH_MEMBER(hub, member) {
        const struct norm_history *norms = member->norms;
        double usual = norms && member_is_here(member) == here
                           ? usual_of(&norms[series], every_of(hub, member))
                           : 0;

        if (usual > 0)
            lengths[count++] = usual;
    }
    return count;
}

/* Those that are gone have one vote, as former lives have: what they offered
 * stays as long as it was. */
double norm_history_in(const struct hub *hub, uint32_t series)
{
    double *median = scratch_of((unsigned)hub->roll.count + 1, sizeof *median);
    unsigned count = usual_for(hub, series, false, median);
    double middle = values_median(median, count);

    count = usual_for(hub, series, true, median);
    if (middle > 0)
        median[count++] = middle;
    if (series < NORM_SERIES && hub->rounds.former_norms[series] > 0)
        median[count++] = hub->rounds.former_norms[series];
    middle = values_median(median, count);
    free(median);
    return middle;
}

/* Of one node at most anything is known, in this life and in former ones. */
static bool is_of_one(const struct hub *hub, uint32_t series)
{
    unsigned merged = 0;

    EACH_MEMBER(hub, member)
        merged += member->norms != NULL;
    return merged < 2 &&
           !(series < NORM_SERIES && hub->rounds.former_norms[series] > 0);
}

double norm_history_saved(const struct hub *hub, uint32_t series)
{
    return is_of_one(hub, series) ? 0 : norm_history_in(hub, series);
}

double norm_history_median(const struct hub *hub, const struct round *round)
{
    if (round->live < 2 && is_of_one(hub, series_of(round)))
        return 0;
    return norm_history_in(hub, series_of(round));
}

static void learn(struct hub *hub, struct member *member, uint32_t series,
                  double length)
{
    struct norm_history *norms;

    if (!member->norms)
        member->norms =
            need_memory((size_t)hub->config.fragments + 2, sizeof *norms);
    norms = &member->norms[series];
    norms->every[norms->count % NORMS_KEPT] = every_of(hub, member);
    norms->recent[norms->count++ % NORMS_KEPT] = length;
}

/* Fragments are offered more often than each k iterations. */
static bool is_partial(const struct hub *hub, const struct round *round,
                       const struct candidate *one)
{
    return round->part.stride < 2 && one->steps &&
           one->steps < every_of(hub, hub->roll.members[one->node]) / 2;
}

void norm_history_learn(struct hub *hub, const struct round *round)
{
    const struct reduce_rule *reduce = round->policy->reduce;
    struct policy_context context = hub_policy_context(hub, round->live);
    struct candidate *list = scratch_of(round->count, sizeof *list);
    double *factor = scratch_of(round->count, sizeof *factor);
    double *samples = scratch_of(round->count, sizeof *samples);

    context.usual_norm = round->usual_norm;
    for (unsigned i = 0; i < round->count; i++) {
        list[i] = round->list[i]->candidate;
        factor[i] = 1;
    }
    if (reduce->weigh)
        reduce->weigh(list, round->count, &context, samples, factor);
    for (unsigned i = 0; reduce->weigh && i < round->count; i++) {
        const struct update *one = round->list[i];

        if (one->merged > one->foreign && list[i].norm * factor[i] > 0 &&
            !is_partial(hub, round, &list[i]))
            learn(hub, hub->roll.members[one->member], series_of(round),
                  list[i].norm * factor[i]);
    }
    free(samples);
    free(factor);
    free(list);
}

void norm_history_forget(struct member *member)
{
    free(member->norms);
    member->norms = NULL;
}
