/* Admission to a hub: who is let in, and what is held against whom.
 *
 * Both channels have the same one. It says who is banned and whose key is
 * known, and counts whom it refuses. Nobody on this machine is ever banned but
 * by a key: that is where its operator and most tests are. Stations ask and
 * refuse on threads of their own; what they refuse is said by the loop. */
#ifndef NET_ADMISSION_H
#define NET_ADMISSION_H

#include "net/allowed_keys.h"
#include "net/bans.h"
#include "net/complaints.h"
#include "net/net.h"
#include "net/origin.h"

enum { CONNECTIONS_MAX = 32768 /* per channel */ };

/* What has been refused and not been said yet. */
struct refused {
    uint64_t count;
    struct origin last;
};

struct admission {
    bool keyed;
    struct allowed_keys allowed; /* if it is */
    struct bans bans;
    struct net_refusals refusals;
    struct complaints complaints;
    unsigned room;        /* connections per channel; more are refused */
    bool look_anew;       /* somebody who is in may have to go */
    pthread_mutex_t lock; /* of what follows */
    struct refused refused[REFUSAL_COUNT];
};

/* Reads how many descriptors the process may have; the owner is borrowed. */
void admission_init(struct admission *admission, const struct net_owner *owner);
void admission_free(struct admission *admission);

/* Counts it, and says it at most once in ten seconds. */
void admission_refuse(struct admission *admission, nanos now,
                      enum net_refusal refusal, const struct origin *from);
/* The same from any thread: it is said once admission_tell is called. */
void admission_refuse_later(struct admission *admission,
                            enum net_refusal refusal,
                            const struct origin *from);
void admission_tell(struct admission *admission, nanos now);

/* An offence of who has this key (or 0) and comes from there; the third bans
 * it. */
void admission_add_score(struct admission *admission, nanos now, uint64_t key,
                         const struct origin *from);
/* From any thread. */
bool admission_bans(struct admission *admission, nanos now, uint64_t key,
                    const struct origin *from);

/* Whether this key may be here; from any thread. */
bool admission_knows(struct admission *admission, uint64_t key);
/* As a machine is told of it. */
uint64_t admission_event_key(struct admission *admission, uint64_t key);

#endif
