/* A channel of the driver as the loop has it: the connections that the machine
 * knows, in front of the station that has all of them.
 *
 * A channel does everything but step the machine: it says which event is due,
 * and the loop steps. Where it binds, a connection joins with its first
 * message; where it connects there is one connection, which joins when hands
 * are shaken. */
#ifndef NET_CHANNEL_H
#define NET_CHANNEL_H

#include "net/admission.h"
#include "net/peers.h"
#include "net/station.h"

struct net_channel {
    struct channel_plan plan;
    struct station *station;
    struct peers peers;
    struct admission *admission; /* borrowed */
    nanos change_at;             /* no JOIN or LEAVE is due before */
    struct origin changed;       /* of whom the last of them was */
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

/* Opens the station; pool, admission and bell are borrowed. */
enum status net_channel_open(struct net_channel *channel,
                             const struct channel_plan *plan, struct pool *pool,
                             struct admission *admission,
                             const struct bell *bell,
                             struct why *why) MUST_CHECK;
/* What was sent last has 2 s to get out: from the one on, until the other
 * returns. Also for a zeroed channel. */
void net_channel_stop(struct net_channel *channel);
void net_channel_close(struct net_channel *channel);

/* The next JOIN or LEAVE that is due, with its peer; false when none is. */
bool net_channel_change(struct net_channel *channel, nanos now,
                        struct event *out);
/* When the channel wants the loop's attention, if nothing happens before. */
nanos net_channel_deadline(const struct net_channel *channel);

/* Takes the next notice of the station. NOISE: there is no message in it. */
enum hearing net_channel_receive(struct net_channel *channel, nanos now,
                                 struct heard *out);
/* Whether the machine still wants to hear of this peer. */
bool net_channel_hears(struct net_channel *channel, peer_id peer);
/* Sends, or keeps it for later; what is for nobody is forgotten. A peer that
 * leaves too much behind is cut. */
void net_channel_send(struct net_channel *channel, peer_id peer,
                      const struct msg *msg, struct blob *payload);

/* What the machine has dropped: deaf at once, and cut once what was sent last
 * had a second to arrive. */
void net_channel_drop(struct net_channel *channel, nanos now, peer_id peer);
/* From now on payloads may be so long. */
void net_channel_limit(struct net_channel *channel, size_t payload_bytes);
/* Cuts all whose key is not known any more, or banned. */
void net_channel_sweep(struct net_channel *channel, nanos now);
/* An offence of this peer, says the machine; false when it is not there. */
bool net_channel_add_score(struct net_channel *channel, nanos now,
                           peer_id peer);

/* If it connects: whether it is connected. */
bool net_channel_is_connected(const struct net_channel *channel);
/* And the hub there has answered, as with WELCOME. */
bool net_channel_is_served(const struct net_channel *channel);
/* From now on it connects there. */
void net_channel_move(struct net_channel *channel, nanos now,
                      const struct address *address);

#endif
