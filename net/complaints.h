/* Says what peers do wrong, without letting them fill a log: of what has the
 * same subject one line in ten seconds, with a count of those not said. */
#ifndef NET_COMPLAINTS_H
#define NET_COMPLAINTS_H

#include "net/net.h"
#include "net/origin.h"

enum {
    COMPLAINTS = 64 /* subjects at a time; of more nothing is said */
};

#define COMPLAINT_INTERVAL (10 * SECOND)

struct complaint {
    uint64_t about;
    nanos next;    /* nothing is said before */
    unsigned held; /* since that were not said */
};

struct complaints {
    const struct net_owner *owner; /* borrowed; its `note` is told */
    struct complaint list[COMPLAINTS];
    unsigned lost; /* of subjects that have made room, or found none */
};

void complaints_init(struct complaints *complaints,
                     const struct net_owner *owner);
/* NOTE_OFFENCE of where it comes from, or NULL for the hub; once per prefix. */
void complain(struct complaints *complaints, nanos now,
              const struct origin *from, const char *words);
/* The same, once per `about`, whoever it is; the address is said. */
void complain_about(struct complaints *complaints, nanos now, uint64_t about,
                    const struct origin *from, const char *words);

#endif
