/* Who learns and who judges in a task. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/convergence/outcome.h"
#include "core/prng.h"
#include "sim/study/pupil.h"
#include "train/trainer.h"

struct pupil *task_pupil(const struct task *task, enum role role, unsigned node)
{
    const struct arm *arm = task->arm;
    const struct workload *workload = &workloads[arm->workload];
    unsigned start = arm->twists & SAME_START ? 0 : node;
    struct pupil *pupil = NULL;
    char model[128], data[PATH_MAX];
    struct trainer_choice choice = {.model = model,
                                    .data = data,
                                    .seed =
                                        prng_mix(task->seed ^ prng_mix(start)),
                                    .split_seed = task->seed,
                                    .shard = node,
                                    .shards = arm->nodes};
    struct why why = {""};

    (void)snprintf(model, sizeof model, "%s,lr=%.9g", workload->model,
                   arm_rate(arm));
    (void)snprintf(data, sizeof data, "%s/%s", task->folder,
                   workload->data[role]);
    if (pupil_open(&choice, &pupil, &why) == STATUS_OK)
        return pupil;
    (void)fprintf(stderr, "convergence: %s\n", why.text);
    exit(1);
}
