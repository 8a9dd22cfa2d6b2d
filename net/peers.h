/* The connections of one socket: who is there, and who is on the way out.
 *
 * A connection is known by its descriptor as soon as the monitor has seen it,
 * by its routing id from its first message on, and to the machine by its peer
 * id. Descriptors are used again by the system; routing ids are not, and those
 * of connections that are gone are remembered, as a last message of theirs may
 * still be in libzmq when their descriptor already belongs to somebody else. */
#ifndef NET_PEERS_H
#define NET_PEERS_H

#include "codec/msg.h"
#include "core/index.h"
#include "net/frames.h"
#include "net/origin.h"
#include "seam/machine.h"

enum {
    PEERS_MAX = 32768,   /* connections per socket; more are cut */
    PEERS_GONE = 1024,   /* routing ids that are remembered */
    OUTBOX_MESSAGES = 64 /* that wait for room in libzmq; then it is cut */
};

enum stage {
    STAGE_SILENT,  /* it is there and has said nothing yet */
    STAGE_JOINING, /* the machine is to be told of it */
    STAGE_JOINED,  /* the machine knows it */
    STAGE_ENDING,  /* the machine is to be told that it is gone */
    STAGE_CUT,     /* nobody wants it; the system has not closed it yet */
};

/* Messages for which libzmq has no room yet, in a ring. */
struct outbox {
    struct parcel *parcels; /* OUTBOX_MESSAGES, or NULL when never needed */
    unsigned first, count;
};

struct parcel {
    size_t size;
    unsigned char header[MSG_MAX_BYTES];
    struct blob *payload; /* a reference, or NULL */
};

struct connection {
    enum stage stage;
    uint64_t ordinal;   /* in which it came */
    int fd;             /* -1 when it is closed: peers_close */
    uint64_t cookie;    /* the system's own number of what fd was then */
    bool shut;          /* it has been shut down */
    peer_id peer;       /* PEER_NONE while SILENT: peers_name */
    routing_id routing; /* of a peer, where there are many */
    struct origin origin;
    uint64_t key;       /* whose it is, once it has said something; or 0 */
    bool deaf;          /* what it still says is not heard */
    nanos since;        /* when it came */
    nanos leave_at;     /* when the machine is told, if ENDING */
    nanos cut_at;       /* when the descriptor is shut down, or NEVER */
    int64_t delivered;  /* bytes that we have taken from it */
    int64_t unread;     /* bytes that had come and were not taken, lately */
    struct outbox outbox;
};

struct peers {
    struct connection **list; /* in the order they came */
    unsigned count, room;
    uint64_t came;                   /* ever */
    struct index fds, routings, ids; /* of those that have one */
    routing_id gone[PEERS_GONE]; /* a ring */
    unsigned gone_count;         /* ever */
};

void peers_init(struct peers *peers);
void peers_free(struct peers *peers);

/* A new SILENT connection; NULL when the table is full. It stays where it is
 * until it is removed. */
struct connection *peers_add(struct peers *peers, int fd, nanos now);
/* Releases what waits in its outbox, and remembers its routing id. */
void peers_remove(struct peers *peers, struct connection *connection);

/* It is known by these from now on. */
void peers_name(struct peers *peers, struct connection *connection,
                peer_id peer, routing_id routing);
/* Its descriptor is not its own any more. */
void peers_close(struct peers *peers, struct connection *connection);

/* All of these take constant time. */
struct connection *peers_by_fd(const struct peers *peers, int fd);
struct connection *peers_by_routing(const struct peers *peers,
                                    routing_id routing);
/* Only a JOINED one; in whatever stage it is. */
struct connection *peers_by_id(const struct peers *peers, peer_id peer);
struct connection *peers_named(const struct peers *peers, peer_id peer);
bool peers_was_here(const struct peers *peers, routing_id routing);

/* Has the machine told at `leave_at`, or before, if it knows it. */
void connection_end(struct connection *connection, nanos leave_at);

/* A place at the end of the outbox, to be filled; NULL when it is full. */
struct parcel *outbox_add(struct outbox *outbox);
/* The first parcel, or NULL. */
struct parcel *outbox_first(struct outbox *outbox);
/* Releases the first parcel. */
void outbox_next(struct outbox *outbox);

#endif
