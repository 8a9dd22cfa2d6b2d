#include "sim/study/arms.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/score.h"
#include "sim/study/process_pool.h"
#include "sim/study/scenario.h"

static_assert(sizeof(struct arm_run) <= PROCESS_POOL_RESULT_BYTES,
              "a run goes through a pipe");

enum status arms_new(const struct grid *grid, const struct options *options,
                     struct arms **out, struct why *why)
{
    unsigned seeds = (unsigned)options->seeds;
    size_t runs = (size_t)grid->places * seeds;
    struct arms *arms;

    if (runs > ARMS_RUNS)
        return because(why, STATUS_USAGE,
                       "%u settings with %u seeds are more than %d runs: "
                       "fewer --seeds, or fewer values",
                       grid->places, seeds, ARMS_RUNS);
    arms = calloc(1, sizeof *arms);
    if (!arms)
        abort();
    arms->grid = grid;
    arms->options = *options;
    arms->count = grid->places;
    arms->seeds = seeds;
    arms->list = calloc(arms->count, sizeof *arms->list);
    arms->order = calloc(arms->count, sizeof *arms->order);
    arms->runs = calloc(runs, sizeof *arms->runs);
    if (!arms->list || !arms->order || !arms->runs)
        abort();
    *out = arms;
    return STATUS_OK;
}

void arms_destroy(struct arms **reference)
{
    struct arms *arms = *reference;

    *reference = NULL;
    if (!arms)
        return;
    free(arms->list);
    free(arms->order);
    free(arms->runs);
    free(arms);
}

/* ---- curves ---- */

/* Every `stride`th look becomes a point. */
struct eye {
    struct arm_run *run;
    unsigned looks, stride;
};

static void thin_out(struct eye *eye)
{
    struct arm_run *run = eye->run;

    for (unsigned i = 0; i < ARM_POINTS / 2; i++)
        run->points[i] = run->points[2 * (size_t)i];
    run->count = ARM_POINTS / 2;
    eye->stride *= 2;
}

static void on_look(void *of, struct world *world)
{
    struct eye *eye = of;
    struct arm_run *run = eye->run;
    struct hub_view view;
    nanos now = world_now(world);

    if (!world_hub(world))
        return;
    hub_look(world_hub(world), now, &view);
    if (!score_known(view.score) || eye->looks++ % eye->stride != 0)
        return;
    if (run->count == ARM_POINTS)
        thin_out(eye);
    run->points[run->count++] = (struct arm_point){
        (float)((double)now / (double)SECOND), (float)view.score};
}

static double last_loss(const struct arm_run *run, double time)
{
    double loss = NAN;

    for (unsigned i = 0; i < run->count; i++)
        if ((double)run->points[i].time <= time)
            loss = (double)run->points[i].loss;
    if (run->outcome.time <= time && score_known(run->outcome.loss))
        loss = run->outcome.loss;
    return loss;
}

double arms_loss_at(const struct arms *arms, unsigned place, double time)
{
    double *values = calloc(arms->seeds, sizeof *values), median = NAN;
    unsigned count = 0;

    if (!values)
        abort();
    for (unsigned i = 0; i < arms->seeds; i++) {
        const struct arm_run *run = arms_run(arms, place, i);
        double loss = last_loss(run, time);

        if (run->outcome.done && !isnan(loss))
            values[count++] = loss;
    }
    if (count)
        median = statistics_quantile(values, count, 0.5);
    free(values);
    return median;
}

/* ---- playing ---- */

static void run(void *of, unsigned number, void *result)
{
    const struct arms *arms = of;
    struct arm_run *run = result;
    struct eye eye = {.run = run, .stride = 1};
    struct scenario_watcher watcher = {.of = &eye, .look = on_look};
    struct options options;
    struct scenario *scenario = NULL;
    struct why why = {""};

    arms_options(arms, number % arms->count, &options);
    if (arms->curves)
        watcher.interval = options.evaluate_centre;
    run->refused = scenario_open(&options, &scenario, &why) != STATUS_OK;
    if (run->refused)
        (void)snprintf(run->outcome.trouble, sizeof run->outcome.trouble,
                       "%.*s", TROUBLE_BYTES - 1, why.text);
    else
        scenario_run(scenario, options.seed + number / arms->count, &watcher,
                     &run->outcome);
    scenario_close(&scenario);
}

static bool is_whole(const struct arms *arms, unsigned seed)
{
    for (unsigned i = 0; i < arms->count; i++) {
        const struct outcome *outcome = &arms_run(arms, i, seed)->outcome;

        if (!outcome->done && !outcome->trouble[0])
            return false;
    }
    return true;
}

/* Keeps the seeds that all arms have been played with, at least one. */
static void keep_whole(struct arms *arms)
{
    unsigned seeds = 0;

    while (seeds < arms->seeds && is_whole(arms, seeds))
        seeds++;
    arms->seeds = seeds ? seeds : 1;
}

bool arms_play(struct arms *arms, const char *noun)
{
    struct process_pool pool = {.count = arms->count * arms->seeds,
                                .workers = (unsigned)arms->options.workers,
                                .size = sizeof *arms->runs,
                                .of = arms,
                                .run = run,
                                .noun = noun};
    bool whole = process_pool_run(&pool, arms->runs);

    if (!whole)
        keep_whole(arms);
    arms_rank(arms);
    return whole;
}
