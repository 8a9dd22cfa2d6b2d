/* The hub's inside, shared by the files of hub/ and by nobody else. Each noun
 * has a header with its structs and what its files do for others:
 *
 *     roll.h      connections, members, keys; guests: patience.h, quarantine.h
 *     offer.h     an exchange, its chunks and its credit
 *     round.h     which offers go together; guests: review.h, norm_history.h
 *     centre.h    the parameters, merges
 *     delivery.h  results, credit, rates
 *     run.h       its phase, goal, tasks, orders; guest: ledger.h
 *     memory.h    what survives this hub; guest: saved.h
 *     adapt.h     k and d; guest: traffic.h
 *     probe.h     tests of links, by whoever may come in
 *
 * Each has a part of struct hub, which its files write; what others write there
 * are facts of its own that they record (a phase, a wish to save, a source of
 * the initial state that is gone) and what a saved state says.
 *
 * A handler, the end of a job and a tick record facts, and mark what has to be
 * looked at again (enum dirty). What follows from the facts is the settle
 * pass's, in hub.c, and nobody else's. */
#ifndef HUB_STATE_H
#define HUB_STATE_H

#include <stddef.h>

#include "collectives/coordinator.h"
#include "core/bitset.h"
#include "core/index.h"
#include "hub/adapt.h"
#include "hub/centre.h"
#include "hub/delivery.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "hub/logs.h"
#include "hub/memory.h"
#include "hub/norm_history.h"
#include "hub/offer.h"
#include "hub/probe.h"
#include "hub/roll.h"
#include "hub/round.h"
#include "hub/run.h"

/* A node is looked at this often. */
#define HUB_TICK (250 * MILLISECOND)

/* The stages of the settle pass that have something to do (hub.c), in their
 * order. */
enum dirty {
    DIRTY_ROLL = 1,     /* a member has changed, see enum change */
    DIRTY_PHASE = 2,    /* somebody may give parameters, or the run be over */
    DIRTY_MEMORY = 4,   /* a version that is complete may be wanted */
    DIRTY_ROUNDS = 8,   /* offers, what comes of them, or who is live */
    DIRTY_CENTRE = 16,  /* chunks may be merged, rounds may be over */
    DIRTY_DELIVERY = 32 /* there is something to be sent to somebody */
};

struct hub {
    struct hub_config config;
    const struct policy *policy; /* in force: a tournament has its own */
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now, started_at, next_tick;
    nanos first_round_at, ended_at; /* the first round, and all; 0: not yet */
    nanos waited;                   /* until when patience has been counted */
    bool running;
    unsigned dirty;                  /* enum dirty; nothing between steps */
    uint64_t next_job, jobs;         /* jobs: under way */
    struct coordinator *coordinator; /* of collectives; knows its own peers */

    struct roll roll;
    struct offers offers;
    struct rounds rounds;
    struct centre centre;
    struct flow flow;
    struct run run;
    struct memory memory;
    struct adapt adapt;
    struct probes probes;
    struct logs logs;
};

/* The member at the next place, NULL behind the last; and the next one whose
 * control connection is there. */
static inline struct member *member_after(const struct hub *hub, int place)
{
    return place + 1 < hub->roll.count ? hub->roll.members[place + 1] : NULL;
}

static inline struct member *here_after(const struct hub *hub, int place)
{
    struct member *member = member_after(hub, place);

    while (member && !member_is_here(member))
        member = member_after(hub, member->place);
    return member;
}

static inline bool centre_is_founded(const struct hub *hub)
{
    return hub->centre.founding == FOUNDING_DONE;
}

static inline bool tournament_goes_on(const struct hub *hub)
{
    return hub->centre.founding == FOUNDING_TOURNAMENT;
}

/* Loops over all members; over those that are here; over the rounds under way;
 * over the updates of one. */
#define EACH_MEMBER(hub, one)                                                  \
    for (struct member *one = member_after(hub, -1); one;                      \
         one = member_after(hub, one->place))
#define EACH_HERE(hub, one)                                                    \
    for (struct member *one = here_after(hub, -1); one;                        \
         one = here_after(hub, one->place))
#define EACH_ROUND(hub, one)                                                   \
    for (struct round *one = (hub)->rounds.first; one; one = one->next)
#define EACH_OFFER(round, one)                                                 \
    for (struct update **one##_at = (round)->list, *one;                       \
         one##_at - (round)->list < (ptrdiff_t)(round)->count &&               \
         (one = *one##_at, true);                                              \
         one##_at++)

#endif
