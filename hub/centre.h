/* The parameters: chunks and their versions (centre.c), merges (merge.c), and
 * what nodes hold of them (last_sent.c). First they come from a node:
 * state_transfer.c.
 */
#ifndef HUB_CENTRE_H
#define HUB_CENTRE_H

#include "hub/offer.h"
#include "policies/policy.h"

struct input;
struct job;
struct work;

struct centre_chunk {
    struct blob *theta, *slot[POLICY_SLOTS];
    uint64_t version;
    uint64_t changed; /* version at which nodes were last sent another value */
    uint64_t updates_before; /* updates merged, ever */
    unsigned live;           /* nodes when it was last merged; 0: never */
    double usual; /* nodes of late: `live`, or more while others left lately */
    struct blob *previous_theta; /* theta before the merge, while it is sent */
    struct blob *last_sent;      /* what nodes hold, once sent; NULL: theta */
    struct blob *change;         /* to it, encoded, while it is sent */
    uint64_t since;  /* versions from here on are the last-sent copy as it is */
    uint64_t before; /* and from here to `since` what was before, which
                        `change` changes */
    bool sole;       /* one update alone has made it, by being added; while it
                        is sent */
    bool busy;       /* a merge of it is under way */
    struct round *round; /* that it is for */
    struct round *ready; /* those that may merge it next, oldest first */
};

/* Parameters on their way from a node to the hub (state_transfer.c), cut as the
 * centre is going to be. */
struct state_transfer {
    enum start start; /* what the node was told: FOUND or GIVE */
    int place; /* whose it is, in hub->roll.members; and as it was then */
    uint64_t incarnation, run, lineage, base_version;
    bool begun;   /* something of it has come */
    bool resumed; /* its node was away meanwhile */
    bool spoiled; /* a chunk is not as the hub had sent it */
    uint32_t chunk_elements, count, here; /* here: chunks that are checked */
    uint64_t first_job;                   /* that may be about them */
    struct upload_credit credit;
    bool *given; /* per chunk: it came, at least to be checked */
    struct blob **chunks;
};

/* Where its first values come from. */
enum founding {
    FOUNDING_AWAITED,    /* a node that is to give them */
    FOUNDING_TOURNAMENT, /* the tournament, which goes on */
    FOUNDING_DONE
};

struct centre {
    struct schema *schema;
    struct exempt *exempt; /* of the schema */
    enum founding founding;
    int state_source; /* member that sends parameters, new or kept, or -1 */
    struct state_transfer transfer; /* those */
    nanos since, said; /* when a source of the initial state was first asked;
                          told; 0: not yet */
    uint64_t lineage, version;
    uint32_t count; /* of chunks */
    struct centre_chunk *chunk;
    struct bitset ready;  /* chunks that a round may merge */
    unsigned merged_live; /* nodes that made the last round, ever, */
    double usual;         /* and of late (centre_chunk) */
};

/* centre.c */
/* Takes the schema's text as the run's, or compares it with the run's. AGAIN:
 * it may be taken once the jobs under way are done. */
enum status centre_shape(struct hub *hub, const char *text, size_t size,
                         struct why *why);
void centre_free(struct hub *hub);
/* The chunks, cut as the state transfer is and the hub's from now on, are its
 * centre. */
void centre_replace(struct hub *hub, struct centre_chunk *chunks);

/* merge.c */
/* Starts what may be merged. */
void merge_ready(struct hub *hub);

/* last_sent.c */
/* Whether this round's results of the chunk are changes, for those who hold
 * what they depart from. */
bool last_sent_follows(const struct hub *hub, const struct round *round,
                       uint32_t chunk);
/* What nodes hold of a chunk once they are sent it. */
struct blob *last_sent_of(const struct centre_chunk *centre);
/* Theta is about to be moved by a round. */
void last_sent_before_merge(struct hub *hub, const struct round *round,
                            uint32_t chunk);
/* It was moved otherwise: what nodes hold is of no use from `version` on. */
void last_sent_drop(struct centre_chunk *centre, uint64_t version);
/* Makes the change that leads there, by a job. */
void last_sent_start(struct hub *hub, const struct work *work, uint32_t chunk);
void last_sent_done(struct hub *hub, uint32_t chunk, const struct job *job);
/* What makes a node hold that: the change, if it holds what that departs from,
 * else all of it. */
struct blob *last_sent_next(const struct hub *hub, const struct member *member,
                            uint32_t chunk);
/* A result is about to be queued: turns it into the change if its receiver
 * holds what that departs from, or takes away a payload that its receiver knows
 * (*payload = NULL), and remembers what it holds from now on. `answers`: what
 * it answers, NULL: TAKE. */
void last_sent_shorten(struct hub *hub, struct member *member,
                       const struct update *answers, struct msg_result *result,
                       struct blob **payload);
/* Whether the member holds these values of the chunk, so that a review need not
 * send them, nor what is a change of them as a whole. */
bool last_sent_is(const struct hub *hub, const struct member *member,
                  uint32_t chunk, const struct blob *values);
/* It is sent these for a review. */
void last_sent_review(const struct hub *hub, struct member *member,
                      uint32_t chunk, const struct blob *values);

/* state_transfer.c */
/* Asks a node for them; `start` says where it is to take them from. */
void state_transfer_ask(struct hub *hub, struct member *member,
                        enum start start);
/* Something of it comes. */
void state_transfer_begins(struct hub *hub);
/* A chunk that is here has come once more: its node did not hear of that. */
void state_transfer_again(struct hub *hub, struct member *member,
                          uint64_t bytes);
/* A chunk has come: it is checked, what a node has kept against its manifest,
 * too. */
void state_transfer_check(struct hub *hub, const struct member *member,
                          const struct msg_chunk *chunk, struct blob *payload);
void state_transfer_drop(struct hub *hub);
/* What has come from this member, which does not come back, is of no use. */
void state_transfer_forget(struct hub *hub, const struct member *member);
/* Takes first parameters that are all here; or asks somebody for them, if that
 * is due: who has begun to give them before, where that is not 60 s ago,
 * nor it away for 10 s. */
void state_transfer_settle(struct hub *hub);
/* From time to time: who gives nothing is passed over, where another could. */
void state_transfer_hurry(struct hub *hub);

#endif
