/* A run while it goes on: all processes, and the log of what is done to them.
 */
#ifndef TESTS_CHAOS_STAGE_H
#define TESTS_CHAOS_STAGE_H

#include "core/prng.h"
#include "tests/chaos/actor.h"

struct stage {
    const struct drive *drive;
    FILE *log;
    struct prng prng;
    nanos begun, said, measured;
    struct actor actors[ACTORS];
    unsigned begins[FAULTS], lives;
};

/* Begins or ends a fault. */
typedef void act(struct stage *stage, struct actor *actor, enum fault fault);
act kill_actor, revive_actor, stop_actor, go_on_actor, begin_link, end_link,
    lose_hub, fill_disk, free_disk;

void send_signal(const struct actor *actor, int number);
const char *fault_name(enum fault fault);

#endif
