/* Runs many things in processes of their own, some at a time, and brings their
 * results home. What one does to its memory nobody else sees, so a job that
 * dies costs nothing but itself. */
#ifndef SIM_STUDY_PROCESS_POOL_H
#define SIM_STUDY_PROCESS_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* A result must fit in what a pipe takes at once. */
enum { PROCESS_POOL_RESULT_BYTES = 4096, PROCESS_POOL_WORKERS = 64 };

struct process_pool {
    unsigned count;   /* jobs, which are numbers from 0 */
    unsigned workers; /* at a time; 0: as many as there are cores */
    size_t size;      /* bytes of a result, at most PROCESS_POOL_RESULT_BYTES */
    void *of;
    /* In the child: does job `number` and fills `result`, zeroed before. */
    void (*run)(void *of, unsigned number, void *result);
    /* In the parent, whenever a job is done: its result, or NULL if its process
     * died. May be NULL. */
    void (*done)(void *of, unsigned number, const void *result);
    bool together; /* results are of use all together only */
    /* Says on standard error every few seconds how far it is: "12 of 50 NOUN
     * in 8 s, 25 s to go". NULL: says nothing. */
    const char *noun;
};

/* Of a clock that only goes on. */
double process_seconds(void);

/* results[i * size ...] is that of job i; zeros if its process died or it was
 * not begun. After SIGINT or SIGTERM no more are begun, and where results are
 * of use together only those under way are ended; then false, also where all
 * were begun: Ctrl-C ends them, too, as they are of the same terminal. */
bool process_pool_run(const struct process_pool *pool, void *results);

#endif
