/* The hub's inside, shared by the files of hub/ and by nobody else.
 *
 * One file per journey: members.c, roll.c and strangers.c (who is here),
 * contest.c (first parameters), offers.c, gate.c and rounds.c (who takes part),
 * waits.c (who is waited for), told.c (their word), quarantine.c (who does not,
 * for a while), choice.c (who is asked for data), gather.c (chunks in), merge.c
 * (results out), shadow.c (results as changes), queue.c (which round is next),
 * preempt.c (who starts again), centre.c, gift.c (the first values), flow.c and
 * delivery.c (credit), tasks.c (who trains on what), snapshot.c (saves),
 * keeping.c, recover.c, lives.c (a centre that nodes keep), rollback.c,
 * finish.c (the end), orders.c (what the operator asks), enrol.c (keys). */
#ifndef HUB_STATE_H
#define HUB_STATE_H

#include "core/bitset.h"
#include "core/bucket.h"
#include "core/fragment.h"
#include "core/index.h"
#include "collectives/coordinator.h"
#include "hub/gift.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "hub/lengths.h"
#include "hub/patience.h"
#include "hub/quarantine.h"
#include "hub/recover.h"
#include "hub/review.h"
#include "hub/rollback.h"
#include "hub/work.h"
#include "policies/claims.h"

enum {
    HUB_FIRST_NODES = 64,        /* places at first; doubled as nodes come */
    MAX_OFFERS = 64,             /* of one node that wait for a round */
    MAX_REMEMBERED = 2 * MAX_OFFERS, /* of one node, for when it is back */
    MAX_CHECKPOINTS = 16,        /* orders that wait for a save */
    MAX_ENROLLING = 64,          /* nodes that wait for the operator */
    GROUP_WINDOW = 16            /* segments in flight per group member */
};

/* Results and checkpoints of the group that are kept. */
#define GROUP_LIMIT ((uint64_t)2 << 30)

/* A node is looked at this often. */
#define HUB_TICK (250 * MILLISECOND)
/* Of so many nodes each is told at once when one comes or goes; of more, at the
 * next look, since that is as many messages as nodes. */
#define VIEW_AT_ONCE 64
/* Without a PING for so long it is silent: rounds go on without it; gone. */
#define SILENT_AFTER (2 * SECOND)
#define LEASE (60 * SECOND)
/* A member without its bulk connection for so long is gone. */
#define MOURNING SECOND
#define NO_VERSION UINT64_MAX
/* What a connection may say depends on what it is. */
enum peer_state {
    PEER_STRANGER,        /* control, has not said HELLO */
    PEER_STRANGER_BULK,   /* bulk, has not said ATTACH */
    PEER_MEMBER,          /* control of a member */
    PEER_MEMBER_BULK,     /* bulk of a member */
    PEER_OPERATOR_STATE,  /* orders from this process */
    PEER_GROUP,           /* of a member of the group for collectives */
    PEER_ENROLLER,        /* its key may only enrol */
    PEER_ENROLLING,       /* has said ENROL, waits for the operator */
    PEER_STATES
};

struct peer {
    peer_id id; /* PEER_NONE: it is gone */
    enum peer_state state;
    int member; /* place in hub->members, or -1 */
    uint64_t key; /* that it has proved to hold, see struct event */
    bool waits;  /* in the line of strangers, */
    nanos since; /* from then on */
    struct peer *former; /* in that line */
    struct peer *next; /* in that line, or of those that are gone */
};

enum chunk_state {
    CHUNK_EXPECTED,  /* not here yet */
    CHUNK_CHECKING,  /* here, being checked */
    CHUNK_DELIVERED, /* good, waits for its merge */
    CHUNK_CLOSED     /* has its verdict */
};

struct contribution_chunk {
    enum chunk_state state;
    enum verdict verdict;
    enum codec_id codec;
    struct blob *payload;
    uint64_t bytes; /* of the payload, once it came */
};

/* An offer, from its arrival to its last verdict. */
struct contribution {
    int member;
    uint64_t incarnation, connection; /* whose; connection = session */
    struct msg_offer offer;
    struct candidate candidate; /* the same for the policy, at the close */
    struct fragment part; /* its chunks; the others are closed */
    uint32_t foreign;     /* how many others */
    bool passed_over; /* its node gets a newer result, or wants none any more */
    bool granted, uploads; /* and counts for the budget */
    struct loan loan;
    bool merges;  /* it is to be merged, once it is here */
    bool donates; /* others get it as it is */
    bool judged;  /* by a STAGED rule */
    bool refused; /* by it, or it never came */
    int donor;    /* place in the round of whose it gets, or RECEIVE_... */
    uint32_t delivered, merged, answered; /* chunks; results sent */
    struct round *round;       /* that it is in, until that is over */
    struct contribution *next; /* of its member, in rounds */
    uint64_t ordinal; /* of its node's offers that were taken */
    double squares; /* of what has been delivered */
    nanos began, progress; /* when it was granted; when the last chunk came */
    nanos behind; /* for how long the others have been ahead of it */
    struct contribution_chunk *chunks; /* NULL: all of them are as `all` */
    enum verdict all;
};

/* A chunk of a round. */
struct round_chunk {
    unsigned awaited;   /* contributions that may still deliver it, since the
                           round has been settled */
    bool done;
    struct round *next; /* the next one that may merge this chunk */
};

struct round {
    uint64_t number; /* ordinal of this hub's life */
    const struct policy *policy; /* when it closed */
    struct contribution **list;
    unsigned count, room;
    unsigned offers; /* of live nodes */
    nanos opened;
    struct fragment part; /* of the model that it merges */
    bool closed;       /* its list is complete */
    bool last;         /* the run was ending then */
    bool takes_all;    /* nobody is chosen */
    bool judging;      /* a STAGED rule is at work */
    bool gives;        /* it is known who gets whose */
    bool settled;      /* what is merged is known: chunks may merge */
    bool gathers;      /* its chunks know who is awaited */
    bool empty;        /* nothing is */
    bool discarded;    /* its run is given up: nothing may be */
    bool told;         /* somebody was, what will be merged of it */
    unsigned *order; /* the policy's, places in list; NULL: not closed */
    unsigned choices, next_choice, wanted;
    uint32_t merged; /* chunks that are done */
    unsigned live;   /* nodes, when it closed, */
    double usual;    /* and length of what had been merged lately, */
    struct claims claims; /* and what they claimed */
    struct review *review; /* by other nodes, under way; or NULL */
    struct round_chunk *chunks;
    struct round *next, *former, *next_over; /* over: its chunks are done */
};

/* A chunk of a result that waits for credit. */
struct parcel {
    struct msg_result result;
    struct fragment part; /* of the whole result */
    bool opens; /* it is the result's first: nothing has been sent of it */
    struct blob *payload;
    struct parcel *next;
};

struct delivery {
    struct parcel *first, *last;
    uint64_t count; /* of parcels */
    struct bucket bucket; /* what the node may be sent */
    uint64_t out;   /* bytes that were sent and that no credit came back for */
    nanos moved;    /* when some of it was last sent, or credit came */
    peer_id credited; /* the bulk connection that they were sent on */
    uint64_t *holds;  /* per chunk: version that it was last sent, or
                         NO_VERSION; NULL: of none (shadow.c) */
    uint32_t take_next, take_count; /* chunks of TAKE still to be sent */
};

/* How fast payloads move in one direction. */
struct pace {
    uint64_t counted; /* bytes, at the last look */
    double rate;      /* bytes per second; rises at once, falls slowly */
};

/* How many members are what, or what one of them counts for. */
struct tally {
    uint64_t present, live, attaching; /* live but for a bulk connection */
    uint64_t awaited;    /* their last offer may still come */
    uint64_t finished;   /* present, and have made it */
    uint64_t held;       /* START_HOLD */
    uint64_t done;       /* have done the iterations of the run */
    uint64_t iterations; /* their sum */
};

/* How a node's parameters have done, for preemption. */
struct trial {
    double score;     /* last one; NO_SCORE: none */
    double slope;     /* beta of l(t) = A - beta ln t, smoothed */
    uint64_t samples; /* t */
    uint64_t rounds;  /* since its parameters were replaced */
    unsigned strikes;
};

struct member {
    int place;    /* in hub->members, for ever */
    bool used;    /* this place holds a node, here or gone */
    bool present; /* its control connection is there */
    bool silent, arrived; /* arrived: it has taken part in rounds */
    bool finished; /* its last offer is done, or it never comes */
    uint64_t uuid_high, uuid_low, incarnation, session, lineage;
    uint64_t key; /* whose the node is, as event.key; KEY_NONE: nobody's */
    char name[NODE_NAME_BYTES]; /* nobody else has it (names.c) */
    peer_id control, bulk;
    enum start start;
    nanos heard, bulk_lost, lost; /* lost: away since then, no goodbye; or 0 */
    uint64_t iteration; /* of its newest offer or PING */
    struct msg_ping stats;
    uint64_t last_exchange; /* newest that was offered */
    uint64_t merged, settled; /* hub/saved.c: MERGED; 1 + what it was told */
    uint64_t base_version, run; /* run: that it is in; 0: none yet */
    uint64_t keeps, keeps_life; /* 1 + version of that, 0: none; hub's life */
    uint32_t keeps_chunk; /* elements of a chunk of it */
    bool mistrusted; /* what it gave as that was no good, or never came */
    unsigned asked; /* for parameters, times in this session */
    struct doubt doubt;
    struct told told;
    uint64_t every; /* k that it was told */
    bool takes;        /* has been sent the centre, not yet heard of it */
    uint64_t taken;    /* the version it was sent, at least */
    uint64_t took_version; /* when that began, also over breaks */
    uint32_t took, claims; /* chunks of it that it has: by its credit; as it
                              said after a break */
    uint64_t exchanges, up_bytes, down_bytes;
    struct pace up, down;
    double trip; /* seconds, without queues: falls at once, rises slowly */
    uint32_t asks; /* tasks that it has room for */
    struct contribution *waiting[MAX_OFFERS]; /* oldest first */
    unsigned waiting_count;
    struct contribution *open; /* in rounds, oldest first */
    struct tally tally;        /* as it is counted now: member_recount */
    struct trial trial;
    struct conduct conduct;
    struct patience patience;
    struct arrival arrival;
    struct lengths *lengths; /* of each fragment, once something is merged */
    struct delivery delivery;
    struct reviewer reviewer;
    /* The last offers that were not merged as a whole, in no order: results
     * may be lost on their way, so a node that is back is told again. */
    struct contribution *remembered[MAX_REMEMBERED];
    char why[64];
    bool drained;    /* by the operator: this incarnation is to leave */
    nanos last_call; /* for its last offer then */
};

/* An order that is answered when this version, or a later one, is saved. */
struct checkpoint {
    uint64_t ticket, version;
};

/* A node that waits for ADMITTED. */
struct enrolling {
    uint64_t ticket;
    peer_id peer;
    char name[NODE_NAME_BYTES]; /* that a file can have */
};

/* The traffic with all nodes together. */
struct flow {
    struct bucket up, down; /* results; credit for uploads */
    nanos wake;       /* when more may go, if nothing happens before */
    nanos looked;     /* at paces */
    unsigned uploads; /* contributions */
    unsigned turn;    /* the member that is next to be sent something */
};

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

struct hub {
    struct hub_config config;
    const struct policy *policy; /* in force: a tournament has its own */
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now, started, former, next_tick; /* former: of lives before */
    bool begun;
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
    nanos waited;        /* until when waits.c has looked */
    unsigned ready;      /* chunks of rounds that may be merged */
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

    bool ending, closing, ended; /* called last; saying goodbye; all done */
    bool freed, late; /* ending: waits_free was; no last offer is awaited */
    bool stopping, reached; /* the hub alone stops; its centre met the goal */
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

#include "hub/journeys.h"
#endif
