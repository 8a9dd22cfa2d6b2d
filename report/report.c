#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "report/chart.h"
#include "report/columns.h"
#include "report/stamp.h"
#include "report/table.h"

enum { OPEN_EVENTS = 12, WORDS_BYTES = 200 };

/* ---- the head ---- */

static void add_heading(const struct report *report, struct text *out)
{
    const struct table_head *head = report->head;
    char policy[640];
    struct text words;

    text_init(&words, policy, sizeof policy);
    table_policy(head, report->view, &words);
    text_add(out, "<h1>");
    report_outcome(report, out);
    text_add(out, "</h1>\n<p class=\"soft\">starswitch");
    if (head->title)
        text_add(out, ", ");
    quote_html(out, head->title ? head->title : "");
    text_add(out, ", ");
    stamp_add(out, report->wall);
    if (report->view->reason[0])
        text_add(out, "; ended: ");
    quote_html(out, report->view->reason);
    text_add(out, "</p>\n<p>");
    page_fact("data", head->data, out);
    page_fact("model", head->model, out);
    page_fact("policy", head->policy ? policy : NULL, out);
    page_fact("goal", head->goal, out);
    text_add(out, "</p>\n");
}

/* ---- figures in large type ---- */

static void add_card(const char *name, const struct text *value,
                     const struct text *more, struct text *out)
{
    text_add(out, "<div><span>%s</span><b>%s</b><span>%s</span></div>\n", name,
             value->bytes, more->bytes);
}

/* A text of its own in `bytes`. */
FORMAT(3, 4)
static struct text words(char *bytes, size_t size, const char *format, ...)
{
    va_list arguments;
    struct text text;

    text_init(&text, bytes, size);
    va_start(arguments, format);
    (void)vsnprintf(bytes, size, format, arguments);
    va_end(arguments);
    return text;
}

/* Short, however large it is. */
static void add_loss_value(double loss, struct text *out)
{
    text_add(out, loss < 1e4 ? "%.4f" : "%.3g", loss);
}

static void add_score_cards(const struct hub_view *view, struct text *out)
{
    char first[WORDS_BYTES], second[WORDS_BYTES];
    struct text value, more = words(second, sizeof second, "of the centre");

    if (view->accuracy >= 0) {
        value = words(first, sizeof first, "%.1f %%", 100 * view->accuracy);
        if (view->best_accuracy >= 0)
            more = words(second, sizeof second,
                         "best version, %" PRIu64 ": %.1f %%",
                         view->best_version, 100 * view->best_accuracy);
        add_card("test accuracy", &value, &more, out);
    }
    if (!(view->score < NO_SCORE))
        return;
    text_init(&value, first, sizeof first);
    add_loss_value(view->score, &value);
    text_init(&more, second, sizeof second);
    if (view->error > 0)
        text_add(&more, "&#177; %.2g; ", view->error);
    text_add(&more,
             view->best_score < NO_SCORE ? "best version, %" PRIu64 ": "
                                         : "of the centre",
             view->best_version);
    if (view->best_score < NO_SCORE)
        add_loss_value(view->best_score, &more);
    add_card(column_loss_name(view), &value, &more, out);
}

static void add_cards(const struct report *report, struct text *out)
{
    const struct report_totals totals = report_sum(report->view);
    char first[WORDS_BYTES], second[WORDS_BYTES];
    double seconds = (double)report_time(report) / (double)SECOND;
    struct text value, more;

    text_add(out, "<section class=\"cards\">\n");
    add_score_cards(report->view, out);
    text_init(&value, first, sizeof first);
    stamp_add_span(&value, report_time(report));
    more = words(second, sizeof second, "%" PRIu64 " version%s of the centre",
                 report->view->version, plural(report->view->version));
    add_card("time", &value, &more, out);
    text_init(&value, first, sizeof first);
    stamp_add_span(&value, report->view->training);
    more = words(second, sizeof second, "after %.1f s pending",
                 (double)report->view->pending / (double)SECOND);
    add_card("training", &value, &more, out);
    value = words(first, sizeof first, "%" PRIu64, totals.iterations);
    more = words(second, sizeof second, "%.0f per second, all nodes",
                 seconds > 0 ? (double)totals.iterations / seconds : 0);
    add_card("iterations", &value, &more, out);
    text_init(&value, first, sizeof first);
    text_add_bytes(&value, totals.up + totals.down);
    text_init(&more, second, sizeof second);
    text_add_bytes(&more, totals.up);
    text_add(&more, " up, ");
    text_add_bytes(&more, totals.down);
    text_add(&more, " down");
    add_card("moved", &value, &more, out);
    value = words(first, sizeof first, "%" PRIu64, totals.exchanges);
    more = words(second, sizeof second, "merged; %" PRIu64 " result%s late",
                 totals.missed, plural(totals.missed));
    add_card("exchanges", &value, &more, out);
    text_add(out, "</section>\n");
}

/* ---- charts ---- */

static void add_loss_chart(const struct report *report, struct chart *chart,
                           struct text *out)
{
    const struct course *course = report->course;

    chart->title = "Loss";
    chart->unit = report->view->tested
                      ? "nodes: on training data, smoothed; centre: on test "
                        "data"
                      : "on training data, as the nodes say";
    chart->has_goal = report->goal.kind == GOAL_LOSS;
    if (course->loss.per_point)
        chart->curves[chart->count++] =
            (struct curve){&course->loss, "centre", -1};
    for (unsigned i = 0; i < course->nodes; i++)
        if (course->node[i].loss.per_point)
            chart->curves[chart->count++] = (struct curve){
                &course->node[i].loss, course->node[i].name, (int)i};
    chart_draw(chart, out);
}

static void add_accuracy_chart(const struct report *report, struct chart *chart,
                               struct text *out)
{
    chart->title = "Test accuracy of the centre";
    chart->unit = "%";
    chart->scale = 100;
    chart->has_goal = report->goal.kind == GOAL_ACCURACY;
    chart->curves[0] = (struct curve){&report->course->accuracy, "centre", -1};
    chart->count = 1;
    chart_draw(chart, out);
}

static void add_traffic_chart(const struct report *report, struct chart *chart,
                              struct text *out)
{
    chart->title = "Data moved";
    chart->unit = "MB, up and down, all nodes";
    chart->from_zero = chart->low = true;
    chart->curves[0] = (struct curve){&report->course->megabytes, "MB", -1};
    chart->count = 1;
    chart_draw(chart, out);
}

static void add_charts(const struct report *report, struct text *out)
{
    void (*const adders[])(const struct report *, struct chart *,
                           struct text *) = {add_loss_chart, add_accuracy_chart,
                                             add_traffic_chart};
    double seconds = (double)report->elapsed / (double)SECOND;

    for (unsigned i = 0; i < sizeof adders / sizeof *adders; i++) {
        struct chart chart = {
            .seconds = seconds, .scale = 1, .goal = report->goal.value};

        adders[i](report, &chart, out);
    }
    chart_draw_moments(report->course, seconds, out);
}

/* ---- tables ---- */

static void add_loss(const struct hub_node_view *node, struct text *out)
{
    if (node->iteration && node->loss < NO_SCORE)
        text_add(out, "<td>%.3f</td>", node->loss);
    else
        text_add(out, "<td>-</td>");
    if (node->accuracy >= 0)
        text_add(out, "<td>%.1f</td>", 100 * node->accuracy);
    else
        text_add(out, "<td>-</td>");
}

static void add_node(const struct hub_node_view *node, struct text *out)
{
    text_add(out, "<tr><td class=\"words\">");
    quote_html(out, node->name);
    text_add(out, "</td><td>%" PRIu64 "</td><td>%.1f</td>", node->iteration,
             node->rate);
    add_loss(node, out);
    text_add(out, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>",
             node->moved.exchanges, node->missed);
    text_add_bytes(out, (double)node->moved.up_bytes);
    text_add(out, "</td><td>");
    text_add_bytes(out, (double)node->moved.down_bytes);
    text_add(out, "</td><td>%.2f</td><td class=\"words long\">%s%s",
             (double)node->round_trip / (double)MILLISECOND,
             node->gone ? "gone" : activity_words[node->activity].text,
             node->best ? ", best" : "");
    if (node->why[0])
        text_add(out, ", last offer ");
    quote_html(out, node->why);
    text_add(out, "</td></tr>\n");
}

static void add_nodes(const struct hub_view *view, struct text *out)
{
    text_add(out, "<h2>Nodes</h2>\n<div class=\"box\"><table>\n<tr>"
                  "<th class=\"words\">node</th><th>iterations</th>"
                  "<th>it/s</th><th>loss</th><th>test %%</th><th>merged</th>"
                  "<th>late</th><th>up</th><th>down</th><th>rtt ms</th>"
                  "<th class=\"words\">at the end</th></tr>\n");
    for (unsigned i = 0; i < table_nodes(view); i++)
        add_node(&view->nodes[i], out);
    text_add(out, "</table></div>\n");
    if (view->count > TABLE_NODES)
        text_add(out, "<p>and %u more</p>\n", view->count - TABLE_NODES);
}

static void add_event(const struct moment *moment, struct text *out)
{
    enum level level = note_level(moment->note.kind);

    text_add(out,
             "<tr class=\"%s\"><td>%.1f s</td><td class=\"words\">%s</td>"
             "<td class=\"words\">",
             level == LEVEL_ERROR     ? "error"
             : level == LEVEL_WARNING ? "warning"
                                      : "info",
             (double)moment->elapsed / (double)SECOND,
             note_name(moment->note.kind));
    quote_html(out, moment->note.subject);
    text_add(out, "</td><td class=\"words long\">");
    quote_html(out, moment->note.text);
    text_add(out, "</td></tr>\n");
}

/* A long list is folded. */
static void add_events(const struct course *course, struct text *out)
{
    unsigned count = course_moments(course);

    text_add(out, "<h2>Events</h2>\n<div class=\"box\"><details%s><summary>",
             count <= OPEN_EVENTS ? " open=\"\"" : "");
    text_add(out, "%" PRIu64 " events", course->moments_seen);
    if (course->moments_seen > count)
        text_add(out, ", the first %d and the last %d are kept", COURSE_FIRST,
                 COURSE_MOMENTS - COURSE_FIRST);
    text_add(out, "</summary><table>\n");
    for (unsigned i = 0; i < count; i++)
        add_event(course_moment(course, i), out);
    text_add(out, "</table></details></div>\n");
}

static void add_fates(const struct hub_view *view, struct text *out)
{
    text_add(out, "<p class=\"soft\">chunks: ");
    report_fates(view, out);
    if (view->preempted || view->rollbacks)
        text_add(out, "; undone: ");
    report_guards(view, out);
    text_add(out, "</p>\n");
}

static void add_words(const struct report *report, struct text *out)
{
    char *words, *rest, *line;

    if (!report->words || !report->words[0])
        return;
    rest = words = strdup(report->words);
    if (!words)
        return;
    text_add(out, "<h2>The centre writes</h2>\n<pre class=\"box\">\n");
    while ((line = strsep(&rest, "\n"))) {
        quote_html(out, line);
        text_add(out, "\n");
    }
    text_add(out, "</pre>\n");
    free(words);
}

static void add_settings(const struct report *report, struct text *out)
{
    text_add(out, "<h2>Settings and files</h2>\n<dl class=\"box\">\n");
    page_settings(report->settings, report->setting_count, out);
    page_setting("model file", report->model, out);
    page_setting("recording", report->record, out);
    text_add(out, "</dl>\n");
}

void report_html(const struct report *report, struct text *out)
{
    page_begin("report of a run", out);
    add_heading(report, out);
    add_cards(report, out);
    add_charts(report, out);
    add_nodes(report->view, out);
    add_fates(report->view, out);
    add_words(report, out);
    add_events(report->course, out);
    add_settings(report, out);
    page_end(out);
}

static void write_page(const void *of, struct text *out)
{
    report_html(of, out);
}

enum status report_write(const struct report *report, const char *path,
                         struct why *why)
{
    return page_write(path, REPORT_BYTES, write_page, report, why);
}
