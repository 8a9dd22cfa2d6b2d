/* Two ways to broadcast datagrams of UDP on the networks of this PC, and to
 * hear them, on port BEACON_PORT; what the one says, the other hears. Builds
 * with PORTABLE=1, which need no shared library, have the second only. */
#ifndef NET_BEACON_CAST_H
#define NET_BEACON_CAST_H

#include "core/endpoint.h"
#include "core/time.h"
#include "net/beacon/beacon.h"

enum {
    CAST_INTERVAL = 500, /* ms, from one datagram to the next */
    CAST_NETWORKS = 16,  /* at most; others hear nothing */
    MARK_BYTES = 8
};

struct cast {
    /* On the network whose address of this PC is `host`; 0.0.0.0: on all.
     * NULL: no broadcast there, or no memory. Says nothing yet. */
    void *(*announce)(const char *host);
    /* Says these bytes from now on, at once and each CAST_INTERVAL. */
    void (*say)(void *announcer, const uint8_t bytes[BEACON_BYTES]);
    void (*hush)(void *announcer);

    /* For datagrams that begin with `mark`, though others may come through.
     * NULL: nobody can listen here now. */
    void *(*listen)(const char mark[MARK_BYTES]);
    /* Waits `left` ms at most; returns how many bytes were heard, 0 for none,
     * and who has sent them. */
    size_t (*hear)(void *listener, int left, uint8_t out[BEACON_BYTES],
                   char host[ENDPOINT_HOST_BYTES]);
    void (*leave)(void *listener);
};

extern const struct cast cast_zbeacon; /* CZMQ's */
extern const struct cast cast_sockets; /* and a thread that announces */

#endif
