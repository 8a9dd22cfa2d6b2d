/* From options to a hub's configuration: what a program of ours that runs a
 * hub is told, the hub itself or a simulator. */
#ifndef HUB_CONFIGURE_H
#define HUB_CONFIGURE_H

#include "core/options.h"
#include "hub/hub.h"

/* Sets all that options say about exchange, policy and end, and leaves run,
 * save and evaluate alone. Where no codec is named, changes of parameters are
 * int8, and so are their results if they can be changes; all else is raw. USAGE
 * for names that do not exist, CONFIG for choices that do not go together. */
enum status hub_configure(const struct options *options,
                          struct hub_config *config,
                          struct why *why) MUST_CHECK;

/* Why results cannot be changes of those before with this policy, as words, or
 * NULL when they can. */
const char *configure_changes_conflict(const struct policy *policy);
/* The same for MISS_CUT; policy and tasks are settled. */
const char *configure_cut_conflict(const struct hub_config *config);

#endif
