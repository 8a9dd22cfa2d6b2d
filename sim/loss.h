/* The cost of lost packets on a link, in time (the model: sim/world.h). */
#ifndef SIM_LOSS_H
#define SIM_LOSS_H

#include "core/prng.h"
#include "sim/world.h"

/* How much later a message of so many bytes is there, as packets of it are
 * lost. Last: its connection sends nothing behind it. Draws nothing where the
 * link loses nothing. */
nanos loss_delay(struct prng *prng, const struct world_link *link,
                 uint64_t bytes, bool last);

/* The fastest that congestion avoidance comes to, bytes per second; 0: no
 * limit. */
uint64_t loss_ceiling(const struct world_link *link);

#endif
