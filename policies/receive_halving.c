/* The better half of the lineages survives.
 *
 * A lineage is as good as its best member. Of A lineages the ceil(A / 2) best
 * live on untouched; the members of the others take after the best members of
 * the survivors in turn. When one lineage is left everybody takes after its
 * best member, so that ceil(log2 N) halving rounds leave one set of parameters.
 * Lineages without a score do not survive; if none has one, nothing happens.
 * Source: successive halving, Jamieson and Talwalkar 2016. */
#include <stdlib.h>

#include "policies/order.h"

/* The survivors, best first, by their best members. */
struct survivors {
    unsigned count;
    unsigned *best;
};

/* The place of the lineage among the first `count`, or `count`. */
static unsigned find(const struct candidate *list, const unsigned *best,
                     unsigned count, uint64_t lineage)
{
    unsigned i = 0;

    while (i < count && list[best[i]].lineage != lineage)
        i++;
    return i;
}

static void survive(const struct candidate *list, const unsigned *order,
                    unsigned able, unsigned count, struct survivors *out)
{
    unsigned lineages = 0, scored = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t lineage = list[order[i]].lineage;

        if (find(list, out->best, lineages, lineage) == lineages)
            out->best[lineages++] = order[i];
        if (i < able)
            scored = lineages;
    }
    out->count = (lineages + 1) / 2;
    if (out->count > scored)
        out->count = scored;
}

static void donors(const struct candidate *list, unsigned count,
                   const struct policy_context *context, int *donor)
{
    unsigned *order = scratch_of(count, sizeof *order), turn = 0;
    unsigned able = candidates_order(list, count, context, order);
    struct survivors survivors = {.best = scratch_of(count, sizeof *order)};

    survive(list, order, able, count, &survivors);
    for (unsigned i = 0; i < count; i++) {
        unsigned one = order[i], left = survivors.count;

        donor[one] = RECEIVE_NOTHING;
        if (!left || one == survivors.best[0])
            continue;
        if (left == 1)
            donor[one] = (int)survivors.best[0];
        else if (find(list, survivors.best, left, list[one].lineage) == left)
            donor[one] = (int)survivors.best[turn++ % left];
    }
    free(survivors.best);
    free(order);
}

const struct receive_rule receive_halving = {
    .name = "halving",
    .doc = "The worse half of the lineages takes after the better half.",
    .donors = donors,
};
