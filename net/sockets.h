/* Making ZeroMQ sockets, with every setting that they need.
 *
 * Each row says in sockets.c what it is against. Never set, because they end
 * the process or cut healthy links: HEARTBEAT_*, CONFLATE, ROUTING_ID.
 * A socket comes with its monitor, a PAIR socket that tells of connections;
 * both are polled and owned by the loop's thread. */
#ifndef NET_SOCKETS_H
#define NET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/words.h"
#include "net/address.h"
#include "net/net.h"

enum {
    CONTROL_BYTES = 64 * 1024, /* largest frame on control */
    FRAME_SPARE_BYTES = 1024,  /* room of MAXMSGSIZE above that */
    DEFAULT_CHUNK_BYTES = 64 * 1024 * 1024,
    DEFAULT_WINDOW = 4096,
    RECONNECT_MILLISECONDS = 250 /* at least; nothing connects sooner */
};

struct socket_plan {
    enum channel channel;
    bool binds; /* a ROUTER; else a DEALER */
    struct address address;
    size_t payload_bytes; /* largest payload on this channel */
    int send_limit;       /* messages per peer that libzmq may hold */
    const struct net_keys *keys; /* borrowed; or NULL */
    bool held; /* it is not to connect yet */
};

struct sockets {
    void *socket;
    void *monitor;
};

/* `control` is the address of control; bulk is behind it. `keys` are NULL
 * where there are none. */
struct socket_plan socket_plan(const struct net_config *config,
                               enum channel channel, bool binds,
                               const struct address *control,
                               const struct net_keys *keys);

/* A context for a hub or a node; NULL when there is no memory or descriptor.
 * For a hub, seeds random() first: a peer that guesses the next routing id
 * would abort the process. */
void *context_new(bool binds);

/* Creates socket and monitor, binds or begins to connect. On failure nothing
 * is left behind. */
enum status sockets_open(void *context, const struct socket_plan *plan,
                         struct sockets *out, struct why *why) MUST_CHECK;
/* What was sent has 2 s to get out, behind our back until the context ends. */
void sockets_close(struct sockets *sockets);

/* Makes it a CURVE server that lets in whom ZAP says yes to, and nobody where
 * nobody answers; or a client. false when libzmq cannot. */
bool socket_use_keys(void *socket, const struct net_keys *keys,
                     bool binds) MUST_CHECK;

enum sight {
    SIGHT_NONE,
    SIGHT_CAME,     /* a connection has descriptor `fd` */
    SIGHT_READY,    /* the last that came can be used */
    SIGHT_REFUSED,  /* the other side does not let this key in */
    SIGHT_MISMATCH, /* one side has keys and the other has none */
    SIGHT_NONSENSE, /* the other side does not speak as it should */
    SIGHT_BROKEN,   /* it ended before anything was agreed */
    SIGHT_GONE,     /* `fd` is about to be closed, and belongs to nobody from
                       here on */
    SIGHTS
};

/* What the monitor saw next. Why a connection failed comes just before it is
 * GONE. */
enum sight monitor_look(void *monitor, int *fd);

#endif
