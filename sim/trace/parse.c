#include <stdlib.h>
#include <string.h>

#include "sim/trace/lines.h"
#include "sim/trace/trace.h"

struct parser {
    struct trace *trace;
    struct trace_track *track; /* of the line before; lines come in groups */
    bool title, ended;
};

/* A line as its words, and for errors. */
struct entry {
    unsigned long number;
    nanos time;
    struct trace_track *track;
    char *rest;
};

static enum status wrong(const struct entry *entry, const char *name,
                         const char *word, const struct why *reason,
                         struct why *why)
{
    char room[SHOWN_BYTES];

    return because(why, STATUS_MALFORMED, "line %lu: %s '%s': %s",
                   entry->number, name, line_shown(word, room), reason->text);
}

static enum status nothing_behind(struct entry *entry, struct why *why)
{
    char room[SHOWN_BYTES], *word = line_word(&entry->rest);

    if (!word || *word == '#')
        return STATUS_OK;
    return because(why, STATUS_MALFORMED,
                   "line %lu: '%s' is too much: remove it", entry->number,
                   line_shown(word, room));
}

/* The next word, of which `what` is expected. */
static enum status read_value(struct entry *entry, const char *what,
                              enum trace_measure measure, int64_t *out,
                              struct why *why)
{
    char *word = line_word(&entry->rest);
    struct why reason;

    if (!word)
        return because(why, STATUS_MALFORMED, "line %lu: %s has no value",
                       entry->number, what);
    if (trace_measure_read(measure, word, out, &reason) != STATUS_OK)
        return wrong(entry, what, word, &reason, why);
    return STATUS_OK;
}

static enum status add_value(struct parser *parser, struct entry *entry,
                             enum quantity quantity, struct why *why)
{
    const struct quantity_info *info = &quantities[quantity];
    struct why reason = {""};
    int64_t value = 0;
    enum status status =
        read_value(entry, info->name, info->measure, &value, why);

    if (status == STATUS_OK)
        status = nothing_behind(entry, why);
    if (status != STATUS_OK)
        return status;
    if (entry->time >= parser->trace->span)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the value comes after "
                       "the trace's end: make its span longer",
                       entry->number);
    status = trace_add_value(parser->trace, entry->track, quantity, entry->time,
                             value, &reason);
    return status == STATUS_OK || status == STATUS_NO_MEMORY
               ? status
               : because(why, STATUS_MALFORMED, "line %lu: %s", entry->number,
                         reason.text);
}

/* Reads "name=N". */
static bool read_number(char *word, const char *name, uint64_t *out)
{
    word = word ? line_after(word, name) : NULL;
    return word && *word == '=' && line_number(word + 1, out);
}

static enum status read_until(struct entry *entry, struct traced *event,
                              struct why *why)
{
    char *word = line_word(&entry->rest);
    struct why reason;

    word = word ? line_after(word, "until=") : NULL;
    if (!word)
        return because(why, STATUS_MALFORMED,
                       "line %lu: %s lasts; say until=TIME at its end",
                       entry->number, traced_kinds[event->kind].name);
    if (trace_measure_read(MEASURE_TIME, word, &event->until, &reason) !=
        STATUS_OK)
        return wrong(entry, "until", word, &reason, why);
    if (event->until < event->time)
        return because(why, STATUS_MALFORMED,
                       "line %lu: it ends before it begins", entry->number);
    return STATUS_OK;
}

static enum status read_event(struct entry *entry, struct traced *event,
                              struct why *why)
{
    const struct traced_info *info = &traced_kinds[event->kind];

    for (unsigned i = 0; i < TRACE_NUMBERS && info->numbers[i]; i++)
        if (!read_number(line_word(&entry->rest), info->numbers[i],
                         &event->numbers[i]))
            return because(why, STATUS_MALFORMED,
                           "line %lu: %s needs %s=N, a whole number, as its "
                           "%s",
                           entry->number, info->name, info->numbers[i],
                           i == 0   ? "first word"
                           : i == 1 ? "second word"
                                    : "third word");
    if (info->lasts && read_until(entry, event, why) != STATUS_OK)
        return STATUS_MALFORMED;
    return nothing_behind(entry, why);
}

static enum status add_event(struct parser *parser, struct entry *entry,
                             enum traced_kind kind, struct why *why)
{
    struct traced event = {.time = entry->time,
                           .until = entry->time,
                           .kind = kind,
                           .track = entry->track};
    struct why reason = {""};
    enum status status;

    if (entry->track == &parser->trace->all ||
        entry->track == &parser->trace->hub)
        return because(why, STATUS_MALFORMED,
                       "line %lu: %s happens at a node: "
                       "name it",
                       entry->number, traced_kinds[kind].name);
    status = read_event(entry, &event, why);
    if (status != STATUS_OK)
        return status;
    if (event.until > parser->trace->span)
        return because(why, STATUS_MALFORMED,
                       "line %lu: it happens after the "
                       "trace's end: make its span longer",
                       entry->number);
    status = trace_add_event(parser->trace, &event, &reason);
    return status == STATUS_OK || status == STATUS_NO_MEMORY
               ? status
               : because(why, STATUS_MALFORMED, "line %lu: %s", entry->number,
                         reason.text);
}

static enum status add_what(struct parser *parser, struct entry *entry,
                            struct why *why)
{
    char room[SHOWN_BYTES], *word = line_word(&entry->rest);

    if (!word)
        return because(why, STATUS_MALFORMED,
                       "line %lu: says nothing of %s: "
                       "add a quantity and its value, or an event",
                       entry->number, entry->track->name);
    for (unsigned i = 0; i < QUANTITIES; i++)
        if (strcmp(word, quantities[i].name) == 0)
            return add_value(parser, entry, (enum quantity)i, why);
    for (unsigned i = 0; i < TRACED_KINDS; i++)
        if (strcmp(word, traced_kinds[i].name) == 0)
            return add_event(parser, entry, (enum traced_kind)i, why);
    return because(why, STATUS_MALFORMED,
                   "line %lu: '%s' is neither a "
                   "quantity nor an event; the quantities are up, down, "
                   "delay, jitter, loss, step and score",
                   entry->number, line_shown(word, room));
}

/* TIME WHO WHAT ...; the time is the first word. */
static enum status add_entry(struct parser *parser, struct entry *entry,
                             char *time, struct why *why)
{
    struct why reason = {""};
    enum status status;
    char *who;

    if (trace_measure_read(MEASURE_TIME, time, &entry->time, &reason) !=
        STATUS_OK)
        return wrong(entry, "the time", time, &reason, why);
    who = line_word(&entry->rest);
    if (!who)
        return because(why, STATUS_MALFORMED,
                       "line %lu: names no node: write "
                       "its name, * for all, or hub",
                       entry->number);
    entry->track = parser->track;
    if (!entry->track || strcmp(entry->track->name, who) != 0) {
        status = trace_track(parser->trace, who, &entry->track, &reason);
        if (status == STATUS_NO_MEMORY)
            return status;
        if (status != STATUS_OK)
            return wrong(entry, "the name", who, &reason, why);
        parser->track = entry->track;
    }
    return add_what(parser, entry, why);
}

static enum status read_span(struct parser *parser, struct entry *entry,
                             struct why *why)
{
    int64_t span = 0;
    enum status status;

    if (parser->trace->span)
        return because(why, STATUS_MALFORMED,
                       "line %lu: a second span: remove "
                       "one of them",
                       entry->number);
    status = read_value(entry, "span", MEASURE_TIME, &span, why);
    if (status == STATUS_OK)
        status = nothing_behind(entry, why);
    if (status == STATUS_OK && !span)
        return because(why, STATUS_MALFORMED,
                       "line %lu: the span is nothing: say how long the trace "
                       "is",
                       entry->number);
    if (status == STATUS_OK)
        trace_set_span(parser->trace, span);
    return status;
}

static enum status read_title(struct parser *parser, const struct line *line,
                              struct why *why)
{
    if (strcmp(line->text, TRACE_FORMAT) != 0)
        return because(why, STATUS_MALFORMED,
                       "line 1 is not '" TRACE_FORMAT
                       "': this is no trace, or one of another version; "
                       "starswitch-sim import makes one of what other "
                       "programs write");
    parser->title = true;
    return STATUS_OK;
}

static enum status read_line(void *of, struct line *line, struct why *why)
{
    struct parser *parser = of;
    struct entry entry = {.number = line->number, .rest = line->text};
    char *word;

    if (!parser->title)
        return read_title(parser, line, why);
    word = line_word(&entry.rest);
    if (!word || *word == '#')
        return STATUS_OK;
    if (parser->ended)
        return because(why, STATUS_MALFORMED,
                       "line %lu comes after 'end': "
                       "remove one of them",
                       line->number);
    if (strcmp(word, "span") == 0)
        return read_span(parser, &entry, why);
    if (!parser->trace->span)
        return because(why, STATUS_MALFORMED,
                       "line %lu: a trace first says "
                       "how long it is, as in 'span 60s'",
                       line->number);
    if (strcmp(word, "end") == 0) {
        parser->ended = true;
        return nothing_behind(&entry, why);
    }
    return add_entry(parser, &entry, word, why);
}

static enum status read_all(struct parser *parser, const char *text,
                            size_t size, struct why *why)
{
    struct lines lines = lines_of(text, size);
    enum status status = lines_each(&lines, read_line, parser, why);

    if (status == STATUS_NO_MEMORY)
        return because(why, status, "no memory for the trace");
    if (status != STATUS_OK)
        return status;
    if (!parser->ended)
        return because(why, STATUS_MALFORMED,
                       "line %lu is the last and not "
                       "'end': the file is cut off, or that line is missing",
                       lines.number);
    return STATUS_OK;
}

enum status trace_parse(const char *text, size_t size, struct trace **out,
                        struct why *why)
{
    struct parser parser = {.trace = trace_new()};
    enum status status;

    if (!parser.trace)
        return because(why, STATUS_NO_MEMORY, "no memory for the trace");
    if (!size)
        status = because(why, STATUS_MALFORMED,
                         "line 1: the file is empty; a "
                         "trace begins with '" TRACE_FORMAT "'");
    else
        status = read_all(&parser, text, size, why);
    if (status != STATUS_OK) {
        trace_destroy(&parser.trace);
        return status;
    }
    trace_sort(parser.trace);
    *out = parser.trace;
    return STATUS_OK;
}
