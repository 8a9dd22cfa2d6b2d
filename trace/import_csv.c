/* Two columns, a time and a value, between commas, semicolons or tabs. Cells
 * may be quoted and have the units of a trace; without one they are seconds,
 * bytes per second or parts of 1. A first line of words is passed over. */
#include <string.h>

#include "trace/importing.h"
#include "trace/lines.h"

struct table {
    struct importing importing;
    enum trace_measure measure;
    bool begun;                 /* there was a row */
    nanos first, last, before;  /* times of rows: of the first one, relative
                                 * to it of the last one and the one before */
};

/* Cuts the next cell off, without blanks and quotes; NULL: none is left. */
static char *next_cell(char **rest)
{
    char *cell = *rest, *end;
    size_t length;

    if (!cell)
        return NULL;
    length = strcspn(cell, ",;\t");
    end = cell + length;
    *rest = *end ? end + 1 : NULL;
    while (end > cell && strchr(" \"", end[-1]))
        end--;
    *end = '\0';
    return cell + strspn(cell, " \"");
}

/* A number without a unit is rounded, one with a unit must be exact. */
static enum status read_cell(enum trace_measure measure, const char *cell,
                             int64_t *out, struct why *why)
{
    const char *at = cell;
    struct decimal decimal;

    if (!decimal_read(&at, &decimal) || *at)
        return trace_measure_read(measure, cell, out, why);
    if (!trace_round(decimal, measure == MEASURE_RATE ? 0 : 9, out))
        return because(why, STATUS_USAGE, "is negative or too large");
    if (measure == MEASURE_PART && *out > PART_WHOLE)
        return because(why, STATUS_USAGE, "is more than all of it: write 0.01 "
                       "or 1%%");
    return STATUS_OK;
}

static enum status wrong(const struct line *line, const char *cell,
                         const struct why *reason, struct why *why)
{
    char room[SHOWN_BYTES];

    return because(why, STATUS_MALFORMED, "line %lu: '%s': %s", line->number,
                   line_shown(cell, room), reason->text);
}

static bool is_word(const char *cell)
{
    return (*cell >= 'a' && *cell <= 'z') || (*cell >= 'A' && *cell <= 'Z') ||
           *cell == '#';
}

static enum status add_row(struct table *table, const struct line *line,
                           nanos time, int64_t value, struct why *why)
{
    if (!table->begun)
        table->first = time;
    if (time < table->first || time - table->first >= NEVER / 2)
        return because(why, STATUS_MALFORMED, "line %lu: its time is before "
                       "that of the first row, or ages after it",
                       line->number);
    time -= table->first;
    if (table->begun && time <= table->last)
        return because(why, STATUS_MALFORMED, "line %lu: its time is not after "
                       "that of the row before: sort the file", line->number);
    table->before = table->last;
    table->last = time;
    table->begun = true;
    return importing_add_each(&table->importing,
                              table->importing.options->quantities, time,
                              value, line->number, why);
}

static enum status read_row(void *of, struct line *line, struct why *why)
{
    struct table *table = of;
    char *rest = line->text, *time, *value;
    nanos at = 0;
    int64_t number = 0;
    struct why reason = {""};

    if (!line->length)
        return STATUS_OK;
    time = next_cell(&rest);
    value = next_cell(&rest);
    if (!value || rest)
        return because(why, STATUS_MALFORMED, "line %lu: not two columns: keep "
                       "the time and one value", line->number);
    if (line->number == 1 && is_word(time))
        return STATUS_OK;
    if (read_cell(MEASURE_TIME, time, &at, &reason) != STATUS_OK)
        return wrong(line, time, &reason, why);
    if (read_cell(table->measure, value, &number, &reason) != STATUS_OK)
        return wrong(line, value, &reason, why);
    return add_row(table, line, at, number, why);
}

/* The last row holds as long as the one before did; a single one a second. */
static nanos span_of(const struct table *table)
{
    return table->last ? table->last + (table->last - table->before) : SECOND;
}

static enum status read_rows(struct table *table, struct lines *lines,
                             struct why *why)
{
    enum status status = lines_each(lines, read_row, table, why);

    if (status != STATUS_OK)
        return status;
    if (!table->begun)
        return because(why, STATUS_MALFORMED, "line %lu: the file ends without "
                       "a row of two numbers", lines->number);
    trace_set_span(table->importing.trace, span_of(table));
    return STATUS_OK;
}

enum status import_csv(const char *text, size_t size,
                       const struct import_options *options,
                       struct trace **out, struct why *why)
{
    struct table table = {.measure = MEASURES};
    struct lines lines = lines_of(text, size);
    enum status status;

    for (unsigned i = 0; i < QUANTITIES; i++)
        if (options->quantities & 1U << i)
            table.measure = quantities[i].measure;
    if (table.measure == MEASURES)
        return because(why, STATUS_USAGE, "say what the second column is: "
                       "--quantity rate or --quantity delay");
    status = importing_begin(options, &table.importing, why);
    if (status != STATUS_OK)
        return status;
    return importing_end(&table.importing, read_rows(&table, &lines, why), out);
}
