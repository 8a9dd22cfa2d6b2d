/* Reviews on the node's side: parameters of others come chunk by chunk, go to
 * the trainer as one vector, and its answer goes to the hub.
 *
 * The hub asks for one review at a time; when it asks for another one, it does
 * not wait for the one before any more. A node whose trainer cannot evaluate
 * says so at the first chunk. */
#ifndef NODE_REVIEW_H
#define NODE_REVIEW_H

#include <stdint.h>

#include "core/blob.h"

struct node_review {
    uint64_t review;      /* the hub's number for it; 0: there is none */
    uint64_t number;      /* ours, so that no answer is taken for another's */
    uint32_t arrived;     /* chunks */
    struct blob **chunks; /* of the model, or NULL */
    uint64_t *checksums;
};

struct job;
struct node;

/* Ends the review, if there is one. */
void review_drop(struct node *node);
/* And its arrays, which are as long as the model has chunks. */
void review_free(struct node *node);
/* The values of a chunk of it are here. */
void review_arrived(struct node *node, uint64_t number, uint32_t chunk,
                    uint64_t checksum, struct blob *values);
/* All of its parameters are one vector now. */
void review_gathered(struct node *node, struct job *job);

#endif
