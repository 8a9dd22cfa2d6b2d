/* What net.c opens and closes, and loop.c runs. */
#ifndef NET_DRIVER_H
#define NET_DRIVER_H

#include <stdatomic.h>

#include "net/admission.h"
#include "net/bell.h"
#include "net/channel.h"
#include "net/hubs.h"
#include "net/mailbox.h"
#include "net/signals.h"
#include "net/workers.h"

enum { NET_CHANNELS = 2 }; /* indexed by channel: control, bulk */

struct net {
    struct machine machine;
    struct net_owner owner;
    struct pool *pool;
    struct cores cores;
    struct net_channel channels[NET_CHANNELS]; /* a peer's channel is
                                                  channels[peer % 2] */
    struct net_keys keys;
    struct admission admission;
    struct hubs hubs; /* of a node; a hub has none: count is 0 */
    bool connects;    /* when it runs and not before, as then its threads may
                         wait for memory, and cannot be ended meanwhile */
    struct bell bell; /* rung by channels, mailbox, workers and net_stop */
    struct mailbox mailbox;
    struct workers *workers;
    struct signals signals;
    struct effects effects;  /* of the step in hand */
    struct net_trouble half; /* of a hub that takes us, and is none by half */
    nanos looked, mute; /* at the hub; how long it is there and says nothing */
    unsigned bulk_failed; /* in a row, when control was last away */
    nanos next_tick;
    atomic_bool stopping;
};

#endif
