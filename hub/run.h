/* The run: where it is, what the operator orders, who trains on what, how it
 * ends; and what follows from its configuration (run.c). */
#ifndef HUB_RUN_H
#define HUB_RUN_H

#include "hub/eta.h"
#include "hub/handler.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "hub/work.h"
#include "seam/machine.h"

struct hub_view;
struct member;
struct save_job;

/* Where the run is, and the hub with it (finish.c). */
enum phase {
    PHASE_RUNNING,    /* or it begins */
    PHASE_RECOVERING, /* the hub looks for the newest centre (recover.c) */
    PHASE_CALLED,     /* nodes are to make their last offers */
    PHASE_FREED,      /* what they offered before is not waited for any more */
    PHASE_LATE,       /* nor are last offers that have not come */
    PHASE_STOPPING,   /* the hub ends, the run does not */
    PHASE_CLOSING,    /* all is merged: last score, last save, goodbye */
    PHASE_ENDED,
    PHASE_STOPPED,
    PHASE_SUPERSEDED /* another hub has taken the run over */
};

enum { MAX_CHECKPOINTS = 16 /* orders that wait for a save */ };

/* An order that is answered when this version, or a later one, is saved. */
struct checkpoint {
    uint64_t ticket, version;
};

/* What there was to see of the run's ends. */
struct foresight {
    struct eta_track iterations, tasks, score;
    struct eta_answer goal;
};

struct run {
    enum phase phase;
    bool reached;                 /* its centre met the goal */
    nanos last_call, found_until; /* the end waits for a centre; 0: not yet */
    nanos seen;                   /* a node was there last; 0: none has been */
    char reason[MSG_TEXT_BYTES];
    nanos former;          /* time that it had a hub, in lives before */
    struct hub_moved left; /* by members whose places are others' now */
    int pinned; /* member that is the policy's winner by order, or -1 */
    struct checkpoint checkpoints[MAX_CHECKPOINTS];
    unsigned checkpoint_count;
    struct ledger ledger; /* of tasks; without parts: there are none */
    nanos claims_until;   /* nodes that claim tasks are waited for */
    struct foresight foresight;
};

void member_send(struct hub *hub, struct member *member, const struct msg *msg);
/* Calls it for its last offer. */
void member_call(struct hub *hub, struct member *member, const char *reason);
void bye_to(struct hub *hub, peer_id peer, enum farewell farewell,
            const char *text);
/* Tells the node the verdict of a range for which no result will come. */
void verdict_send(struct hub *hub, struct member *member, uint64_t exchange,
                  uint32_t first, uint32_t count, enum verdict verdict);
void hub_job(struct hub *hub, struct job *job);

/* Its nodes have been called for their last offers, or it is over. */
bool run_is_ending(const struct hub *hub);
/* The hub ends before it: no round closes any more, or is judged. */
bool run_is_stopping(const struct hub *hub);
/* Centre versions (sync) or rounds of all nodes (async) since `base`;
 * UINT64_MAX if the centre has been rolled back since. */
uint64_t members_lag(const struct hub *hub, uint64_t base);
/* Whether an offer may depart from there. */
bool members_may_lag(const struct hub *hub, uint64_t base);
/* What a node that is here must do first. */
enum start member_first_thing(const struct hub *hub,
                              const struct member *member);
/* F of what is offered now. */
uint32_t offers_fragments(const struct hub *hub);
/* Nodes that must take part before a round closes. */
unsigned gate_nodes(const struct hub *hub);
/* Whether a round gathers the offers of several nodes. */
bool gate_gathers(const struct hub *hub);
/* k of the nodes in it. */
uint64_t tournament_every(const struct hub *hub);
/* What the policy may know besides the candidates. */
struct policy_context hub_policy_context(const struct hub *hub, unsigned live);
/* The extent of a chunk. */
struct extent centre_extent(const struct hub *hub, uint32_t chunk);
struct extent state_transfer_extent(const struct hub *hub, uint32_t chunk);
/* Nodes keep parameters of their own, whatever the centre is. */
bool centre_is_apart(const struct hub *hub);
/* For which the run has had a hub, all lives of that together. */
nanos hub_time(const struct hub *hub);
/* State vectors that the merge rule keeps. */
unsigned hub_slots(const struct hub *hub);

/* finish.c */
/* Once the run is ending, nodes have so long for their last offer. */
#define LAST_CALL (10 * SECOND)
/* A last save that fails is tried again so often, and for so long. */
#define SAVE_AGAIN SECOND
#define LAST_SAVES (30 * SECOND)
/* The operator wants the run to end; the first reason counts. */
void finish_order(struct hub *hub, const char *reason);
handler hub_on_stop;
/* Ends the hub, not the run: what is under way is merged or left to its nodes,
 * the centre is saved, and nobody is told anything. Nodes train alone until a
 * hub goes on with it. */
void finish_stop(struct hub *hub);
void finish_tick(struct hub *hub);
/* The hub has not run for so long. */
void finish_slept(struct hub *hub, nanos time);
/* There is a reason to end, although nobody may have been told. */
bool finish_is_due(const struct hub *hub);
/* Is it over? Then goes on with the end: last score, last save, goodbye. */
void finish_settle(struct hub *hub);
/* The hub has its newest centre: an end that is wanted begins now. */
void finish_resume(struct hub *hub);

/* foresee.c: when it will end */
void foresee_tick(struct hub *hub);
void foresee_look(const struct hub *hub, nanos now, struct hub_view *view);

/* orders.c */
handler hub_on_order;
/* A save of the centre has ended, well or not. */
void orders_saved(struct hub *hub, const struct save_job *save);
void orders_tick(struct hub *hub);
/* Has a drained node make its last offer, within 10 s; if that may come. */
void orders_call(struct hub *hub, struct member *member);
bool orders_awaits(const struct hub *hub, const struct member *member);
/* The hub has its newest centre: nodes may leave. */
void orders_resume(struct hub *hub);

/* tasks.c */
handler hub_on_room;
handler hub_on_report;
/* A hub that is back waits so long for what nodes have of its tasks; so long
 * those of a node whose session is over are its own. */
#define CLAIMS (3 * SECOND)
/* The hub has its newest centre, and nodes go on: nothing is given out before
 * they have said what tasks they have. */
void tasks_await(struct hub *hub);
/* The member's session is over: unless it comes back, its tasks go to others.
 */
void tasks_lost(struct hub *hub, struct member *member);
/* Its tasks go to others; it may ask for more later. */
void tasks_withdraw(struct hub *hub, struct member *member);
void tasks_tick(struct hub *hub);

#endif
