/* The driver for the real world: runs one machine over ZeroMQ's protocol, a
 * monotonic clock and worker threads.
 *
 * It knows only the seam. A hub listens on two ports (control on p, bulk on
 * p+1) as a ROUTER does, a node connects to both of one hub as a DEALER does.
 * One thread, the loop, owns the machine; a thread for each channel owns its
 * connections; jobs run on worker threads.
 *
 * What a machine may rely on: a connection joins once, then its messages come
 * in the order they were sent, then it leaves once, also when the machine has
 * dropped it itself. Nothing of it comes before or after. A message is whole,
 * well-formed, of its socket's channel, and no larger than allowed; a peer of
 * a hub that sends anything else is cut off. What the machine sends is sent
 * in order or, when the connection is gone, forgotten; nothing ever blocks.
 *
 * No handler is installed and no signal is touched but those of the config,
 * so that a library may use it inside somebody's program. */
#ifndef NET_NET_H
#define NET_NET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/blob.h"
#include "core/endpoint.h"
#include "core/status.h"
#include "core/time.h"
#include "net/cores.h"
#include "net/keys.h"
#include "seam/machine.h"

/* What the loop tells its owner, all on the loop's thread; each may be NULL. */
struct net_owner {
    void *self;
    /* A message that the machine sends to PEER_TRAINER. The payload is
     * borrowed: reference it to keep it. */
    void (*local)(void *self, const struct msg *msg, struct blob *payload);
    /* The machine's notes, and offences that the driver sees, those at most
     * once per second. */
    void (*note)(void *self, nanos now, const struct note *note);
    /* Every event and its effects, before they are carried out. */
    void (*watch)(void *self, const struct event *event,
                  const struct effects *effects);
    /* About every 100 ms, and after each signal; false ends net_run. */
    bool (*tick)(void *self, nanos now);
    void (*signal)(void *self, int number);
};

struct net_config {
    char host[ENDPOINT_HOST_BYTES]; /* a hub: address to bind; a node: the
                                       hub's name or address */
    uint16_t port;                  /* control; bulk is port + 1 */
    struct endpoints hubs; /* a node: instead of host and port, several hubs;
                              one that cannot be reached for 3 s makes room
                              for the next */
    struct net_keys keys;
    bool held;          /* a node: it does not connect before net_connect */
    size_t chunk_bytes; /* largest payload that is legal on bulk; 0: 64 MiB,
                           for a node that has not been told yet */
    unsigned window;    /* messages in flight per node on bulk, 0: 4096; the
                           machine's credit bounds their bytes */
    unsigned workers;   /* threads for jobs, at least 1 */
    struct cores cores; /* on which the threads run: those that it starts, and
                           whoever calls net_run, in there */
    sigset_t signals;   /* for the loop to handle, blocked by the caller in
                           the threads it starts; empty for a library */
};

struct net;

/* Why a hub has not let a connection in, or has cut it before it said
 * anything: REFUSAL(NAME, name, words). */
enum net_refusal {
#define REFUSAL(NAME, name, words) REFUSAL_##NAME,
#include "net/refusals.def"
#undef REFUSAL
    REFUSAL_COUNT
};

/* Indexed by net_refusal; since the hub was opened. */
struct net_refusals {
    uint64_t count[REFUSAL_COUNT];
};

const char *net_refusal_name(enum net_refusal refusal);

/* Why a node has not reached its hub. */
enum net_hindrance {
#define HINDRANCE(NAME, words, advice) HINDRANCE_##NAME,
#include "net/hindrances.def"
#undef HINDRANCE
    HINDRANCE_COUNT
};

enum { REFUSALS_BELIEVED = 3 /* in a row; one may come of a reload */ };

/* What keeps a node from its hub, as it was when it last tried. */
struct net_trouble {
    enum net_hindrance hindrance; /* NONE: it is there, or has not tried yet */
    unsigned times;               /* in a row, for this reason */
    char host[ENDPOINT_HOST_BYTES]; /* which hub, as people wrote it */
    unsigned port;
    char system[80]; /* what the system said, or empty */
};

/* A single try may fail for a reason that is not the one that it seems. */
bool net_trouble_is_sure(const struct net_trouble *trouble);
/* "the hub at ADDRESS ...", and what to do, if wanted. Not of NONE. */
void net_trouble_print(const struct net_trouble *trouble, bool advises,
                       char *out, size_t size);

/* Binds; UNAVAILABLE with a sentence when the port is taken or the address is
 * not ours. The machine, the pool and what owner->self points at must outlive
 * the driver; config and owner are copied, and the copies of the secret key are
 * wiped by net_close. */
enum status net_open_hub(const struct net_config *config,
                         struct machine machine, struct pool *pool,
                         const struct net_owner *owner, struct net **net,
                         struct why *why) MUST_CHECK;
/* Never fails because the hub is not there yet: it keeps trying. UNAVAILABLE
 * when its name is not known. */
enum status net_open_node(const struct net_config *config,
                          struct machine machine, struct pool *pool,
                          const struct net_owner *owner, struct net **net,
                          struct why *why) MUST_CHECK;
/* After net_run has returned, on any one thread. Waits for the job that a
 * worker is in, at most 2 s for what was sent last to get out, and for the
 * system's resolver while it looks up a hub's name; jobs that have not begun,
 * and results nobody took, are destroyed. Accepts NULL. */
void net_close(struct net **net);

/* Runs the loop on this thread until tick says false or net_stop. */
void net_run(struct net *net);
/* From any thread or signal handler: ends net_run soon, or at once when it is
 * called. */
void net_stop(struct net *net);
/* In tick: for how long jobs have waited while none has begun; 0: none waits.
 * What is too long depends on the jobs. */
nanos net_stalled(const struct net *net, nanos now);
/* From any thread, without blocking on the network: hands the machine a
 * message from PEER_TRAINER. Takes over one reference of `payload`. False:
 * there is no memory for it. */
bool net_post(struct net *net, const struct msg *msg, struct blob *payload);

/* Of a node that is held, on the loop's thread: it connects from now on. */
void net_connect(struct net *net);

/* Of a hub with keys, on the loop's thread, or before net_run: lets in who
 * holds one of these keys, and with `enrolment` (or NULL) who may only enrol.
 * All others are refused, and those who are there already are cut at once.
 * Until the first call nobody is let in. Copies the keys. */
void net_allow(struct net *net, const struct key *keys, unsigned count,
               const struct key *enrolment);
/* Of a hub, on the loop's thread. */
/* Of a hub, on the loop's thread: from now on payloads on bulk may be so long;
 * 0: 64 MiB. */
void net_limit(struct net *net, size_t chunk_bytes);
const struct net_refusals *net_refusals(const struct net *net);

/* Of a node, on the loop's thread. */
const struct net_trouble *net_trouble(const struct net *net);

/* Monotonic time, as in events. */
nanos net_now(void);
/* Since 1970 UTC, by the system's clock: it may be set, also back. */
nanos net_wall(void);

#endif
