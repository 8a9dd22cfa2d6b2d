/* Two columns of a table, a time and a value, between commas, semicolons or
 * tabs: the first two, or those that --column names. Cells may be quoted and
 * have the units of a trace; without one they are in the unit that was said,
 * else seconds, bytes per second or parts of 1, unless that is not likely.
 * Times may be dates as ISO 8601 has them. A first line of words is passed
 * over, but for a unit that heads the values; so is the mark of UTF-8. */
#include <inttypes.h>
#include <string.h>

#include "sim/trace/date.h"
#include "sim/trace/importing.h"
#include "sim/trace/lines.h"

enum { CELLS = 256 };

/* Without a unit: what no network's delay is, and no clock shows seconds of. */
#define UNLIKELY_DELAY (10 * SECOND)
#define UNLIKELY_SECONDS INT64_C(20000000000)
/* The same of a measurement's rows, on the average. */
#define UNLIKELY_PAUSE (30 * SECOND)

struct table {
    struct importing importing;
    enum trace_measure measure;
    unsigned columns[2]; /* of time and value, from 0 */
    bool named;          /* they are names, to be found in the first line */
    const char *unit;    /* of values without one, or NULL */
    bool plain;          /* a time had no unit, and none was said */
    uint64_t rows;
    nanos first, last, before; /* times of rows: of the first one, relative
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

static unsigned cut_cells(struct line *line, char *cells[CELLS])
{
    char *rest = line->text, *cell;
    unsigned count = 0;

    while (count < CELLS && (cell = next_cell(&rest)) != NULL)
        cells[count++] = cell;
    return count;
}

/* As other tools write them, in any case, and as traces do. */
static const char *const written[][2] = {
    {"kbps", "kbit"}, {"kbit/s", "kbit"}, {"kbit", "kbit"},
    {"Mbps", "Mbit"}, {"Mbit/s", "Mbit"}, {"Mbit", "Mbit"},
    {"Gbps", "Gbit"}, {"Gbit/s", "Gbit"}, {"Gbit", "Gbit"},
    {"bytes/s", "B"}, {"ms", "ms"},       {"us", "us"},
};
/* Where a bit and a byte differ in nothing but their case. */
static const char *const exact[][2] = {
    {"B/s", "B"}, {"kB/s", "kB"}, {"MB/s", "MB"}, {"GB/s", "GB"}};

static const char *known_unit(const char *word)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (line_is_like(word, written[i][0], strlen(written[i][0])))
            return written[i][1];
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (strcmp(word, exact[i][0]) == 0)
            return exact[i][1];
    return NULL;
}

/* A column may be headed by its unit. */
static void take_unit(struct table *table, const char *head)
{
    int64_t ignored;
    char one[32];
    struct text text;

    if (table->unit || !known_unit(head))
        return;
    text_init(&text, one, sizeof one);
    text_add(&text, "1%s", known_unit(head));
    if (trace_measure_read(table->measure, one, &ignored, NULL) == STATUS_OK)
        table->unit = known_unit(head);
}

/* ---- which columns ---- */

/* A word of --column, as far as the comma. */
static size_t column_word(const char *column, unsigned which, const char **at)
{
    const char *comma = strchr(column, ',');

    *at = which && comma ? comma + 1 : column;
    return which || !comma ? strlen(*at) : (size_t)(comma - column);
}

static bool is_number(const char *word, size_t length)
{
    return length && strspn(word, "0123456789") >= length;
}

static enum status choose_columns(struct table *table, struct why *why)
{
    const char *column = table->importing.options->column;

    table->columns[1] = 1;
    for (unsigned i = column && !strchr(column, ','); column && i < 2; i++) {
        const char *word;
        size_t length = column_word(column, i, &word);
        uint64_t number = 0;

        if (!is_number(word, length)) {
            table->named = true;
            continue;
        }
        if (!line_digits(&word, &number) || !number || number > CELLS)
            return because(why, STATUS_USAGE,
                           "--column %.60s: columns count "
                           "from 1 to %d",
                           column, CELLS);
        table->columns[i] = (unsigned)number - 1;
    }
    return STATUS_OK;
}

static enum status no_column(const char *word, size_t length,
                             char *const *cells, unsigned count,
                             struct why *why)
{
    char room[120], shown[SHOWN_BYTES];
    struct text text;

    text_init(&text, room, sizeof room);
    for (unsigned i = 0; i < count && i < 8; i++)
        text_add(&text, "%s%s", i ? ", " : "", line_shown(cells[i], shown));
    return because(why, STATUS_MALFORMED,
                   "line 1: there is no column "
                   "'%.*s'; its columns are %s",
                   (int)(length < 60 ? length : 60), word, room);
}

/* The first line has the names. */
static enum status find_names(struct table *table, char *const *cells,
                              unsigned count, struct why *why)
{
    const char *column = table->importing.options->column;

    for (unsigned i = !strchr(column, ','); i < 2; i++) {
        const char *word;
        size_t length = column_word(column, i, &word);
        unsigned place = 0;

        if (is_number(word, length))
            continue;
        while (place < count && !line_is_like(cells[place], word, length))
            place++;
        if (place == count)
            return no_column(word, length, cells, count, why);
        table->columns[i] = place;
    }
    table->named = false;
    if (table->columns[1] < count)
        take_unit(table, cells[table->columns[1]]);
    return STATUS_OK;
}

/* ---- cells ---- */

/* As long as the unit makes no whole number of it, its last digit is rounded
 * away. */
static enum status read_rounded(enum trace_measure measure, const char *cell,
                                const char *unit, int64_t *out, struct why *why)
{
    const char *at = cell;
    struct decimal decimal;
    char text[SHOWN_BYTES];

    if (!decimal_read(&at, &decimal))
        return trace_measure_read(measure, cell, out, why);
    if (decimal.negative && decimal.digits)
        return because(why, STATUS_USAGE, "is negative");
    while (at[0] == ' ')
        at++;
    for (;;) {
        struct text words;
        enum status status;

        text_init(&words, text, sizeof text);
        text_add(&words, "%" PRIu64 "e%d%s", decimal.digits, decimal.exponent,
                 *at ? at : unit);
        status = trace_measure_read(measure, text, out, why);
        if (status == STATUS_OK || decimal.exponent >= 0 ||
            !strstr(why->text, "more decimals"))
            return status;
        decimal.digits = decimal.digits / 10 + (decimal.digits % 10 >= 5);
        decimal.exponent++;
    }
}

/* What a cell without a unit is. */
static enum status read_plain(enum trace_measure measure,
                              struct decimal decimal, int64_t *out,
                              struct why *why)
{
    if (!trace_round(decimal, measure == MEASURE_RATE ? 0 : 9, out))
        return because(why, STATUS_USAGE, "is negative or too large");
    if (measure == MEASURE_PART && *out > PART_WHOLE)
        return because(why, STATUS_USAGE,
                       "is more than all of it: write 0.01 "
                       "or 1%%, or say --unit %%");
    return STATUS_OK;
}

static bool has_unit(const char *cell)
{
    const char *at = cell;
    struct decimal decimal;

    return !decimal_read(&at, &decimal) || *at;
}

static enum status read_value(const struct table *table, const char *cell,
                              int64_t *out, struct why *why)
{
    const char *unit = table->unit, *at = cell;
    struct decimal decimal;
    enum status status;

    if (unit || has_unit(cell))
        return read_rounded(table->measure, cell, unit ? unit : "", out, why);
    (void)decimal_read(&at, &decimal);
    status = read_plain(table->measure, decimal, out, why);
    if (status == STATUS_OK && table->measure == MEASURE_TIME &&
        *out >= UNLIKELY_DELAY)
        return because(why, STATUS_USAGE,
                       "that would be seconds, as it has no "
                       "unit: say --unit ms, or --unit s");
    return status;
}

static enum status read_time(struct table *table, const char *cell, nanos *out,
                             struct why *why)
{
    const char *unit = table->importing.options->time_unit, *at = cell;
    struct decimal decimal;
    int64_t seconds = 0;

    if (date_read(cell, out))
        return STATUS_OK;
    if (unit || has_unit(cell))
        return read_rounded(MEASURE_TIME, cell, unit ? unit : "", out, why);
    (void)decimal_read(&at, &decimal);
    if (trace_round(decimal, 0, &seconds) && seconds >= UNLIKELY_SECONDS)
        return because(why, STATUS_USAGE,
                       "that would be seconds, as it has no "
                       "unit: say --time-unit ms, us or ns");
    table->plain = true;
    return read_plain(MEASURE_TIME, decimal, out, why);
}

/* ---- rows ---- */

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
    if (!table->rows)
        table->first = time;
    if (time < table->first || time - table->first >= NEVER / 2)
        return because(why, STATUS_MALFORMED,
                       "line %lu: its time is before "
                       "that of the first row, or ages after it",
                       line->number);
    time -= table->first;
    if (table->rows && time <= table->last)
        return because(why, STATUS_MALFORMED,
                       "line %lu: its time is not after "
                       "that of the row before: sort the file",
                       line->number);
    table->before = table->last;
    table->last = time;
    table->rows++;
    return importing_add_each(&table->importing,
                              table->importing.options->quantities, time, value,
                              line->number, why);
}

static enum status too_few(const struct table *table, const struct line *line,
                           unsigned count, struct why *why)
{
    if (!table->importing.options->column)
        return because(why, STATUS_MALFORMED,
                       "line %lu: %u columns, not two: "
                       "say which with --column, as in --column 1,3 or "
                       "--column time,rate",
                       line->number, count);
    return because(why, STATUS_MALFORMED, "line %lu: only %u columns",
                   line->number, count);
}

static enum status read_row(void *of, struct line *line, struct why *why)
{
    struct table *table = of;
    char *cells[CELLS], *time, *value;
    unsigned count = line->length ? cut_cells(line, cells) : 0;
    nanos at = 0;
    int64_t number = 0;
    struct why reason = {""};

    if (!line->length)
        return STATUS_OK;
    if (table->named)
        return find_names(table, cells, count, why);
    if (count <= table->columns[0] || count <= table->columns[1] ||
        (count > 2 && !table->importing.options->column))
        return too_few(table, line, count, why);
    time = cells[table->columns[0]];
    value = cells[table->columns[1]];
    if (line->number == 1 && is_word(time)) {
        if (!table->importing.options->column && line_is_like(value, "time", 4))
            return because(why, STATUS_MALFORMED,
                           "line 1: the second column is '%s', and should be "
                           "the value: say --column 2,1",
                           value);
        take_unit(table, value);
        return STATUS_OK;
    }
    if (read_time(table, time, &at, &reason) != STATUS_OK)
        return wrong(line, time, &reason, why);
    if (read_value(table, value, &number, &reason) != STATUS_OK)
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
    enum status status = choose_columns(table, why);

    if (status == STATUS_OK)
        status = lines_each(lines, read_row, table, why);
    if (status != STATUS_OK)
        return status;
    if (!table->rows)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the file ends without "
                       "a row of two numbers",
                       lines->number);
    if (table->plain && table->rows > 1 &&
        table->last / (nanos)(table->rows - 1) >= UNLIKELY_PAUSE)
        return because(why, STATUS_USAGE,
                       "a row in %.0f s, as times without a "
                       "unit are seconds: say --time-unit ms, or --time-unit "
                       "s if it is so",
                       (double)table->last / (double)(table->rows - 1) /
                           (double)SECOND);
    trace_set_span(table->importing.trace, span_of(table));
    return STATUS_OK;
}

enum status import_csv(const char *text, size_t size,
                       const struct import_options *options, struct trace **out,
                       struct why *why)
{
    struct table table = {.measure = MEASURES};
    size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct lines lines = lines_of(text + mark, size - mark);
    enum status status;

    if (options->unit)
        table.unit = known_unit(options->unit) ? known_unit(options->unit)
                                               : options->unit;

    for (unsigned i = 0; i < QUANTITIES; i++)
        if (options->quantities & 1U << i)
            table.measure = quantities[i].measure;
    if (table.measure == MEASURES)
        return because(why, STATUS_USAGE,
                       "say what the value is: "
                       "--quantity rate or --quantity delay");
    status = importing_begin(options, &table.importing, why);
    if (status != STATUS_OK)
        return status;
    return importing_end(&table.importing, read_rows(&table, &lines, why), out);
}
