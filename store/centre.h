/* The centre on the hub's disk: one folder per run.
 *
 *     centre.safetensors  the newest complete centre; its metadata is what a
 *                         hub needs to go on
 *     best.safetensors    the centre with the best score
 *     outer.safetensors   the first plane of the merge rule, such as the outer
 *                         momentum, tensor by tensor
 *     outer2.safetensors  its second plane
 *     lock                held by the hub that uses the folder
 *
 * Each file is replaced as a whole (store/file.h). Planes count only together
 * and with the centre of their version: a hub that dies between two files goes
 * on from that centre without them.
 *
 * Metadata: format (pt, as PyTorch's readers expect), starswitch (the version
 * of this layout), run, version, score (or "none"), planes, state. */
#ifndef STORE_CENTRE_H
#define STORE_CENTRE_H

#include <stdint.h>

#include "core/schema.h"
#include "core/status.h"
#include "hub/hub.h"
#include "seam/machine.h"
#include "store/file.h"
#include "store/safetensors.h"

#define CENTRE_LAYOUT "1"

/* The context of the job. The owner sets `run`, and `schema` as soon as the
 * hub has one and before it saves (hub_schema; net's `watch` comes in time);
 * the schema is borrowed and must stay. */
struct centre_store {
    char directory[FILE_PATH_BYTES];
    int lock;
    uint64_t run;
    const struct schema *schema;
};

/* Makes the folder and locks it. UNAVAILABLE when another hub uses it, IO. */
enum status centre_open(struct centre_store *store, const char *directory,
                        struct why *why) MUST_CHECK;
/* Lets the folder go; all jobs must have ended. A store of zeros is fine. */
void centre_close(struct centre_store *store);

/* hub.h's `save`: the best centre (number[1] == 1) goes to its own file, any
 * other to centre.safetensors. On failure the job's status says so, and out[0]
 * holds the sentence, with its NUL. One at a time; any thread. */
extern const struct work centre_save;

/* What was loaded; `saved` points into the rest. */
struct centre_loaded {
    struct hub_saved saved;
    uint64_t run, version;
    struct safetensors *centre, *outer[POLICY_PLANES];
};

/* Reads what was saved. UNAVAILABLE when nothing was, IO, MALFORMED. */
enum status centre_load(const char *directory, struct centre_loaded **out,
                        struct why *why) MUST_CHECK;
void centre_loaded_destroy(struct centre_loaded **loaded);

#endif
