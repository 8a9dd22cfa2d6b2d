/* What became of one arm with one seed. */
#ifndef BENCH_CONVERGENCE_OUTCOME_H
#define BENCH_CONVERGENCE_OUTCOME_H

#include <stdint.h>

#include "bench/convergence/plan.h"

/* A single node is judged after 1/16, 1/8, 1/4, 1/2 and all iterations. */
enum { CURVE = 5 };

struct outcome {
    int done;              /* else `trouble` says why not */
    double loss, accuracy; /* of the held-out samples, at the end */
    double tuning;         /* the loss of the hub's samples */
    double bytes;          /* on the wire, both directions, of a node */
    double duration;       /* virtual seconds */
    double cost;           /* real seconds */
    uint64_t iterations;   /* of all nodes together */
    double curve[CURVE];   /* losses; of ALONE */
    char trouble[128];
};

struct task {
    const struct arm *arm;
    const char *folder;
    uint64_t seed;
    uint64_t iterations; /* of each node */
};

struct local_learner;

/* The local learner that is the task's node `node`, or one that only judges:
 * its role says whose data it has. Ends the program if there is none. */
struct local_learner *task_learner(const struct task *task, enum role role,
                                   unsigned node);

/* Runs it here and now. The same task has the same outcome, but for cost. */
void task_run(const struct task *task, struct outcome *out);

/* The two halves of task_run: star.c and alone.c. */
void star_run(const struct task *task, struct outcome *out);
void alone_run(const struct task *task, struct outcome *out);

#endif
