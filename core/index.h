/* An index: from two words to a pointer, in constant time.
 *
 * For tables that are searched by what peers say of themselves: connections by
 * their number, nodes by their uuid. It is for looking up only: the order in
 * which it holds things depends on its size, so that nothing that a machine
 * decides may. Open addressing with linear probing; a removal moves those
 * behind it back (Knuth, volume 3, 6.4, algorithm R), so that no place is
 * wasted on what is gone. */
#ifndef CORE_INDEX_H
#define CORE_INDEX_H

#include <stdint.h>

struct index_slot {
    uint64_t high, low;
    void *value; /* borrowed; NULL: the slot is free */
};

/* Zeroed at first. */
struct index {
    struct index_slot *slots;
    uint32_t count, room; /* room is 0 or a power of two */
};

void index_free(struct index *index);
/* NULL when there is nothing. */
void *index_find(const struct index *index, uint64_t high, uint64_t low);
/* Puts it in the place of what was there. `value` is not NULL. */
void index_put(struct index *index, uint64_t high, uint64_t low, void *value);
/* Whether it was there or not. */
void index_remove(struct index *index, uint64_t high, uint64_t low);

#endif
