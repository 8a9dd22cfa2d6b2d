/* What a hub's program ends with once the run, or its part in it, is over. */
#ifndef HUB_PROGRAM_END_H
#define HUB_PROGRAM_END_H

#include "core/options.h"
#include "core/status.h"
#include "hub/hub.h"

/* AGAIN: another hub has taken the run over; IO: the last centre could not be
 * saved, and the sentence says what the directory holds instead; SHORT: there
 * is a goal, and the run is over without, or the hub was stopped before its
 * goal, iterations or epochs. What became of its report, `reported`
 * with its sentence in `why`, comes behind what became of its model. */
enum status end_of_run(const struct options *options,
                       const struct hub_view *view, enum status reported,
                       struct why *why) MUST_CHECK;

#endif
