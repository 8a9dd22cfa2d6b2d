/* Who is connected, who of them is a member, and whose key that is.
 *
 * A connection is a peer (roll.c, strangers.c). A node is a member once it has
 * said HELLO (hello.c), for as long as it is heard (heard.c), and is remembered
 * when it has gone. What has become of one is a change, and what follows from
 * that is the settle pass's (hub.c). Keys and enrolling: enrol.c. */
#ifndef HUB_ROLL_H
#define HUB_ROLL_H

#include "core/bitset.h"
#include "core/index.h"
#include "hub/delivery.h"
#include "hub/handler.h"
#include "hub/hub.h"
#include "hub/memory.h"
#include "hub/offer.h"
#include "hub/patience.h"
#include "hub/quarantine.h"
#include "hub/review.h"
#include "hub/traffic.h"
#include "seam/machine.h"

enum {
    HUB_FIRST_NODES = 64, /* places at first; doubled as nodes come */
    MAX_ENROLLING = 64    /* nodes that wait for the operator */
};

/* Of so many nodes each is told at once when one comes or goes; of more, at the
 * next look, since that is as many messages as nodes. */
#define VIEW_AT_ONCE 64
/* Without a PING for so long it is silent: rounds go on without it; gone. */
#define SILENT_AFTER (2 * SECOND)
#define LEASE (60 * SECOND)
/* A member without its bulk connection for so long is gone. */
#define MOURNING SECOND

/* What a connection may say depends on what it is. */
enum peer_state {
    PEER_STRANGER,       /* control, has not said HELLO */
    PEER_STRANGER_BULK,  /* bulk, has not said ATTACH */
    PEER_MEMBER,         /* control of a member */
    PEER_MEMBER_BULK,    /* bulk of a member */
    PEER_OPERATOR_STATE, /* orders from this process */
    PEER_GROUP,          /* of a member of the group for collectives */
    PEER_ENROLLER,       /* its key may only enrol */
    PEER_ENROLLER_BULK,  /* the same, and bulk: it can say nothing there */
    PEER_ENROLLING,      /* has said ENROL, waits for the operator */
    PEER_STATES
};

struct peer {
    peer_id id; /* PEER_NONE: it is gone */
    enum peer_state state;
    int member;            /* place in hub->roll.members, or -1 */
    uint64_t key;          /* that it has proved to hold, see struct event */
    unsigned probes;       /* that it has said */
    bool waits;            /* in the line of strangers, */
    nanos since;           /* from then on */
    struct peer *previous; /* in that line */
    struct peer *next;     /* in that line, or of those that are gone */
};

/* What has become of a member; what follows is the settle pass's (hub.c). */
enum change {
    CHANGE_LOST = 1,        /* its session is over */
    CHANGE_TAKES = 2,       /* it drops what it has offered */
    CHANGE_QUARANTINED = 4, /* nothing of it is taken for a while */
    CHANGE_SILENT = 8,      /* it does not answer what it is asked */
    CHANGE_ENTERED = 16,    /* it has said HELLO */
    CHANGE_LEFT = 32        /* it does not come back, as it was */
};

/* How many members are what, or what one of them counts for. */
struct tally {
    uint64_t present, live, attaching; /* live but for a bulk connection */
    uint64_t awaited;                  /* their last offer may still come */
    uint64_t finished;                 /* present, and have made it */
    uint64_t held;                     /* START_HOLD */
    uint64_t skipped;                  /* nobody waits for them */
    uint64_t done;                     /* have done the iterations of the run */
    uint64_t arrived;                  /* have taken part in rounds */
    uint64_t missing; /* silent or lost, and may come back with an offer */
};

/* How a node's parameters have done, for preemption. */
struct trial {
    double score;     /* last one; NO_SCORE: none */
    double slope;     /* beta of l(t) = A - beta ln t, smoothed */
    uint64_t samples; /* t */
    uint64_t since;   /* the iteration that it began with */
    uint64_t rounds;  /* since its parameters were replaced */
    unsigned strikes;
};

/* A window of a node's in which it has evaluated is slow: what sets k is the
 * median of so many. */
enum { RATES = 5 };

enum member_state {
    MEMBER_NOBODY, /* the place is free */
    MEMBER_AWAY,   /* it is remembered */
    MEMBER_SILENT, /* here, but nothing is heard of it */
    MEMBER_HERE
};

struct member {
    int place;        /* in hub->roll.members, for ever */
    unsigned changes; /* enum change; none between steps */
    enum member_state state;
    bool arrived;  /* it has taken part in rounds */
    bool finished; /* its last offer is done, or it never comes */
    uint64_t uuid_high, uuid_low, incarnation, session, lineage;
    uint32_t protocol; /* that is spoken with it */
    uint64_t key;      /* whose the node is, as event.key; KEY_NONE: nobody's */
    char name[NODE_NAME_BYTES]; /* nobody else has it */
    peer_id control, bulk;
    enum start start;
    nanos heard, bulk_lost, lost; /* lost: away since then, no goodbye; or 0 */
    uint64_t iteration;           /* of its newest offer or PING */
    bool met;                     /* it has said HELLO to this hub */
    struct msg_ping stats;
    uint64_t last_exchange; /* newest that was offered */
    uint64_t forgotten;     /* newest that it dropped, to take the centre */
    uint64_t offered;       /* iteration of the newest that was taken */
    uint64_t sampled;       /* of the last whose samples were counted; and */
    uint64_t learnt;        /* of which some were merged */
    uint64_t returned;      /* iterations of those that were not merged since */
    uint64_t merged;        /* hub/saved.c: MERGED */
    uint64_t base_version, run; /* run: that it is in; 0: none yet */
    uint64_t keeps, keeps_life; /* 1 + version of that, 0: none; hub's life */
    uint32_t keeps_chunk;       /* elements of a chunk of it */
    bool mistrusted; /* what it gave as that was no good, or never came */
    unsigned asked;  /* for parameters, times in this session */
    struct doubt doubt;
    struct told told;
    double rates[RATES]; /* that it has said lately, of `rates_said` */
    unsigned rates_said;
    uint64_t every, delay; /* k and d that it was told */
    bool takes;            /* has been sent the centre, not yet heard of it */
    uint64_t taken;        /* the version it was sent, at least */
    uint64_t took_version; /* when that began, also over breaks */
    uint32_t took, claims; /* chunks of it that it has: by its credit; as it
                              said after a break */
    /* In lives of the hub before this one, and since it began. */
    struct hub_moved before, here;
    struct msg_ping past;          /* what its former processes have counted */
    uint64_t fates[VERDICT_COUNT]; /* exchanges that ended so */
    uint64_t preempted;            /* times */
    struct pace up, down;
    struct traffic traffic;
    struct busy busy;
    double boast;     /* its last test above what it had claimed */
    uint64_t boasted; /* the number of the round then */
    double trip;      /* seconds, without queues: falls at once, rises slowly */
    uint32_t asks;    /* tasks that it has room for */
    nanos claims_until; /* tasks of its former session are its own */
    struct update *waiting[MAX_OFFERS]; /* oldest first */
    unsigned waiting_count;
    struct update *in_rounds; /* in rounds, oldest first */
    struct tally tally;       /* as it is counted now: member_recount */
    struct trial trial;
    struct conduct conduct;
    struct patience patience;
    struct arrival arrival;
    struct sketch *sketch; /* of its last update that was merged; or NULL */
    unsigned alike;        /* rounds in a row in which that was another one's */
    struct norm_history *norms; /* of each fragment, once something is merged */
    struct delivery delivery;
    struct reviewer reviewer;
    /* The last offers that were not merged as a whole, in no order: results
     * may be lost on their way, so a node that is back is told again. */
    struct update *remembered[MAX_REMEMBERED];
    char why[64];
    bool left;       /* it has said goodbye */
    bool drained;    /* by the operator: this incarnation is to leave */
    nanos last_call; /* for its last offer then */
};

/* A node that waits for LOCAL_ENROLLED. */
struct enrolling {
    uint64_t ticket;
    peer_id peer;
    char name[NODE_NAME_BYTES]; /* that a file can have */
};

struct roll {
    struct index peers;       /* struct peer, by id; strangers included */
    struct peer *spare_peers; /* gone, to be used again */
    struct peer *strangers, *last_stranger; /* oldest first (strangers.c) */
    struct member **members;                /* in the order they came */
    int count, room;                        /* of members */
    uint64_t *names;                     /* hashes of their names, by place */
    struct index uuids, sessions, known; /* member, member; names of keys */
    struct bitset asking;                /* places: want tasks */
    struct bitset claiming; /* have yet to say what tasks they have */
    struct bitset doubted;  /* have tasks of a session that is over */
    struct bitset changed;  /* have `changes` */
    struct tally tally;     /* of all members */
    uint64_t epoch, next_session;
    bool view_due;               /* members are to be told how many they are */
    struct hub_node_view *shown; /* of the last hub_look */
    struct enrolling enrolling[MAX_ENROLLING];
    unsigned enrolling_count;
    uint64_t last_ticket; /* of LOCAL_ENROL */
};

/* roll.c: connections and members, found in constant time */
/* NULL when it is not there. */
struct peer *peer_find(struct hub *hub, peer_id id);
/* NULL when there are too many. */
struct peer *peer_add(struct hub *hub, peer_id id);
/* It can be read until the next step. */
void peer_remove(struct hub *hub, struct peer *peer);
/* A new place, which is nobody's yet. */
struct member *member_add(struct hub *hub);
/* Adds what the one has done and moved to the other. */
void moved_add(struct hub_moved *to, const struct hub_moved *from);
/* In all lives of the hub. */
struct hub_moved member_moved(const struct member *member);
/* Adds what a process has counted to what others have. */
void counts_add(struct msg_ping *to, const struct msg_ping *from);
/* It has done so many iterations; fewer than before is no news. */
void member_reaches(struct hub *hub, struct member *member, uint64_t iteration);
/* Its process came to this hub at an iteration, and to the one before, as far
 * as that has saved, at `former`: between them it was alone. */
void member_begins_at(struct member *member, uint64_t former,
                      uint64_t iteration);
/* Empties its place for another node. What it has in rounds stays there. */
void member_clear(struct hub *hub, struct member *member);
void member_name_is(struct hub *hub, struct member *member, uint64_t high,
                    uint64_t low);
/* What it is called from now on; at most NODE_NAME_BYTES - 1 bytes count. */
void member_rename(struct hub *hub, struct member *member, const char *name);
/* Another one that is called so; NULL when there is none. */
struct member *member_by_name(const struct hub *hub, const struct member *but,
                              const char *name);
void member_session_is(struct hub *hub, struct member *member,
                       uint64_t session);
/* NULL when there is none. */
struct member *member_named(const struct hub *hub, uint64_t high, uint64_t low);
struct member *member_of_session(const struct hub *hub, uint64_t session);
/* Counts it as what it is now. To be called after each change of what a tally
 * is about. */
void member_recount(struct hub *hub, struct member *member);
/* Its control connection is there. */
bool member_is_here(const struct member *member);
/* It is in quarantine. */
bool quarantine_holds(const struct member *member);
/* Takes part in rounds now. */
bool member_live(const struct member *member);
/* Whether nobody waits for it: it is silent, or has kept others waiting. */
bool member_is_skipped(const struct member *member);
void roll_free(struct hub *hub);
const char *roll_check(const struct hub *hub);
/* From now on it has to become somebody's. */
void stranger_waits(struct hub *hub, struct peer *peer);
/* It need not any more. */
void stranger_leaves(struct hub *hub, struct peer *peer);
unsigned members_live(const struct hub *hub);
/* Whether somebody who was lost seconds ago, without a goodbye, or was heard
 * last then, may come back with its last offer. */
bool members_return(const struct hub *hub);
/* The member whose results go out for it, NULL when it is away. */
struct member *update_member(struct hub *hub, const struct update *update);
/* What follows is carried on once the step has all its facts. */
void member_changes(struct hub *hub, struct member *member, enum change change);

/* strangers.c: connections, which are nobody's for half a minute at most */
void peer_joins(struct hub *hub, const struct event *event);
void peer_leaves(struct hub *hub, peer_id id);
/* Somebody has been given a wrong number, which is no attack. */
handler hub_on_misled;
handler hub_on_bye;
void strangers_tick(struct hub *hub);

/* members.c */
void member_welcome(struct hub *hub, struct member *member);
void member_start(struct hub *hub, struct member *member, enum start start);
/* Tells nodes what is new for them: k, and what they offer. */
void members_tune(struct hub *hub);
/* Tells those whose speed has changed, with --dylu: with each tick, not round,
 * which may be waiting for one whose k is no longer right; and also those whom
 * rounds do not wait for, as with another k they may keep up. */
void members_pace(struct hub *hub);
/* Tells everybody how many they are and which part of the data is theirs, if
 * that is new. Where they are many it is done with each tick only. */
void view_tick(struct hub *hub);
void member_gone(struct hub *hub, struct member *member, const char *why,
                 bool clean);
/* Cuts it for what it did, which a note says. */
void member_offends(struct hub *hub, struct member *member, const char *format,
                    ...) FORMAT(3, 4);
unsigned members_counted(const struct hub *hub); /* N of the policies */
handler hub_on_attach;

/* heard.c */
void members_tick(struct hub *hub);
/* A time that may not be set (0) is later by so much. */
static inline void postpone(nanos *at, nanos time)
{
    *at += *at ? time : 0;
}

/* The hub has not run for so long, and has heard nobody. */
void members_slept(struct hub *hub, nanos time);
void member_heard(struct hub *hub, struct member *member);
handler hub_on_ping;
handler hub_on_arriving;

/* hello.c */
handler hub_on_hello;

/* enrol.c */
handler hub_on_enrol;
handler hub_on_admitted;
handler hub_on_revoked;
/* A peer is gone that may have asked to enrol. */
void enrol_leaves(struct hub *hub, peer_id peer);
handler hub_on_known;
void known_free(struct hub *hub);
/* HELLO with the uuid, and if the operator knows it the name, of the key that
 * the peer has proved to hold. */
struct msg_hello key_identify(const struct hub *hub, const struct peer *peer,
                              const struct msg_hello *hello);
/* Whether the operator has a name for it. */
bool key_is_known(const struct hub *hub, uint64_t key);
/* Whether a bulk connection bears the key of the member's control one. */
bool key_attaches(struct hub *hub, const struct peer *bulk,
                  const struct member *member);
/* A number that nobody can guess, whatever others he knows, as long as
 * hub_config.secret is one; and no life of the hub has given it before. */
uint64_t session_secret(struct hub *hub);

#endif
