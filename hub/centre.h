/* The parameters: chunks and their versions (centre.c), merges (merge.c), and
 * what nodes hold of them (shadow.c). First they come from a node: gift.h. */
#ifndef HUB_CENTRE_H
#define HUB_CENTRE_H

#include "hub/offer.h"
#include "policies/policy.h"

struct input;
struct job;
struct work;

struct centre_chunk {
    struct blob *theta, *plane[POLICY_PLANES];
    uint64_t version;
    uint64_t changed; /* version at which nodes were last sent another value */
    uint64_t turn; /* contributions merged, ever */
    unsigned live; /* nodes when it was last merged; 0: never, here */
    struct blob *former; /* theta before the merge, while it is sent */
    struct blob *shadow; /* what nodes hold, once sent; NULL: theta */
    struct blob *change; /* to it, encoded, while it is sent */
    uint64_t since;      /* versions from here on are the shadow as it is */
    uint64_t before;     /* and from here to `since` what `change` changes */
    bool busy; /* a merge of it is under way */
    struct round *round; /* that it is for */
    struct round *ready; /* those that may merge it next, oldest first */
};

/* centre.c */
/* Takes the schema's text as the run's, or compares it with the run's. AGAIN:
 * it may be taken once the jobs under way are done. */
enum status centre_shape(struct hub *hub, const char *text, size_t size,
                         struct why *why);
void centre_free(struct hub *hub);
/* The chunks, cut as the gift is and the hub's from now on, are its centre. */
void centre_replace(struct hub *hub, struct centre_chunk *chunks);

/* merge.c */
/* Starts what may be merged. */
void merge_ready(struct hub *hub);

/* shadow.c */
/* Whether this round's results of the chunk are changes, for those who hold
 * what they depart from. */
bool shadow_follows(const struct hub *hub, const struct round *round,
                    uint32_t chunk);
/* What nodes hold of a chunk once they are sent it. */
struct blob *shadow_of(const struct centre_chunk *centre);
/* Theta is about to be moved by a round. */
void shadow_keep(struct hub *hub, const struct round *round, uint32_t chunk);
/* It was moved otherwise: what nodes hold is of no use from `version` on. */
void shadow_drop(struct centre_chunk *centre, uint64_t version);
/* Makes the change that leads there, by a job. */
void shadow_start(struct hub *hub, const struct work *work, uint32_t chunk);
void shadow_done(struct hub *hub, uint32_t chunk, const struct job *job);
/* What makes a node hold that: the change, if it holds what that departs from,
 * else all of it. */
struct blob *shadow_next(const struct hub *hub, const struct member *member,
                         uint32_t chunk);
/* A result is about to be queued: turns it into the change if its receiver
 * holds what that departs from, and remembers what it holds from now on. */
void shadow_shorten(struct hub *hub, struct member *member,
                    struct msg_result *result, struct blob **payload);

/* rollback.c */
/* References to chunks, and their end. */
struct blob **snapshot_keep(const struct hub *hub, const struct input *chunks);
void snapshot_drop(const struct hub *hub, struct blob ***chunks);

#endif
