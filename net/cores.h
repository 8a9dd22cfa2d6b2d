/* Reserved cores: the threads of the driver run on these and nowhere else.
 *
 * A thread inherits them from the one that starts it: who enters, opens the
 * driver and leaves again has bound all of its threads and stays where it was.
 */
#ifndef NET_CORES_H
#define NET_CORES_H

#include <sched.h>

#include "core/status.h"

struct cores {
    unsigned count; /* 0: all that there are */
    cpu_set_t set;
};

/* Reads "6-7", "0,2" or "" for none in particular. USAGE when it is no such
 * list, CONFIG when this process may not use one of them, or it is not there.
 */
enum status cores_read(const char *text, struct cores *out,
                       struct why *why) MUST_CHECK;
/* How many these are. */
unsigned cores_count(const struct cores *cores);
/* Binds the calling thread; `before` is for cores_leave. */
void cores_enter(const struct cores *cores, struct cores *before);
void cores_leave(const struct cores *before);
/* The calling thread has little to do at a time and is waited for: it is run
 * at once when it wakes, before threads that have their core for long. Linux
 * 6.12 and later; before, it waits for its turn, some milliseconds. */
void cores_prompt(void);

#endif
