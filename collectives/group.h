/* The group: its members, their ranks, and the epochs that its changes make.
 *
 * The first member to JOIN opens the group, and says how it is to be; when the
 * last one has left it is closed. A member of an elastic group is in the roster
 * once it has asked WHO, and leaves it with its connection. In a patient group
 * it is in the roster from JOIN on, and keeps its rank while it is away. */
#ifndef COLLECTIVES_GROUP_H
#define COLLECTIVES_GROUP_H

#include "collectives/call.h"
#include "collectives/coordinator.h"

enum member_state {
    MEMBER_NONE,     /* the place is free */
    MEMBER_ADMITTED, /* connected, not in the roster */
    MEMBER_LISTED,   /* connected, in the roster */
    MEMBER_AWAY      /* patient: in the roster, and waited for */
};

struct member {
    enum member_state state;
    uint64_t high, low; /* its id */
    uint64_t incarnation;
    uint32_t protocol; /* that is spoken with it */
    uint64_t since;    /* the epoch in which it became a member */
    uint64_t key;      /* as event.key; KEY_NONE: no keys */
    char name[COORDINATOR_NAME_BYTES]; /* without control characters */

    uint64_t session;          /* of its connections; 0: not connected */
    peer_id control, bulk;     /* PEER_NONE: not there */
    nanos heard, lost;         /* when last; when its connection went */
    uint64_t confirming;       /* number of a WHO without an answer, or 0 */
    char loss[MSG_TEXT_BYTES]; /* why it is lost, until that is settled */
    bool lost_for_good;
    nanos said_since; /* beginning of a second, */
    unsigned said;    /* and SAYs in it */

    uint64_t version; /* checkpoints it has taken part in or loaded */
    struct request request;
};

enum group_phase {
    GROUP_CLOSED,  /* nobody is in it */
    GROUP_FORMING, /* not all founders are there */
    GROUP_FORMED
};

/* A JOIN that has been accepted: settled after losses, which may include that
 * of the same member's former connection. */
struct admission {
    struct member *member; /* its place; NULL: nobody wants to come in */
    peer_id peer;
    struct msg_join join;
    uint64_t key;
};

struct group {
    struct member members[COORDINATOR_MEMBERS];
    struct member *roster[COORDINATOR_MEMBERS]; /* by rank */
    unsigned size;                              /* of the roster */
    uint64_t epoch, next_session;
    enum group_phase phase;
    enum manner manner;
    unsigned wanted; /* founders */
    nanos patience;
    struct admission admission;
};

static inline bool is_here(const struct member *member)
{
    return member->state == MEMBER_ADMITTED || member->state == MEMBER_LISTED;
}

static inline bool is_listed(const struct member *member)
{
    return member->state == MEMBER_LISTED || member->state == MEMBER_AWAY;
}

/* The member with this connection, or NULL. */
struct member *group_find(struct coordinator *coordinator, peer_id peer);
/* The group's size for one that is not in the roster. */
unsigned group_rank(const struct coordinator *coordinator,
                    const struct member *member);
/* Puts the roster together anew: a new epoch. */
void group_renew(struct coordinator *coordinator);

void group_on_join(struct coordinator *coordinator, struct member *nobody,
                   const struct event *event);
void group_on_sit(struct coordinator *coordinator, struct member *nobody,
                  const struct event *event);
void group_on_who(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_on_ping(struct coordinator *coordinator, struct member *member,
                   const struct event *event);
void group_on_say(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_on_bye(struct coordinator *coordinator, struct member *member,
                  const struct event *event);
void group_on_leave(struct coordinator *coordinator, peer_id peer);
/* Marks members lost that are silent, or have been away for too long. */
void group_expire(struct coordinator *coordinator);
/* Marks the member lost; the first reason counts. */
void group_lose(struct coordinator *coordinator, struct member *member,
                const char *why);

/* The settle pass: cuts a lost member's connections. True: it is no member any
 * more. */
bool group_remove(struct coordinator *coordinator, struct member *member);
bool group_is_empty(const struct coordinator *coordinator);
void group_close(struct coordinator *coordinator);
/* The settle pass: whoever has said JOIN is a member. */
void group_admit(struct coordinator *coordinator);
/* The delivery: answers WHO. */
void group_answer(struct coordinator *coordinator);

#endif
