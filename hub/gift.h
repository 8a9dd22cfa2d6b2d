/* Parameters on their way from a node to a hub. */
#ifndef HUB_GIFT_H
#define HUB_GIFT_H

#include "hub/offer.h"

/* Cut as the centre is going to be. */
struct gift {
    enum start start; /* what the node was told: FOUND or GIVE */
    int place;        /* whose it is, in hub->members; and as it was then */
    uint64_t incarnation, run, lineage, base_version;
    bool begun;   /* something of it has come */
    bool resumed; /* its node was away meanwhile */
    bool spoiled; /* a chunk is not as the hub had sent it */
    uint32_t chunk_elements, count, here; /* here: chunks that are checked */
    uint64_t first_job; /* that may be about them */
    struct loan loan;
    bool *given; /* per chunk: it came, at least to be checked */
    struct blob **chunks;
};

/* Asks a node for them; `start` says where it is to take them from. */
void gift_ask(struct hub *hub, struct member *member, enum start start);
/* Something of it comes. */
void gift_begins(struct hub *hub);
/* A chunk that is here has come once more: its node did not hear of that. */
void gift_again(struct hub *hub, struct member *member, uint64_t bytes);
/* A chunk has come: it is checked, what a node has kept against its manifest,
 * too. */
void gift_check(struct hub *hub, const struct member *member,
                const struct msg_chunk *chunk, struct blob *payload);
void gift_drop(struct hub *hub);
/* What has come from this member, which does not come back, is of no use. */
void gift_forget(struct hub *hub, const struct member *member);
/* Takes first parameters that are all here; or asks somebody for them, if that
 * is due: who has begun to give them before, where that is not 60 s ago,
 * nor it away for 10 s. */
void gift_settle(struct hub *hub);
/* From time to time: who gives nothing is passed over, where another could. */
void gift_hurry(struct hub *hub);

#endif
