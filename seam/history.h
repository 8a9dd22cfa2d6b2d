/* The history of a run: one hash of all that its machines were told and did.
 *
 * Equal histories have equal hashes, and two runs that differ in anything that
 * a transcript (seam/transcript.h) would show have different ones. No line is
 * written for it, so that it costs next to nothing. */
#ifndef SEAM_HISTORY_H
#define SEAM_HISTORY_H

#include <stdint.h>

#include "seam/machine.h"

struct history {
    uint64_t hash; /* XXH3-64 of an event or effect, seeded with that of those
                      before */
};

void history_init(struct history *history);
/* Adds a machine's step: its event, and the effects that came of it. */
void history_add(struct history *history, const char *machine,
                 const struct event *event, const struct effects *effects);
uint64_t history_hash(const struct history *history);

#endif
