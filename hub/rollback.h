/* Back to a good centre when a later one is much worse. */
#ifndef HUB_ROLLBACK_H
#define HUB_ROLLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "hub/ledger.h"

struct hub;
struct input;

struct rollback {
    struct blob **chunks; /* the newest good version; NULL: none yet */
    uint64_t version;
    double score, accuracy, error;
    char tasks[LEDGER_TEXT_BYTES]; /* the ledger's line, then */
    char scored[LEDGER_TEXT_BYTES]; /* the same of what is being scored */
    bool wanted, ordered; /* ordered: by the operator */
    unsigned in_a_row; /* times, without a good version in between */
    uint64_t turned; /* version at the last one: what departs from an older
                        version is of no use; 0: there was none */
    uint64_t count;
};

/* The centre's score is new: these chunks are good, or the centre is to be
 * rolled back. */
void rollback_judge(struct hub *hub, uint64_t version,
                    const struct input *chunks);
/* The operator wants it. CONFIG and AGAIN when there is nothing to go back to,
 * for good and so far. */
enum status rollback_order(struct hub *hub, struct why *why) MUST_CHECK;
/* Does it; the centre is complete. */
void rollback_do(struct hub *hub);
void rollback_forget(struct hub *hub);

#endif
