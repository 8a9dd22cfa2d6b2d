/* How nodes of the hub's network find it: with --lan. */
#ifndef HUB_PROGRAM_BEACON_H
#define HUB_PROGRAM_BEACON_H

#include "hub/hub.h"
#include "hub/program/keys.h"
#include "net/beacon/beacon.h"

/* Announces the hub of these options, once it listens; NULL if it is not to,
 * or cannot: then it says so. */
struct beacon *hub_beacon_open(const struct options *options,
                               const struct hub_keys *keys, uint64_t run);

#endif
