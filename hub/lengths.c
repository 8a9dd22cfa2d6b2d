#include "hub/lengths.h"

#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "hub/state.h"
#include "policies/order.h"

/* Slot 0 is of the whole model. */
static uint32_t slot_of(const struct round *round)
{
    return round->part.stride > 1 ? 1 + round->part.first : 0;
}

double lengths_in(const struct hub *hub, uint32_t slot)
{
    double *usual = scratch_of((unsigned)hub->roll.count + 1, sizeof *usual);
    double middle;
    unsigned count = 0;

    EACH_MEMBER(hub, member) {
        const struct lengths *lengths = member->lengths;

        if (lengths && lengths[slot].usual > 0)
            usual[count++] = lengths[slot].usual;
    }
    if (slot < LENGTHS_SLOTS && hub->rounds.former_lengths[slot] > 0)
        usual[count++] = hub->rounds.former_lengths[slot];
    middle = values_median(usual, count);
    free(usual);
    return middle;
}

double lengths_usual(const struct hub *hub, const struct round *round)
{
    return lengths_in(hub, slot_of(round));
}

static void learn(struct hub *hub, struct member *member, uint32_t slot,
                  double length)
{
    double recent[LENGTHS_KEPT];
    struct lengths *lengths;
    unsigned count;

    if (!member->lengths)
        member->lengths =
            need_memory((size_t)hub->config.fragments + 2, sizeof *lengths);
    lengths = &member->lengths[slot];
    lengths->recent[lengths->count++ % LENGTHS_KEPT] = length;
    count = lengths->count < LENGTHS_KEPT ? lengths->count : LENGTHS_KEPT;
    memcpy(recent, lengths->recent, sizeof recent);
    lengths->usual = values_median(recent, count);
}

void lengths_learn(struct hub *hub, const struct round *round)
{
    const struct reduce_rule *reduce = round->policy->reduce;
    struct policy_context context = hub_policy_context(hub, round->live);
    struct candidate *list = scratch_of(round->count, sizeof *list);
    double *factor = scratch_of(round->count, sizeof *factor);
    double *samples = scratch_of(round->count, sizeof *samples);

    context.usual = round->usual;
    for (unsigned i = 0; i < round->count; i++) {
        list[i] = round->list[i]->candidate;
        factor[i] = 1;
    }
    if (reduce->weigh)
        reduce->weigh(list, round->count, &context, samples, factor);
    for (unsigned i = 0; reduce->weigh && i < round->count; i++) {
        const struct update *one = round->list[i];

        if (one->merged > one->foreign && list[i].norm * factor[i] > 0)
            learn(hub, hub->roll.members[one->member], slot_of(round),
                  list[i].norm * factor[i]);
    }
    free(samples);
    free(factor);
    free(list);
}

void lengths_forget(struct member *member)
{
    free(member->lengths);
    member->lengths = NULL;
}
