/* What a hub has saved, and what it goes on from: for the hub, which says what,
 * and for who keeps it, such as store/. */
#ifndef SEAM_SAVED_H
#define SEAM_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/schema.h"
#include "seam/machine.h"

/* State vectors of the merge rule: policies/policy.h has as many. */
enum { SAVED_SLOTS = 2 };

/* A job of the work that main lends to the hub as `save` (hub/hub.h).
 *
 * in[] = centre chunks, then those of each slot of the merge rule (an empty
 * input: zeros), then those of the best centre, if that is not saved yet, then
 * the state as text. All of it is saved, or nothing. On failure out[0] may hold
 * a sentence with its NUL. */
struct save_job {
    struct job job;
    uint64_t version, best_version;
    unsigned slots;
    bool has_best, over; /* over: the run is */
};

/* What a saved centre needs to go on: text lines `key value`. */
struct hub_saved {
    struct schema *schema;
    const float *theta;             /* schema->elements values */
    const float *slot[SAVED_SLOTS]; /* as many; or NULL: zeros */
    const char *state;              /* the text that `save` was given */
};

#endif
