#include "sim/study/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "hub/settle.h"
#include "sim/study/acts.h"
#include "sim/study/compute.h"
#include "sim/study/files.h"
#include "sim/study/play.h"
#include "sim/trace/trace.h"

/* ---- what the options say ---- */

/* "1,1,0.5", as many as there are. */
static enum status read_speeds(struct scene *scene, struct why *why)
{
    const char *at = scene->options.speeds;

    while (*at) {
        struct decimal decimal;
        double speed = 0;

        if (scene->speed_count == SCENE_SPEEDS)
            return because(why, STATUS_USAGE, "--speeds has more than %d",
                           SCENE_SPEEDS);
        if (!decimal_read(&at, &decimal) || !decimal_number(&decimal, &speed) ||
            speed < 0.001 || speed > 1000 || (*at && *at != ','))
            return because(why, STATUS_USAGE,
                           "--speeds %.60s: expected numbers from 0.001 to "
                           "1000, such as 1,1,0.5",
                           scene->options.speeds);
        scene->speeds[scene->speed_count++] = speed;
        at += *at == ',';
    }
    return STATUS_OK;
}

static enum status read_scenario(struct scene *scene, struct why *why)
{
    const char *path = scene->options.scenario;
    enum status status = acts_load(path, &scene->acts, why);

    if (status != STATUS_OK || !scene->acts ||
        acts_nodes(scene->acts) <= scene->options.star_nodes)
        return status;
    return because(why, STATUS_CONFIG, "%.120s names n%u: say --nodes %u", path,
                   acts_nodes(scene->acts), acts_nodes(scene->acts));
}

/* Where nobody says when a run ends, it ends somewhen. */
static void settle_end(struct options *options)
{
    if (options->time)
        return;
    options->time = options->goal.kind != GOAL_NONE || options->iterations
                        ? LONGEST_RUN
                        : USUAL_RUN;
}

static enum status settle_goal(const struct scene *scene, struct why *why)
{
    enum compute compute = compute_of(&scene->options);

    if (scene->options.goal.kind != GOAL_ACCURACY || compute == COMPUTE_REAL)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--goal: with --compute %s there are losses only: say, for "
                   "example, --goal 0.1, or train something: --model",
                   compute_words[compute].text);
}

static enum status settle(struct scene *scene, struct why *why)
{
    struct options *options = &scene->options;
    enum status status;

    options->nodes = options->star_nodes;
    if (!options->step_time)
        options->step_time = USUAL_STEP;
    settle_end(options);
    status = hub_settle(options, &scene->hub, why);
    scene->hub.recovery = 0; /* nobody has been there before */
    if (status == STATUS_OK)
        status = settle_goal(scene, why);
    if (status == STATUS_OK)
        status = read_speeds(scene, why);
    if (status == STATUS_OK)
        status = trace_load(options->trace, &scene->trace, why);
    if (status == STATUS_OK)
        status = read_scenario(scene, why);
    return status;
}

/* Finds out now what a play would stumble over. */
static enum status try_compute(const struct scene *scene, struct why *why)
{
    struct computing *computing = NULL;
    enum status status = computing_open(
        &scene->options, scene->trace, scene->options.seed, 1, &computing, why);

    computing_close(&computing);
    return status;
}

enum status scene_open(const struct options *options, struct scene **out,
                       struct why *why)
{
    return scene_open_as(options, NULL, NULL, out, why);
}

enum status scene_open_as(const struct options *options, struct trace *trace,
                          struct acts *acts, struct scene **out,
                          struct why *why)
{
    struct scene *scene = calloc(1, sizeof *scene);
    enum status status;

    if (!scene)
        abort();
    scene->options = *options;
    scene->trace = trace;
    scene->acts = acts;
    status = settle(scene, why);
    if (status == STATUS_OK)
        status = try_compute(scene, why);
    if (status == STATUS_OK)
        *out = scene;
    else
        scene_close(&scene);
    return status;
}

void scene_close(struct scene **reference)
{
    struct scene *scene = *reference;

    *reference = NULL;
    if (!scene)
        return;
    trace_destroy(&scene->trace);
    acts_destroy(&scene->acts);
    free(scene);
}

const struct options *scene_options(const struct scene *scene)
{
    return &scene->options;
}

enum compute scene_compute(const struct scene *scene)
{
    return compute_of(&scene->options);
}

const struct hub_config *scene_hub(const struct scene *scene)
{
    return &scene->hub;
}
