/* Tests of links: somebody asks how far away the hub is, what its clock says
 * and how fast bytes go to and fro, before it joins or to find out what is
 * wrong.
 *
 * It never disturbs a run. One measures at a time; what goes both ways is at
 * most 8 MiB each, and over time 1 MiB a second of all together, so nobody can
 * have the hub send for them. With keys only who has proved one of a node's is
 * given bytes; who may only enrol is told the time and no more. A connection
 * may ask 64 times. */
#ifndef HUB_PROBE_H
#define HUB_PROBE_H

#include <stdint.h>

#include "core/bucket.h"
#include "hub/handler.h"
#include "seam/machine.h"

struct probes {
    int64_t wall;   /* the wall clock, nanoseconds since 1970, */
    nanos wall_at;  /* as it was told then; 0: never */
    uint64_t last;  /* ticket that was given */
    uint64_t given; /* the one in use; 0: none */
    peer_id peer;   /* who has it, */
    uint64_t key;   /* with this key, */
    nanos until;    /* so long */
    uint64_t bytes, came;
    uint32_t protocol; /* the newest that the asker speaks */
    bool begun;        /* the bucket is one */
    struct bucket bucket;
    struct blob *filling; /* what is sent; NULL: not yet */
};

handler hub_on_probe;
handler hub_on_fill;
/* The operator's program says what time it is. */
handler hub_on_clock;
/* What a peer has of a test under way is over. */
void probe_leaves(struct hub *hub, peer_id peer);
void probes_free(struct hub *hub);

#endif
