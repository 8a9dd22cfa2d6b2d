/* Runs tasks in processes of their own, some at a time. */
#ifndef BENCH_CONVERGENCE_CREW_H
#define BENCH_CONVERGENCE_CREW_H

#include "bench/convergence/outcome.h"

/* outcomes[i] is that of tasks[i]; says on stderr how far it is. After SIGTERM
 * no more are begun: what was not run is not `done`. */
void crew_tasks(struct task *tasks, unsigned count, unsigned workers,
                struct outcome *outcomes);

#endif
