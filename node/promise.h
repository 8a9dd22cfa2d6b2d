/* What a node has given and the hub has merged, until that cannot be lost.
 *
 * MERGED means that it is in the hub's centre, which may be lost with the hub.
 * So the node remembers what it gave, as it was sent, until it keeps a version
 * that has it (node/keep.h), and longer: a hub may go on without this node,
 * from an older version, and its disk may be lost. A model's worth of what is
 * kept is remembered, or a sixth of the room. When a later life of the hub of
 * this run goes on from a version without it, it is given again: a delta is
 * taken out of r, so that the next offer holds it, a gradient is added to the
 * residual. What the hub's version has is remembered on, as that hub may be
 * lost as well.
 *
 * So is what was given again: the next hub may go on from a version that has
 * it all the same, which another node kept, and then it is taken back: r gets
 * the delta again, the residual loses the gradient. Which of the two it is, the
 * newest exchange says that a version has: one that was offered before this was
 * given again is of the hubs before, whose versions have it; one that was
 * offered later is of those that have not. The same holds for what was in
 * flight when a hub went, of which another has said that it was not merged. A
 * node that takes the centre forgets what it has not given again by then.
 *
 * That takes as much memory as was merged since. Beyond `room` exchanges are
 * added up, the oldest first: a centre that goes on has all of a sum or nothing
 * of it, if no version in between was kept or saved: KEEP and SAVING say it.
 * The last two of each are borne in mind, as a hub may have to go back one
 * more. So it is five models at most, and what is under way.
 *
 * Promised is that each exchange that was merged is in the centre exactly once
 * in the end, as long as the node's process lives and the hub's ledger goes
 * with its centre. Not promised are parameters, of which others stand in the
 * centre anyway; a sum of which a centre has a part, which must be an older one
 * than those in mind, or one that no node was told of: what is behind that
 * counts as lost, and is said to be; and, as in an offer under way, progress
 * that a hub has had replaced by parameters of another lineage.
 *
 * x does not move by it, nor what results in flight are corrected by: those
 * are relative to what was sent, and that was sent. */
#ifndef NODE_PROMISE_H
#define NODE_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/msg.h"
#include "core/blob.h"
#include "seam/machine.h"

struct flight;
struct node;

enum {
    PROMISED_MODELS = 6,       /* room, or */
    PROMISED_BYTES = 16 << 20, /* if that is more; on the wire */
    PROMISED_COUNT = 1024      /* of sums, however short */
};

/* A chunk of them. It counts as merged, and after each of its turns as the
 * other: given again, or merged after all. */
struct promised {
    struct input given; /* no blob: it was not merged */
    bool recalled;      /* the hub that is there now has not merged it */
    bool confirmed;     /* it says that it has */
    bool doubted;       /* it was in flight, and no hub has settled it since */
    bool flown;         /* it was: nobody has said yet that it was merged */
    uint64_t beside; /* newest exchange under way when it was offered: what was
                        given again since that, it holds */
    unsigned turns;
    uint64_t *turn; /* the last exchange that was offered before each */
};

/* The chunks of exchanges that were merged, added up. */
struct promise {
    uint64_t first, exchange; /* the oldest, the newest */
    enum exchange kind;
    uint64_t bytes;
    struct promise *next;
    struct promised chunks[];
};

/* Promises that are being added up. */
struct folding {
    uint64_t number;
    uint64_t first, last; /* exchanges that they begin and end with */
    unsigned left;        /* chunks; 0: nothing is under way */
    bool failed;
    struct input *sum; /* per chunk */
};

struct promises {
    struct promise *first;  /* by exchange */
    struct promise *recent; /* found last; or NULL */
    unsigned count;
    uint64_t bytes;
    uint64_t life;      /* of the hub that has them all */
    uint64_t safe;      /* what is up to here is in a version that is kept */
    uint64_t trimmed;   /* what `safe` was when that was last made to fit */
    uint64_t forgotten; /* up to here, of that: there was no room */
    uint64_t former;    /* newest that was offered before this session */
    uint64_t recalled;  /* newest that a hub knew before it let the node in */
    struct marks {
        uint64_t newest, former;
    } kept, saved; /* the last exchange in the versions that were told of last:
                      for nodes to keep, and saved by the hub */
    struct folding folding;
};

/* The chunk has just got its verdict: it was merged, or was in flight when a
 * hub went, that may have merged it, and is given again. */
void promise_chunk(struct node *node, const struct flight *flight,
                   uint32_t chunk, enum verdict verdict);
/* A chunk of some has been added up. */
void promises_folded(struct node *node, struct job *job);
/* A hub that has not let the node in yet, or looks for its centre once more,
 * tells a verdict on an exchange of a former session, of which not all was
 * merged, up to chunk `end`: what is up to it is in its centre, too, but for
 * those of which it says otherwise. */
void promises_recall(struct node *node, const struct msg_verdict *verdict,
                     uint32_t end);
/* The node asks to be let in: what was offered before is a former session's. */
void promises_hello(struct node *node);
/* Another hub may be there: what the last one has said of that is void. */
void promises_doubt(struct node *node);
/* A version with what is up to this exchange may be gone on from. */
void promises_mark(struct marks *marks, uint64_t merged);
/* This node keeps one with what is up to it. */
void promises_kept(struct node *node, uint64_t merged);
/* The hub saves one. */
void promises_saved(struct node *node, uint64_t merged);
/* The hub goes on from a centre that has the node's exchanges up to `merged`.
 * Gives again what it has not. */
void promises_reconcile(struct node *node, uint64_t merged);
/* The node's parameters were replaced by the centre's: what was to be given
 * again is not. */
void promises_abandon(struct node *node);
/* The node comes to another run, whose founder may have been sent what was to
 * be given again: it is not, but for what is offered already. */
void promises_leave(struct node *node);
void promises_forget(struct node *node);
/* Keeps to the room that there is. */
void promises_trim(struct node *node);
/* A broken invariant, or NULL. */
const char *promises_check(const struct node *node);

#endif
