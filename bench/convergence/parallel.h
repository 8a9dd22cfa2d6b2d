/* Runs tasks in processes of their own, some at a time. */
#ifndef BENCH_CONVERGENCE_PARALLEL_H
#define BENCH_CONVERGENCE_PARALLEL_H

#include "bench/convergence/outcome.h"

/* outcomes[i] is that of tasks[i]; says on stderr how far it is. After SIGTERM
 * no more are begun: what was not run is not `done`. */
void parallel_tasks(struct task *tasks, unsigned count, unsigned workers,
                    struct outcome *outcomes);

#endif
