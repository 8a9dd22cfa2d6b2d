#include "sim/study/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "hub/configure.h"
#include "sim/study/compute.h"
#include "sim/study/files.h"
#include "sim/study/scenario_inside.h"
#include "sim/study/script.h"
#include "sim/trace/trace.h"

/* ---- what the options say ---- */

/* "1,1,0.5", as many as there are. */
static enum status read_speeds(struct scenario *scenario, struct why *why)
{
    const char *at = scenario->options.speeds;

    while (*at) {
        struct decimal decimal;
        double speed = 0;

        if (scenario->speed_count == SCENARIO_SPEEDS)
            return because(why, STATUS_USAGE, "--speeds has more than %d",
                           SCENARIO_SPEEDS);
        if (!decimal_read(&at, &decimal) || !decimal_number(&decimal, &speed) ||
            speed < 0.001 || speed > 1000 || (*at && *at != ','))
            return options_blame(&scenario->options, "speeds",
                                 "expected numbers from 0.001 to 1000, such "
                                 "as 1,1,0.5",
                                 why);
        scenario->speeds[scenario->speed_count++] = speed;
        at += *at == ',';
    }
    if (scenario->speed_count <= scenario->options.star_nodes)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--speeds is of %u nodes: say --nodes %u",
                   scenario->speed_count, scenario->speed_count);
}

/* Whether it is n1, n2, ..., as nodes of stars are called. */
static bool is_of_star(const char *name)
{
    unsigned long number = strtoul(name + (*name == 'n'), NULL, 10);
    char own[TRACE_NAME_BYTES];

    (void)snprintf(own, sizeof own, "n%lu", number);
    return number && strcmp(own, name) == 0;
}

/* Nobody would be what a trace says of pc1; of one for more nodes the first
 * ones are played. Scores of a recorded run go by place, whatever its nodes
 * were called. */
static enum status read_trace(struct scenario *scenario, struct why *why)
{
    const struct options *options = &scenario->options;
    unsigned long long nodes = options->star_nodes;
    enum status status = trace_load(options->trace, &scenario->trace, why);
    const struct trace *trace = scenario->trace;

    if (status != STATUS_OK || !trace ||
        compute_of(options) == COMPUTE_RECORDED)
        return status;
    for (size_t i = 0; i < trace->node_count; i++)
        if (!is_of_star(trace->nodes[i]->name))
            return because(why, STATUS_CONFIG,
                           "%.120s names %s, and the star has n1 to n%llu: "
                           "rename it in the trace",
                           options->trace, trace->nodes[i]->name, nodes);
    return STATUS_OK;
}

static enum status read_scenario(struct scenario *scenario, struct why *why)
{
    const char *path = scenario->options.scenario;
    enum status status = script_load(path, &scenario->script, why);

    if (status != STATUS_OK || !scenario->script ||
        script_nodes(scenario->script) <= scenario->options.star_nodes)
        return status;
    return because(why, STATUS_CONFIG, "%.120s names n%u: say --nodes %u", path,
                   script_nodes(scenario->script),
                   script_nodes(scenario->script));
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

static enum status settle_goal(const struct scenario *scenario, struct why *why)
{
    enum compute compute = compute_of(&scenario->options);

    if (scenario->options.goal.kind != GOAL_ACCURACY || compute == COMPUTE_REAL)
        return STATUS_OK;
    return because(why, STATUS_CONFIG,
                   "--goal: with --compute %s there are losses only: say, for "
                   "example, --goal 0.1, or train something: --model",
                   compute_words[compute].text);
}

/* A node may be as fast as it can; in virtual time an iteration takes some. */
static enum status settle_step(struct options *options, struct why *why)
{
    if (!options->step_time && !options->given.step_time)
        options->step_time = USUAL_STEP;
    if (options->step_time >= TRACE_LEAST_STEP)
        return STATUS_OK;
    return because(why, STATUS_USAGE,
                   "--step-time: must be at least 1us: say how long an "
                   "iteration takes, such as 50ms");
}

static enum status settle(struct scenario *scenario, struct why *why)
{
    struct options *options = &scenario->options;
    enum status status = settle_step(options, why);
    bool unsaid = !options->time;

    if (!options->given.nodes) /* validate knows it of the hub */
        options->nodes = options->star_nodes;
    settle_end(options);
    if (status == STATUS_OK)
        status = hub_configure(options, &scenario->hub, why);
    scenario->hub.time_unsaid = unsaid;
    scenario->hub.recovery = 0; /* nobody has been there before */
    if (status == STATUS_OK)
        status = settle_goal(scenario, why);
    if (status == STATUS_OK)
        status = read_speeds(scenario, why);
    if (status == STATUS_OK)
        status = read_trace(scenario, why);
    if (status == STATUS_OK)
        status = read_scenario(scenario, why);
    return status;
}

/* Finds out now what a run would stumble over. */
static enum status try_compute(const struct scenario *scenario, struct why *why)
{
    struct computing *computing = NULL;
    enum status status =
        computing_open(&scenario->options, scenario->trace,
                       scenario->options.seed, 1, &computing, why);

    computing_close(&computing);
    return status;
}

enum status scenario_open(const struct options *options, struct scenario **out,
                          struct why *why)
{
    return scenario_open_as(options, NULL, NULL, out, why);
}

enum status scenario_open_as(const struct options *options, struct trace *trace,
                             struct script *script, struct scenario **out,
                             struct why *why)
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    enum status status;

    if (!scenario)
        abort();
    scenario->options = *options;
    scenario->trace = trace;
    scenario->script = script;
    status = settle(scenario, why);
    if (status == STATUS_OK)
        status = try_compute(scenario, why);
    if (status == STATUS_OK)
        *out = scenario;
    else
        scenario_close(&scenario);
    return status;
}

void scenario_close(struct scenario **reference)
{
    struct scenario *scenario = *reference;

    *reference = NULL;
    if (!scenario)
        return;
    trace_destroy(&scenario->trace);
    script_destroy(&scenario->script);
    free(scenario);
}

const struct options *scenario_options(const struct scenario *scenario)
{
    return &scenario->options;
}

enum compute scenario_compute(const struct scenario *scenario)
{
    return compute_of(&scenario->options);
}

const struct hub_config *scenario_hub(const struct scenario *scenario)
{
    return &scenario->hub;
}
