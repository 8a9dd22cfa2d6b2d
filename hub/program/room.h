/* Room for the run: for connections, and on the disk, where it says in time
 * that there is too little. */
#ifndef HUB_PROGRAM_ROOM_H
#define HUB_PROGRAM_ROOM_H

#include "hub/program/display.h"
#include "store/centre.h"
#include "store/room.h"

/* A node takes two descriptors, and most systems give a process 1024 at first
 * and let it ask for more. */
void room_for_nodes(void);
/* All but the model's size, which is 0 until room_watch knows it. */
struct room_plan room_plan(const struct options *options,
                           const struct policy *policy);
/* Looks once, as soon as it is known which model the run is of. */
void room_watch(struct room_plan *plan, const struct centre_store *store,
                struct display *display, nanos now);

#endif
