/* How a channel of the driver is made. */
#ifndef NET_PLAN_H
#define NET_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/words.h"
#include "net/address.h"
#include "net/net.h"

enum {
    CONTROL_BYTES = 64 * 1024, /* largest payload on control */
    DEFAULT_CHUNK_BYTES = 64 * 1024 * 1024,
    DEFAULT_WINDOW = 4096
};

struct channel_plan {
    enum channel channel;
    bool binds; /* as a ROUTER; else it connects, as a DEALER */
    struct address address;
    size_t payload_bytes;        /* largest payload on this channel */
    unsigned send_limit;         /* messages that may wait for a peer */
    const struct net_keys *keys; /* borrowed; or NULL */
    bool held;                   /* it does not connect before it is told to */
    unsigned segment; /* of TCP, the longest both ways, where it connects; 0: as
                         the system has it */
};

/* Bytes that a payload on bulk may have where chunks have so many; 0: it is not
 * known. */
size_t plan_bulk_bytes(size_t chunk_bytes);
/* `control` is the address of control; bulk is behind it. `keys` are NULL
 * where there are none. */
struct channel_plan channel_plan(const struct net_config *config,
                                 enum channel channel, bool binds,
                                 const struct address *control,
                                 const struct net_keys *keys);

#endif
