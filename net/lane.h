/* A channel of the driver as the loop has it: the connections that the machine
 * knows, in front of the station that has all of them.
 *
 * A lane does everything but step the machine: it says which event is due, and
 * the loop steps. Where it binds, a connection joins with its first message;
 * where it connects there is one connection, which joins when hands are
 * shaken. */
#ifndef NET_LANE_H
#define NET_LANE_H

#include "net/door.h"
#include "net/peers.h"
#include "net/station.h"

struct lane {
    struct channel_plan plan;
    struct station *station;
    struct peers peers;
    struct door *door;     /* borrowed */
    nanos change_at;       /* no JOIN or LEAVE is due before */
    struct origin changed; /* of whom the last of them was */
    /* Where it connects: why it could not since it last could, and what the
     * system said last. */
    unsigned hindered[HINDRANCE_COUNT];
    struct net_trouble trouble;
    bool met;    /* it has been connected */
    bool served; /* the hub has said more than goodbye since it last was */
};

/* A message as it goes to the machine. */
struct heard {
    peer_id peer;
    bool joins;   /* it is the first: tell the machine of the peer before */
    uint64_t key; /* as in events */
    struct origin origin;
    struct msg msg;
    struct blob *payload; /* a reference, the caller's; or NULL */
};

enum hearing { HEARD_NOTHING, HEARD_NOISE, HEARD_MESSAGE };

/* Opens the station; pool, door and bell are borrowed. */
enum status lane_open(struct lane *lane, const struct channel_plan *plan,
                      struct pool *pool, struct door *door,
                      const struct bell *bell, struct why *why) MUST_CHECK;
/* What was sent last has 2 s to get out: from the one on, until the other
 * returns. Also for a zeroed lane. */
void lane_stop(struct lane *lane);
void lane_close(struct lane *lane);

/* The next JOIN or LEAVE that is due, with its peer; false when none is. */
bool lane_change(struct lane *lane, nanos now, struct event *out);
/* When the lane wants the loop's attention, if nothing happens before. */
nanos lane_deadline(const struct lane *lane);

/* Takes the next notice of the station. NOISE: there is no message in it. */
enum hearing lane_receive(struct lane *lane, nanos now, struct heard *out);
/* Whether the machine still wants to hear of this peer. */
bool lane_hears(struct lane *lane, peer_id peer);
/* Sends, or keeps it for later; what is for nobody is forgotten. A peer that
 * leaves too much behind is cut. */
void lane_send(struct lane *lane, peer_id peer, const struct msg *msg,
               struct blob *payload);

/* What the machine has dropped: deaf at once, and cut once what was sent last
 * had a second to arrive. */
void lane_drop(struct lane *lane, nanos now, peer_id peer);
/* From now on payloads may be so long. */
void lane_limit(struct lane *lane, size_t payload_bytes);
/* Cuts all whose key is not known any more, or banned. */
void lane_sweep(struct lane *lane, nanos now);
/* An offence of this peer, says the machine; false when it is not there. */
bool lane_strike(struct lane *lane, nanos now, peer_id peer);

/* If it connects: whether it is connected. */
bool lane_is_connected(const struct lane *lane);
/* And the hub there has answered, as with WELCOME. */
bool lane_is_served(const struct lane *lane);
/* From now on it connects there. */
void lane_move(struct lane *lane, nanos now, const struct address *address);

#endif
