/* The door of a hub: who is let in, and what is held against whom.
 *
 * Both lanes have the same one. It asks before anybody is trusted: how many
 * connections there are, how many of them from one host have said nothing, who
 * is banned, whose key is known. Nobody on this machine is ever banned or a
 * crowd: that is where its operator and most tests are. */
#ifndef NET_DOOR_H
#define NET_DOOR_H

#include "net/bans.h"
#include "net/complaints.h"
#include "net/net.h"
#include "net/origin.h"
#include "net/zap.h"

enum { SILENT_MAX = 256 /* connections of one host that say nothing */ };

struct door {
    struct zap *zap; /* NULL where there are no keys */
    struct bans bans;
    struct net_refusals refusals;
    struct complaints complaints;
    unsigned room;  /* connections per lane; more are refused */
    bool look_anew; /* somebody who is in may have to go */
};

/* Reads how many descriptors the process may have; the owner is borrowed. */
void door_init(struct door *door, const struct net_owner *owner);
void door_free(struct door *door);

/* Counts it, and says it at most once in ten seconds. */
void door_refuse(struct door *door, nanos now, enum net_refusal refusal,
                 const struct origin *from);
/* An offence of who has this key (or 0) and comes from there; the third bans
 * it. */
void door_strike(struct door *door, nanos now, uint64_t key,
                 const struct origin *from);
bool door_bans(struct door *door, nanos now, uint64_t key,
               const struct origin *from);

/* Whether this key may be here; 0 where no keys are used. */
bool door_knows(const struct door *door, uint64_t key);
/* As a machine is told of it. */
uint64_t door_event_key(const struct door *door, uint64_t key);

/* Starts the ZAP thread and tries the door: see net/prove.h. */
enum status door_shut(struct door *door, void *context,
                      const struct net_keys *keys, struct why *why) MUST_CHECK;
/* Takes in what the ZAP thread has refused. */
void door_hear(struct door *door, nanos now);

#endif
