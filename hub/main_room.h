/* Says in time that the disk is too small for the run. */
#ifndef HUB_MAIN_ROOM_H
#define HUB_MAIN_ROOM_H

#include "hub/main_display.h"
#include "store/centre.h"
#include "store/room.h"

/* All but the model's size, which is 0 until room_watch knows it. */
struct room_plan room_plan(const struct options *options,
                           const struct policy *policy);
/* Looks once, as soon as it is known which model the run is of. */
void room_watch(struct room_plan *plan, const struct centre_store *store,
                struct display *display, nanos now);

#endif
