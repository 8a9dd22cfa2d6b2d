/* Who learns and who judges in a task. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/convergence/outcome.h"
#include "core/prng.h"
#include "sim/study/local_learner.h"
#include "train/trainer.h"

struct local_learner *task_learner(const struct task *task, enum role role,
                                   unsigned node)
{
    const struct arm *arm = task->arm;
    const struct workload *workload = &workloads[arm->workload];
    unsigned start = arm->twists & SAME_START ? 0 : node;
    struct local_learner *learner = NULL;
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
    if (local_learner_open(&choice, &learner, &why) == STATUS_OK)
        return learner;
    (void)fprintf(stderr, "convergence: %s\n", why.text);
    exit(1);
}
