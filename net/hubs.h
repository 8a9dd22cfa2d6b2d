/* The hubs that a node knows, of which it uses one: both channels go there.
 *
 * One that has not served this node for 3 s, and is not connected, makes room
 * for the next in the list, round and round: a hub that is restarted is back
 * before that, and one that takes connections and cuts them serves nobody. Who
 * is connected waits until the node gives up (HUB_DEAF). Names are
 * looked up when the node starts; one that nobody knows is left out as long as
 * there is another. */
#ifndef NET_HUBS_H
#define NET_HUBS_H

#include "net/address.h"
#include "net/channel.h"
#include "net/net.h"

#define HUB_PATIENCE (3 * SECOND)

struct hubs {
    struct address list[ENDPOINTS_MAX]; /* of control */
    unsigned count, at;
    nanos lost_at;                   /* not served since; NEVER: it is */
    unsigned refused[ENDPOINTS_MAX]; /* in a row, when it was last tried */
    bool ended;                      /* the machine has been told */
};

/* UNAVAILABLE when none of their names is known. */
enum status hubs_open(struct hubs *hubs, const struct net_config *config,
                      nanos now, struct why *why) MUST_CHECK;
const struct address *hubs_address(const struct hubs *hubs);

/* Looks at the channel of control; true when both have to go to the next one.
 */
bool hubs_move_on(struct hubs *hubs, nanos now,
                  const struct net_channel *control);
/* Each of them refuses this node, which one alone might do that has not been
 * told of it. */
bool hubs_all_refuse(const struct hubs *hubs);
/* What no hub will change its mind about, said once; else NULL. Without keys
 * nobody proves to be the hub: whatever answers in the place of one that has
 * let this node in ends nothing, and is asked again and again. */
const char *hubs_refuse(struct hubs *hubs, const struct net_channel *control);

#endif
