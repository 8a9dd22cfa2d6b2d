#include "train/csv.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 64 };

struct reader {
    const char *path;
    const char *at, *end; /* what is not read yet */
    size_t line;          /* counted from 1 */
    size_t columns;       /* of the first line with numbers; 0: none yet */
    float *floats;        /* all columns but the last, grown by doubling */
    int32_t *labels;
    size_t count, room; /* rows */
    struct why *why;
};

static int is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* One line without its end; false at the end of the file. */
static int next_line(struct reader *reader, const char **begin,
                     const char **end)
{
    const char *newline;

    if (reader->at == reader->end)
        return 0;
    *begin = reader->at;
    newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    *end = newline ? newline : reader->end;
    reader->at = newline ? newline + 1 : reader->end;
    reader->line++;
    while (*end > *begin && is_blank((*end)[-1]))
        --*end;
    return 1;
}

static const char *field_end(const char *at, const char *end)
{
    const char *comma = memchr(at, ',', (size_t)(end - at));

    return comma ? comma : end;
}

static size_t count_fields(const char *begin, const char *end)
{
    size_t count = 1;

    for (const char *at = begin; at < end; at++)
        count += *at == ',';
    return count;
}

/* Reads one finite decimal number that fills the field but for blanks. */
static int read_number(const char *begin, const char *end, double *out)
{
    char text[NUMBER_BYTES_MAX + 1];
    size_t size;
    char *stop;

    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    size = (size_t)(end - begin);
    if (size == 0 || size > NUMBER_BYTES_MAX)
        return 0;
    memcpy(text, begin, size);
    text[size] = 0;
    if (strspn(text, "0123456789+-.eE") != size)
        return 0;
    *out = strtod(text, &stop);
    return *stop == 0 && isfinite((float)*out);
}

static int is_header(const char *begin, const char *end)
{
    for (;;) {
        const char *stop = field_end(begin, end);
        double number;

        if (read_number(begin, stop, &number))
            return 0;
        if (stop == end)
            return 1;
        begin = stop + 1;
    }
}

static enum status grow(struct reader *reader)
{
    size_t room = reader->room ? reader->room * 2 : 64;
    size_t width = reader->columns - 1;
    float *floats;
    int32_t *labels;

    assert(reader->columns >= 2);
    floats = realloc(reader->floats, room * width * sizeof *floats);
    if (floats)
        reader->floats = floats;
    labels = realloc(reader->labels, room * sizeof *labels);
    if (labels)
        reader->labels = labels;
    if (!floats || !labels)
        return because(reader->why, STATUS_NO_MEMORY,
                       "%s does not fit into memory", reader->path);
    reader->room = room;
    return STATUS_OK;
}

static enum status check_columns(struct reader *reader, size_t columns)
{
    if (!reader->columns && columns >= 2 && columns - 1 <= TABLE_FEATURES_MAX)
        reader->columns = columns;
    if (!reader->columns)
        return because(reader->why, STATUS_MALFORMED,
                       "%s: line %zu: has %zu columns; wanted are 1 to %d "
                       "features and the label, separated by commas",
                       reader->path, reader->line, columns, TABLE_FEATURES_MAX);
    if (columns != reader->columns)
        return because(reader->why, STATUS_MALFORMED,
                       "%s: line %zu: has %zu columns where the lines before "
                       "have %zu",
                       reader->path, reader->line, columns, reader->columns);
    return STATUS_OK;
}

static enum status read_label(struct reader *reader, double number)
{
    if (number < 0 || number > TABLE_LABEL_MAX || number != floor(number))
        return because(reader->why, STATUS_MALFORMED,
                       "%s: line %zu: the label in the last column is not a "
                       "whole number from 0 to %d",
                       reader->path, reader->line, TABLE_LABEL_MAX);
    reader->labels[reader->count] = (int32_t)number;
    return STATUS_OK;
}

static enum status read_row(struct reader *reader, const char *begin,
                            const char *end)
{
    size_t width = reader->columns - 1;
    double number = 0;

    for (size_t column = 0; column <= width; column++) {
        const char *stop = field_end(begin, end);

        if (!read_number(begin, stop, &number))
            return because(reader->why, STATUS_MALFORMED,
                           "%s: line %zu: column %zu is not a finite number",
                           reader->path, reader->line, column + 1);
        if (column < width)
            reader->floats[reader->count * width + column] = (float)number;
        begin = stop < end ? stop + 1 : end;
    }
    return read_label(reader, number);
}

static enum status read_line(struct reader *reader, const char *begin,
                             const char *end)
{
    enum status status;

    if (begin == end)
        return STATUS_OK;
    if (!reader->columns && reader->line == 1 && is_header(begin, end))
        return STATUS_OK;
    status = check_columns(reader, count_fields(begin, end));
    if (!status && reader->count == reader->room)
        status = grow(reader);
    if (!status)
        status = read_row(reader, begin, end);
    if (!status)
        reader->count++;
    return status;
}

enum status csv_make_table(const struct input *file, const char *path,
                           struct table *out, struct why *why)
{
    const char *text = (const char *)file->bytes;
    struct reader reader = {
        .path = path, .at = text, .end = text + file->size, .why = why};
    enum status status = STATUS_OK;
    const char *begin, *end;

    if (file->size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader.at += 3;
    while (!status && next_line(&reader, &begin, &end))
        status = read_line(&reader, begin, end);
    if (!status && !reader.count)
        status = because(why, STATUS_MALFORMED,
                         "%s: line %zu: ends without a single sample", path,
                         reader.line);
    if (status) {
        free(reader.floats);
        free(reader.labels);
        return status;
    }
    *out = (struct table){.count = reader.count,
                          .features = reader.columns - 1,
                          .floats = reader.floats,
                          .labels = reader.labels,
                          .memory = reader.floats};
    return STATUS_OK;
}
