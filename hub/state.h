/* The hub's inside, shared by the files of hub/ and by nobody else. Each noun
 * has a header with its structs and what its files do for others:
 *
 *     roll.h      connections, members, keys; guests: patience.h, quarantine.h
 *     offer.h     an exchange, its chunks and its credit
 *     round.h     which offers go together; guests: review.h, lengths.h
 *     centre.h    the parameters, merges
 *     delivery.h  results, credit, rates
 *     run.h       its phase, goal, tasks, orders; guest: ledger.h
 *     memory.h    what survives this hub; guest: saved.h
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
#include "hub/centre.h"
#include "hub/delivery.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "hub/lengths.h"
#include "hub/memory.h"
#include "hub/offer.h"
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
    nanos now, started, former, next_tick; /* former: of lives before */
    bool begun;
    unsigned dirty; /* enum dirty; nothing between steps */
    uint64_t epoch, next_job, next_session;
    uint64_t jobs; /* under way */

    bool contest;  /* the tournament goes on */
    unsigned rung; /* of it, from 0 */
    struct policy contest_policy, final_policy;
    uint64_t preempted; /* nodes, so far */
    uint64_t iterations; /* of all nodes together, at the last round's close */

    struct flow flow;
    struct newcomers newcomers;
    struct coordinator *coordinator; /* of collectives; knows its own peers */
    struct index peers;       /* struct peer, by id; strangers included */
    struct peer *spare_peers; /* gone, to be used again */
    struct peer *strangers, *last_stranger; /* oldest first (strangers.c) */
    struct member **members;  /* in the order they came */
    int member_count, member_room;
    struct index uuids, sessions, known; /* member, member; names of keys */
    struct bitset waiting, asking; /* places: have offers that wait; want
                                      tasks */
    struct bitset changed, stirred; /* have `changes`; may be sent something */
    struct tally tally;           /* of all members */
    bool view_due;                /* members are to be told how many they are */
    struct hub_node_view *shown;  /* of the last hub_look */

    struct schema *schema;
    struct exempt *exempt; /* of the schema */
    uint64_t lineage;
    bool founded;
    int founder; /* member that sends parameters, new or kept, or -1 */
    struct gift gift; /* those */
    nanos founding, founding_said; /* since when that is; 0: not yet */
    uint32_t chunks;
    struct centre_chunk *centre;
    uint64_t version, rounds_done, rounds_here; /* here: since this start */
    struct round *rounds, *last_round; /* under way, oldest first */
    struct round *open;  /* the first that is not closed: none before it is */
    struct round *over;  /* all chunks are done: to be finished, in order */
    unsigned unsettled;  /* rounds that are closed, but not settled */
    unsigned merging;    /* rounds with chunks that are done */
    unsigned barren;     /* rounds in a row of which nothing came in time */
    nanos waited;        /* until when patience has been counted */
    struct bitset ready; /* chunks that a round may merge */
    uint64_t next_round;
    bool fence; /* no new rounds until a snapshot is taken */

    bool saving, evaluating, want_save, want_evaluate, unsaved; /* given up */
    nanos next_save, next_evaluate;
    uint64_t saved_version, scored_version; /* NO_VERSION: none yet */
    nanos save_until; /* the last save is tried again; 0: it has not failed */
    unsigned saves_failed; /* in a row; */
    nanos say_failure;     /* not said again before */
    struct why save_failure;
    uint64_t first_score; /* no job before this one tells of this run */
    unsigned merged_live; /* nodes that made the last round, ever */
    double former_lengths[LENGTHS_SLOTS]; /* usual, in a former life; or 0 */
    double hint; /* mean training loss that the last round's nodes reported */
    double score, accuracy, error;
    double best_score, best_accuracy, best_measure;
    uint64_t best_version;
    struct blob **best; /* the best centre until it is saved, or NULL */
    struct rollback back;
    struct keeping keeping;
    struct recovery recovery;

    enum phase phase;
    bool reached; /* its centre met the goal */
    nanos last_call, found_until; /* the end waits for a centre; 0: not yet */
    char reason[MSG_TEXT_BYTES];
    uint64_t verdicts[VERDICT_COUNT], offered_chunks;

    int pinned; /* member that is the policy's winner by order, or -1 */
    struct enrolling enrolling[MAX_ENROLLING];
    unsigned enrolling_count;
    struct checkpoint checkpoints[MAX_CHECKPOINTS];
    unsigned checkpoint_count;
    uint64_t last_ticket, last_review, last_asked; /* of ADMIT; of reviews */
    bool too_few, unreviewed; /* in the last round */
    bool slow_reviews;        /* told */
    struct ledger ledger; /* of tasks; without parts: there are none */
    nanos began, finished; /* the first round, and all; 0: not yet */
};

/* The member at the next place, NULL behind the last; and the next one whose
 * control connection is there. */
static inline struct member *member_after(const struct hub *hub, int place)
{
    return place + 1 < hub->member_count ? hub->members[place + 1] : NULL;
}

static inline struct member *here_after(const struct hub *hub, int place)
{
    struct member *member = member_after(hub, place);

    while (member && !member_is_here(member))
        member = member_after(hub, member->place);
    return member;
}

/* Loops over all members; over those that are here; over the contributions of
 * a round. */
#define EACH_MEMBER(hub, one)                                                \
    for (struct member *one = member_after(hub, -1); one;                    \
         one = member_after(hub, one->place))
#define EACH_HERE(hub, one)                                                  \
    for (struct member *one = here_after(hub, -1); one;                      \
         one = here_after(hub, one->place))
#define EACH_OFFER(round, one)                                               \
    for (struct contribution **one##_at = (round)->list, *one;               \
         one##_at - (round)->list < (ptrdiff_t)(round)->count &&             \
         (one = *one##_at, true);                                            \
         one##_at++)

#endif
