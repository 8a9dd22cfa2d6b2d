/* The coordinator's inside, shared by coordinator.c group.c call.c calls.c
 * segments.c checkpoint.c and mails.c. */
#ifndef COLLECTIVES_INSIDE_H
#define COLLECTIVES_INSIDE_H

#include "collectives/coordinator.h"
#include "collectives/roster.h"
#include "collectives/work.h"

#define COORDINATOR_TICK (250 * MILLISECOND)

enum {
    COORDINATOR_CALLS = 1 << 14, /* that are kept of a version */
    COORDINATOR_ON_THEIR_WAY =
        4 * COORDINATOR_MEMBERS, /* segments, of all in a call */
    COORDINATOR_MAILS = 256,     /* that wait, from a member or for one */
    MAIL_WINDOW = 4              /* segments of a message in flight */
};

enum segment_state {
    SEGMENT_MISSING,
    SEGMENT_CHECKING,
    SEGMENT_CHECKED, /* good, waits for the others' */
    SEGMENT_USED     /* in the result */
};

struct input_segment {
    enum segment_state state;
    struct blob *blob; /* while HERE */
};

/* A member's share in a call. */
struct participant {
    int member; /* its place; -1: it has left for good, its share is whole */
    bool entered;
    uint64_t bytes;
    uint32_t count, here; /* segments in all, and checked */
    struct input_segment
        *segments; /* count of them; NULL until it has entered */
};

struct result_segment {
    struct blob *blob; /* NULL: not there yet */
    uint64_t offset;
    bool busy; /* a reduction is under way */
};

struct call {
    struct call *next;
    uint64_t id, era, sequence;
    struct msg_call spec;               /* as the first to come said it */
    char first[COORDINATOR_NAME_BYTES]; /* who that was */
    struct participant *participants;   /* by rank; `size` of them */
    unsigned size;
    int source;                     /* of a model: its rank, or -1 */
    struct result_segment *results; /* in the order they are sent */
    uint32_t count, ready;
    uint64_t bytes; /* of all result segments, as far as they are known */
    bool laid;      /* result segments are allocated */
    bool complete;
    bool retired; /* nobody new comes: goes when all have it */
};

/* A member, or the place of one that a patient group waits for. */
struct member {
    bool used, present, listed;
    uint64_t high, low, incarnation, session, since;
    uint64_t key; /* whose it is, as event.key; KEY_NONE: nobody's */
    char name[COORDINATOR_NAME_BYTES]; /* without control characters */
    peer_id control, bulk;
    nanos heard, lost;   /* when last; when its connection went */
    uint64_t confirming; /* number of a WHO that waits, or 0 */
    uint64_t version;    /* checkpoints it has taken part in or loaded */
    bool calling;        /* `request` has no outcome yet */
    struct msg_call request;
    struct call *call; /* whose result it is getting, or NULL */
    bool takes;        /* it wants the result */
    uint32_t upload;   /* segments that it may send */
    uint32_t next;     /* the next result segment */
    uint32_t credit;   /* result segments that may be sent */
};

/* A message from one member to another: the hub keeps none of its data. */
struct mail {
    struct mail *next;
    uint64_t id, turn; /* turn: when it was taken, 0: not yet */
    int from, to;      /* members */
    uint64_t number_from, number_to;
    uint64_t bytes;
    bool active;     /* its data flow; of one receiver one at a time */
    uint32_t credit; /* segments that the sender may send */
};

struct coordinator {
    struct coordinator_config config;
    struct pool *pool;
    struct effects *out; /* of the step under way */
    nanos now;
    uint64_t next_id, next_session, next_job;
    struct member members[COORDINATOR_MEMBERS];

    bool open; /* the first member has said how it is to be */
    enum manner manner;
    unsigned wanted; /* members before the first call */
    nanos patience;
    bool begun; /* they have been there */
    uint64_t epoch, averages, version;
    bool stopping;                   /* somebody has come to STOP */
    int roster[COORDINATOR_MEMBERS]; /* members by rank */
    unsigned size;

    struct call *calls;      /* under way and kept, newest first */
    struct call *checkpoint; /* the model of `version`, NULL: members keep it */
    struct call *fetch;      /* by which it is being fetched, or NULL */
    int holder;              /* the member that was asked for it, or -1 */
    uint64_t fetch_number;   /* of the holder's call */
    uint32_t fetch_upload;   /* segments of it that it may send */
    uint64_t held;

    struct mail *mails; /* oldest first */
    uint64_t next_turn;
};

/* group.c: who is here */
struct member *member_of(struct coordinator *coordinator, peer_id peer);
void group_on_join(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void group_on_sit(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_on_confirm(struct coordinator *coordinator, struct member *member,
                      const struct event *event);
void group_on_ping(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void group_on_say(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_on_bye(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_leave(struct coordinator *coordinator, peer_id peer);
/* Cuts its connections; elastic, or `for_good`: it is no member any more. */
void member_lost(struct coordinator *coordinator, struct member *member,
                 const char *why, bool for_good);
void group_tick(struct coordinator *coordinator);
/* Puts the roster together anew; elastic: a new epoch. */
void roster_renew(struct coordinator *coordinator);
unsigned member_rank(const struct coordinator *coordinator,
                     const struct member *member);

/* call.c: a call's life */
struct call *call_new(struct coordinator *coordinator,
                      const struct msg_call *spec, const char *first);
/* Whether there is room for so many bytes more. */
bool coordinator_has_room(const struct coordinator *coordinator,
                          uint64_t bytes);
/* The call that is meant, NULL: there is none yet. Everybody meets in STOP,
 * wherever they were. */
struct call *call_find(const struct coordinator *coordinator,
                       const struct msg_call *spec);
/* The member as a participant of the call; NULL: it is none. */
struct participant *call_participant(struct call *call,
                                     const struct coordinator *coordinator,
                                     const struct member *member);
/* Tells all that are in it; nobody comes to it again. */
void call_fail(struct coordinator *coordinator, struct call *call,
               enum ending outcome, const char *text);
/* Fails the calls that are not complete and wait for this member, or with -1
 * all; patient: unless they have all that they need of it. */
void calls_fail(struct coordinator *coordinator, int member,
                enum ending outcome, const char *text);
/* Says OUTCOME; `call` is the one that succeeded, or NULL. */
void send_outcome(struct coordinator *coordinator, struct member *member,
                  enum ending outcome, const struct call *call,
                  const char *text);
/* Answers its CALL with something else than a result. */
void member_told(struct coordinator *coordinator, struct member *member,
                 enum ending outcome, const char *text);
/* Frees what is retired and was delivered. */
void calls_sweep(struct coordinator *coordinator);
void calls_forget(struct coordinator *coordinator);

/* calls.c: from CALL to OUTCOME */
void calls_on_call(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void calls_on_give_up(struct coordinator *coordinator, struct member *member,
                      const struct event *event);
/* A CALL that has waited for something is looked at again. */
void calls_enter_all(struct coordinator *coordinator);
/* Notes what the member has to give; false: there is no room for it. */
bool participant_fill(struct coordinator *coordinator, struct call *call,
                      struct participant *participant,
                      const struct msg_call *spec);
/* The member begins to wait for the call's result. */
void call_attend(struct coordinator *coordinator, struct member *member,
                 struct call *call);
/* After a participant has come, a segment, or a leave: is it complete? */
void call_advance(struct coordinator *coordinator, struct call *call);

/* segments.c: data up and down */
void segments_on_part(struct coordinator *coordinator, struct member *member,
                      const struct event *event);
void segments_on_credit(struct coordinator *coordinator, struct member *member,
                        const struct event *event);
void segments_done(struct coordinator *coordinator, struct job *job);
/* Whether this participant has something to send. */
bool participant_gives(const struct call *call,
                       const struct participant *participant);
/* Lets the member send what is missing of its contribution. */
void participant_open(struct coordinator *coordinator, struct member *member,
                      struct call *call, struct participant *participant);
/* Allocates the result segments, once their number is known. */
void results_lay(struct coordinator *coordinator, struct call *call);
void results_deliver(struct coordinator *coordinator, struct member *member);
void results_deliver_all(struct coordinator *coordinator, struct call *call);

/* mails.c: from one member to another */
void mails_on_send(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void mails_on_take(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void mails_on_end(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void mails_on_received(struct coordinator *coordinator, struct member *member,
                       const struct event *event);
/* A segment of a message, or credit for one; what is of none is forgotten. */
void mails_on_part(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void mails_on_credit(struct coordinator *coordinator, struct member *member,
                     const struct msg_credit *credit);
/* Lets the message flow that the member took first; one at a time, so that what
 * is on its way to it is bounded. */
void mails_flow(struct coordinator *coordinator, int to);
/* The member is lost: so are its messages, and those for it. */
void mails_forget(struct coordinator *coordinator, const struct member *member);
void mails_free(struct coordinator *coordinator);

/* checkpoint.c: checkpoints of a patient group */
/* The member asks for the newest model, or brings one. */
void checkpoint_load(struct coordinator *coordinator, struct member *member);
void checkpoint_on_model(struct coordinator *coordinator, struct member *member,
                         const struct msg_call *spec);
/* Whether everybody that must come to this checkpoint has. */
bool checkpoint_all_here(const struct coordinator *coordinator,
                         const struct call *call);
/* Chooses who sends the model of a checkpoint; false: nobody has to. */
bool checkpoint_choose_source(struct coordinator *coordinator,
                              struct call *call);
/* A checkpoint, or the fetching of a model, is complete. */
void checkpoint_commit(struct coordinator *coordinator, struct call *call);
void checkpoint_fetched(struct coordinator *coordinator, struct call *call);
/* Somebody has come or gone: asks another for the model, if it has to. */
void checkpoint_look(struct coordinator *coordinator);

/* coordinator.c */
void coordinator_job(struct coordinator *coordinator, struct job *job);

#endif
