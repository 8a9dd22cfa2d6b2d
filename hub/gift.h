/* Parameters on their way from a node to a hub, and the credit of uploads. */
#ifndef HUB_GIFT_H
#define HUB_GIFT_H

#include "codec/msg.h"
#include "codec/payload.h"
#include "core/blob.h"
#include "core/time.h"

/* The credit of an upload. */
struct loan {
    bool whole;     /* all of it is asked for at once */
    bool prompt;    /* what has come is done with, merged or not */
    uint32_t left;  /* chunks that have not come */
    uint32_t came;  /* chunks that have */
    int64_t bytes;  /* of those */
    int64_t given;  /* bytes of credit, ever; less than came: some is owed */
    int64_t done;   /* bytes that the hub is done with */
    nanos since;    /* when it last was given some after having none */
};

/* Parameters on their way from a node, cut as the centre is going to be. */
struct gift {
    enum start start; /* what the node was told: FOUND or GIVE */
    int place;        /* whose it is, in hub->members; and as it was then */
    uint64_t incarnation, run, lineage, base_version;
    bool begun;   /* something of it has come */
    bool resumed; /* its node was away meanwhile */
    uint32_t chunk_elements, count, here; /* here: chunks that are checked */
    uint64_t first_job; /* that may be about them */
    struct loan loan;
    bool *given; /* per chunk: it came, at least to be checked */
    struct blob **chunks;
};

struct hub;
struct job;
struct member;

/* Asks a node for them; `start` says where it is to take them from. */
void gift_ask(struct hub *hub, struct member *member, enum start start);
/* The extent of a chunk (centre.c). */
struct extent gift_extent(const struct hub *hub, uint32_t chunk);
/* Something of it comes. */
void gift_begins(struct hub *hub);
/* A chunk that is here has come once more: its node did not hear of that. */
void gift_again(struct hub *hub, struct member *member, uint64_t bytes);
/* A chunk of them has been checked. */
void gift_checked(struct hub *hub, struct job *job);
void gift_drop(struct hub *hub);
/* What has come from this member, which does not come back, is of no use. */
void gift_forget(struct hub *hub, const struct member *member);

/* Asks somebody for the first parameters, if that is due: who has begun to give
 * them before, where that is not 60 s ago, nor it away for 10 s. */
void gift_choose_founder(struct hub *hub);
/* From time to time: who gives nothing is passed over, where another could. */
void gift_hurry(struct hub *hub);

#endif
