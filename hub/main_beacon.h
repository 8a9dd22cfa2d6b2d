/* How nodes of the hub's network find it: with --lan. */
#ifndef HUB_MAIN_BEACON_H
#define HUB_MAIN_BEACON_H

#include "beacon/beacon.h"
#include "hub/hub.h"
#include "hub/main_keys.h"

/* Announces the hub of these options, once it listens; NULL if it is not to,
 * or cannot: then it says so. */
struct beacon *hub_beacon_open(const struct options *options,
                               const struct hub_keys *keys, uint64_t run);

#endif
