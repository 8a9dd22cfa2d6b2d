/* How long the choice takes until its goal, with what really trains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/process_pool.h"
#include "sim/study/scenario.h"
#include "sim/study/statistics.h"
#include "sim/study/tune.h"

static void run(void *of, unsigned number, void *result)
{
    const struct tune *tune = of;
    struct outcome *outcome = result;
    struct scenario *scenario = NULL;
    struct options options;
    struct why why = {""};

    tune_apply(tune, &tune->rows[tune->best].setting, &options);
    if (scenario_open(&options, &scenario, &why) == STATUS_OK)
        scenario_run(scenario, tune->options.seed + number, NULL, outcome);
    else
        (void)snprintf(outcome->trouble, sizeof outcome->trouble, "%s",
                       why.text);
    scenario_close(&scenario);
}

static void conclude(const struct outcome *outcomes, unsigned count,
                     struct tune_goal *out)
{
    double *times = calloc(count, sizeof *times);

    if (!times)
        abort();
    for (unsigned i = 0; i < count; i++) {
        const struct outcome *outcome = &outcomes[i];
        bool reached = outcome->done && outcome->reached;

        times[i] = reached ? outcome->time : INFINITY;
        if (!reached)
            memcpy(out->trouble, outcome->trouble, sizeof out->trouble);
    }
    out->seconds = statistics_quantile(times, count, 0.5);
    out->least = times[0];
    out->most = times[count - 1];
    free(times);
}

bool tune_until_goal(struct tune *tune, unsigned workers, const char *noun)
{
    struct outcome *outcomes = calloc(tune->seeds, sizeof *outcomes);
    const struct process_pool pool = {.count = tune->seeds,
                                      .workers = workers,
                                      .size = sizeof *outcomes,
                                      .of = tune,
                                      .run = run,
                                      .together = true,
                                      .noun = noun};
    bool whole;

    if (!outcomes)
        abort();
    whole = process_pool_run(&pool, outcomes);
    if (whole)
        conclude(outcomes, tune->seeds, &tune->goal);
    free(outcomes);
    return whole;
}
