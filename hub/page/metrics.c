#include "hub/page/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <starswitch.h>

#include "codec/codec.h"

/* Names of nodes are the longest there is in a line, and there are few lines
 * that are not a node's. */
enum { LINE_BYTES = 200, LINES_OF_NODE = 48, OTHER_LINES = 400 };

enum type { TYPE_GAUGE, TYPE_COUNTER, TYPE_HISTOGRAM, TYPE_INFO };

struct teller {
    const struct metrics_source *source;
    const struct snapshot *now;
    const struct hub_view *view;
    bool open_metrics;
    const char *name; /* of the metric that is being told */
    enum type type;
    struct text *out;
};

static double in_seconds(nanos span)
{
    return (double)span / (double)SECOND;
}

static double known(double score)
{
    return score < NO_SCORE ? score : NAN;
}

static double count_nodes(const struct hub_view *view, bool silent)
{
    unsigned count = 0;

    for (unsigned i = 0; i < view->count; i++)
        count += !view->nodes[i].gone && (!silent || view->nodes[i].silent);
    return count;
}

/* ---- lines ---- */

/* What ends the value of a label stands there escaped. The hub lets no name in
 * that holds control characters, nor two that are the same. */
static void add_label(struct text *out, bool first, const char *label,
                      const char *value)
{
    text_add(out, "%c%s=\"", first ? '{' : ',', label);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            text_add_character(out, '\\');
        if (*value == '\n')
            text_add(out, "\\n");
        else
            text_add_character(out, *value);
    }
    text_add_character(out, '"');
}

static const char *suffix(const struct teller *teller)
{
    return teller->type == TYPE_COUNTER ? "_total"
           : teller->type == TYPE_INFO  ? "_info"
                                        : "";
}

/* Whole numbers are whole. */
static void add_value(struct text *out, double value)
{
    if (fabs(value) < 1e15 && value == floor(value))
        text_add(out, " %.0f\n", value);
    else
        text_add(out, " %.10g\n", value);
}

/* A sample with up to two labels, whose name may be NULL. What is not a number
 * is left out. */
static void tell(const struct teller *teller, const char *label,
                 const char *value, const char *other, const char *second,
                 double number)
{
    struct text *out = teller->out;

    if (!isfinite(number))
        return;
    text_add(out, "starswitch_%s%s", teller->name, suffix(teller));
    if (label)
        add_label(out, true, label, value);
    if (other)
        add_label(out, false, other, second);
    if (label)
        text_add_character(out, '}');
    add_value(out, number);
}

static void tell_one(const struct teller *teller, const char *label,
                     const char *value, double number)
{
    tell(teller, label, value, NULL, NULL, number);
}

/* ---- metrics that are no single value ---- */

static void tell_build(const struct teller *teller)
{
    tell_one(teller, "version", STAR_VERSION, 1);
}

static void tell_run(const struct teller *teller)
{
    const struct hub_view *view = teller->view;
    char run[20];

    (void)snprintf(run, sizeof run, "%016" PRIx64, view->run);
    text_add(teller->out, "starswitch_run_info");
    add_label(teller->out, true, "run", run);
    add_label(teller->out, false, "policy",
              teller->source->policy ? teller->source->policy : "");
    add_label(teller->out, false, "codec_up", codecs[view->codec_up].name);
    add_label(teller->out, false, "codec_down", codecs[view->codec_down].name);
    text_add(teller->out, "} 1\n");
}

static const char *split(const struct hub_view *view)
{
    return view->tested ? "test" : "train";
}

static void tell_center_loss(const struct teller *teller)
{
    tell_one(teller, "split", split(teller->view), known(teller->view->score));
}

static void tell_center_accuracy(const struct teller *teller)
{
    double accuracy = teller->view->accuracy;

    tell_one(teller, "split", split(teller->view),
             accuracy < 0 ? NAN : accuracy);
}

/* Between 0 and 1. */
static double share(double part, double whole)
{
    double ratio = whole > 0 ? part / whole : NAN;

    return ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
}

static void tell_goal_progress(const struct teller *teller)
{
    const struct hub_view *view = teller->view;
    const struct goal *goal = &teller->source->goal;
    double first = known(view->first_score), ratio = NAN;

    if (goal->kind == GOAL_ACCURACY && view->accuracy >= 0)
        ratio = share(view->accuracy, goal->value);
    else if (goal->kind == GOAL_LOSS && first > goal->value)
        ratio = share(first - known(view->score), first - goal->value);
    if (goal->kind != GOAL_NONE && view->reached)
        ratio = 1;
    if (!isfinite(ratio))
        return;
    text_add(teller->out, "starswitch_goal_progress_ratio");
    add_value(teller->out, ratio);
}

/* Who says nothing of its time, as an older node, has none of it here. */
static void tell_node_time_seconds(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->view->count; i++) {
        const struct hub_node_view *node = &teller->view->nodes[i];
        double all = 0;

        for (unsigned j = 0; j < SPENT_COUNT; j++)
            all += in_seconds(node->spent[j]);
        for (unsigned j = 0; all > 0 && j < SPENT_COUNT; j++)
            tell(teller, "node", node->name, "state", spent_words[j].text,
                 in_seconds(node->spent[j]));
    }
}

static void tell_exchanges(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->view->count; i++) {
        const struct hub_node_view *node = &teller->view->nodes[i];
        double rejected = 0;

        for (unsigned j = 0; j < VERDICT_COUNT; j++)
            if (j != VERDICT_MERGED)
                rejected += (double)node->fates[j];
        tell(teller, "node", node->name, "result", "merged",
             (double)node->fates[VERDICT_MERGED]);
        tell(teller, "node", node->name, "result", "rejected", rejected);
    }
}

static void tell_rejected(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->view->count; i++) {
        const struct hub_node_view *node = &teller->view->nodes[i];

        for (unsigned j = 0; j < VERDICT_COUNT; j++)
            if (j != VERDICT_MERGED && node->fates[j])
                tell(teller, "node", node->name, "reason",
                     verdict_words[j].text, (double)node->fates[j]);
    }
}

static void tell_exchange_duration_seconds(const struct teller *teller)
{
    static const char name[] = "starswitch_exchange_duration_seconds";
    const struct hub_durations *durations = &teller->view->durations;
    uint64_t count = 0;

    for (unsigned i = 0; i < HUB_DURATION_COUNT; i++) {
        count += durations->within[i];
        text_add(teller->out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name,
                 hub_durations[i], count);
    }
    count += durations->within[HUB_DURATION_COUNT];
    text_add(teller->out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, count);
    text_add(teller->out, "%s_sum", name);
    add_value(teller->out, durations->seconds);
    text_add(teller->out, "%s_count %" PRIu64 "\n", name, count);
}

static void tell_transfer_bytes(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->view->count; i++) {
        const struct hub_node_view *node = &teller->view->nodes[i];

        tell(teller, "node", node->name, "dir", "up",
             (double)(node->moved.up_bytes - node->before.up_bytes));
        tell(teller, "node", node->name, "dir", "down",
             (double)(node->moved.down_bytes - node->before.down_bytes));
    }
}

static void tell_link_bandwidth_bytes_per_second(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->view->count; i++) {
        const struct hub_node_view *node = &teller->view->nodes[i];

        if (node->gone)
            continue;
        tell(teller, "node", node->name, "dir", "up", node->link_up);
        tell(teller, "node", node->name, "dir", "down", node->link_down);
    }
}

static void tell_bandwidth_limit_bytes_per_second(const struct teller *teller)
{
    const struct hub_view *view = teller->view;

    tell_one(teller, "dir", "up",
             view->up_limit ? (double)view->up_limit : NAN);
    tell_one(teller, "dir", "down",
             view->down_limit ? (double)view->down_limit : NAN);
}

static void tell_preemptions(const struct teller *teller)
{
    tell_one(teller, NULL, NULL, (double)teller->view->preempted);
}

static void tell_recovery(const struct teller *teller)
{
    static const enum note_kind kinds[] = {NOTE_REJOINED, NOTE_RECOVERED,
                                           NOTE_RESTORED, NOTE_ROLLED_BACK};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        tell_one(teller, "kind", note_name(kinds[i]),
                 (double)teller->now->notes[kinds[i]]);
}

static void tell_chunks(const struct teller *teller)
{
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        tell_one(teller, "verdict", verdict_words[i].text,
                 (double)teller->view->verdicts[i]);
}

static void tell_events(const struct teller *teller)
{
    for (unsigned i = 0; i < NOTE_KINDS; i++)
        if (teller->now->notes[i])
            tell_one(teller, "event", note_name((enum note_kind)i),
                     (double)teller->now->notes[i]);
}

static void tell_refused_connections(const struct teller *teller)
{
    for (unsigned i = 0; i < teller->now->reasons; i++)
        tell_one(teller, "reason", teller->now->refusals[i].name,
                 (double)teller->now->refusals[i].count);
}

/* ---- the table ---- */

#define HUB_METRIC(metric, TYPE, unit, help, value)                            \
    static void tell_##metric(const struct teller *teller)                     \
    {                                                                          \
        const struct snapshot *now = teller->now;                              \
        const struct hub_view *view = teller->view;                            \
                                                                               \
        (void)now;                                                             \
        (void)view;                                                            \
        tell_one(teller, NULL, NULL, value);                                   \
    }
#define NODE_METRIC(metric, TYPE, unit, help, value)                           \
    static void tell_##metric(const struct teller *teller)                     \
    {                                                                          \
        for (unsigned i = 0; i < teller->view->count; i++) {                   \
            const struct hub_node_view *node = &teller->view->nodes[i];        \
                                                                               \
            tell_one(teller, "node", node->name, value);                       \
        }                                                                      \
    }
#define METRIC(metric, TYPE, unit, labels, help)
#include "hub/page/metrics.def"
#undef HUB_METRIC
#undef NODE_METRIC
#undef METRIC

static const struct {
    const char *name;
    enum type type;
    const char *unit, *labels, *help;
    void (*tell)(const struct teller *teller);
} metrics[] = {
#define HUB_METRIC(metric, TYPE, unit, help, value)                            \
    {#metric, TYPE_##TYPE, unit, "", help, tell_##metric},
#define NODE_METRIC(metric, TYPE, unit, help, value)                           \
    {#metric, TYPE_##TYPE, unit, "node", help, tell_##metric},
#define METRIC(metric, TYPE, unit, labels, help)                               \
    {#metric, TYPE_##TYPE, unit, labels, help, tell_##metric},
#include "hub/page/metrics.def"
#undef HUB_METRIC
#undef NODE_METRIC
#undef METRIC
};

static const char *const type_words[] = {
    [TYPE_GAUGE] = "gauge",
    [TYPE_COUNTER] = "counter",
    [TYPE_HISTOGRAM] = "histogram",
    [TYPE_INFO] = "gauge",
};

/* A ratio says so in its name. */
static const char *ending(const char *unit)
{
    return strcmp(unit, "ratio") == 0 ? "_ratio" : "";
}

/* OpenMetrics names a family without what its samples end with. */
static void add_head(const struct teller *teller, const char *unit,
                     const char *help)
{
    const char *type = teller->open_metrics && teller->type == TYPE_INFO
                           ? "info"
                           : type_words[teller->type];
    char name[120];

    (void)snprintf(name, sizeof name, "starswitch_%s%s%s", teller->name,
                   ending(unit), teller->open_metrics ? "" : suffix(teller));
    text_add(teller->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
             type);
}

size_t metrics_room(unsigned nodes)
{
    return (size_t)LINE_BYTES *
           (OTHER_LINES + (size_t)LINES_OF_NODE * (nodes + 1));
}

void metrics_write(const struct metrics_source *source, bool open_metrics,
                   struct text *out)
{
    struct teller teller = {.source = source,
                            .now = source->now,
                            .view = &source->now->view,
                            .open_metrics = open_metrics,
                            .out = out};

    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        teller.name = metrics[i].name;
        teller.type = metrics[i].type;
        add_head(&teller, metrics[i].unit, metrics[i].help);
        metrics[i].tell(&teller);
    }
    if (open_metrics)
        text_add(out, "# EOF\n");
}

/* ---- docs/metrics.md ---- */

void metrics_print(struct text *out)
{
    text_add(
        out,
        "# Metrics\n\n"
        "What a hub tells at /metrics (docs/page.md), made from the "
        "table\nhub/page/metrics.def by `make docs`. Text for Prometheus "
        "(0.0.4), or OpenMetrics\nwhere `Accept` asks for it. Counters "
        "begin anew with the hub, and never fall\nwhile it lives.\n\n"
        "    scrape_configs:\n"
        "      - job_name: starswitch\n"
        "        static_configs: [{targets: [\"127.0.0.1:7540\"]}]\n"
        "        # with --page-token-file:\n"
        "        # authorization: {credentials_file: token}\n\n"
        "Two dashboards for Grafana, of who runs it (operator.json) and of "
        "who trains\n(learning.json), are in packaging/grafana; alerts for "
        "Prometheus, each with what\nto do, in "
        "packaging/prometheus/starswitch.rules.yml. `make install` puts "
        "them into\nshare/starswitch. `--tensorboard FOLDER` writes curves for "
        "those who live there:\nlosses, accuracy, staleness and rates by "
        "iteration.\n\n"
        "Not there, as the hub does not know it: steps that a node has "
        "skipped; lineages.\nWhat the states of a node's time are, and what "
        "cannot be told "
        "apart: docs/page.md.\n\n"
        "A scrape with 256 nodes takes 4 to 8 ms, of 200 the median, and "
        "the 99th percentile\nis below 9 ms where nothing else has the "
        "processor first (two cores;\nbench/scrape.sh, whose nodes say little: "
        "148 kB); beside other work, which the\npage's thread lets go first, "
        "it "
        "is 20 to 100 ms. Nodes that train say more: 256 of\nthem, whose names "
        "have 2 to 4 characters, make 302 to 358 kB; how long those take\nis "
        "not measured.\n\n"
        "| name | type | labels | is |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct teller teller = {.type = metrics[i].type};

        text_add(out, "| `starswitch_%s%s%s` | %s | %s | %s |\n",
                 metrics[i].name, ending(metrics[i].unit), suffix(&teller),
                 type_words[metrics[i].type], metrics[i].labels,
                 metrics[i].help);
    }
}
