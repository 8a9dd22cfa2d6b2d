/* The table for programs and for files: one line per moment. */
#include <inttypes.h>
#include <math.h>

#include "core/quote.h"
#include "report/stamp.h"
#include "report/table.h"

/* What all nodes are together. */
struct sums {
    unsigned here, silent, gone;
    double rate; /* iterations per second */
};

static struct sums sum_up(const struct hub_view *view)
{
    struct sums sums = {0};

    for (unsigned i = 0; i < view->count; i++) {
        const struct hub_node_view *node = &view->nodes[i];

        sums.gone += node->gone;
        sums.silent += !node->gone && node->silent;
        sums.here += !node->gone;
        sums.rate += node->gone ? 0 : node->rate;
    }
    return sums;
}

static void add_value(struct text *out, const char *key, double value)
{
    if (isfinite(value) && value < NO_SCORE)
        text_add(out, " %s=%.4f", key, value);
}

void table_line(const struct table *table, struct text *out)
{
    const struct hub_view *view = table->view;
    const struct sums sums = sum_up(view);

    text_add(out, "time=%.0f version=%" PRIu64 " rounds=%" PRIu64,
             (double)table->elapsed / (double)SECOND, view->version,
             view->rounds);
    add_value(out, "loss", view->score);
    add_value(out, "loss_error", view->error > 0 ? view->error : NAN);
    add_value(out, "accuracy", view->accuracy < 0 ? NAN : view->accuracy);
    add_value(out, "best_loss", view->best_score);
    add_value(out, "best_accuracy",
              view->best_accuracy < 0 ? NAN : view->best_accuracy);
    text_add(out, " nodes=%u silent=%u gone=%u iterations=%" PRIu64, sums.here,
             sums.silent, sums.gone, view->moved.steps);
    text_add(out, " pending=%.1f training=%.1f",
             (double)view->pending / (double)SECOND,
             (double)view->training / (double)SECOND);
    if (view->eta_by != ETA_NOTHING)
        text_add(out, " left=%.1f left_spread=%.1f left_by=%s%s",
                 view->eta.seconds, view->eta.spread,
                 eta_end_words(view->eta_by),
                 view->eta_at_most ? " left_at_most=true" : "");
    if (view->tasks)
        text_add(out, " epoch=%" PRIu64 " tasks_done=%u tasks=%u",
                 view->task_epoch, view->tasks_done, view->tasks);
    text_add(out, " rate=%.1f up_mb=%.3f down_mb=%.3f state=\"", sums.rate,
             (double)view->moved.up_bytes / 1e6,
             (double)view->moved.down_bytes / 1e6);
    (void)quote_plain(out, view->state, sizeof view->state);
    text_add(out, "\"\n");
}

/* ---- JSON ---- */

static void add_key(struct text *out, const char *key)
{
    text_add(out, ",\"%s\":", key);
}

static void add_whole(struct text *out, const char *key, uint64_t value)
{
    text_add(out, ",\"%s\":%" PRIu64, key, value);
}

/* null where there is no number. */
static void add_number(struct text *out, const char *key, double value)
{
    add_key(out, key);
    quote_json_number(out, value < NO_SCORE ? value : NAN);
}

static void add_accuracy(struct text *out, double accuracy)
{
    add_number(out, "accuracy", accuracy < 0 ? NAN : accuracy);
}

static void add_words(struct text *out, const char *key, const char *words)
{
    add_key(out, key);
    quote_json(out, words);
}

static void add_flag(struct text *out, const char *key, bool flag)
{
    add_key(out, key);
    text_add(out, "%s", flag ? "true" : "false");
}

/* Chunks by what became of them. */
static void add_verdicts(struct text *out, const struct hub_view *view)
{
    add_key(out, "chunks");
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        text_add(out, "%c\"%s\":%" PRIu64, i ? ',' : '{', verdict_words[i].text,
                 view->verdicts[i]);
    text_add(out, "}");
}

/* One that is not 0; `any`: others are before it. */
static void add_count(struct text *out, bool *any, const char *name,
                      uint64_t count)
{
    if (!count)
        return;
    text_add(out, "%c\"%s\":%" PRIu64, *any ? ',' : '{', name, count);
    *any = true;
}

/* Exchanges of which nothing was merged, by reason, those that there are. */
static void add_rejected(struct text *out, const struct hub_node_view *node)
{
    bool any = false;

    add_key(out, "rejected");
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        if (i != VERDICT_MERGED)
            add_count(out, &any, verdict_words[i].text, node->fates[i]);
    text_add(out, any ? "}" : "{}");
}

/* Where its time goes, in seconds; empty: it does not say. */
static void add_spent(struct text *out, const struct hub_node_view *node)
{
    bool any = false;

    add_key(out, "time");
    for (unsigned i = 0; i < SPENT_COUNT; i++)
        any |= node->spent[i] > 0;
    for (unsigned i = 0; any && i < SPENT_COUNT; i++) {
        text_add(out, "%c\"%s\":", i ? ',' : '{', spent_words[i].text);
        quote_json_number(out, (double)node->spent[i] / (double)SECOND);
    }
    text_add(out, any ? "}" : "{}");
}

static void add_node(struct text *out, const struct hub_node_view *node)
{
    text_add(out, "{\"name\":");
    quote_json(out, node->name);
    add_whole(out, "iterations", node->iteration);
    add_whole(out, "steps", node->moved.steps);
    add_number(out, "rate", node->rate);
    add_whole(out, "every", node->every);
    add_whole(out, "delay", node->delay);
    add_number(out, "loss", node->iteration ? node->loss : NAN);
    add_accuracy(out, node->accuracy);
    add_whole(out, "lag", node->lag);
    add_whole(out, "exchanges", node->moved.exchanges);
    add_rejected(out, node);
    add_whole(out, "samples", node->moved.samples);
    add_whole(out, "preempted", node->preempted);
    add_whole(out, "missed", node->missed);
    add_whole(out, "up_bytes", node->moved.up_bytes);
    add_whole(out, "down_bytes", node->moved.down_bytes);
    add_number(out, "up_rate", node->up_rate);
    add_number(out, "down_rate", node->down_rate);
    add_number(out, "link_busy", node->busy);
    add_number(out, "round_trip", (double)node->round_trip / (double)SECOND);
    add_number(out, "waited", (double)node->waited / (double)SECOND);
    add_spent(out, node);
    add_number(out, "foreseen", node->foreseen);
    add_words(out, "activity", activity_words[node->activity].text);
    add_flag(out, "silent", node->silent);
    add_flag(out, "quarantined", node->quarantined);
    add_flag(out, "leaving", node->drained);
    add_flag(out, "pinned", node->pinned);
    add_flag(out, "gone", node->gone);
    add_flag(out, "best", node->best);
    add_words(out, "last_offer", node->why);
    text_add(out, "}");
}

/* null: not known (yet), or it has no end. */
static void add_left(struct text *out, const struct hub_view *view)
{
    add_key(out, "eta");
    if (view->eta_by == ETA_NOTHING) {
        text_add(out, "null");
        return;
    }
    text_add(out, "{\"by\":\"%s\"", eta_end_words(view->eta_by));
    add_number(out, "seconds", view->eta.seconds);
    add_number(out, "spread", view->eta.spread);
    text_add(out, ",\"at_most\":%s}", view->eta_at_most ? "true" : "false");
}

/* How it goes, as members of an object. */
static void add_course(struct text *out, const struct table *table)
{
    const struct hub_view *view = table->view;

    add_number(out, "elapsed", (double)table->elapsed / (double)SECOND);
    add_number(out, "pending", (double)view->pending / (double)SECOND);
    add_number(out, "training", (double)view->training / (double)SECOND);
    add_left(out, view);
    add_whole(out, "version", view->version);
    add_whole(out, "rounds", view->rounds);
    add_whole(out, "every", view->every);
    add_whole(out, "delay", view->delay);
    add_words(out, "loss_of", view->tested ? "test data" : "training data");
    add_number(out, "loss", view->score);
    add_number(out, "loss_error", view->error > 0 ? view->error : NAN);
    add_accuracy(out, view->accuracy);
    add_number(out, "best_loss", view->best_score);
    add_number(out, "best_accuracy",
               view->best_accuracy < 0 ? NAN : view->best_accuracy);
    add_whole(out, "best_version", view->best_version);
    add_verdicts(out, view);
    add_whole(out, "preempted", view->preempted);
    add_whole(out, "rollbacks", view->rollbacks);
    if (view->tasks) {
        add_whole(out, "epoch", view->task_epoch);
        add_whole(out, "tasks", view->tasks);
        add_whole(out, "tasks_doing", view->tasks_doing);
        add_whole(out, "tasks_done", view->tasks_done);
    }
    add_whole(out, "steps", view->moved.steps);
    add_whole(out, "exchanges", view->moved.exchanges);
    add_whole(out, "up_bytes", view->moved.up_bytes);
    add_whole(out, "down_bytes", view->moved.down_bytes);
    add_words(out, "state", view->state);
}

static void add_nodes(struct text *out, const struct hub_view *view,
                      unsigned most)
{
    unsigned count = view->count < most ? view->count : most;

    text_add(out, ",\"nodes\":[");
    for (unsigned i = 0; i < count; i++) {
        text_add(out, i ? "," : "");
        add_node(out, &view->nodes[i]);
    }
    text_add(out, "]");
    if (view->count > count)
        add_whole(out, "more_nodes", view->count - count);
    text_add(out, "}\n");
}

static void begin(struct text *out, const struct table *table,
                  const char *event)
{
    text_add(out, "{\"time\":\"");
    stamp_add(out, table->wall);
    text_add(out, "\",\"event\":\"%s\"", event);
}

void table_json(const struct table *table, struct text *out)
{
    begin(out, table, "status");
    add_course(out, table);
    add_nodes(out, table->view, TABLE_NODES);
}

/* What the log has told, also what it withheld. */
static void add_notes(struct text *out, const uint64_t *notes)
{
    bool any = false;

    add_key(out, "events");
    for (unsigned i = 0; i < NOTE_KINDS; i++)
        add_count(out, &any, note_name((enum note_kind)i), notes[i]);
    text_add(out, any ? "}" : "{}");
}

static void add_refusals(struct text *out, const struct table_process *process)
{
    bool any = false;

    add_key(out, "refused");
    for (unsigned i = 0; i < process->reasons; i++)
        add_count(out, &any, process->refusals[i].name,
                  process->refusals[i].count);
    text_add(out, any ? "}" : "{}");
}

void table_state(const struct table *table, const struct table_process *process,
                 unsigned nodes, struct text *out)
{
    const struct hub_view *view = table->view;

    begin(out, table, "state");
    text_add(out,
             ",\"level\":\"info\",\"subject\":\"\",\"run\":\"%016" PRIx64 "\"",
             view->run);
    add_whole(out, "run_epoch", view->epoch);
    add_number(out, "run_time", (double)view->run_time / (double)SECOND);
    add_whole(out, "offered", view->offered);
    add_whole(out, "open", process->uploads.open);
    add_whole(out, "open_rounds", process->uploads.rounds);
    add_whole(out, "uploads", process->uploads.partial);
    add_whole(out, "upload_bytes", process->uploads.held);
    add_whole(out, "resident_bytes", process->resident);
    add_whole(out, "pool_bytes", process->pool);
    add_notes(out, process->notes);
    add_refusals(out, process);
    add_course(out, table);
    add_nodes(out, view, nodes);
}
