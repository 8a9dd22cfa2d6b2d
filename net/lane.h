/* A channel of the driver: its socket, and the connections on it.
 *
 * A lane does everything but step the machine: it says which event is due, and
 * the loop steps. Three files: lane.c knows who comes and goes, traffic.c
 * receives and sends, guard.c looks after connections every 100 ms.
 *
 * On a lane that binds, a connection joins with its first message, and is cut
 * by shutting its descriptor down; libzmq then closes it. On a lane that
 * connects there is one connection, which joins when the monitor says so, and
 * is cut by replacing the socket. */
#ifndef NET_LANE_H
#define NET_LANE_H

#include "net/door.h"
#include "net/peers.h"
#include "net/sockets.h"

struct lane {
    void *context;
    struct socket_plan plan;
    struct sockets sockets; /* NULL while a new socket cannot be had */
    struct peers peers;
    struct door *door;     /* borrowed */
    struct pool *pool;     /* borrowed; for what is received */
    peer_id next_peer;     /* if it binds: odd on bulk, else even */
    int connected_fd;      /* the last that came */
    enum sight ended;      /* why the next that is gone goes, or NONE */
    unsigned ends[SIGHTS]; /* if it connects: since it last could */
    bool held;              /* it is not to connect yet */
    bool replace;          /* the socket, at the next occasion */
    nanos replace_at;      /* the same, when it is time; or NEVER */
    nanos change_at;       /* no JOIN or LEAVE is due before */
    nanos retry_at;        /* an outbox waits, or NEVER */
};

/* A message as it goes to the machine. */
struct heard {
    peer_id peer;
    bool joins; /* it is the first: tell the machine of the peer before */
    uint64_t key; /* as in events */
    struct msg msg;
    struct blob *payload; /* a reference, the caller's; or NULL */
};

enum hearing { HEARD_NOTHING, HEARD_NOISE, HEARD_MESSAGE };

/* Opens the socket, or, if the plan is held, leaves that to lane_guard once the
 * lane is not any more; context, door and pool are borrowed. */
enum status lane_open(struct lane *lane, void *context,
                      const struct socket_plan *plan, struct pool *pool,
                      struct door *door, struct why *why) MUST_CHECK;
/* Closes the socket, which lingers in the context. Also for a zeroed lane. */
void lane_close(struct lane *lane);

/* Takes in what the monitor has seen. */
void lane_notice(struct lane *lane, nanos now);
/* The next JOIN or LEAVE that is due, with its peer; false when none is. */
bool lane_change(struct lane *lane, nanos now, struct event *out);
/* When the lane wants the loop's attention, if nothing happens before. */
nanos lane_deadline(const struct lane *lane);

/* Takes the next message off the socket. NOISE: it was for nobody, or an
 * offence that has been dealt with. */
enum hearing lane_receive(struct lane *lane, nanos now, struct heard *out);
/* Whether the machine still wants to hear of this peer. */
bool lane_hears(struct lane *lane, peer_id peer);
/* Sends, or keeps it for later; what is for nobody is forgotten. A peer that
 * leaves too much behind is cut. */
void lane_send(struct lane *lane, nanos now, peer_id peer,
               const struct msg *msg, struct blob *payload);
/* Sends what was kept. */
void lane_retry(struct lane *lane, nanos now);

/* What the machine has dropped: deaf at once, and cut once what was sent last
 * had a second to arrive. */
void lane_drop(struct lane *lane, nanos now, peer_id peer);
/* Cuts it now. */
void lane_cut(struct lane *lane, nanos now, struct connection *connection);

/* Cuts all whose key is not known any more, or banned. */
void lane_sweep(struct lane *lane, nanos now);
/* An offence of this peer, says the machine; false when it is not there. */
bool lane_strike(struct lane *lane, nanos now, peer_id peer);
/* If it connects: whether it is connected. */
bool lane_is_connected(const struct lane *lane);
/* From now on it connects there. */
void lane_move(struct lane *lane, nanos now, const struct address *address);

/* It is gone, says libzmq: the machine is told as if the monitor had said so.
 */
void lane_lost(struct lane *lane, nanos now, struct connection *connection);

/* Every 100 ms: cuts those who have to be cut, who say nothing, and who send
 * without end; opens a socket that could not be opened. */
void lane_guard(struct lane *lane, nanos now);

#endif
