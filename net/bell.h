/* Wakes the loop from other threads: an eventfd that is readable once it has
 * been rung, until it is hushed. */
#ifndef NET_BELL_H
#define NET_BELL_H

#include "core/status.h"

struct bell {
    int fd; /* readable when it has been rung */
};

/* UNAVAILABLE when the process has no descriptor left. */
enum status bell_init(struct bell *bell, struct why *why) MUST_CHECK;
void bell_free(struct bell *bell);
/* From any thread or signal handler; never blocks. */
void bell_ring(const struct bell *bell);
/* Hush first, then look for what is new: then nothing is missed. */
void bell_hush(const struct bell *bell);

#endif
