/* The credentials of a node or a member of a group at a hub with keys: its own
 * key, made when first needed, and how it enrols. */
#ifndef KEYS_CREDENTIALS_H
#define KEYS_CREDENTIALS_H

#include "keys/certificate.h"
#include "keys/enrol.h"
#include "store/file.h"

struct credentials {
    char path[FILE_PATH_BYTES]; /* of its own key */
    struct certificate certificate;
    struct enrol *enrol; /* under way, or NULL */
};

/* Takes `key` (NULL or "": $STARSWITCH_KEY, or the file
 * $STARSWITCH_KEY_FILE; none: nothing is encrypted) and the
 * file `identity` (NULL or "": by the name)
 * into the configuration, which is held if the node has to enrol first. CONFIG,
 * IO, MALFORMED, UNAVAILABLE. */
enum status credentials_open(struct credentials *own, const char *key,
                             const char *identity, const char *name,
                             struct net_config *config,
                             struct why *why) MUST_CHECK;
/* On the network's thread, about ten times a second while `enrol` is there:
 * DONE once, then the node may connect: `why` says why that could not be
 * written down, so that it enrols anew the next time, or nothing; REFUSED once,
 * for good. */
enum enrol_state credentials_step(struct credentials *own, nanos now,
                                  struct why *why);
/* What the hub's operator has to say to let it in. */
void credentials_say(const struct credentials *own, char text[NOTE_BYTES]);
void credentials_close(struct credentials *own);

#endif
