/* Tells the machine, which reads no clock, what the wall clock says: once, and
 * again when that has been set. Who tests a link is told it (hub/probe.h). */
#ifndef HUB_PROGRAM_CLOCK_H
#define HUB_PROGRAM_CLOCK_H

#include <stdbool.h>

#include "net/net.h"

struct wall_clock {
    bool told;
    nanos ahead; /* of net_now, as it was told */
};

/* On the loop's thread, with each tick. */
void clock_tell(struct wall_clock *clock, struct net *net, nanos now);

#endif
