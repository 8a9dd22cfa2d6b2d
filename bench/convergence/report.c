#include "bench/convergence/report.h"

#include <math.h>
#include <string.h>

static const char *const contexts[CONTEXTS] = {[HOLDS_CLEARLY] = "holds (2 SE)",
                                               [HOLDS] = "holds",
                                               [FAILS] = "**does not hold**",
                                               [NOT_RUN] = "not run"};

static void put(const struct report *report, const char *text)
{
    (void)fputs(text, report->file);
}

enum { COLUMNS = 80 };

/* Prose, broken into lines. */
static void put_prose(const struct report *report, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t word = strcspn(text, " ");

        if (column && column + 1 + word > COLUMNS) {
            put(report, "\n");
            column = 0;
        } else if (column) {
            put(report, " ");
            column++;
        }
        (void)fprintf(report->file, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    put(report, "\n");
}

/* ---- numbers ---- */

static void put_number(const struct report *report, double value, int places)
{
    if (!isfinite(value) || fabs(value) >= 1e6)
        put(report, "diverged");
    else
        (void)fprintf(report->file, "%.*f", places, value);
}

static void put_mean(const struct report *report, struct mean mean)
{
    put_number(report, mean.value, 3);
    if (!isfinite(mean.value) || !isfinite(mean.deviation))
        return;
    put(report, " ± ");
    put_number(report, mean.deviation, 3);
}

/* ---- the single node ---- */

static void put_curve(const struct report *report, const struct arm *arm)
{
    const struct series *series = &report->series[arm - arms];
    const struct workload *workload = &workloads[arm->workload];
    uint64_t iterations = series->outcomes[0].iterations;
    double values[64];

    (void)fprintf(report->file, "| %s |", workload->name);
    for (unsigned c = 0; c < CURVE; c++) {
        for (unsigned s = 0; s < series->seeds; s++)
            values[s] = series->outcomes[s].curve[c];
        put(report, " ");
        put_mean(report, statistics_mean(values, series->seeds));
        (void)fprintf(report->file, " (%llu) |",
                      (unsigned long long)(iterations >> (CURVE - 1 - c)));
    }
    put(report, "\n");
}

static void put_curves(const struct report *report)
{
    put(report, "\n## A single node\n\n");
    put_prose(report,
              "Its loss on held-out samples, trained on its own eighth of the "
              "data, mean ± deviation over seeds, after so many iterations.");
    put(report, "\n| | 1/16 | 1/8 | 1/4 | 1/2 | all |\n"
                "|---|--:|--:|--:|--:|--:|\n");
    for (enum arm_id id = 0; id < ARMS; id++)
        if ((id == W1_ALONE || id == W2_ALONE) && report->series[id].outcomes &&
            !report->series[id].trouble[0])
            put_curve(report, &arms[id]);
}

/* ---- the rows ---- */

static void put_arm(const struct report *report, const struct arm *arm,
                    enum compared loss)
{
    const struct series *series = &report->series[arm - arms];

    (void)fprintf(report->file, "| %s, %s |", workloads[arm->workload].name,
                  arm->name);
    if (!series->outcomes || series->trouble[0]) {
        (void)fprintf(report->file, " not run: %s | | | | |\n",
                      series->trouble);
        return;
    }
    put(report, " ");
    put_mean(report, series_mean(series, loss));
    (void)fprintf(report->file, " | %.1f %% | ",
                  100 * series_mean(series, ACCURACY).value);
    if (arm->kind == STAR)
        put_number(report, series_mean(series, BYTES).value / 1e6, 1);
    (void)fprintf(report->file, " | %.0f | ",
                  series_mean(series, DURATION).value);
    if (arm->options[0])
        (void)fprintf(report->file, "`%s`", arm->options);
    put(report, " |\n");
}

static void put_arms(const struct report *report, enum row_id row)
{
    bool shown[ARMS + 1] = {false};

    bool headed = false;

    for (unsigned i = 0; i < claim_count; i++)
        if (claims[i].row == row)
            shown[claims[i].left] = shown[claims[i].right] = headed = true;
    if (headed)
        put(report, "\n| arm | loss | right | MB | s | the hub's options |\n"
                    "|---|--:|--:|--:|--:|---|\n");
    for (enum arm_id id = 0; id < ARMS; id++)
        if (shown[id])
            put_arm(report, &arms[id], row == ROW_RATES ? TUNING : LOSS);
}

static void put_claim(const struct report *report, const struct claim *claim)
{
    struct finding finding = claim_judge(claim, report->series);

    (void)fprintf(report->file, "| %s | ", claim->text);
    if (finding.holding == NOT_RUN) {
        put(report, finding.trouble);
    } else {
        put_number(report, finding.value, 3);
        if (isfinite(finding.value) && isfinite(finding.error)) {
            put(report, " ± ");
            put_number(report, finding.error, 3);
        }
    }
    (void)fprintf(report->file, " | %s %.2f | %s | %s |\n",
                  claim->relation == AT_MOST ? "≤" : "≥", claim->target,
                  claim->prior, contexts[finding.holding]);
}

static void put_row(const struct report *report, enum row_id row)
{
    bool headed = false;

    (void)fprintf(report->file, "\n## %s: %s\n\n", rows[row].id,
                  rows[row].headline);
    put_prose(report, rows[row].text);
    put_arms(report, row);
    for (unsigned i = 0; i < claim_count; i++) {
        if (claims[i].row != row || claims[i].measure == SHOWN)
            continue;
        if (!headed)
            put(report, "\n| claim | ours | target | prior | |\n"
                        "|---|--:|--:|--:|---|\n");
        headed = true;
        put_claim(report, &claims[i]);
    }
}

/* ---- the page ---- */

static void put_workload(const struct report *report,
                         const struct workload *workload)
{
    char text[512];

    (void)snprintf(text, sizeof text,
                   "**%s**: %s. %llu iterations a node, %u seeds.",
                   workload->name, workload->about,
                   (unsigned long long)workload->iterations, workload->seeds);
    put_prose(report, text);
}

static void put_head(const struct report *report)
{
    put(report, "# Does it learn as it should?\n\n");
    put_prose(report,
              "Written by `make convergence`; do not edit. Each arm is a run "
              "of the hub, the nodes and the policies of production on a "
              "virtual star (sim/world.h) with a gigabit network, and with the "
              "real gradients of train/, in virtual time: an iteration takes "
              "0.1 s unless the row says otherwise. Nodes have different first "
              "parameters; the first to join gives the run its own. Values "
              "travel as float32 unless the row says otherwise. All arms "
              "of a row do equally many iterations per node, and are judged "
              "at the end by the same held-out samples, which neither nodes "
              "nor hub have.");
    for (unsigned w = 0; w < WORKLOADS; w++) {
        put(report, "\n");
        put_workload(report, &workloads[w]);
    }
    put(report, "\n");
    put_prose(report,
              "Losses are mean ± deviation over seeds; right is the share of "
              "right answers, MB what a node sends and receives, s the virtual "
              "time of the run. A claim compares means, ± their ratio's "
              "standard error, paired by seed. It *holds (2 SE)* when it would "
              "if the figure were two standard errors worse. A prior is what a "
              "small harness of its own measured on like data, optdigits and "
              "tiny-Shakespeare: ratios may transfer, losses do not.");
    if (report->quick)
        put(report, "\n**Quick: a quarter of the iterations. Good for trying "
                    "this program only.**\n");
}

static void put_count(const struct report *report)
{
    unsigned counts[CONTEXTS] = {0};
    char text[256];

    for (unsigned i = 0; i < claim_count; i++)
        if (report->wanted[claims[i].row] && claims[i].measure != SHOWN)
            counts[claim_judge(&claims[i], report->series).holding]++;
    (void)snprintf(text, sizeof text,
                   "%u claims hold by two standard errors, %u just hold, %u "
                   "do not hold, %u were not run. All of it took %.0f minutes "
                   "in %u processes.",
                   counts[HOLDS_CLEARLY], counts[HOLDS], counts[FAILS],
                   counts[NOT_RUN], ceil(report->seconds / 60),
                   report->workers);
    put(report, "\n");
    put_prose(report, text);
}

void report_write(const struct report *report)
{
    put_head(report);
    put_count(report);
    put_curves(report);
    for (enum row_id row = 0; row < ROWS; row++)
        if (report->wanted[row])
            put_row(report, row);
}
