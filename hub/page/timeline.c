#include "hub/page/timeline.h"

#include <math.h>
#include <string.h>

#include "core/quote.h"

enum { NUMBER_BYTES = 16, NODE_BYTES = 512, REST_BYTES = 4096 };

static const char *const row_names[TIMELINE_ROWS] = {
    [TIMELINE_ITERATIONS] = "iterations",
    [TIMELINE_SAMPLES] = "samples",
    [TIMELINE_LOSS] = "loss",
    [TIMELINE_LAG] = "lag",
    [TIMELINE_UP] = "up",
    [TIMELINE_DOWN] = "down",
};

void timeline_init(struct timeline *timeline)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->interval = SECOND;
}

/* ---- two points become one ---- */

static float mean(float one, float other)
{
    return isnan(one) ? other : isnan(other) ? one : (one + other) / 2;
}

static void halve_means(float *values, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i += 2)
        values[i / 2] = mean(values[i], values[i + 1]);
}

static void halve_counts(float *values, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i += 2)
        values[i / 2] = values[i + 1];
}

static void halve(struct timeline *timeline)
{
    unsigned count = timeline->count;

    for (unsigned i = 0; i + 1 < count; i += 2)
        timeline->seconds[i / 2] = timeline->seconds[i + 1];
    halve_means(timeline->loss, count);
    halve_means(timeline->accuracy, count);
    halve_counts(timeline->version, count);
    for (unsigned i = 0; i < timeline->nodes; i++)
        for (unsigned row = 0; row < TIMELINE_ROWS; row++) {
            float *values = timeline->node[i].row[row];

            if (row == TIMELINE_ITERATIONS || row == TIMELINE_SAMPLES)
                halve_counts(values, count);
            else
                halve_means(values, count);
        }
    timeline->count = count / 2;
    timeline->interval *= 2;
}

/* ---- a new point ---- */

/* A place that is now another node's begins anew. */
static void meet(struct timeline *timeline, struct timeline_node *node,
                 const struct hub_node_view *view)
{
    if (strncmp(node->name, view->name, sizeof node->name) == 0)
        return;
    memcpy(node->name, view->name, sizeof node->name);
    node->up_bytes = view->moved.up_bytes;
    node->down_bytes = view->moved.down_bytes;
    for (unsigned row = 0; row < TIMELINE_ROWS; row++)
        for (unsigned i = 0; i < timeline->count; i++)
            node->row[row][i] = NAN;
}

static float rate(uint64_t now, uint64_t before, double seconds)
{
    return now < before || !(seconds > 0)
               ? NAN
               : (float)((double)(now - before) / seconds);
}

static void add_node(struct timeline *timeline, struct timeline_node *node,
                     const struct hub_node_view *view, double seconds)
{
    unsigned at = timeline->count;
    bool counts = view->iteration && !view->gone;

    meet(timeline, node, view);
    node->row[TIMELINE_ITERATIONS][at] = (float)view->moved.steps;
    node->row[TIMELINE_SAMPLES][at] = (float)view->moved.samples;
    node->row[TIMELINE_LOSS][at] =
        counts && view->loss < NO_SCORE ? (float)view->loss : NAN;
    node->row[TIMELINE_LAG][at] = view->gone ? NAN : (float)view->lag;
    node->row[TIMELINE_UP][at] =
        rate(view->moved.up_bytes, node->up_bytes, seconds);
    node->row[TIMELINE_DOWN][at] =
        rate(view->moved.down_bytes, node->down_bytes, seconds);
    node->up_bytes = view->moved.up_bytes;
    node->down_bytes = view->moved.down_bytes;
}

static unsigned at_most(unsigned count, unsigned most)
{
    return count < most ? count : most;
}

void timeline_look(struct timeline *timeline, const struct snapshot *now)
{
    const struct hub_view *view = &now->view;
    double seconds = (double)now->elapsed / (double)SECOND, since;
    unsigned at;

    if (now->elapsed < timeline->next)
        return;
    if (timeline->count == TIMELINE_POINTS)
        halve(timeline);
    at = timeline->count;
    since = seconds - (at ? timeline->seconds[at - 1] : 0);
    timeline->next = now->elapsed + timeline->interval;
    timeline->nodes = at_most(view->count, TIMELINE_NODES);
    for (unsigned i = 0; i < timeline->nodes; i++)
        add_node(timeline, &timeline->node[i], &view->nodes[i], since);
    timeline->seconds[at] = seconds;
    timeline->loss[at] = view->score < NO_SCORE ? (float)view->score : NAN;
    timeline->accuracy[at] = view->accuracy < 0 ? NAN : (float)view->accuracy;
    timeline->version[at] = (float)view->version;
    timeline->count++;
}

/* ---- JSON ---- */

size_t timeline_room(const struct timeline *timeline)
{
    size_t rows = (size_t)timeline->nodes * TIMELINE_ROWS + 4;

    return rows * timeline->count * NUMBER_BYTES +
           (size_t)timeline->nodes * NODE_BYTES + REST_BYTES;
}

/* Five digits are more than a screen shows; whole numbers are whole. */
static void add_number(struct text *out, double value)
{
    if (!isfinite(value))
        text_add(out, "null");
    else if (value == floor(value) && fabs(value) < 1e9)
        text_add(out, "%.0f", value);
    else
        text_add(out, "%.5g", value);
}

static void add_row(struct text *out, const char *name, const float *values,
                    unsigned count)
{
    text_add(out, ",\"%s\":[", name);
    for (unsigned i = 0; i < count; i++) {
        if (i)
            text_add_character(out, ',');
        add_number(out, (double)values[i]);
    }
    text_add_character(out, ']');
}

static void write_node(struct text *out, const struct timeline_node *node,
                       unsigned count)
{
    text_add(out, "{\"name\":");
    quote_json(out, node->name);
    for (unsigned row = 0; row < TIMELINE_ROWS; row++)
        add_row(out, row_names[row], node->row[row], count);
    text_add_character(out, '}');
}

void timeline_write(const struct timeline *timeline, struct text *out)
{
    unsigned count = timeline->count;

    text_add(out, "{\"interval\":%.0f,\"seconds\":[",
             (double)timeline->interval / (double)SECOND);
    for (unsigned i = 0; i < count; i++)
        text_add(out, "%s%.1f", i ? "," : "", timeline->seconds[i]);
    text_add(out, "],\"centre\":{\"points\":%u", count);
    add_row(out, "loss", timeline->loss, count);
    add_row(out, "accuracy", timeline->accuracy, count);
    add_row(out, "version", timeline->version, count);
    text_add(out, "},\"nodes\":[");
    for (unsigned i = 0; i < timeline->nodes; i++) {
        if (i)
            text_add_character(out, ',');
        write_node(out, &timeline->node[i], count);
    }
    text_add(out, "]}\n");
}
