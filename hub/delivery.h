/* What goes to nodes and what they may send: results on credit (delivery.c),
 * credit for uploads, windows and rates (flow.c). */
#ifndef HUB_DELIVERY_H
#define HUB_DELIVERY_H

#include "codec/msg.h"
#include "core/bitset.h"
#include "core/bucket.h"
#include "core/fragment.h"
#include "hub/handler.h"
#include "seam/machine.h"

struct update;
struct upload_credit;
struct member;

#define NO_VERSION UINT64_MAX

/* A chunk of a result that waits for credit. */
struct queue_entry {
    struct msg_result result;
    struct fragment part; /* of the whole result */
    bool opens; /* it is the result's first: nothing has been sent of it */
    struct blob *payload; /* NULL: its receiver knows it */
    struct queue_entry *next;
};

struct delivery {
    struct queue_entry *first, *last;
    uint64_t count;       /* of entries */
    struct bucket bucket; /* what the node may be sent */
    uint64_t out; /* bytes that were sent and that no credit came back for */
    nanos moved;  /* when some of it was last sent, or credit came */
    peer_id credited; /* the bulk connection that they were sent on */
    uint64_t *holds;  /* per chunk: version that it was last sent, or
                         NO_VERSION; NULL: of none (last_sent.c) */
    uint64_t *tested; /* per chunk: checksum of what it was sent for a review
                         since its last result, 0: nothing; NULL: of none */
    uint32_t take_next, take_count; /* chunks of TAKE still to be sent */
};

/* How fast payloads move in one direction. */
struct pace {
    uint64_t counted; /* bytes, at the last look */
    double rate;      /* bytes per second; rises at once, falls slowly */
    double mean;      /* the same, of the last seconds; what people see */
    double looked;    /* seconds that are in it */
};

/* The traffic with all nodes together. */
struct flow {
    struct bucket sending, receiving; /* results; credit for uploads */
    nanos wake;            /* when more may go, if nothing happens before */
    nanos looked;          /* at paces */
    unsigned uploads;      /* updates */
    unsigned next_member;  /* the member that is next to be sent something */
    struct bitset stirred; /* places of members: may be sent something */
};

/* flow.c */
/* Most bytes of results that any node can have on their way to it. */
uint64_t flow_most(const struct hub *hub);
/* Bytes of results that this one may have on their way to it. */
uint64_t flow_window(const struct hub *hub, const struct member *member);
/* Chunks that it may upload ahead of what is merged, at least 1. */
uint32_t flow_chunks_ahead(const struct hub *hub, const struct member *member);
/* Measures rates and round trips. */
void flow_tick(struct hub *hub);
/* An upload begins, or is over. */
void flow_upload(struct hub *hub, struct update *update, bool begins);
/* The first event has come: time begins. */
void flow_begin(struct hub *hub);
/* What the node may be sent per second; 0: no limit. */
void flow_limit(struct hub *hub, struct member *member, uint64_t down);
/* There may be more to be sent, or credit to be given. */
void flow_stir(struct hub *hub);
/* Gives the credit that may be given now; whether the time for that has come.
 */
bool flow_advance(struct hub *hub);
/* For how long a contributor has not used the credit that it has. */
nanos flow_still(const struct hub *hub, const struct update *update);
/* Asks a node for its chunks: GRANT. The credit is new. */
void flow_open(struct hub *hub, struct member *member, uint64_t exchange,
               struct upload_credit *credit);
/* Whether a payload may come, after those that have: credit allows one more
 * than it is for, which may be the first to arrive. Else it is an offence: for
 * what has no credit nobody has room. */
bool flow_allows(const struct hub *hub, const struct upload_credit *credit);
/* A chunk has come. */
void flow_came(const struct hub *hub, struct member *member,
               struct upload_credit *credit, uint64_t bytes);
/* Bytes that came are done with: the node has that credit again. */
void flow_return(struct hub *hub, struct member *member, uint64_t exchange,
                 struct upload_credit *credit, uint64_t bytes);
/* It may be sent something, at the end of the step. */
void delivery_stir(struct hub *hub, struct member *member);

/* delivery.c */
handler hub_on_credit;
/* The node wants no more of a result: takes what is queued of it out, but for
 * what later changes depart from. */
handler hub_on_waive;
/* Sends a chunk of the update's result, when there is credit. Drops an
 * older result of the same part of the model of which nothing has been sent, if
 * the newer one makes up for it; a verdict says so to the node. */
void delivery_add(struct hub *hub, struct update *update,
                  const struct msg_result *result, struct blob *payload);
/* The member has a bulk connection. Credit belongs to one connection. */
void delivery_attach(struct hub *hub, struct member *member);
/* Sends what may go now, and gives credit. */
void delivery_settle(struct hub *hub);
/* The run is over: verdicts say what is in results that wait for credit. */
void delivery_end(struct hub *hub, struct member *member);
/* It says that it has these chunks of the centre from before a break. */
void delivery_claimed(struct member *member, const struct msg_close *close);
/* Forgets what waits to be sent; what is on its way keeps its credit. */
void delivery_clear(struct delivery *delivery);

#endif
