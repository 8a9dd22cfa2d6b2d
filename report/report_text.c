/* The report in some lines, and what both forms of it say. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/quote.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/stamp.h"
#include "report/table.h"

struct report_totals report_sum(const struct hub_view *view)
{
    struct report_totals totals = {
        .iterations = view->moved.steps,
        .exchanges = view->moved.exchanges,
        .up = (double)view->moved.up_bytes,
        .down = (double)view->moved.down_bytes,
    };

    for (unsigned i = 0; i < view->count; i++) {
        const struct hub_node_view *node = &view->nodes[i];

        totals.gone += node->gone;
        totals.missed += node->missed;
    }
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        totals.chunks += view->verdicts[i];
    return totals;
}

static void add_count(uint64_t count, const char *what, const char **between,
                      struct text *out)
{
    if (!count)
        return;
    text_add(out, "%s%" PRIu64 " %s", *between, count, what);
    *between = ", ";
}

void report_fates(const struct hub_view *view, struct text *out)
{
    const char *between = "";

    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        add_count(view->verdicts[i], verdict_words[i].text, &between, out);
}

void report_guards(const struct hub_view *view, struct text *out)
{
    const char *between = "";

    add_count(view->preempted,
              view->preempted == 1 ? "preemption" : "preemptions", &between,
              out);
    add_count(view->rollbacks,
              view->rollbacks == 1 ? "roll-back" : "roll-backs", &between, out);
}

static bool has_score(double score)
{
    return isfinite(score) && score < NO_SCORE;
}

static void add_goal(const struct goal *goal, struct text *out)
{
    if (goal->kind == GOAL_ACCURACY)
        text_add(out, "goal %.4g %%", 100 * goal->value);
    else
        text_add(out, "goal loss %.4g", goal->value);
}

/* It is the best model that has reached the goal, before the last round. */
static void add_reached(const struct report *report, struct text *out)
{
    const struct hub_view *view = report->view;

    add_goal(&report->goal, out);
    text_add(out, " reached after ");
    stamp_add_span(out, report_time(report));
    if (view->best_accuracy >= 0)
        text_add(out, ", by the best model: %.1f %% test accuracy",
                 100 * view->best_accuracy);
    else if (has_score(view->best_score))
        text_add(out, ", by the best model: %s %.4g", column_loss_name(view),
                 view->best_score);
}

void report_outcome(const struct report *report, struct text *out)
{
    const struct hub_view *view = report->view;

    if (view->reached && report->goal.kind != GOAL_NONE) {
        add_reached(report, out);
        return;
    }
    if (view->accuracy >= 0)
        text_add(out, "%.1f %% test accuracy after ", 100 * view->accuracy);
    else if (has_score(view->score))
        text_add(out, "%s %.4g after ", column_loss_name(view), view->score);
    else
        text_add(out, "not scored, after ");
    stamp_add_span(out, report_time(report));
    if (report->goal.kind == GOAL_NONE)
        return;
    text_add(out, "; ");
    add_goal(&report->goal, out);
    text_add(out, view->stopping ? " not reached yet" : " NOT reached");
    if (view->stopping && view->eta_by != ETA_NOTHING) {
        text_add(out, ", ");
        table_left(view, out);
    }
}

/* The centre at the end, and the best one below it. */
static void add_centre(const struct hub_view *view, struct text *out)
{
    text_add(out, " centre  version %" PRIu64, view->version);
    if (has_score(view->score))
        text_add(out, ", %s %.4f", column_loss_name(view), view->score);
    if (view->error > 0)
        text_add(out, " +-%.2g", view->error);
    if (view->accuracy >= 0)
        text_add(out, ", test %.2f %%", 100 * view->accuracy);
    text_add(out, "; %" PRIu64 " round%s", view->rounds, plural(view->rounds));
    if (view->every)
        text_add(out, ", k %" PRIu64 ", d %" PRIu64 " at the end", view->every,
                 view->delay);
    text_add(out, "\n");
    if (!has_score(view->best_score))
        return;
    text_add(out, " best    version %" PRIu64 ", %s %.4f", view->best_version,
             column_loss_name(view), view->best_score);
    if (view->best_accuracy >= 0)
        text_add(out, ", test %.2f %%", 100 * view->best_accuracy);
    text_add(out, view->tested ? "\n"
                               : "; the hub tests none: it has no "
                                 "--model and --data\n");
}

static void add_times(const struct hub_view *view, struct text *out)
{
    if (!view->training) {
        text_add(out, " time    %.1f s, and no round in it\n",
                 (double)view->pending / (double)SECOND);
        return;
    }
    text_add(out,
             " time    %.1f s pending until the first round, then "
             "%.1f s of training\n",
             (double)view->pending / (double)SECOND,
             (double)view->training / (double)SECOND);
}

static void add_totals(const struct hub_view *view, struct text *out)
{
    const struct report_totals totals = report_sum(view);

    text_add(out, " nodes   %u", view->count);
    if (totals.gone)
        text_add(out, " (%u gone)", totals.gone);
    text_add(out,
             ": %" PRIu64 " iteration%s, %" PRIu64
             " exchange%s merged, %" PRIu64 " result%s late\n",
             totals.iterations, plural(totals.iterations), totals.exchanges,
             plural(totals.exchanges), totals.missed, plural(totals.missed));
    if (totals.chunks) {
        text_add(out, " chunks  ");
        report_fates(view, out);
        text_add(out, "\n");
    }
    if (view->preempted || view->rollbacks) {
        text_add(out, " undone  ");
        report_guards(view, out);
        text_add(out, "\n");
    }
    text_add(out, " moved   ");
    text_add_bytes(out, totals.up);
    text_add(out, " up, ");
    text_add_bytes(out, totals.down);
    text_add(out, " down\n");
}

/* With blanks in front, so that they stand below each other. */
static void add_moved(uint64_t amount, const char *way, struct text *out)
{
    char bytes[16];
    struct text words;

    text_init(&words, bytes, sizeof bytes);
    text_add_bytes(&words, (double)amount);
    text_add(out, "  %7s %s", bytes, way);
}

static void add_node(const struct hub_node_view *node, struct text *out)
{
    size_t used;

    text_add(out, " ");
    used = quote_name(out, node->name, 16);
    text_add(out, "%*s%10" PRIu64 " iterations", (int)(16 - used), "",
             node->iteration);
    add_moved(node->moved.up_bytes, "up", out);
    add_moved(node->moved.down_bytes, "down", out);
    if (node->iteration && has_score(node->loss))
        text_add(out, "  loss %.3f", node->loss);
    if (node->accuracy >= 0)
        text_add(out, "  test %.1f %%", 100 * node->accuracy);
    text_add(out, "%s%s\n", node->best ? "  best" : "",
             node->gone ? "  gone" : "");
}

/* Warnings and errors, if there were any, by their names. */
static void add_troubles(const struct course *course, struct text *out)
{
    bool any = false;

    for (unsigned i = 0; i < NOTE_KINDS; i++) {
        if (!course->notes[i] || note_level((enum note_kind)i) < LEVEL_WARNING)
            continue;
        text_add(out, "%s%" PRIu64 " %s", any ? ", " : " notes   ",
                 course->notes[i], note_name((enum note_kind)i));
        any = true;
    }
    text_add(out, "%s", any ? "\n" : "");
}

static void add_file(const char *what, const char *path, struct text *out)
{
    if (path)
        text_add(out, " %-7s %s\n", what, path);
}

void report_text(const struct report *report, struct text *out)
{
    text_add(out, " %s: ", report->view->stopping ? "stopped" : "done");
    report_outcome(report, out);
    text_add(out, "\n");
    if (report->view->reason[0]) {
        text_add(out, " why     ");
        (void)quote_plain(out, report->view->reason, MSG_TEXT_BYTES);
        text_add(out, "\n");
    }
    add_centre(report->view, out);
    add_times(report->view, out);
    add_totals(report->view, out);
    for (unsigned i = 0; i < table_nodes(report->view); i++)
        add_node(&report->view->nodes[i], out);
    if (report->view->count > TABLE_NODES)
        text_add(out, " ... and %u more nodes\n",
                 report->view->count - TABLE_NODES);
    add_troubles(report->course, out);
    if (report->words && report->words[0]) {
        text_add(out, " writes  ");
        quote_json(out, report->words);
        text_add(out, "\n");
    }
    add_file("model", report->model, out);
    add_file("record", report->record, out);
}

size_t report_settings(const struct options *options, enum program program,
                       char *bytes, struct setting *settings)
{
    struct text text;
    char *line, *rest = bytes;
    size_t count = 0;

    text_init(&text, bytes, OPTIONS_PAGE_BYTES);
    options_print_config(options, program, &text);
    while ((line = strsep(&rest, "\n")) && count < REPORT_SETTINGS) {
        char *value = strstr(line, " = ");

        if (!value || line[0] == '#')
            continue;
        *value = '\0';
        settings[count++] = (struct setting){line, value + 3};
    }
    return count;
}
