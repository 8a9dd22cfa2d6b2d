/* Threads that run jobs, in the order they are given, away from the loop.
 *
 * Given and taken by the loop's thread. How many jobs there are at a time is
 * for the machine to bound. All signals are blocked in these threads. */
#ifndef NET_WORKERS_H
#define NET_WORKERS_H

#include "net/bell.h"
#include "seam/machine.h"

struct workers;

/* `bell` is borrowed and rung when a job is done and none was waiting to be
 * taken, so take until there is none. UNAVAILABLE when the system gives no
 * thread. */
enum status workers_new(unsigned threads, const struct bell *bell,
                        struct workers **workers, struct why *why) MUST_CHECK;
/* Waits for the jobs that run; destroys those that do not run yet, and those
 * that are done and were not taken. */
void workers_destroy(struct workers **workers);
/* Takes the job over. */
void workers_give(struct workers *workers, struct job *job);
/* For how long jobs have waited while none has begun; 0: none waits. */
nanos workers_stalled(struct workers *workers, nanos now);
/* A job that is done, now the caller's, or NULL. */
struct job *workers_pop(struct workers *workers);

#endif
