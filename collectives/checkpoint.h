/* Checkpoints of a patient group: the model of the newest version, and how a
 * member that was lost gets it.
 *
 * The coordinator keeps the model of an eager checkpoint. That of a lazy one is
 * held by the members: one of them is asked for it (SERVE) when somebody wants
 * to load it, and brings it as a call of its own, the fetch. */
#ifndef COLLECTIVES_CHECKPOINT_H
#define COLLECTIVES_CHECKPOINT_H

#include "collectives/call.h"

struct checkpoint {
    uint64_t version;  /* checkpoints so far */
    struct call *call; /* whose result is the model; NULL: members hold it */
    struct member *holder;      /* that was asked for it, or NULL */
    struct call *fetch;         /* by which it brings the model, or NULL */
    struct allowance allowance; /* of the fetch */
};

/* A request to load the newest model: is answered, or goes on waiting. */
void checkpoint_load(struct coordinator *coordinator, struct member *member);
/* The holder brings the model. */
void checkpoint_on_model(struct coordinator *coordinator, struct member *member,
                         const struct event *event);
/* The member is lost: as a holder it is of no use. */
void checkpoint_drop(struct coordinator *coordinator,
                     const struct member *member);
/* The group is closed. */
void checkpoint_forget(struct coordinator *coordinator);

/* Whether everybody that must come to this checkpoint has. */
bool checkpoint_has_all(const struct coordinator *coordinator,
                        const struct call *call);
/* Chooses whose model an eager checkpoint takes; false: nobody's is missing. */
bool checkpoint_needs_source(struct coordinator *coordinator,
                             struct call *call);
/* The checkpoint is complete, or the fetch is. */
void checkpoint_commit(struct coordinator *coordinator, struct call *call);
void checkpoint_fetched(struct coordinator *coordinator, struct call *call);

/* The settle pass: finds a holder for those who wait for a model. */
void checkpoint_settle(struct coordinator *coordinator);

#endif
