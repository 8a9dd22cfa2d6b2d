/* What a node has given and the hub has merged, until that cannot be lost.
 *
 * MERGED means that it is in the hub's centre, which may be lost with the hub.
 * So the node remembers what it gave, as it was sent, until it keeps a version
 * that has it (node/keep.h). When a later life of the hub of this run goes on
 * from a version without it, it is given again: a delta is taken out of r, so
 * that the next offer holds it, a gradient is added to the residual. What the
 * hub's version has is remembered on, as that hub may be lost as well.
 *
 * Promised is that each exchange that was merged is in the centre exactly once
 * in the end, as long as the node's process lives and the hub's ledger goes
 * with its centre. Not promised are parameters, of which others stand in the
 * centre anyway; what is beyond the room of PROMISED_MODELS times the model, as
 * where no version is ever complete for this node: the oldest are dropped and
 * counted; and, as in an offer under way, progress that a hub has had replaced
 * by parameters of another lineage.
 *
 * x does not move by it, nor what results in flight are corrected by: those
 * are relative to what was sent, and that was sent. */
#ifndef NODE_PROMISE_H
#define NODE_PROMISE_H

#include <stdint.h>

#include "codec/msg.h"
#include "core/blob.h"

struct flight;
struct node;

enum { PROMISED_MODELS = 2 };

/* The chunks of an exchange that were merged. */
struct promise {
    uint64_t exchange;
    enum exchange kind;
    enum codec_id codec;
    uint64_t bytes;
    struct promise *next;
    struct blob *given[]; /* per chunk; NULL: it was not merged */
};

struct promises {
    struct promise *first; /* by exchange */
    uint64_t bytes;
    uint64_t life;     /* of the hub that has them all */
    uint64_t recalled; /* newest that a hub knew before it let the node in */
    uint64_t dropped, last_dropped; /* how many, and the newest */
};

/* The chunk has just been merged; `given` is what was sent. */
void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, struct blob *given);
/* A hub that has not let the node in yet tells a verdict on this exchange, of
 * which not all was merged: what is up to it is in its centre, too. */
void promises_recall(struct node *node, uint64_t exchange);
/* Another hub may be there: what the last one has said of that is void. */
void promises_doubt(struct node *node);
/* What is up to this exchange is kept. */
void promises_kept(struct node *node, uint64_t merged);
/* The hub goes on from a centre that has the node's exchanges up to `merged`.
 * Gives again what it has not. */
void promises_settle(struct node *node, uint64_t merged);
void promises_forget(struct node *node);
/* A broken invariant, or NULL. */
const char *promises_check(const struct node *node);

#endif
