/* starswitch-sim run: one run of a scenario, with all that can be seen of it.
 */
#include "sim/program/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/score.h"
#include "hub/page/course_file.h"
#include "net/net.h"
#include "policies/pages.h"
#include "record/record.h"
#include "report/report.h"
#include "sim/program/program.h"
#include "sim/trace/export.h"
#include "sim/trace/import.h"
#include "store/file.h"

enum { SAY_EVERY = 5 /* real seconds */, LINES_BYTES = 4096 };
/* Curves have a point each so many virtual nanoseconds at least. */
#define LOOK_EVERY (200 * MILLISECOND)

struct run {
    const struct scenario *scenario;
    struct course *course;
    struct record *record;
    struct course_writer *writer;
    nanos looked; /* at the hub, of the world's time */
    struct table_head head;
    char policy[512], model[300], goal[64];
    char recording[VALUE_TEXT_BYTES + 16]; /* empty: none */
    struct hub_view view;
    nanos began; /* by net_now */
    double said;
    enum status reported; /* what the report has come to */
    struct why why;
};

/* ---- while it runs ---- */

static double real_seconds(const struct run *run)
{
    return (double)(net_now() - run->began) / (double)SECOND;
}

/* How far it is, and when its time is up: where nobody has said how long it
 * lasts, nobody knows. After that each node still has what it has offered. */
static void say(struct run *run, nanos now)
{
    double real = real_seconds(run), past = (double)now / (double)SECOND;
    double all = (double)scenario_options(run->scenario)->time / (double)SECOND;

    if (real - run->said < SAY_EVERY)
        return;
    run->said = real;
    (void)fprintf(stderr, "%.0f s simulated in %.0f s", past, real);
    if (run->view.score < NO_SCORE)
        (void)fprintf(stderr, ", loss %.4g", run->view.score);
    if (past >= all)
        (void)fprintf(stderr, ", its time is up, last offers are awaited");
    else if (past > 0 && scenario_options(run->scenario)->time < LONGEST_RUN)
        (void)fprintf(stderr, ", about %.0f s to go until its time is up",
                      real / past * (all - past));
    (void)fprintf(stderr, "\n");
}

static void write_course(struct run *run, nanos now)
{
    struct snapshot snapshot;

    if (!course_writer_due(run->writer, now) && !run->view.ended)
        return;
    memset(&snapshot, 0, sizeof snapshot);
    snapshot.view = run->view;
    snapshot.now = snapshot.elapsed = snapshot.wall = now;
    course_writer_look(run->writer, &snapshot);
}

static void on_look(void *of, struct world *world)
{
    struct run *run = of;

    if (!world_hub(world))
        return;
    hub_look(world_hub(world), world_now(world), &run->view);
    run->looked = world_now(world);
    course_look(run->course, world_now(world), &run->view);
    write_course(run, world_now(world));
    say(run, world_now(world));
}

static void take_note(struct run *run, nanos now, const struct note *note)
{
    course_note(run->course, now, note);
    if (note_level(note->kind) != LEVEL_DEBUG)
        course_writer_note(run->writer, now, now, note);
}

static void on_step(void *of, const struct world_step *step, nanos now)
{
    struct run *run = of;

    if (step->process != WORLD_HUB)
        return;
    record_step(run->record, step->event, step->effects);
    for (unsigned i = 0; i < step->effects->count; i++)
        if (step->effects->list[i].kind == EFFECT_NOTE)
            take_note(run, now, &step->effects->list[i].note);
}

/* ---- files ---- */

void run_complain(void *of, const char *sentence)
{
    (void)of;
    (void)fprintf(stderr, "starswitch-sim: %s\n", sentence);
}

/* A hub's recording does not know its star; that of a simulated one says what
 * it was, chosen or not, so that the same can be simulated again. */
static void record_scenario(struct record *record,
                            const struct scenario *scenario)
{
    struct options options = *scenario_options(scenario);

    options.compute = scenario_compute(scenario);
    options.given.compute = options.given.params = OPTION_CONFIG;
    options.given.rate = options.given.port = OPTION_CONFIG;
    options.given.latency = options.given.jitter = OPTION_CONFIG;
    options.given.step_time = options.given.star_nodes = OPTION_CONFIG;
    record_set(record, &options, PROGRAM_SIM);
}

/* A timeline is made of a recording, be it wanted or not. */
static enum status open_record(struct run *run, struct why *why)
{
    const struct options *options = scenario_options(run->scenario);
    const struct spool_complaint complaint = {run_complain, NULL};
    enum status status;

    if (options->record[0])
        (void)snprintf(run->recording, sizeof run->recording, "%s",
                       options->record);
    else if (options->timeline[0])
        (void)snprintf(run->recording, sizeof run->recording, "%s.record",
                       options->timeline);
    else
        return STATUS_OK;
    status = record_open(run->recording, "hub", complaint, &run->record, why);
    if (status == STATUS_OK)
        record_scenario(run->record, run->scenario);
    return status;
}

static bool put(void *of, const char *text, size_t length)
{
    return fwrite(text, 1, length, of) == length;
}

static enum status write_timeline(const char *path, const struct trace *trace,
                                  struct why *why)
{
    FILE *file = fopen(path, "we");
    const struct trace_sink sink = {put, file};
    enum status status;

    if (!file)
        return file_failed("write", path, why);
    status = export_timeline(trace, &sink, why);
    if (fclose(file) != 0 || status == STATUS_IO)
        return file_failed("write", path, why);
    return status;
}

static enum status make_timeline(const struct run *run, struct why *why)
{
    const struct options *options = scenario_options(run->scenario);
    struct import_options import = {.node = TRACE_ALL};
    struct trace *trace = NULL;
    char *text = NULL;
    size_t size;
    enum status status;

    if (!options->timeline[0])
        return STATUS_OK;
    status = file_read(run->recording, SIZE_MAX, &text, &size, why);
    if (status == STATUS_OK)
        status = import_record(text, size, &import, &trace, why);
    if (status == STATUS_OK)
        status = write_timeline(options->timeline, trace, why);
    if (status == STATUS_OK && !options->record[0])
        (void)unlink(run->recording);
    trace_destroy(&trace);
    free(text);
    return status;
}

/* What is said of the run as a whole. */
static void write_head(struct run *run)
{
    const struct options *options = scenario_options(run->scenario);
    struct text text;

    text_init(&text, run->policy, sizeof run->policy);
    policy_describe(&scenario_hub(run->scenario)->policy, &text);
    text_init(&text, run->model, sizeof run->model);
    text_add(&text, "%s compute, ",
             compute_words[scenario_compute(run->scenario)].text);
    if (options->model[0])
        text_add(&text, "%s", options->model);
    else
        text_add(&text, "%.4g M parameters", (double)options->params / 1e6);
    text_init(&text, run->goal, sizeof run->goal);
    run_goal(options, &text);
    run->head = (struct table_head){.title = "simulated star",
                                    .model = run->model,
                                    .policy = options->policy,
                                    .rules = run->policy,
                                    .goal = text.length ? run->goal : NULL};
}

static enum status make_report(const struct run *run, nanos elapsed,
                               struct why *why)
{
    static char page[OPTIONS_PAGE_BYTES];
    const struct options *options = scenario_options(run->scenario);
    struct setting settings[REPORT_SETTINGS];
    struct report report = {.head = &run->head,
                            .view = &run->view,
                            .course = run->course,
                            .elapsed = elapsed,
                            .wall = net_wall(),
                            .goal = options->goal,
                            .settings = settings};

    if (!options->report[0])
        return STATUS_OK;
    report.setting_count =
        report_settings(options, PROGRAM_SIM, page, settings);
    return report_write(&report, options->report, why);
}

/* ---- at its end ---- */

/* Seconds as people write them. */
static void add_seconds(double seconds, struct text *out)
{
    text_add(out, seconds < 1e4 ? "%.4g s" : "%.0f s", seconds);
}

static void print_end(const struct outcome *outcome,
                      const struct options *options, struct text *out)
{
    char goal[64];
    struct text words;

    text_init(&words, goal, sizeof goal);
    run_goal(options, &words);
    if (goal[0]) {
        text_add(out, " goal     %s %s ", goal,
                 outcome->reached ? "reached after" : "NOT reached within");
        add_seconds(outcome->time, out);
        text_add(out, "\n");
    }
    text_add(out, " centre   ");
    if (outcome->loss < NO_SCORE)
        text_add(out, "loss %.4g", outcome->loss);
    else
        text_add(out, "not scored yet (--evaluate)");
    if (outcome->accuracy >= 0)
        text_add(out, ", test accuracy %.2f %%", 100 * outcome->accuracy);
    text_add(out, " after ");
    add_seconds(outcome->time, out);
    text_add(out, "\n");
}

static void add_choice(const struct outcome *outcome, struct text *out)
{
    char bytes[NOTE_BYTES + 32];
    struct text words;

    if (!(outcome->chosen_at > 0))
        return;
    text_init(&words, bytes, sizeof bytes);
    text_add(&words, "after %.4g s: %s", outcome->chosen_at, outcome->chosen);
    text_add(out, " chosen");
    text_pad(out, 10);
    text_wrap(out, bytes, 10, 79);
    text_add(out, "\n");
}

static void print_outcome(const struct outcome *outcome,
                          const struct options *options, uint64_t seed,
                          struct text *out)
{
    print_end(outcome, options, out);
    add_choice(outcome, out);
    text_add(out,
             " rounds   %llu, one in %.4g s; results late %.3g %%, "
             "staleness p95 %.0f\n",
             (unsigned long long)outcome->rounds, outcome->round_time,
             100 * outcome->late, outcome->staleness);
    text_add(out,
             " a node   %.0f iterations, %.4g a second, waited %.3g %% of the "
             "time; up ",
             outcome->iterations, outcome->rate, 100 * outcome->idle);
    text_add_bytes(out, outcome->up);
    text_add(out, ", down ");
    text_add_bytes(out, outcome->down);
    text_add(out,
             "\n took     %.3g s for %.3g million steps of machines, "
             "seed %llu\n",
             outcome->cost, 1e-6 * (double)outcome->steps,
             (unsigned long long)seed);
}

static void print_all(const struct run *run, const struct outcome *outcome)
{
    const struct options *options = scenario_options(run->scenario);
    char bytes[LINES_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    if (options->json) {
        text_add(&text,
                 "{\"run\":\"simulated\",\"compute\":\"%s\",\"seed\":"
                 "%llu,",
                 compute_words[scenario_compute(run->scenario)].text,
                 (unsigned long long)options->seed);
        run_json(outcome, &text);
        text_add(&text, "}\n");
    } else {
        run_describe(run->scenario, &text);
        print_outcome(outcome, options, options->seed, &text);
        if (options->report[0])
            text_add(&text, " report   %s\n", options->report);
        if (options->record[0])
            text_add(&text, " record   %s\n", options->record);
        if (options->timeline[0])
            text_add(&text, " timeline %s, for ui.perfetto.dev\n",
                     options->timeline);
        text_add(&text,
                 "Next, with the same options behind it: starswitch-sim "
                 "compare --policy %s%s%s\n",
                 options->policy,
                 strcmp(options->policy, "mean") == 0 ? "" : ",mean",
                 strcmp(options->policy, "diloco") == 0 ? "" : ",diloco");
    }
    (void)fputs(bytes, stdout);
}

/* The view that the report shows is the hub's own. */
static void on_end(void *of, const struct outcome *outcome)
{
    struct run *run = of;

    if (outcome->done && !run->view.ended) {
        run->view.ended = true;
        write_course(run, run->looked);
    }
    if (outcome->done)
        run->reported =
            make_report(run, (nanos)(outcome->time * 1e9), &run->why);
}

static enum status run_scenario(struct run *run, struct outcome *outcome,
                                struct why *why)
{
    const struct options *options = scenario_options(run->scenario);
    const struct scenario_watcher watcher = {.of = run,
                                             .step = on_step,
                                             .interval = LOOK_EVERY,
                                             .look = on_look,
                                             .end = on_end};
    const struct spool_complaint complaint = {.tell = run_complain, .of = NULL};
    enum status status = open_record(run, why);

    write_head(run);
    if (status == STATUS_OK && options->course[0])
        status = course_writer_open(options->course, &run->head, options->goal,
                                    complaint, &run->writer, why);
    if (status != STATUS_OK)
        return status;
    scenario_run(run->scenario, options->seed, &watcher, outcome);
    record_close(&run->record);
    course_writer_close(&run->writer);
    if (!outcome->done)
        return because(why, STATUS_BUG, "%s", outcome->trouble);
    status = make_timeline(run, why);
    if (status == STATUS_OK && run->reported != STATUS_OK)
        return because(why, run->reported, "%s", run->why.text);
    return status;
}

int sim_run(int count, char **words)
{
    struct run run = {.course = course_new()};
    struct scenario *scenario = NULL;
    struct outcome outcome = {0};
    struct options options;
    struct why why = {""};
    enum status status;
    int code;

    if (!run_options(count, words, &options, &code)) {
        course_destroy(&run.course);
        return code;
    }
    run.began = net_now();
    status = run.course ? scenario_open(&options, &scenario, &why)
                        : because(&why, STATUS_NO_MEMORY, "no memory");
    run.scenario = scenario;
    if (status == STATUS_OK)
        status = run_scenario(&run, &outcome, &why);
    if (status == STATUS_OK)
        print_all(&run, &outcome);
    scenario_close(&scenario);
    course_destroy(&run.course);
    if (status != STATUS_OK)
        return run_fail(status, &why);
    return options.goal.kind != GOAL_NONE && !outcome.reached
               ? status_exit_code(STATUS_SHORT)
               : 0;
}
