/* A call: one collective, the members that take part in it, and their data.
 *
 * A call is known by its era and its sequence number in the era
 * (coordinator.h). Those who are in the roster when it begins are its
 * participants. Another member may ask for it, too, and be given the result. */
#ifndef COLLECTIVES_CALL_H
#define COLLECTIVES_CALL_H

#include "collectives/coordinator.h"

struct call;
struct member;

/* ---- a member's request ---- */

enum request_state {
    REQUEST_NONE,
    REQUEST_WAITING,  /* for the group to form, or for a model */
    REQUEST_CALLING,  /* in a call without an outcome */
    REQUEST_RECEIVING /* has its outcome; the result is on the way */
};

/* What a member may send. */
struct allowance {
    uint64_t number; /* of its CALL, as it counts them */
    uint32_t credit; /* segments that it may send */
    uint32_t due;    /* more that it is to be told of with the delivery */
};

struct request {
    enum request_state state;
    struct msg_call spec;
    struct call *call; /* while CALLING and RECEIVING, else NULL */
    struct allowance allowance;
    bool takes;            /* wants the result */
    uint32_t next, credit; /* next result segment; how many may be sent */
};

/* ---- a call ---- */

enum segment_state {
    SEGMENT_MISSING,
    SEGMENT_CHECKING,
    SEGMENT_CHECKED, /* good; waits for the others' */
    SEGMENT_USED     /* in the result, or on its way there */
};

struct input_segment {
    enum segment_state state;
    struct blob *blob; /* while CHECKED, else NULL */
};

struct participant {
    struct member *member; /* NULL: it has left for good; its data are whole */
    bool entered;
    uint64_t bytes;
    uint32_t count, checked;        /* segments in all, and good ones */
    struct input_segment *segments; /* NULL before it enters, and at the end */
};

struct result_segment {
    struct blob *blob; /* NULL: not there yet */
    uint64_t offset;
    bool busy; /* a reduction is under way */
};

enum call_state {
    CALL_OPEN,
    CALL_KEPT,   /* complete; whoever asks gets its result again */
    CALL_CLOSED, /* complete; goes when all have its result */
    CALL_FAILED  /* goes when all know */
};

struct call {
    struct call *next;
    enum call_state state;
    uint64_t id, era, sequence;
    struct msg_call spec;               /* as the first to come said it */
    char first[COORDINATOR_NAME_BYTES]; /* whose name this is */
    struct participant *participants;   /* by rank; `size` of them */
    unsigned size;
    int source; /* rank whose model is taken, -1: nobody's yet */
    struct result_segment *results; /* in the order they are sent; or NULL */
    uint32_t count, ready;          /* result segments in all, and there */
    uint64_t bytes;      /* of all result segments, as far as they are known */
    enum ending outcome; /* of a FAILED one, */
    char text[MSG_TEXT_BYTES]; /* and why it failed */
};

struct calls {
    struct call *list; /* but the kept ones; newest first */
    struct call *kept; /* of this version; newest first */
    uint64_t next_id, next_job;
    uint64_t averages; /* elastic: calls that succeeded */
    uint64_t held;     /* bytes of results and models */
    bool stopping;     /* a member has come to STOP */
};

/* Whether there is room for so many bytes more. */
bool calls_have_room(const struct coordinator *coordinator, uint64_t bytes);
/* A call of all that are in the roster. */
struct call *call_new(struct coordinator *coordinator,
                      const struct msg_call *spec, const char *first);
/* The call that is meant, NULL: there is none yet. Everybody meets in STOP,
 * wherever they were. */
struct call *call_find(const struct coordinator *coordinator,
                       const struct msg_call *spec);
/* The open call of this id, or NULL. */
struct call *call_by_id(const struct coordinator *coordinator, uint64_t id);
/* The member as a participant of the call; NULL: it is none. */
struct participant *call_participant(struct call *call,
                                     const struct member *member);
/* Whether this participant has something to send. */
bool participant_gives(const struct call *call,
                       const struct participant *participant);
/* Notes what the participant brings; false: there is no room for it. */
bool participant_fill(struct coordinator *coordinator, struct call *call,
                      struct participant *participant,
                      const struct msg_call *spec);

/* The call is complete: it is kept, or goes when all have the result. */
void call_keep(struct coordinator *coordinator, struct call *call);
void call_close(struct coordinator *coordinator, struct call *call);
void call_fail(struct coordinator *coordinator, struct call *call,
               enum ending outcome, const char *text);
/* Fails all open calls but the fetch of a model. */
void calls_fail(struct coordinator *coordinator, enum ending outcome,
                const char *text);
/* The member has left for good. Fails the calls that need something of it:
 * what a patient group has got from it already is as good as ever. */
void calls_lose(struct coordinator *coordinator, const struct member *member,
                const char *text);
/* The member of an elastic group is told the epoch of now: it will not come to
 * calls of former ones any more. Fails those that wait for it. */
void calls_pass(struct coordinator *coordinator, const struct member *member);
/* A new version: nothing of the former one is given again. */
void calls_close_kept(struct coordinator *coordinator);
/* The group is closed: nobody needs any of them. */
void calls_forget(struct coordinator *coordinator);
void calls_free(struct coordinator *coordinator);

/* The member waits for the call's result. */
void request_attend(struct coordinator *coordinator, struct member *member,
                    struct call *call);
/* Ends the request without a call; tells the member. */
void request_end(struct coordinator *coordinator, struct member *member,
                 enum ending outcome, const char *text);
/* The member does not want it any more, or is lost. */
void request_drop(struct coordinator *coordinator, struct member *member);

/* The delivery: tells the outcome of calls that have one. */
void calls_tell(struct coordinator *coordinator);
/* After the delivery: frees what nobody needs any more. */
void calls_sweep(struct coordinator *coordinator);

#endif
