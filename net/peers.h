/* The connections of a channel that the machine knows, or is to be told of. */
#ifndef NET_PEERS_H
#define NET_PEERS_H

#include "core/index.h"
#include "net/origin.h"
#include "seam/machine.h"

enum stage {
    STAGE_JOINING, /* the machine is to be told of it */
    STAGE_JOINED,  /* the machine knows it */
    STAGE_ENDING   /* the machine is to be told that it is gone */
};

struct connection {
    enum stage stage;
    peer_id peer;
    uint64_t number;  /* by which its station knows it */
    uint64_t ordinal; /* in which it came */
    struct origin origin;
    uint64_t key;   /* whose it is, or 0 */
    bool deaf;      /* what it still says is not heard */
    nanos leave_at; /* when the machine is told, if ENDING */
};

struct peers {
    struct connection **list; /* in the order they came */
    unsigned count, room;
    uint64_t came; /* ever */
    struct index ids, numbers;
};

/* Zeroed at first. */
void peers_free(struct peers *peers);

/* A new JOINING connection; it stays where it is until it is removed. One of
 * the same number as another that is there takes its place in look-ups. */
struct connection *peers_add(struct peers *peers, peer_id peer,
                             uint64_t number);
void peers_remove(struct peers *peers, struct connection *connection);

/* All of these take constant time. */
struct connection *peers_by_number(const struct peers *peers, uint64_t number);
/* Only a JOINED one; in whatever stage it is. */
struct connection *peers_by_id(const struct peers *peers, peer_id peer);
struct connection *peers_named(const struct peers *peers, peer_id peer);

/* Has the machine told at `leave_at`, or before, if it knows it. */
void connection_end(struct connection *connection, nanos leave_at);

#endif
