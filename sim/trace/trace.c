#include "sim/trace/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct quantity_info quantities[QUANTITIES] = {
#define QUANTITY(NAME, name, measure, doc) {#name, MEASURE_##measure, doc},
#include "sim/trace/quantities.def"
#undef QUANTITY
};

const struct traced_info traced_kinds[TRACED_KINDS] = {
#define TRACED(NAME, name, lasts, first, second, third, doc)                   \
    {#name, lasts, {first, second, third}, doc},
#include "sim/trace/traced.def"
#undef TRACED
};

struct trace *trace_new(void)
{
    struct trace *trace = calloc(1, sizeof *trace);

    if (!trace)
        return NULL;
    memcpy(trace->all.name, TRACE_ALL, sizeof TRACE_ALL);
    memcpy(trace->hub.name, TRACE_HUB, sizeof TRACE_HUB);
    return trace;
}

static void track_free(struct trace_track *track)
{
    for (unsigned i = 0; i < QUANTITIES; i++)
        series_free(&track->series[i]);
}

void trace_destroy(struct trace **reference)
{
    struct trace *trace = *reference;

    *reference = NULL;
    if (!trace)
        return;
    track_free(&trace->all);
    track_free(&trace->hub);
    for (size_t i = 0; i < trace->node_count; i++) {
        track_free(trace->nodes[i]);
        free(trace->nodes[i]);
    }
    free(trace->nodes);
    free(trace->events);
    free(trace);
}

static void track_set_span(struct trace_track *track, nanos span)
{
    for (unsigned i = 0; i < QUANTITIES; i++)
        track->series[i].span = span;
}

void trace_set_span(struct trace *trace, nanos span)
{
    assert(span > 0 && span < NEVER);
    trace->span = span;
    track_set_span(&trace->all, span);
    track_set_span(&trace->hub, span);
    for (size_t i = 0; i < trace->node_count; i++)
        track_set_span(trace->nodes[i], span);
}

/* The place of a node among those that are sorted by name: where it is, or
 * where it belongs. */
static size_t node_place(const struct trace *trace, const char *name,
                         bool *found)
{
    size_t low = 0, high = trace->node_count;

    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(trace->nodes[middle]->name, name);

        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *found ? high : low;
}

struct trace_track *trace_find(const struct trace *trace, const char *name)
{
    size_t place;
    bool found;

    if (strcmp(name, TRACE_ALL) == 0)
        return (struct trace_track *)&trace->all;
    if (strcmp(name, TRACE_HUB) == 0)
        return (struct trace_track *)&trace->hub;
    place = node_place(trace, name, &found);
    return found ? trace->nodes[place] : NULL;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
            return false;
    return length > 0 && length < TRACE_NAME_BYTES && name[0] != '#';
}

static bool make_room_for_a_node(struct trace *trace)
{
    size_t room = trace->node_room ? 2 * trace->node_room : 8;
    struct trace_track **nodes;

    if (trace->node_count < trace->node_room)
        return true;
    nodes = realloc(trace->nodes, room * sizeof *nodes);
    if (!nodes)
        return false;
    trace->nodes = nodes;
    trace->node_room = room;
    return true;
}

enum status trace_track(struct trace *trace, const char *name,
                        struct trace_track **out, struct why *why)
{
    struct trace_track *track;
    size_t place;
    bool found;

    assert(trace);
    track = trace_find(trace, name);
    if (track) {
        *out = track;
        return STATUS_OK;
    }
    if (!is_name(name))
        return because(why, STATUS_CONFIG,
                       "a node's name has at most %d "
                       "bytes, no blanks, and no # in front",
                       TRACE_NAME_BYTES - 1);
    if (trace->node_count == TRACE_MAX_NODES)
        return because(why, STATUS_CONFIG,
                       "a trace has at most %d nodes; leave some out",
                       TRACE_MAX_NODES);
    track = calloc(1, sizeof *track);
    if (!track || !make_room_for_a_node(trace)) {
        free(track);
        return because(why, STATUS_NO_MEMORY, "no memory for the trace");
    }
    memcpy(track->name, name, strlen(name));
    track_set_span(track, trace->span);
    place = node_place(trace, name, &found);
    memmove(&trace->nodes[place + 1], &trace->nodes[place],
            (trace->node_count - place) * sizeof(struct trace_track *));
    trace->nodes[place] = track;
    trace->node_count++;
    *out = track;
    return STATUS_OK;
}

static enum status count_item(struct trace *trace, struct why *why)
{
    if (trace->items == TRACE_MAX_ITEMS)
        return because(why, STATUS_CONFIG,
                       "a trace has at most %d values and "
                       "events; cut it in two",
                       TRACE_MAX_ITEMS);
    trace->items++;
    return STATUS_OK;
}

enum status trace_add_value(struct trace *trace, struct trace_track *track,
                            enum quantity quantity, nanos time, int64_t value,
                            struct why *why)
{
    struct trace_series *series = &track->series[quantity];
    enum status status;

    if (quantity == QUANTITY_STEP && value < TRACE_LEAST_STEP)
        return because(why, STATUS_CONFIG,
                       "step of %s is less than 1us: no iteration is as short",
                       track->name);
    if (series->count && series->points[series->count - 1].time >= time)
        return because(why, STATUS_CONFIG,
                       "%s of %s has a value of that time "
                       "or later already; values stand in the order of their "
                       "times",
                       quantities[quantity].name, track->name);
    status = count_item(trace, why);
    if (status == STATUS_OK && !series_append(series, time, value))
        status = because(why, STATUS_NO_MEMORY, "no memory for the trace");
    return status;
}

enum status trace_add_event(struct trace *trace, const struct traced *event,
                            struct why *why)
{
    size_t room = trace->event_room ? 2 * trace->event_room : 16;
    enum status status = count_item(trace, why);

    if (status != STATUS_OK)
        return status;
    assert(event->time >= 0 && event->until >= event->time && event->track);
    if (trace->event_count == trace->event_room) {
        struct traced *events = realloc(trace->events, room * sizeof *events);

        if (!events)
            return because(why, STATUS_NO_MEMORY, "no memory for the trace");
        trace->events = events;
        trace->event_room = room;
    }
    trace->events[trace->event_count] = *event;
    trace->events[trace->event_count].order = (uint32_t)trace->event_count;
    trace->event_count++;
    return STATUS_OK;
}

static int compare_events(const void *left, const void *right)
{
    const struct traced *a = left, *b = right;
    int order = (a->time > b->time) - (a->time < b->time);

    return order ? order : (a->order > b->order) - (a->order < b->order);
}

void trace_sort(struct trace *trace)
{
    if (trace->event_count)
        qsort(trace->events, trace->event_count, sizeof *trace->events,
              compare_events);
    for (size_t i = 0; i < trace->event_count; i++)
        trace->events[i].order = (uint32_t)i;
}

int64_t trace_at(const struct trace *trace, const struct trace_track *track,
                 enum quantity quantity, nanos now)
{
    int64_t value =
        track ? series_at(&track->series[quantity], now) : SERIES_UNSET;

    if (value == SERIES_UNSET && track != &trace->hub)
        value = series_at(&trace->all.series[quantity], now);
    return value;
}

nanos trace_next_change(const struct trace *trace,
                        const struct trace_track *track, enum quantity quantity,
                        nanos now)
{
    nanos own =
        track ? series_next_change(&track->series[quantity], now) : NEVER;
    nanos all = track == &trace->hub
                    ? NEVER
                    : series_next_change(&trace->all.series[quantity], now);

    return own < all ? own : all;
}

size_t trace_index(const struct trace *trace, const struct trace_track *track)
{
    bool found;

    if (track == &trace->all || track == &trace->hub)
        return track == &trace->hub;
    return 2 + node_place(trace, track->name, &found);
}

/* ---- equality ---- */

static bool same_series(const struct trace_series *a,
                        const struct trace_series *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (a->points[i].time != b->points[i].time ||
            a->points[i].value != b->points[i].value)
            return false;
    return a->count == b->count;
}

static bool same_track(const struct trace_track *a, const struct trace_track *b)
{
    for (unsigned i = 0; i < QUANTITIES; i++)
        if (!same_series(&a->series[i], &b->series[i]))
            return false;
    return strcmp(a->name, b->name) == 0;
}

static bool same_event(const struct traced *a, const struct traced *b)
{
    return a->time == b->time && a->until == b->until && a->kind == b->kind &&
           strcmp(a->track->name, b->track->name) == 0 &&
           memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
}

bool trace_equal(const struct trace *a, const struct trace *b)
{
    if (a->span != b->span || a->node_count != b->node_count ||
        a->event_count != b->event_count || !same_track(&a->all, &b->all) ||
        !same_track(&a->hub, &b->hub))
        return false;
    for (size_t i = 0; i < a->node_count; i++)
        if (!same_track(a->nodes[i], b->nodes[i]))
            return false;
    for (size_t i = 0; i < a->event_count; i++)
        if (!same_event(&a->events[i], &b->events[i]))
            return false;
    return true;
}
