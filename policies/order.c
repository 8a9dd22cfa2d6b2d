#include "policies/order.h"

#include <math.h>

#include "core/score.h"

/* Insertion sorts: rules sort tens of things, most often few. */

static unsigned class_of(const struct candidate *one,
                         const struct standing *standing)
{
    if (standing->pinned >= 0 && one->node == (unsigned)standing->pinned)
        return 0;
    return score_known(one->score) ? 1 : 2;
}

static bool precedes(const struct candidate *a, const struct candidate *b,
                     const struct standing *standing)
{
    unsigned class_a = class_of(a, standing), class_b = class_of(b, standing);

    if (class_a != class_b)
        return class_a < class_b;
    if (class_a == 1 && a->score != b->score)
        return a->score < b->score;
    if (a->version != b->version)
        return a->version > b->version;
    return a->node < b->node;
}

unsigned candidates_order(const struct candidate *list, unsigned count,
                          const struct standing *standing, unsigned *order)
{
    unsigned able = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;

        able += class_of(&list[i], standing) < 2;
        while (at && precedes(&list[i], &list[order[at - 1]], standing)) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return able;
}

void values_sort(double *values, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        double value = values[i];
        unsigned at = i;

        while (at && (values[at - 1] > value ||
                      (isnan(values[at - 1]) && !isnan(value)))) {
            values[at] = values[at - 1];
            at--;
        }
        values[at] = value;
    }
}

unsigned share_of(double share, unsigned count)
{
    return (unsigned)(share * count + 1e-9);
}
