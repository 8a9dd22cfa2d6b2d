/* What a node was last sent of each chunk. Results may be changes of that
 * (WELCOME says so: hub/last_sent.c), also by what the node gave itself, which
 * is not sent again; and so may reviews be.
 *
 * What comes of a chunk has its turn in the order in which it came: what is raw
 * at once, and the rest is decoded by a job; from then on it is raw. This is
 * done for results that nobody will apply, too: the next change departs from
 * them. What is held belongs to one bulk connection, on which nothing is lost
 * or overtaken. A chunk that is held is one reference to a blob which, mostly,
 * the node's reference is anyway. */
#ifndef NODE_HELD_H
#define NODE_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "seam/machine.h"

struct node;

/* A result, or a chunk for a review, that has come. */
struct arrival {
    struct msg_result result; /* for a review: chunk, codec and checksum only */
    uint64_t review;          /* by the hub's number; 0: it is a result */
    bool change;              /* of what is held */
    struct blob *payload; /* NULL: a result is what was tested, a review what is
                             held */
    bool known;           /* the node had that payload, and was not sent it */
    uint64_t values;      /* then the checksum of what it comes to */
    struct arrival *next;
};

struct held {
    bool any;            /* `version` has come: changes of it may */
    bool busy;           /* the first arrival is being decoded */
    uint64_t version;    /* the newest that has arrived */
    struct blob *values; /* the newest that had its turn, or NULL */
    struct blob *tested; /* the last review's since the last result, or NULL */
    uint64_t tested_checksum;
    struct arrival *first, *last;
    unsigned waiting; /* arrivals */
};

/* Takes a result with its payload. A change of what is not held drops the hub,
 * and so does, later, what does not decode. */
void held_takes(struct node *node, const struct msg_result *result,
                struct blob *payload);
/* The same for one that comes without its payload. `gave`: what this node gave
 * of the chunk in that exchange; NULL: it has forgotten that, and holds nothing
 * until values come. */
void held_takes_known(struct node *node, const struct msg_result *result,
                      struct blob *gave, enum codec_id codec);
/* Takes a chunk for a review. */
void held_takes_review(struct node *node, const struct msg_review *msg,
                       struct blob *payload);
/* The next one that has had its turn, for the caller to free: `payload` is its
 * values now. NULL: there is none, or a job decodes it. */
struct arrival *held_next(struct node *node, uint32_t chunk);
/* The same of what that job has decoded; others may be next. */
struct arrival *held_decoded(struct node *node, struct job *job);
void arrival_free(struct arrival *arrival);
/* Whether a result of the chunk of one of these versions waits to be decoded.
 */
bool held_awaits(const struct node *node, uint32_t chunk, uint64_t first,
                 uint64_t last);
/* The bulk connection is gone. */
void held_forget(struct node *node);

#endif
