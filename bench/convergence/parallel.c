#include "bench/convergence/parallel.h"

#include <string.h>
#include <time.h>

#include "sim/study/process_pool.h"

void task_run(const struct task *task, struct outcome *out)
{
    double began = process_seconds();

    memset(out, 0, sizeof *out);
    if (task->arm->kind == STAR)
        star_run(task, out);
    else
        alone_run(task, out);
    out->cost = process_seconds() - began;
}

static void run(void *of, unsigned number, void *result)
{
    const struct task *tasks = of;

    task_run(&tasks[number], result);
}

void parallel_tasks(struct task *tasks, unsigned count, unsigned workers,
                    struct outcome *outcomes)
{
    const struct process_pool pool = {.count = count,
                                      .workers = workers,
                                      .size = sizeof *outcomes,
                                      .of = tasks,
                                      .run = run,
                                      .noun = "runs"};

    (void)process_pool_run(&pool, outcomes);
}
