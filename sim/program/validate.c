/* starswitch-sim validate: a recorded run is simulated, and both are measured
 * by the same rule.
 *
 * The settings are those of the recording, as is for how many nodes the first
 * round waits (--nodes); nodes come when they came, take as long for an
 * iteration as they took, and are as far away as their quickest PING; links are
 * as fast as the fastest batch of chunks. What the recording or the command
 * line says of them takes the place of that. A --goal on the command line is no
 * end but what the time is measured to; --record keeps the simulation's
 * recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "seam/transcript.h"
#include "sim/program/program.h"
#include "sim/program/run.h"
#include "sim/program/validate.h"
#include "sim/study/files.h"
#include "sim/study/script.h"
#include "sim/trace/import.h"
#include "store/file.h"

/* ---- what the recording says ---- */

/* The node is called n1 to nN: then it keeps its number, and so the data and
 * the luck that its name brings. */
static bool own_number(const char *name, size_t count, unsigned *out)
{
    char *end;
    unsigned long number;

    if (name[0] != 'n' || name[1] < '1' || name[1] > '9')
        return false;
    number = strtoul(name + 1, &end, 10);
    *out = (unsigned)number - 1;
    return !*end && number <= count;
}

static void number_nodes(struct validation *of)
{
    size_t count = of->recorded->node_count;
    bool own = true;

    of->numbers = calloc(count + 1, sizeof *of->numbers);
    if (!of->numbers)
        abort();
    for (size_t i = 0; i < count; i++)
        own =
            own_number(of->recorded->nodes[i]->name, count, &of->numbers[i]) &&
            own;
    for (size_t i = 0; !own && i < count; i++)
        of->numbers[i] = (unsigned)i;
}

/* The least value of a series, or SERIES_UNSET. */
static int64_t least(const struct trace_series *series)
{
    int64_t value = SERIES_UNSET;

    for (size_t i = 0; i < series->count; i++)
        if (series->points[i].value != SERIES_UNSET &&
            (value == SERIES_UNSET || series->points[i].value < value))
            value = series->points[i].value;
    return value;
}

/* The fastest that any batch of chunks went; 0: not known. */
static uint64_t fastest(const struct trace *trace)
{
    int64_t rate = 0;

    for (size_t i = 0; i < trace->node_count; i++)
        for (int way = 0; way < 2; way++) {
            const struct trace_series *series =
                &trace->nodes[i]->series[way ? QUANTITY_DOWN : QUANTITY_UP];

            for (size_t j = 0; j < series->count; j++)
                if (series->points[j].value > rate)
                    rate = series->points[j].value;
        }
    return (uint64_t)rate;
}

/* How long before the hub took it in a node began. */
static nanos early(const struct validation *of, const struct trace_track *node)
{
    nanos delay = of->options.latency;

    if (!of->options.given.latency &&
        least(&node->series[QUANTITY_DELAY]) != SERIES_UNSET)
        delay = least(&node->series[QUANTITY_DELAY]);
    return WORLD_GREETING_TRIPS * (delay + of->options.jitter / 2);
}

static nanos coming(const struct validation *of, const struct traced *event)
{
    nanos before = early(of, event->track);

    return event->time > before ? event->time - before : 0;
}

/* When nodes came, went and came again. */
static struct script *comings(const struct validation *of)
{
    const struct trace *trace = of->recorded;
    struct script *script = script_new();
    nanos end = (nanos)(of->real.end * (double)SECOND);

    for (size_t i = 0; i < trace->event_count; i++) {
        const struct traced *event = &trace->events[i];
        size_t node = trace_index(trace, event->track) - 2;

        if (event->time >= end)
            break;
        if (event->kind == TRACED_JOIN)
            script_add(script,
                       (struct script_event){coming(of, event), SCRIPT_START,
                                             of->numbers[node]});
        else if (event->kind == TRACED_LEAVE)
            script_add(script, (struct script_event){event->time, SCRIPT_CRASH,
                                                     of->numbers[node]});
    }
    return script;
}

static enum status add_node(const struct validation *of, size_t node,
                            struct trace *out, struct why *why)
{
    const struct trace_track *from = of->recorded->nodes[node];
    const struct trace_series *steps = &from->series[QUANTITY_STEP];
    int64_t delay = least(&from->series[QUANTITY_DELAY]);
    struct trace_track *to = NULL;
    char name[TRACE_NAME_BYTES];
    enum status status;

    (void)snprintf(name, sizeof name, "n%u", of->numbers[node] + 1);
    status = trace_track(out, name, &to, why);
    if (status == STATUS_OK && !of->options.given.latency &&
        delay != SERIES_UNSET)
        status = trace_add_value(out, to, QUANTITY_DELAY, 0, delay, why);
    for (size_t i = 0; status == STATUS_OK && !of->options.given.step_time &&
                       i < steps->count;
         i++)
        status = trace_add_value(out, to, QUANTITY_STEP,
                                 i ? steps->points[i].time : 0,
                                 steps->points[i].value, why);
    return status;
}

/* How the nodes were, under the names that they have in the simulation. */
static enum status make_trace(const struct validation *of, struct trace **out,
                              struct why *why)
{
    struct trace *trace = trace_new();
    enum status status = STATUS_OK;

    if (!trace)
        abort();
    trace_set_span(trace, NEVER - 1);
    for (size_t i = 0; status == STATUS_OK && i < of->recorded->node_count; i++)
        status = add_node(of, i, trace, why);
    if (status == STATUS_OK)
        *out = trace;
    else
        trace_destroy(&trace);
    return status;
}

static void settle(struct validation *of)
{
    struct options *options = &of->options;
    uint64_t rate = fastest(of->recorded);

    options->nodes = options->given.star_nodes ? options->star_nodes : 1;
    options->given.nodes = OPTION_CONFIG;
    options->star_nodes = of->recorded->node_count;
    if (!options->given.step_time && of->real.step > 0)
        options->step_time = (nanos)(of->real.step * (double)SECOND);
    if (!options->given.rate && rate)
        options->rate = rate;
    if (!options->given.port && rate)
        options->port = rate;
    if (options->given.goal == OPTION_ARGUMENT) {
        options->goal = (struct goal){.kind = GOAL_NONE};
        options->given.goal = OPTION_DEFAULT;
    }
    if (!options->given.time)
        options->time = (nanos)(of->real.end * (double)SECOND) + 1;
}

static enum status read_recording(struct validation *of, struct why *why)
{
    const struct import_options import = {.node = TRACE_ALL};
    char *text = NULL;
    size_t size = 0;
    enum status status = file_read(of->path, LONGEST_FILE, &text, &size, why);

    if (status != STATUS_OK)
        return status;
    status = record_settings(text, size, &of->options, why);
    if (status == STATUS_OK)
        status = import_record(text, size, &import, &of->recorded, why);
    of->goal = of->options.goal;
    measures_begin(&of->real, of->goal);
    if (status == STATUS_OK)
        status = measures_add_all(&of->real, text, size, why);
    measures_end(&of->real);
    free(text);
    return status;
}

/* ---- the same, simulated ---- */

static void on_step(void *context, const struct world_step *step, nanos now)
{
    struct validation *of = context;
    char line[TRANSCRIPT_BYTES];

    (void)now;
    if (step->process != WORLD_HUB)
        return;
    record_step(of->record, step->event, step->effects);
    (void)transcript_event(step->event, line, sizeof line);
    measures_add(&of->simulated, line);
    for (unsigned i = 0; i < step->effects->count; i++) {
        (void)transcript_effect(&step->effects->list[i], line, sizeof line);
        measures_add(&of->simulated, line);
    }
}

static enum status run(struct validation *of, const struct scenario *scenario,
                       struct why *why)
{
    const struct scenario_watcher watcher = {.of = of, .step = on_step};
    const struct spool_complaint complaint = {run_complain, NULL};
    struct outcome outcome;
    enum status status = STATUS_OK;

    if (of->options.record[0])
        status =
            record_open(of->options.record, "hub", complaint, &of->record, why);
    if (status != STATUS_OK)
        return status;
    scenario_run(scenario, of->options.seed, &watcher, &outcome);
    record_close(&of->record);
    if (!outcome.done)
        return because(why, STATUS_BUG, "%s", outcome.trouble);
    return STATUS_OK;
}

static enum status simulate(struct validation *of, struct scenario **scenario,
                            struct why *why)
{
    struct trace *trace = NULL;
    enum status status = STATUS_OK;

    if (!of->options.given.params && !of->options.model[0] &&
        !of->options.trainer[0])
        return because(why, STATUS_USAGE,
                       "%.120s does not say how large the model is: say "
                       "--params N, or --model as the run had it",
                       of->path);
    number_nodes(of);
    settle(of);
    if (!of->options.trace[0])
        status = make_trace(of, &trace, why);
    if (status == STATUS_OK)
        status = scenario_open_as(&of->options, trace,
                                  of->options.scenario[0] ? NULL : comings(of),
                                  scenario, why);
    if (status != STATUS_OK)
        return status;
    measures_begin(&of->simulated, of->goal);
    status = run(of, *scenario, why);
    measures_end(&of->simulated);
    return status;
}

static void release(struct validation *of)
{
    trace_destroy(&of->recorded);
    measures_free(&of->real);
    measures_free(&of->simulated);
    free(of->numbers);
}

int sim_validate(int count, char **words)
{
    bool named = count > 1 && words[1][0] != '-';
    struct validation of = {.path = named ? words[1] : NULL};
    struct scenario *scenario = NULL;
    struct why why = {""};
    enum status status;
    int code;

    if (!run_options(count - named, words + named, &of.options, &code))
        return code;
    status = named ? read_recording(&of, &why)
                   : because(&why, STATUS_USAGE,
                             "validate: which run? Say validate FILE, with a "
                             "FILE that starswitch-hub --record has made");
    if (status == STATUS_OK)
        status = simulate(&of, &scenario, &why);
    if (status == STATUS_OK)
        validation_print(&of, scenario);
    scenario_close(&scenario);
    release(&of);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}
