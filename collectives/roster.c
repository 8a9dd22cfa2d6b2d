#include "collectives/roster.h"

#include <stdbool.h>
#include <stddef.h>

static bool comes_before(const struct entrant *one, const struct entrant *other)
{
    if (one->since != other->since)
        return one->since < other->since;
    if (one->high != other->high)
        return one->high < other->high;
    return one->low < other->low;
}

unsigned roster_rank(const struct entrant *list, unsigned count, uint64_t high,
                     uint64_t low)
{
    const struct entrant *own = NULL;
    unsigned rank = 0;

    for (unsigned i = 0; i < count; i++)
        if (list[i].high == high && list[i].low == low)
            own = &list[i];
    if (!own)
        return count;
    for (unsigned i = 0; i < count; i++)
        rank += comes_before(&list[i], own);
    return rank;
}
