/* The report of compare and sweep: a page of HTML with plots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "net/net.h"
#include "report/chart.h"
#include "report/dots.h"
#include "report/report.h"
#include "report/stamp.h"
#include "sim/program/arms.h"
#include "sim/program/run.h"

enum {
    LINE = 1024,  /* bytes of a line of the head */
    ROWS = 50,    /* of the table */
    CURVES = 8,   /* as many as there are colours */
    SAMPLES = 300 /* of a curve */
};

/* ---- words ---- */

static void add_escaped(const struct arms *arms, unsigned place,
                        void (*say)(const struct arms *arms, unsigned place,
                                    struct text *out),
                        struct text *out)
{
    char bytes[3 * ARMS_NAME_BYTES];
    struct text text;

    text_init(&text, bytes, sizeof bytes);
    say(arms, place, &text);
    quote_html(out, bytes);
}

static void add_best(const struct arms *arms, unsigned place, struct text *out)
{
    grid_name(arms->grid, place, out);
    text_add(out, ": ");
    arms_say_number(arms->list[place].result.median, out);
    text_add(out, " ");
    arms_say_measure(arms, out);
}

/* Line by line, as no line break is harmless in a name. */
static void add_head(const char *lines, struct text *out)
{
    char line[LINE];
    size_t length;

    text_add(out, "<pre class=\"box\">");
    for (; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, lines);
        quote_html(out, line);
        text_add(out, "\n");
    }
    text_add(out, "</pre>\n");
}

static void add_heading(const struct arms_study *study, struct text *out)
{
    const struct arms *arms = study->arms;

    text_add(out, "<h1>");
    add_escaped(arms, arms->order[0], add_best, out);
    text_add(out,
             "</h1>\n<p class=\"soft\">the best of %u settings, medians "
             "of %u seeds; starswitch-sim %s, ",
             arms->played, arms->seeds, study->sweeps ? "sweep" : "compare");
    stamp_add(out, net_wall() / SECOND * SECOND);
    if (!study->whole)
        text_add(out, "; interrupted, so of a part of the runs only");
    text_add(out, "</p>\n");
    add_head(study->head, out);
}

/* ---- tables ---- */

static void begin_cell(unsigned column, const char *tag, struct text *out)
{
    text_add(out, "<%s%s>", tag,
             arms_columns[column].words ? " class=\"words\"" : "");
}

static void add_titles(const struct arms_study *study, struct text *out)
{
    for (unsigned i = 0; i < arms_column_count; i++) {
        if (!arms_has_column(study, i))
            continue;
        begin_cell(i, "th", out);
        arms_add_title(study, i, out);
        text_add(out, "</th>");
    }
}

static void add_table(const struct arms_study *study, struct text *out)
{
    const struct arms *arms = study->arms;
    unsigned rows = arms_rows(arms, ROWS);

    text_add(out, "<div class=\"box\"><table>\n<tr>");
    add_titles(study, out);
    text_add(out, "</tr>\n");
    for (unsigned row = 0; row < rows; row++) {
        text_add(out, "<tr>");
        for (unsigned i = 0; i < arms_column_count; i++) {
            if (!arms_has_column(study, i))
                continue;
            begin_cell(i, "td", out);
            add_escaped(arms, arms->order[row], arms_columns[i].add, out);
            text_add(out, "</td>");
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
    if (rows < arms->played)
        text_add(out, "<p class=\"soft\">and %u more</p>\n",
                 arms->played - rows);
    if (arms->played < arms->count)
        text_add(out,
                 "<p class=\"soft\">%u settings do not go together and "
                 "were left out</p>\n",
                 arms->count - arms->played);
}

static void add_pairs(const struct arms *arms, struct text *out)
{
    text_add(out, "<h2>In pairs</h2>\n<ul>\n");
    for (unsigned i = 1; i < arms->played; i++) {
        text_add(out, "<li>");
        add_escaped(arms, arms->order[i], arms_say_beside, out);
        text_add(out, "</li>\n");
    }
    text_add(out, "</ul>\n");
}

/* ---- plots ---- */

static void sample(const struct arms *arms, unsigned place, struct series *out)
{
    double end = arms->list[place].medians[ARM_TIME];

    for (unsigned i = 0; i <= SAMPLES; i++) {
        double time = end * i / SAMPLES;

        series_add(out, time, arms_loss_at(arms, place, time));
    }
}

static void add_curves(const struct arms *arms, struct text *out)
{
    static char names[CURVES][ARMS_NAME_BYTES];
    struct series *series = calloc(CURVES, sizeof *series);
    struct chart chart = {.title = "Loss of the centre",
                          .unit = "median of the seeds",
                          .scale = 1,
                          .has_goal = arms->options.goal.kind == GOAL_LOSS,
                          .goal = arms->options.goal.value};

    if (!series)
        abort();
    for (unsigned i = 0; i < arms_rows(arms, CURVES); i++) {
        unsigned place = arms->order[i];
        struct text name;

        text_init(&name, names[i], sizeof names[i]);
        grid_name(arms->grid, place, &name);
        sample(arms, place, &series[i]);
        chart.curves[i] = (struct curve){&series[i], names[i], (int)i};
        chart.seconds =
            fmax(chart.seconds, arms->list[place].medians[ARM_TIME]);
        chart.count++;
    }
    chart_draw(&chart, out);
    free(series);
}

/* A plot of what each policy came to, in the colours of the curves. */
static void add_policies(const struct arms *arms, struct dots *dots,
                         double *values)
{
    static char names[DOTS_ROWS][ARMS_NAME_BYTES];

    dots->title = "Seed by seed";
    for (unsigned i = 0; i < arms_rows(arms, DOTS_ROWS); i++) {
        unsigned place = arms->order[i];
        double *row = values + (size_t)i * arms->seeds;
        struct text name;

        text_init(&name, names[i], sizeof names[i]);
        grid_name(arms->grid, place, &name);
        for (unsigned seed = 0; seed < arms->seeds; seed++)
            row[seed] = arms_result(arms, arms_run(arms, place, seed));
        dots->rows[dots->count++] =
            (struct dots_row){names[i], row, arms->seeds,
                              arms->list[place].result.median, (int)i};
    }
}

/* A plot of what settings with each of an option's values came to. */
static void add_values(const struct arms *arms, const struct worth *worth,
                       struct dots *dots, double *values)
{
    const struct grid_axis *axis = &arms->grid->axes[worth->axis];

    dots->title = axis->name;
    for (unsigned value = 0; value < axis->count; value++) {
        double *first = values;

        for (unsigned i = 0; i < arms->count; i++)
            if (!arms->list[i].refused &&
                grid_value(arms->grid, i, worth->axis) == value)
                *values++ = arms->list[i].result.median;
        if (values == first)
            continue;
        dots->rows[dots->count] =
            (struct dots_row){axis->values[value], first,
                              (size_t)(values - first), 0, (int)worth->axis};
        dots->rows[dots->count++].median =
            statistics_quantile(first, (size_t)(values - first), 0.5);
    }
}

static void add_dots(const struct arms_study *study, struct text *out)
{
    const struct arms *arms = study->arms;
    double *values =
        calloc((size_t)arms->count * arms->seeds + 1, sizeof *values);
    struct worth worths[GRID_AXES];
    char unit[100];
    struct text text;

    if (!values)
        abort();
    text_init(&text, unit, sizeof unit);
    arms_say_measure(arms, &text);
    if (study->sweeps)
        text_add(&text, ": a dot is a setting, a line the median of all");
    arms_weigh(arms, worths);
    for (unsigned i = 0; i < (study->sweeps ? arms->grid->count : 1); i++) {
        struct dots dots = {.unit = unit, .missing = "never"};

        if (study->sweeps)
            add_values(arms, &worths[i], &dots, values);
        else
            add_policies(arms, &dots, values);
        dots_draw(&dots, out);
    }
    free(values);
}

static void add_settings(const struct arms *arms, struct text *out)
{
    static char page[OPTIONS_PAGE_BYTES];
    struct setting settings[REPORT_SETTINGS];
    size_t count = report_settings(&arms->options, PROGRAM_SIM, page, settings);

    text_add(out, "<h2>Settings</h2>\n<dl class=\"box\">\n");
    page_settings(settings, count, out);
    text_add(out, "</dl>\n");
}

static void write_page(const void *of, struct text *out)
{
    const struct arms_study *study = of;

    page_begin(study->sweeps ? "a sweep" : "policies compared", out);
    add_heading(study, out);
    add_table(study, out);
    if (study->sweeps) {
        text_add(out, "<h2>What the options are worth</h2>\n");
        add_dots(study, out);
        text_add(out, "<h2>The best settings</h2>\n");
        add_curves(study->arms, out);
    } else {
        add_curves(study->arms, out);
        add_dots(study, out);
        add_pairs(study->arms, out);
    }
    add_settings(study->arms, out);
    page_end(out);
}

enum status arms_report(const struct arms_study *study, const char *path,
                        struct why *why)
{
    return page_write(path, REPORT_BYTES, write_page, study, why);
}
