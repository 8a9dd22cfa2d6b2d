/* Whether a hub's directory has room for what its run saves. */
#ifndef STORE_ROOM_H
#define STORE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* What a run saves: models of so many bytes, with so many slots of the merge
 * rule beside each centre, and so many best ones. */
struct room_plan {
    uint64_t model;
    unsigned slots, best;
};

/* At most: two generations, and one that is being made. */
uint64_t room_needed(const struct room_plan *plan);
/* False with a sentence for people if that is not there, what the run has
 * already saved there counted in. */
bool room_suffices(const char *directory, const struct room_plan *plan,
                   struct why *why);

#endif
