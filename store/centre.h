/* The centre on the hub's disk: one directory per run.
 *
 *     generation-N/         see store/generation.h; in it
 *         centre.safetensors       the complete centre
 *         outer.safetensors        the first slot of the merge rule, such as
 *                                  the outer momentum, tensor by tensor
 *         outer2.safetensors       its second slot
 *         state                    the text that a hub needs to go on
 *         best-VERSION.safetensors the last centres of which each was better
 *                                  than all before it
 *     current               a link to the newest generation
 *     best.safetensors      a link to the best centre of that one
 *     lives                 how often a hub has been started on it
 *     seal                  of a hub without keys, see store/seal.h
 *     lock                  held by the hub that uses it
 *
 * Metadata of the models: format (pt, as PyTorch's readers expect), run,
 * version, score (or "none"). */
#ifndef STORE_CENTRE_H
#define STORE_CENTRE_H

#include <stdint.h>

#include "codec/manifest.h"
#include "core/schema.h"
#include "core/status.h"
#include "seam/saved.h"
#include "store/generation.h"
#include "store/safetensors.h"

#define CENTRE_FILE "centre.safetensors"
#define CENTRE_STATE "state"
#define CENTRE_BEST "best-"

enum { CENTRE_BEST_DEFAULT = 3 };

/* Of each slot of the merge rule. */
extern const char *const centre_slots[SAVED_SLOTS];

/* The context of the job. The owner sets `schema` as soon as the hub has one
 * and before it saves (hub_schema; net's `watch` comes in time); the schema is
 * borrowed and must stay. */
struct centre_store {
    char directory[FILE_PATH_BYTES];
    int lock;
    uint64_t life;      /* from 1: more than any hub before has had, whatever
                           became of it; at most UINT32_MAX */
    struct why trouble; /* what went wrong, and need not end the hub; or "" */
    bool seals;         /* by this (store/seal.h), which the owner sets */
    unsigned char seal[MANIFEST_KEY_BYTES];
    unsigned best; /* centres that are kept for being the best, at least 1 */
    const struct schema *schema;
};

/* Makes the directory, locks it, clears away what a crash has left, which may
 * be what fills the disk, and begins a new life. UNAVAILABLE when another hub
 * uses it, IO. */
enum status centre_open(struct centre_store *store, const char *directory,
                        struct why *why) MUST_CHECK;
/* Writes what was to be written when the hub began, if that is not there: a
 * full disk may have had no room for it. */
void centre_make_good(const struct centre_store *store);
/* Lets the directory go; all jobs must have ended. A store of zeros is fine. */
void centre_close(struct centre_store *store);

/* The hub's `save` (seam/saved.h): makes a generation. On failure the job's
 * status says so, and out[0] holds the sentence, with its NUL; what was there
 * before is still there. One at a time; any thread. */
extern const struct work centre_save;

/* What was loaded; `saved` points into the rest. */
struct centre_loaded {
    struct hub_saved saved;
    uint64_t run, version, generation;
    struct safetensors *centre, *outer[SAVED_SLOTS];
    char *state;
};

/* Reads the newest generation that is whole, and lets `current` name it. Each
 * one that is not, and what was lost with it, is a sentence for `complain`.
 * UNAVAILABLE when nothing was saved; MALFORMED or IO when no generation is
 * whole; NO_MEMORY. */
enum status centre_load(const struct centre_store *store,
                        void (*complain)(const char *sentence),
                        struct centre_loaded **out, struct why *why) MUST_CHECK;
void centre_loaded_destroy(struct centre_loaded **loaded);

/* The version of a best centre by the name of its file; false: it is none. */
bool centre_is_best(const char *name, uint64_t *version);
/* The best centre of a generation, or NULL. */
const struct inventory_file *centre_best(const struct inventory *manifest);

#endif
