#include "core/index.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/need.h"
#include "core/prng.h"

enum { FIRST_ROOM = 16 };

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}

/* Where it would stand if nothing else were there. */
static uint32_t home_of(const struct index *index, uint64_t high, uint64_t low)
{
    return (uint32_t)prng_mix(low ^ prng_mix(high)) & (index->room - 1);
}

/* Where it stands, or the free slot where it would. */
static uint32_t place_of(const struct index *index, uint64_t high, uint64_t low)
{
    uint32_t at = home_of(index, high, low);

    while (index->slots[at].value &&
           (index->slots[at].high != high || index->slots[at].low != low))
        at = (at + 1) & (index->room - 1);
    return at;
}

void *index_find(const struct index *index, uint64_t high, uint64_t low)
{
    return index->room ? index->slots[place_of(index, high, low)].value : NULL;
}

static void grow(struct index *index)
{
    struct index old = *index;

    index->room = old.room ? 2 * old.room : FIRST_ROOM;
    index->slots = need_memory(index->room, sizeof *index->slots);
    for (uint32_t i = 0; i < old.room; i++) {
        const struct index_slot *slot = &old.slots[i];

        if (slot->value)
            index->slots[place_of(index, slot->high, slot->low)] = *slot;
    }
    free(old.slots);
}

void index_put(struct index *index, uint64_t high, uint64_t low, void *value)
{
    struct index_slot *slot;

    assert(value);
    if (2 * (index->count + 1) > index->room)
        grow(index);
    slot = &index->slots[place_of(index, high, low)];
    index->count += !slot->value;
    *slot = (struct index_slot){high, low, value};
}

/* Whether `home` lies in (gap, at], around the end. */
static bool is_between(uint32_t gap, uint32_t home, uint32_t at)
{
    return gap < at ? gap < home && home <= at : gap < home || home <= at;
}

void index_remove(struct index *index, uint64_t high, uint64_t low)
{
    uint32_t gap, at;

    if (!index_find(index, high, low))
        return;
    gap = at = place_of(index, high, low);
    index->count--;
    for (;;) {
        const struct index_slot *slot;

        at = (at + 1) & (index->room - 1);
        slot = &index->slots[at];
        if (!slot->value)
            break;
        if (is_between(gap, home_of(index, slot->high, slot->low), at))
            continue;
        index->slots[gap] = *slot;
        gap = at;
    }
    index->slots[gap].value = NULL;
}
