/* The door of a hub: who is let in, and what is held against whom.
 *
 * Both channels have the same one. It says who is banned and whose key is
 * known, and counts whom it refuses. Nobody on this machine is ever banned:
 * that is where its operator and most tests are. Stations ask and refuse on
 * threads of their own; what they refuse is said by the loop. */
#ifndef NET_DOOR_H
#define NET_DOOR_H

#include "net/bans.h"
#include "net/complaints.h"
#include "net/guests.h"
#include "net/net.h"
#include "net/origin.h"

enum { CONNECTIONS_MAX = 32768 /* per channel */ };

/* What has been refused and not been said yet. */
struct refused {
    uint64_t count;
    struct origin last;
};

struct door {
    bool keyed;
    struct guests guests; /* if it is */
    struct bans bans;
    struct net_refusals refusals;
    struct complaints complaints;
    unsigned room;        /* connections per channel; more are refused */
    bool look_anew;       /* somebody who is in may have to go */
    pthread_mutex_t lock; /* of what follows */
    struct refused refused[REFUSAL_COUNT];
};

/* Reads how many descriptors the process may have; the owner is borrowed. */
void door_init(struct door *door, const struct net_owner *owner);
void door_free(struct door *door);

/* Counts it, and says it at most once in ten seconds. */
void door_refuse(struct door *door, nanos now, enum net_refusal refusal,
                 const struct origin *from);
/* The same from any thread: it is said once door_hear is called. */
void door_refuse_later(struct door *door, enum net_refusal refusal,
                       const struct origin *from);
void door_hear(struct door *door, nanos now);

/* An offence of who has this key (or 0) and comes from there; the third bans
 * it. */
void door_strike(struct door *door, nanos now, uint64_t key,
                 const struct origin *from);
/* From any thread. */
bool door_bans(struct door *door, nanos now, uint64_t key,
               const struct origin *from);

/* Whether this key may be here; from any thread. */
bool door_knows(struct door *door, uint64_t key);
/* As a machine is told of it. */
uint64_t door_event_key(struct door *door, uint64_t key);

#endif
