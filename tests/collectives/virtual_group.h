/* Test fixture: a coordinator and the members of its group in virtual time,
 * without threads and sockets.
 *
 *     struct virtual_group *group = virtual_new(MANNER_ELASTIC, 3);
 *     virtual_start_all(group);
 *     virtual_give(group, 0, values, count);     member 0's contribution
 *     virtual_call(group, 0, COLLECTIVE_ALLREDUCE);
 *     virtual_settle(group, 10 * SECOND);        until no member waits
 *     group->members[0].told.outcome
 *     virtual_destroy(&group);
 *
 * The test is the members' programs: it asks, and the fixture answers WANT with
 * what the test has laid ready. Ranks of founders are their places. The same
 * calls and the same seed give the same history. */
#ifndef TESTS_COLLECTIVES_VIRTUAL_GROUP_H
#define TESTS_COLLECTIVES_VIRTUAL_GROUP_H

#include "collectives/client.h"
#include "collectives/coordinator.h"
#include "core/prng.h"
#include "seam/history.h"

enum { VIRTUAL_MEMBERS = 12, VIRTUAL_BYTES = 1 << 16, VIRTUAL_SEGMENT = 64 };

struct virtual_member {
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
    unsigned char in[VIRTUAL_BYTES], out[VIRTUAL_BYTES], model[VIRTUAL_BYTES];
    size_t in_bytes, model_bytes;
    uint64_t request;
    bool asking;
    struct msg_told told; /* of the last request */
    unsigned mails;       /* that wait */
    struct msg_mail mail; /* the last of them */
    unsigned deliveries;
    struct msg_delivered delivered; /* the last */
};

struct virtual_event;

struct virtual_group {
    struct pool *pool;
    struct coordinator *coordinator;
    struct coordinator_config config;
    struct machine machine; /* the coordinator's */
    struct effects effects;
    struct virtual_member members[VIRTUAL_MEMBERS];
    unsigned count;
    nanos now, coordinator_wake;
    nanos latency; /* of each message; plus up to `jitter` */
    nanos jitter;
    struct prng prng;
    peer_id next_peer;
    struct virtual_event *events; /* on their way, by arrival */
    uint64_t inputs, results;     /* segments to and from the coordinator */
    unsigned said;                /* notes of the coordinator's, of SAYs */
    bool spoil, spoil_end; /* the next PART, or END, is changed on its way */
    struct history history;
};

/* `count` members that the group begins with; change `config` and the
 * members' configurations before they start. */
struct virtual_group *virtual_new(enum manner manner, unsigned count);
void virtual_destroy(struct virtual_group **group);

/* The process starts, with a higher incarnation than before. */
void virtual_start(struct virtual_group *group, unsigned member);
void virtual_start_all(struct virtual_group *group);
/* One more, that is not waited for. Returns its place. */
unsigned virtual_newcomer(struct virtual_group *group);
void virtual_kill(struct virtual_group *group, unsigned member);
/* Its connections break; it comes back. */
void virtual_cut(struct virtual_group *group, unsigned member);

/* Lays ready what the member contributes next. */
void virtual_give(struct virtual_group *group, unsigned member,
                  const void *bytes, size_t size);
void virtual_floats(struct virtual_group *group, unsigned member,
                    unsigned count, double value);
/* Its program asks; with what was laid ready, of floats to be averaged. */
void virtual_ask(struct virtual_group *group, unsigned member, enum ask ask);
void virtual_call(struct virtual_group *group, unsigned member,
                  enum collective collective);
void virtual_ask_all(struct virtual_group *group, enum ask ask);
/* Anything else. */
void virtual_request(struct virtual_group *group, unsigned member,
                     const struct msg_ask *ask);

/* The answer to the member's last request. */
const struct msg_told *virtual_told(const struct virtual_group *group,
                                    unsigned member);

/* What its machine tells the member's program. */
void virtual_hear(struct virtual_group *group, unsigned member,
                  const struct effect *effect);
/* An event that comes to a member's machine at `due`. */
void virtual_post(struct virtual_group *group, unsigned to, nanos due,
                  const struct event *event);
/* Steps the member's machine. */
void virtual_step(struct virtual_group *group, unsigned member,
                  struct event *event);
/* Lets time pass. */
void virtual_run(struct virtual_group *group, nanos span);
/* Until no program waits; false: somebody still does after `limit`. */
bool virtual_settle(struct virtual_group *group, nanos limit);
float virtual_float(const struct virtual_group *group, unsigned member,
                    unsigned at);
struct coordinator_view virtual_view(const struct virtual_group *group);

#endif
