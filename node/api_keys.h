/* A link's keys: its own, the hub's, and how it enrols. */
#ifndef NODE_API_KEYS_H
#define NODE_API_KEYS_H

#include "keys/certificate.h"
#include "net/enrol.h"
#include "store/file.h"

struct link_keys {
    char path[FILE_PATH_BYTES]; /* of its own key */
    struct certificate own;
    struct enrol *enrol; /* under way, or NULL */
};

/* Takes `key` (NULL or "": $STARSWITCH_KEY; none: nothing is encrypted) and the
 * file `identity` (NULL or "": by the name, or the host's if there is none)
 * into the configuration, which is held if the node has to enrol first. CONFIG,
 * IO, MALFORMED, UNAVAILABLE. */
enum status link_keys_open(struct link_keys *keys, const char *key,
                           const char *identity, const char *name,
                           struct net_config *config,
                           struct why *why) MUST_CHECK;
/* On the network's thread, about ten times a second while `enrol` is there:
 * DONE once, then the node may connect; REFUSED once, for good. */
enum enrol_state link_keys_step(struct link_keys *keys, nanos now,
                                struct why *why);
void link_keys_close(struct link_keys *keys);

#endif
