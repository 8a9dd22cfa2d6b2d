/* One table (RFC 4180, lines end in "\n"): time, node, what, value, until, and
 * a column for each number that some event has. */
#include <inttypes.h>
#include <string.h>

#include "sim/trace/export.h"
#include "sim/trace/walk.h"

enum { ROW_BYTES = 512, COLUMNS = 16 };

struct table {
    const struct trace_sink *sink;
    const char *columns[COLUMNS]; /* names of numbers */
    unsigned count;
};

static unsigned column_of(const struct table *table, const char *name)
{
    unsigned i = 0;

    while (i < table->count && strcmp(table->columns[i], name) != 0)
        i++;
    return i;
}

static void find_columns(struct table *table)
{
    for (unsigned i = 0; i < TRACED_KINDS; i++)
        for (unsigned j = 0; j < TRACE_NUMBERS; j++) {
            const char *name = traced_kinds[i].numbers[j];

            if (name && column_of(table, name) == table->count &&
                table->count < COLUMNS)
                table->columns[table->count++] = name;
        }
}

static void add_name(struct text *row, const char *name)
{
    if (!strchr(name, ',') && !strchr(name, '"')) {
        text_add(row, "%s", name);
        return;
    }
    text_add(row, "\"");
    for (; *name; name++)
        text_add(row, "%s%c", *name == '"' ? "\"" : "", *name);
    text_add(row, "\"");
}

static void begin(struct text *row, nanos time, const char *node,
                  const char *what)
{
    trace_plain_print(MEASURE_TIME, time, row);
    text_add(row, ",");
    add_name(row, node);
    text_add(row, ",%s,", what);
}

static bool add_value(void *of, const struct trace_track *track,
                      enum quantity quantity, const struct series_point *point)
{
    const struct table *table = of;
    char bytes[ROW_BYTES];
    struct text row;

    text_init(&row, bytes, sizeof bytes);
    begin(&row, point->time, track->name, quantities[quantity].name);
    trace_plain_print(quantities[quantity].measure, point->value, &row);
    text_add(&row, ",");
    for (unsigned i = 0; i < table->count; i++)
        text_add(&row, ",");
    text_add(&row, "\n");
    return sink_put(table->sink, &row);
}

static bool add_event(void *of, const struct traced *event)
{
    const struct traced_info *info = &traced_kinds[event->kind];
    const struct table *table = of;
    char bytes[ROW_BYTES];
    struct text row;

    text_init(&row, bytes, sizeof bytes);
    begin(&row, event->time, event->track->name, info->name);
    text_add(&row, ",");
    if (info->lasts)
        trace_plain_print(MEASURE_TIME, event->until, &row);
    for (unsigned i = 0; i < table->count; i++) {
        text_add(&row, ",");
        for (unsigned j = 0; j < TRACE_NUMBERS && info->numbers[j]; j++)
            if (strcmp(info->numbers[j], table->columns[i]) == 0)
                text_add(&row, "%" PRIu64, event->numbers[j]);
    }
    text_add(&row, "\n");
    return sink_put(table->sink, &row);
}

enum status export_csv(const struct trace *trace, const struct trace_sink *sink,
                       struct why *why)
{
    struct table table = {.sink = sink};
    const struct walker walker = {&table, add_value, add_event};
    char bytes[ROW_BYTES];
    struct text head;

    find_columns(&table);
    text_init(&head, bytes, sizeof bytes);
    text_add(&head, "time,node,what,value,until");
    for (unsigned i = 0; i < table.count; i++)
        text_add(&head, ",%s", table.columns[i]);
    text_add(&head, "\n");
    if (sink_put(sink, &head) && trace_walk(trace, &walker))
        return STATUS_OK;
    return because(why, STATUS_IO, "the table cannot be written");
}
