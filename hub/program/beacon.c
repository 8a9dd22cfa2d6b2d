#include "hub/program/beacon.h"

#include <stdio.h>

struct beacon *hub_beacon_open(const struct options *options,
                               const struct hub_keys *keys, uint64_t run)
{
    struct beacon_hub self = {
        .at = options->listen, .run = run, .keyed = keys->on};
    struct beacon *beacon;
    struct why why;

    if (!options->lan || options->no_beacon)
        return NULL;
    if (keys->on)
        beacon_fingerprint(&keys->ring.hub.shown, self.fingerprint);
    if (beacon_announce(&self, &beacon, &why) == STATUS_OK)
        return beacon;
    (void)fprintf(stderr, "starswitch-hub: %s\n", why.text);
    return NULL;
}
