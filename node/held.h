/* What a node was last sent of each chunk, where results are changes of that
 * (WELCOME says so: hub/last_sent.c).
 *
 * Each result is decoded as it arrives, by a job, those of one chunk in their
 * order; from then on it is raw, whatever it came as. This is done for results
 * that nobody will apply, too: the next change departs from them. What is held
 * belongs to one bulk connection, on which nothing is lost or overtaken. A
 * chunk that is held is one reference to a blob which, mostly, the node's
 * reference is anyway. */
#ifndef NODE_HELD_H
#define NODE_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "seam/machine.h"

struct node;

/* A result that waits to be decoded. */
struct arrival {
    struct msg_result result;
    struct blob *payload;
    struct arrival *next;
};

struct held {
    bool any;            /* changes of `version` may come */
    bool busy;           /* the first arrival is being decoded */
    uint64_t version;    /* the newest that has arrived */
    struct blob *values; /* the newest that is decoded, or NULL */
    struct arrival *first, *last;
    unsigned waiting; /* arrivals */
};

/* Whether a result must be decoded before it is used. */
bool held_decodes(const struct node *node, const struct msg_result *result);
/* Takes such a result. Drops the hub if it is a change of what is not held. */
void held_arrives(struct node *node, const struct msg_result *result,
                  struct blob *payload);
/* The result whose values these are, for the caller to free, or NULL. */
struct arrival *held_decoded(struct node *node, struct job *job);
void arrival_free(struct arrival *arrival);
/* Whether a result of the chunk of one of these versions waits to be decoded.
 */
bool held_awaits(const struct node *node, uint32_t chunk, uint64_t first,
                 uint64_t last);
/* The bulk connection is gone. */
void held_forget(struct node *node);

#endif
