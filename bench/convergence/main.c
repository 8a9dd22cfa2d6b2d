/* Runs what arms.def and rows.def say and writes docs/convergence.md. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/convergence/parallel.h"
#include "bench/convergence/report.h"
#include "sim/study/process_pool.h"
#include "train/matrix.h"

enum { MOST_SEEDS = 64, TRIALS = 2 /* seeds to tune by */ };

struct settings {
    const char *only, *folder, *output;
    unsigned seeds, workers; /* seeds 0: the workload's */
    bool quick;
};

static const char help[] =
    "Usage: star-convergence [--only RT1,RT5] [--seeds N] [--quick]\n"
    "           [--workers N] [--folder DIR] [--output FILE]\n"
    "Measures how well the policies learn, in virtual time.\n"
    "  --only ROWS    these rows of the report; all if none are named\n"
    "  --seeds N      repetitions of each arm (10 on W1, 4 on W2)\n"
    "  --quick        a quarter of the iterations and 2 seeds: to try it\n"
    "  --workers N    processes at a time (2)\n"
    "  --folder DIR   for the data (build/convergence)\n"
    "  --output FILE  for the report; else it is printed\n"
    "SIGTERM: the report is of what has been run so far.\n";

static unsigned number_of(const char *text, unsigned most)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (*end || number < 1 || number > most) {
        (void)fprintf(stderr,
                      "convergence: %s: a number from 1 to %u is "
                      "wanted\n",
                      text, most);
        exit(2);
    }
    return (unsigned)number;
}

static void read_settings(int argc, char **argv, struct settings *out)
{
    static const struct option names[] = {
        {"only", required_argument, NULL, 'o'},
        {"seeds", required_argument, NULL, 's'},
        {"quick", no_argument, NULL, 'q'},
        {"workers", required_argument, NULL, 'w'},
        {"folder", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'O'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int name;

    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
    while ((name = getopt_long(argc, argv, "h", names, NULL)) != -1)
        switch (name) {
        case 'o':
            out->only = optarg;
            break;
        case 's':
            out->seeds = number_of(optarg, MOST_SEEDS);
            break;
        case 'q':
            out->quick = true;
            break;
        case 'w':
            out->workers = number_of(optarg, MOST_SEEDS);
            break;
        case 'f':
            out->folder = optarg;
            break;
        case 'O':
            out->output = optarg;
            break;
        default:
            (void)fputs(help, name == 'h' ? stdout : stderr);
            exit(name == 'h' ? 0 : 2);
        }
    if (out->quick && !out->seeds)
        out->seeds = 2;
}

/* ---- what is to be run ---- */

struct plan {
    bool rows[ROWS], arms[ARMS + 1];
    struct series series[ARMS];
    struct task *tasks;
    struct outcome *outcomes;
    unsigned count;
};

static bool is_named(const char *list, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = list; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");

        if (length == size && memcmp(at, name, size) == 0)
            return true;
        at += length;
    }
    return false;
}

static void choose(struct plan *plan, const struct settings *settings)
{
    for (enum row_id row = 0; row < ROWS; row++)
        plan->rows[row] =
            !settings->only || is_named(settings->only, rows[row].id);
    for (unsigned i = 0; i < claim_count; i++)
        if (plan->rows[claims[i].row])
            plan->arms[claims[i].left] = plan->arms[claims[i].right] = true;
    plan->arms[W1_ALONE] = plan->arms[W2_ALONE] = true; /* comes first */
}

/* Whether an arm with a hub is there for tuning only. */
static bool is_trial(const struct arm *arm)
{
    enum arm_id id = (enum arm_id)(arm - arms);
    bool is = arm->kind == STAR;

    for (unsigned i = 0; i < claim_count; i++)
        if (claims[i].left == id || claims[i].right == id)
            is &= claims[i].row == ROW_RATES;
    return is;
}

static unsigned seeds_of(const struct settings *settings, const struct arm *arm)
{
    if (settings->seeds)
        return settings->seeds;
    return is_trial(arm) ? TRIALS : workloads[arm->workload].seeds;
}

/* Arms that the hub cannot be set to are not run. */
static void add_arm(struct plan *plan, const struct settings *settings,
                    enum arm_id id)
{
    const struct arm *arm = &arms[id];
    struct series *series = &plan->series[id];
    struct hub_config hub = {0};
    struct why why = {""};
    uint64_t iterations = workloads[arm->workload].iterations;

    if (arm->kind == STAR && arm_configure(arm, &hub, &why) != STATUS_OK) {
        (void)snprintf(series->trouble, sizeof series->trouble, "%.120s",
                       why.text);
        return;
    }
    series->outcomes = plan->outcomes + plan->count;
    series->seeds = seeds_of(settings, arm);
    for (unsigned seed = 1; seed <= series->seeds; seed++)
        plan->tasks[plan->count++] =
            (struct task){arm, settings->folder, seed,
                          settings->quick ? iterations / 4 : iterations};
}

static void make_plan(struct plan *plan, const struct settings *settings)
{
    size_t most = 0;

    choose(plan, settings);
    for (enum arm_id id = 0; id < ARMS; id++)
        if (plan->arms[id])
            most += seeds_of(settings, &arms[id]);
    plan->tasks = calloc(most + 1, sizeof *plan->tasks);
    plan->outcomes = calloc(most + 1, sizeof *plan->outcomes);
    if (!plan->tasks || !plan->outcomes)
        abort();
    for (enum workload_id workload = 0; workload < WORKLOADS; workload++)
        for (enum arm_id id = 0; id < ARMS; id++)
            if (plan->arms[id] && arms[id].workload == workload)
                add_arm(plan, settings, id);
}

/* An arm of which one run failed has no figures. */
static void note_troubles(struct plan *plan)
{
    for (enum arm_id id = 0; id < ARMS; id++)
        for (unsigned i = 0; i < plan->series[id].seeds; i++)
            if (!plan->series[id].outcomes[i].done)
                (void)snprintf(plan->series[id].trouble,
                               sizeof plan->series[id].trouble, "%.120s",
                               plan->series[id].outcomes[i].trouble[0]
                                   ? plan->series[id].outcomes[i].trouble
                                   : "interrupted");
}

/* Arms of several rows are counted in each. */
static void say_costs(const struct plan *plan)
{
    for (enum row_id row = 0; row < ROWS; row++) {
        bool counted[ARMS + 1] = {false};
        double cost = 0;

        for (unsigned i = 0; i < claim_count; i++)
            if (claims[i].row == row)
                counted[claims[i].left] = counted[claims[i].right] = true;
        for (enum arm_id id = 0; id < ARMS; id++)
            for (unsigned i = 0; counted[id] && i < plan->series[id].seeds; i++)
                cost += plan->series[id].outcomes[i].cost;
        if (plan->rows[row])
            (void)fprintf(stderr, "%s: %.0f s of one process\n", rows[row].id,
                          cost);
    }
}

static int write_report(const struct settings *settings,
                        const struct plan *plan, double took)
{
    struct report report = {.series = plan->series,
                            .wanted = plan->rows,
                            .quick = settings->quick,
                            .workers = settings->workers,
                            .seconds = took};

    report.file = settings->output ? fopen(settings->output, "w") : stdout;
    if (!report.file) {
        (void)fprintf(stderr, "convergence: cannot write %s\n",
                      settings->output);
        return 1;
    }
    report_write(&report);
    return fclose(report.file) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct plan plan;
    struct settings settings = {.folder = "build/convergence", .workers = 2};
    struct why why = {""};
    enum status status;
    double began = process_seconds();
    int code;

    matrix_use_processor(argv);
    read_settings(argc, argv, &settings);
    status = workload_prepare(settings.folder, &why);
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "convergence: %s\n", why.text);
        return status_exit_code(status);
    }
    make_plan(&plan, &settings);
    parallel_tasks(plan.tasks, plan.count, settings.workers, plan.outcomes);
    note_troubles(&plan);
    say_costs(&plan);
    code = write_report(&settings, &plan, process_seconds() - began);
    free(plan.tasks);
    free(plan.outcomes);
    return code;
}
