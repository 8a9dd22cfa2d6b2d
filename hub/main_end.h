/* What a hub's program ends with once the run, or its part in it, is over. */
#ifndef HUB_MAIN_END_H
#define HUB_MAIN_END_H

#include "core/status.h"
#include "hub/hub.h"

/* AGAIN: another hub has taken the run over; IO: the last centre could not be
 * saved, and the sentence says what `directory` holds instead. */
enum status end_of_run(const char *directory, const struct hub_view *view,
                       struct why *why) MUST_CHECK;

#endif
