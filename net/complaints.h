/* Says what peers do wrong, without letting them fill a log. */
#ifndef NET_COMPLAINTS_H
#define NET_COMPLAINTS_H

#include "net/net.h"

struct complaints {
    const struct net_owner *owner; /* borrowed; its `note` is told */
    nanos next;                    /* nothing is said before */
    unsigned held;                 /* offences since that were not said */
};

void complaints_init(struct complaints *complaints,
                     const struct net_owner *owner);
/* NOTE_OFFENCE of the peer behind `fd` (or -1), at most once per second. */
void complain(struct complaints *complaints, nanos now, int fd,
              const char *words);

#endif
