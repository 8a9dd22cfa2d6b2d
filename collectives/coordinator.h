/* The hub's side of collectives, as a machine: who is in the group, which
 * calls are under way, and what they led to.
 *
 * A member has a connection per channel. It says JOIN on control, is told
 * JOINED, says SIT on bulk. CALL brings it to a collective; whoever has
 * something to contribute is given credit and sends PARTs; each segment is
 * reduced as soon as everybody's is there, in rank order, and goes out as a
 * PIECE on the receiver's credit, while later segments come in.
 *
 * A call is known by its era and its sequence number in the era. In an elastic
 * group the era is the epoch of the membership: whoever comes or goes begins a
 * new one, and a call of an old era fails unless it is complete, or had begun
 * before somebody came and nobody that it waits for has heard of the new one.
 * In a patient group the era is the version, the number of checkpoints: results
 * are kept until the next checkpoint and given again, bit for bit, to a member
 * that was lost and does its work again; the others wait for it for as long as
 * they said in JOIN, then go on without it.
 *
 * Everything is in memory and bounded; what is too much is refused. */
#ifndef COLLECTIVES_COORDINATOR_H
#define COLLECTIVES_COORDINATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "seam/machine.h"

enum { COORDINATOR_MEMBERS = 64, COORDINATOR_NAME_BYTES = 40 };

/* A member that says nothing for so long is lost. */
#define COORDINATOR_LEASE (20 * SECOND)
/* And after so long its place is no longer held against another process. */
#define COORDINATOR_SILENT (2 * SECOND)

struct coordinator_config {
    uint64_t run;           /* not 0 */
    uint32_t segment_bytes; /* a multiple of 8 */
    uint32_t window;        /* segments in flight per member and direction */
    uint64_t limit;         /* bytes of results and models that are kept */
};

struct coordinator_view {
    enum manner manner;
    uint64_t epoch, version, averages;
    unsigned members; /* listed; patient: also those that are away */
    unsigned present; /* connected */
    unsigned calls;   /* under way or kept */
    uint64_t held;    /* bytes of results and models */
};

struct coordinator;

/* The configuration is copied; `pool` must outlive the coordinator. */
struct coordinator *coordinator_new(const struct coordinator_config *config,
                                    struct pool *pool);
void coordinator_destroy(struct coordinator **coordinator);
/* A peer is new to it with its JOIN or SIT; EVENT_JOIN says nothing to it.
 * Messages bear the key of their connection. */
struct machine coordinator_machine(struct coordinator *coordinator);
/* Whether the peer is a member's. */
bool coordinator_knows(const struct coordinator *coordinator, peer_id peer);
/* Whether a job is one of its own. */
bool coordinator_does(const struct work *work);
void coordinator_look(const struct coordinator *coordinator,
                      struct coordinator_view *view);
/* Broken invariants, as a sentence, or NULL. */
const char *coordinator_check(const struct coordinator *coordinator);

#endif
