/* The hub, where nobody has said which. */
#ifndef NODE_PROGRAM_FIND_H
#define NODE_PROGRAM_FIND_H

#include "core/options.h"

/* Without --hub: leaves the default if a hub listens there or none is heard,
 * or else puts in its place the one that announces itself on this network, or
 * of several the one whose key `key` holds. CONFIG: several, and the sentence
 * lists them; or one that this key is not of. */
enum status main_find_hub(struct options *options, struct why *why) MUST_CHECK;

#endif
