/* starswitch-sim validate: a recorded run is simulated, and both are measured
 * by the same rule.
 *
 * The settings are those of the recording; nodes come when they came, take as
 * long for an iteration as they took, and are as far away as their quickest
 * PING; links are as fast as the fastest batch of chunks. What the recording
 * or the command line says of them takes the place of that. A --goal on the
 * command line is no end but what the time is measured to; --record keeps the
 * simulation's recording. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "core/score.h"
#include "seam/trace.h"
#include "show/record.h"
#include "sim/main.h"
#include "sim/main_run.h"
#include "store/file.h"
#include "study/acts.h"
#include "study/measures.h"
#include "trace/import.h"

enum { PAGE_BYTES = 16 << 10, WARNED_PERCENT = 10 };

static const size_t longest_file = (size_t)1 << 30;

struct validation {
    const char *path;
    struct options options;
    struct goal goal;
    struct trace *recorded;
    unsigned *numbers; /* of each node of the trace, in the simulation */
    struct measures real, simulated;
    struct record *record; /* of the simulation, NULL: none */
};

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
        own = own_number(of->recorded->nodes[i]->name, count,
                         &of->numbers[i]) && own;
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

/* When nodes came, went and came again. */
static struct acts *comings(const struct validation *of)
{
    const struct trace *trace = of->recorded;
    struct acts *acts = acts_new();
    nanos end = (nanos)(of->real.end * (double)SECOND);

    for (size_t i = 0; i < trace->event_count; i++) {
        const struct traced *event = &trace->events[i];
        size_t node = trace_index(trace, event->track) - 2;

        if ((event->kind == TRACED_JOIN || event->kind == TRACED_LEAVE) &&
            event->time < end)
            acts_add(acts,
                     (struct act){event->time,
                                  event->kind == TRACED_JOIN ? DEED_START
                                                             : DEED_CRASH,
                                  of->numbers[node]});
    }
    return acts;
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
                       i < steps->count; i++)
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

    options->star_nodes = of->recorded->node_count;
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
    enum status status = file_read(of->path, longest_file, &text, &size, why);

    if (status != STATUS_OK)
        return status;
    status = record_settings(text, size, &of->options, why);
    if (status == STATUS_OK)
        status = import_record(text, size, &import, &of->recorded, why);
    of->goal = of->options.goal;
    measures_begin(&of->real, of->goal);
    if (status == STATUS_OK)
        status = measures_take_all(&of->real, text, size, why);
    measures_end(&of->real);
    free(text);
    return status;
}

/* ---- the same, simulated ---- */

static void on_step(void *context, const struct world_step *step, nanos now)
{
    struct validation *of = context;
    char line[TRACE_BYTES];

    (void)now;
    if (step->process != WORLD_HUB)
        return;
    record_step(of->record, step->event, step->effects);
    (void)trace_event(step->event, line, sizeof line);
    measures_take(&of->simulated, line);
    for (unsigned i = 0; i < step->effects->count; i++) {
        (void)trace_effect(&step->effects->list[i], line, sizeof line);
        measures_take(&of->simulated, line);
    }
}

static void complain(void *of, const char *sentence)
{
    (void)of;
    (void)fprintf(stderr, "starswitch-sim: %s\n", sentence);
}

static enum status play(struct validation *of, const struct scene *scene,
                        struct why *why)
{
    const struct scene_watcher watcher = {.of = of, .step = on_step};
    const struct spool_complaint complaint = {complain, NULL};
    struct outcome outcome;
    enum status status = STATUS_OK;

    if (of->options.record[0])
        status = record_open(of->options.record, "hub", complaint, &of->record,
                             why);
    if (status != STATUS_OK)
        return status;
    scene_play(scene, of->options.seed, &watcher, &outcome);
    record_close(&of->record);
    if (!outcome.done)
        return because(why, STATUS_BUG, "%s", outcome.trouble);
    return STATUS_OK;
}

static enum status simulate(struct validation *of, struct scene **scene,
                            struct why *why)
{
    struct trace *trace = NULL;
    enum status status = STATUS_OK;

    number_nodes(of);
    settle(of);
    if (!of->options.trace[0])
        status = make_trace(of, &trace, why);
    if (status == STATUS_OK)
        status = scene_open_as(&of->options, trace,
                               of->options.scenario[0] ? NULL : comings(of),
                               scene, why);
    if (status != STATUS_OK)
        return status;
    measures_begin(&of->simulated, of->goal);
    status = play(of, *scene, why);
    measures_end(&of->simulated);
    return status;
}

/* ---- both ---- */

static double error_of(double real, double simulated)
{
    return 100 * (simulated / real - 1);
}

/* Both, and how far the simulation is off; returns that, 0 where one of them
 * is not known. */
static double print_row(const char *what, double real, double simulated,
                        double unit, struct text *out)
{
    text_add(out, " %-28s %12.5g %12.5g", what, real * unit, simulated * unit);
    if (!(real > 0) || !(simulated > 0)) {
        text_add(out, "\n");
        return 0;
    }
    text_add(out, " %+8.1f %%\n", error_of(real, simulated));
    return fabs(error_of(real, simulated));
}

/* Its number in the simulation, or NULL. */
static const struct measured_node *counterpart(const struct validation *of,
                                               const char *name)
{
    char own[MEASURED_NAME_BYTES] = "";

    for (size_t i = 0; i < of->recorded->node_count; i++)
        if (strcmp(of->recorded->nodes[i]->name, name) == 0)
            (void)snprintf(own, sizeof own, "n%u", of->numbers[i] + 1);
    for (unsigned i = 0; i < of->simulated.node_count; i++)
        if (strcmp(of->simulated.nodes[i].name, own) == 0)
            return &of->simulated.nodes[i];
    return NULL;
}

static void print_nodes(const struct validation *of, double *worst,
                        struct text *out)
{
    for (unsigned i = 0; i < of->real.node_count; i++) {
        const struct measured_node *real = &of->real.nodes[i], *other;
        char what[MEASURED_NAME_BYTES + 32];

        other = counterpart(of, real->name);
        (void)snprintf(what, sizeof what, "%.12s, iterations/s", real->name);
        *worst = fmax(*worst, print_row(what, real->rate,
                                        other ? other->rate : 0, 1, out));
    }
}

static void print_table(const struct validation *of, struct text *out)
{
    const struct measures *real = &of->real, *other = &of->simulated;
    double worst = 0;

    text_add(out, " %-28s %12s %12s %10s\n", "", "real", "simulated", "error");
    worst = fmax(worst, print_row("rounds", real->rounds, other->rounds, 1,
                                  out));
    worst = fmax(worst, print_row("time per round, ms", real->round_time,
                                  other->round_time, 1e3, out));
    if (real->goal_time >= 0 || other->goal_time >= 0)
        worst = fmax(worst, print_row("time to the goal, s", real->goal_time,
                                      other->goal_time, 1, out));
    print_nodes(of, &worst, out);
    worst = fmax(worst, print_row("to the hub, MB/s", real->up, other->up,
                                  1e-6, out));
    worst = fmax(worst, print_row("from the hub, MB/s", real->down,
                                  other->down, 1e-6, out));
    /* Shares, whose errors say little where they are small. */
    (void)print_row("results late, %", real->late, other->late, 100, out);
    (void)print_row("trainers waited, %", real->idle, other->idle, 100, out);
    if (score_known(real->loss) && score_known(other->loss))
        (void)print_row("loss at the end", real->loss, other->loss, 1, out);
    if (worst > WARNED_PERCENT)
        text_add(out, "Warning: off by %.3g %%. Was the machine busy, or is "
                 "the network another than --rate, --port, --latency say?\n",
                 worst);
}

static void print_json(const struct measures *of, const char *name,
                       struct text *out)
{
    text_add(out, "\"%s\":{\"rounds\":%.0f,\"round_time\":%.6g,\"goal_time\":"
             "%.6g,\"rate\":%.6g,\"step\":%.6g,\"up\":%.6g,\"down\":%.6g,"
             "\"late\":%.6g,\"idle\":%.6g",
             name, of->rounds, of->round_time, of->goal_time, of->rate,
             of->step, of->up, of->down, of->late, of->idle);
    if (score_known(of->loss))
        text_add(out, ",\"loss\":%.6g", of->loss);
    text_add(out, "}");
}

static void print_all(const struct validation *of, const struct scene *scene)
{
    static char bytes[PAGE_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    if (of->options.json) {
        text_add(&text, "{\"validated\":");
        quote_json(&text, of->path);
        text_add(&text, ",\"compute\":\"%s\",\"seed\":%llu,",
                 compute_words[scene_compute(scene)].text,
                 (unsigned long long)of->options.seed);
        print_json(&of->real, "real", &text);
        text_add(&text, ",");
        print_json(&of->simulated, "simulated", &text);
        text_add(&text, "}\n");
    } else {
        run_describe(scene, &text);
        print_table(of, &text);
    }
    (void)fputs(bytes, stdout);
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
    struct scene *scene = NULL;
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
        status = simulate(&of, &scene, &why);
    if (status == STATUS_OK)
        print_all(&of, scene);
    scene_close(&scene);
    release(&of);
    return status == STATUS_OK ? 0 : run_fail(status, &why);
}
