/* The node as a machine: it carries a trainer's progress to the hub and the
 * answers back, and never makes the trainer wait.
 *
 * Its peers are the trainer (LOCAL messages) and the hub's two connections.
 * The reference r of a chunk is a sum of blobs; an offer is u = x - r, a
 * result v is applied as c = v - x_sent (REBASE). */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/blob.h"
#include "core/schema.h"
#include "core/time.h"
#include "seam/machine.h"

enum { NODE_MAX_FLIGHT = 64 /* beside the last offer */ };

struct node_config {
    uint64_t uuid_high, uuid_low;
    uint64_t incarnation;
    const char *name;            /* copied */
    const struct schema *schema; /* must outlive the node */
    bool reviews;                /* its trainer can evaluate parameters */
    uint32_t scale;              /* see struct extent */
    uint64_t up, down;           /* bytes of payload per second that it sends
                                    and is sent at most; 0: no limit */
    uint64_t promised;           /* bytes, see node/promise.h; 0: the default */
};

struct node_view {
    bool attached;
    uint64_t version;
    nanos round_trip;
    unsigned in_flight;
    char state[96]; /* what it is doing or waiting for */
};

/* How far the whole run is, as its hub has told last; all 0 before. */
struct node_run {
    uint64_t samples; /* as PONG says */
    uint64_t version; /* of the centre */
    uint64_t members;
};

struct node;

/* NULL: there is no memory. */
struct node *node_new(const struct node_config *config, struct pool *pool);
void node_destroy(struct node **node);
struct machine node_machine(struct node *node);
void node_look(const struct node *node, struct node_view *view);
struct node_run node_run(const struct node *node);
/* Said goodbye, or was refused: the driver may stop. */
bool node_ended(const struct node *node);
/* It leaves, and what it has offered is on its way to a hub that is there. */
bool node_gives(const struct node *node);
/* Broken invariants, as a sentence, or NULL. */
const char *node_check(const struct node *node);
/* 1 + the version of the centre that it keeps, 0: none; its run and epoch. */
uint64_t node_keeps(const struct node *node, uint64_t *run, uint64_t *epoch);
/* A chunk of the centre as the node was last sent it, or gave it to found the
 * run; where --codec-down is lossy, as that left it. */
struct node_chunk {
    uint64_t centre; /* another number: of another centre than those before */
    uint32_t chunks, chunk;
    uint64_t first, version;
    struct blob *values; /* borrowed, until the node's next step */
};
/* One that has changed since it was last told here; false: none. Results that
 * may be another node's parameters are not told. */
bool node_centre_next(struct node *node, struct node_chunk *out);
/* What it owes the hub of a gradient's element: what no codec has carried yet,
 * or nobody has said to be merged. For judges. */
double node_owes(const struct node *node, uint64_t element);

#endif
