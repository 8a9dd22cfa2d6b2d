/* The report in some lines, and what both forms of it say. */
#include <inttypes.h>
#include <math.h>

#include "core/quote.h"
#include "show/report.h"
#include "show/stamp.h"

struct report_totals report_sum(const struct hub_view *view)
{
    struct report_totals totals = {0};

    for (unsigned i = 0; i < view->count; i++) {
        const struct hub_node_view *node = &view->nodes[i];

        totals.gone += node->gone;
        totals.iterations += node->iteration;
        totals.exchanges += node->exchanges;
        totals.missed += node->missed;
        totals.up += (double)node->up_bytes / 1e6;
        totals.down += (double)node->down_bytes / 1e6;
    }
    return totals;
}

static bool has_score(double score)
{
    return isfinite(score) && score < NO_SCORE;
}

static void add_goal(const struct goal *goal, struct text *out)
{
    if (goal->kind == GOAL_ACCURACY)
        text_add(out, " (goal %.4g %%)", 100 * goal->value);
    else if (goal->kind == GOAL_LOSS)
        text_add(out, " (goal: loss %.4g)", goal->value);
}

void report_outcome(const struct report *report, struct text *out)
{
    const struct hub_view *view = report->view;

    if (view->accuracy >= 0)
        text_add(out, "%.1f %% test accuracy after ", 100 * view->accuracy);
    else if (has_score(view->score))
        text_add(out, "loss %.4g after ", view->score);
    else
        text_add(out, "not scored, after ");
    stamp_add_span(out, report->elapsed);
    add_goal(&report->goal, out);
}

static void add_centre(const struct hub_view *view, struct text *out)
{
    text_add(out, " centre  version %" PRIu64 ", %" PRIu64 " rounds",
             view->version, view->rounds);
    if (has_score(view->score))
        text_add(out, ", loss %.4f", view->score);
    if (view->error > 0)
        text_add(out, " +-%.2g", view->error);
    if (has_score(view->best_score))
        text_add(out, ", best loss %.4f at version %" PRIu64,
                 view->best_score, view->best_version);
    text_add(out, "\n");
}

static void add_times(const struct hub_view *view, struct text *out)
{
    text_add(out, " time    %.1f s pending until the first round, then "
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
    text_add(out, ": %" PRIu64 " iterations, %" PRIu64 " exchanges merged, %"
             PRIu64 " results late\n", totals.iterations, totals.exchanges,
             totals.missed);
    text_add(out, " moved   %.1f MB up, %.1f MB down\n", totals.up,
             totals.down);
}

static void add_node(const struct hub_node_view *node, struct text *out)
{
    size_t used;

    text_add(out, " ");
    used = quote_plain(out, node->name, 16);
    text_add(out, "%*s%10" PRIu64 " iterations  %6.1f MB up  %6.1f MB down",
             (int)(16 - used), "", node->iteration,
             (double)node->up_bytes / 1e6, (double)node->down_bytes / 1e6);
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
    text_add(out, " done: ");
    report_outcome(report, out);
    text_add(out, "\n");
    if (report->view->reason[0]) {
        text_add(out, " ended   ");
        (void)quote_plain(out, report->view->reason, MSG_TEXT_BYTES);
        text_add(out, "\n");
    }
    add_centre(report->view, out);
    add_times(report->view, out);
    add_totals(report->view, out);
    for (unsigned i = 0; i < report->view->count; i++)
        add_node(&report->view->nodes[i], out);
    add_troubles(report->course, out);
    add_file("model", report->model, out);
    add_file("record", report->record, out);
}
