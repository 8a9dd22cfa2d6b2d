/* A coordinator and its members around it, in virtual time: no thread, no
 * socket.
 *
 *     struct circle *circle = circle_new(MANNER_ELASTIC, 3);
 *     circle_start_all(circle);
 *     circle_give(circle, 0, values, count);     what it will contribute
 *     circle_call(circle, 0, COLLECTIVE_ALLREDUCE);
 *     circle_settle(circle, 10 * SECOND);        until nobody waits any more
 *     circle->members[0].told.outcome
 *     circle_destroy(&circle);
 *
 * A member's program is played by the test: it asks, and the circle answers
 * WANT with what the test has laid ready. Ranks of founders are their places.
 * The same calls and the same seed give the same history. */
#ifndef TESTS_COLLECTIVES_CIRCLE_H
#define TESTS_COLLECTIVES_CIRCLE_H

#include "collectives/client.h"
#include "collectives/coordinator.h"
#include "core/prng.h"
#include "seam/history.h"

enum { CIRCLE_MEMBERS = 12, CIRCLE_BYTES = 1 << 16, CIRCLE_SEGMENT = 64 };

struct circle_member {
    struct client *client; /* NULL: no process */
    struct client_config config;
    char name[16];
    nanos connect_at;  /* NEVER: it is connected, or there is no process */
    peer_id peers[2];  /* at the coordinator, by channel; PEER_NONE: none */
    nanos last[2][2];  /* when the last message arrives: up/down, channel */
    nanos bulk_later;  /* what bulk takes more than control */
    bool deaf;         /* nothing gets through, in either direction */
    unsigned prepared; /* WANTs for a contribution so far */
    unsigned served;   /* and for a model */
    unsigned char in[CIRCLE_BYTES], out[CIRCLE_BYTES], model[CIRCLE_BYTES];
    size_t in_bytes, model_bytes;
    uint64_t request;
    bool asking;
    struct msg_told told; /* of the last request */
    unsigned mails;       /* that wait */
    struct msg_mail mail; /* the last of them */
    unsigned deliveries;
    struct msg_delivered delivered; /* the last */
};

struct circle_post;

struct circle {
    struct pool *pool;
    struct coordinator *coordinator;
    struct coordinator_config config;
    struct machine machine; /* the coordinator's */
    struct effects effects;
    struct circle_member members[CIRCLE_MEMBERS];
    unsigned count;
    nanos now, coordinator_wake;
    nanos latency; /* of each message; plus up to `jitter` */
    nanos jitter;
    struct prng prng;
    peer_id next_peer;
    struct circle_post *posts; /* on their way, by arrival */
    uint64_t order;
    uint64_t inputs, results; /* segments to and from the coordinator */
    bool spoil, spoil_end;  /* the next PART, or END, is changed on its way */
    struct history history;
};

/* `count` members that the group begins with; change `config` and the
 * members' configurations before they start. */
struct circle *circle_new(enum manner manner, unsigned count);
void circle_destroy(struct circle **circle);

/* The process starts, with a higher incarnation than before. */
void circle_start(struct circle *circle, unsigned member);
void circle_start_all(struct circle *circle);
/* One more, that is not waited for. Returns its place. */
unsigned circle_newcomer(struct circle *circle);
void circle_kill(struct circle *circle, unsigned member);
/* Its connections break; it comes back. */
void circle_cut(struct circle *circle, unsigned member);

/* Lays ready what the member contributes next. */
void circle_give(struct circle *circle, unsigned member, const void *bytes,
                 size_t size);
void circle_floats(struct circle *circle, unsigned member, unsigned count,
                   double value);
/* Its program asks; with what was laid ready, of floats to be averaged. */
void circle_ask(struct circle *circle, unsigned member, enum ask ask);
void circle_call(struct circle *circle, unsigned member,
                 enum collective collective);
void circle_ask_all(struct circle *circle, enum ask ask);
/* Anything else. */
void circle_request(struct circle *circle, unsigned member,
                    const struct msg_ask *ask);

/* What its machine tells the member's program. */
void circle_hear(struct circle *circle, unsigned member,
                 const struct effect *effect);
/* An event that comes to a member's machine at `due`. */
void circle_post(struct circle *circle, unsigned to, nanos due,
                 const struct event *event);
/* Steps the member's machine. */
void circle_step(struct circle *circle, unsigned member, struct event *event);
/* Lets time pass. */
void circle_run(struct circle *circle, nanos span);
/* Until no program waits; false: somebody still does after `limit`. */
bool circle_settle(struct circle *circle, nanos limit);
float circle_float(const struct circle *circle, unsigned member, unsigned at);
struct coordinator_view circle_view(const struct circle *circle);

#endif
