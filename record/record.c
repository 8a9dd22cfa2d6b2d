#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/quote.h"
#include "seam/transcript.h"

static const char set_word[] = "set ";

struct record {
    struct spool *spool;
};

static void write_line(struct record *record, const char *line)
{
    spool_write(record->spool, line, strlen(line));
    spool_write(record->spool, "\n", 1);
}

enum status record_open(const char *path, const char *machine,
                        struct spool_complaint complaint, struct record **out,
                        struct why *why)
{
    struct record *record = calloc(1, sizeof *record);
    enum status status;

    if (!record)
        return because(why, STATUS_NO_MEMORY, "no memory to record");
    status = spool_open(path, complaint, &record->spool, why);
    if (status != STATUS_OK) {
        free(record);
        return status;
    }
    spool_write(record->spool, RECORD_FORMAT " ", sizeof RECORD_FORMAT);
    write_line(record, machine);
    *out = record;
    return STATUS_OK;
}

enum status record_open_node(const char *path, const char *name,
                             struct spool_complaint complaint,
                             struct record **out, struct why *why)
{
    char machine[TRANSCRIPT_BYTES];
    struct text text;

    text_init(&text, machine, sizeof machine);
    text_add(&text, "node name=");
    quote_json(&text, name);
    return record_open(path, machine, complaint, out, why);
}

/* Where files are, and how to print, is nothing of the run. */
static bool is_of_the_run(const struct option *row)
{
    return !row->call && row->type.kind != VALUE_SECRET &&
           strcmp(row->group, "Files") != 0 &&
           strcmp(row->group, "Program") != 0;
}

void record_set(struct record *record, const struct options *options,
                enum program program)
{
    char line[2 * VALUE_TEXT_BYTES];
    size_t count;
    const struct option *rows = options_rows(&count);

    for (size_t i = 0; i < count; i++) {
        union value value;
        struct text text;

        if (!option_is_of(&rows[i], program) || !is_of_the_run(&rows[i]) ||
            !*((const unsigned char *)options + rows[i].given))
            continue;
        memcpy(&value, (const char *)options + rows[i].offset,
               value_size(rows[i].type.kind));
        text_init(&text, line, sizeof line);
        text_add(&text, "%s%s ", set_word, rows[i].name);
        value_print(&rows[i].type, &value, &text);
        write_line(record, line);
    }
}

void record_step(void *of, const struct event *event,
                 const struct effects *effects)
{
    struct record *record = of;
    char line[TRANSCRIPT_BYTES];

    if (!record || !spool_works(record->spool))
        return;
    (void)transcript_event(event, line, sizeof line);
    write_line(record, line);
    for (unsigned i = 0; i < effects->count; i++) {
        (void)transcript_effect(&effects->list[i], line, sizeof line);
        write_line(record, line);
    }
    spool_step(record->spool);
}

void record_close(struct record **reference)
{
    struct record *record = *reference;

    *reference = NULL;
    if (!record)
        return;
    spool_close(&record->spool);
    free(record);
}

/* ---- reading ---- */

/* "NAME VALUE", in place. */
static enum status take_setting(char *line, struct options *options,
                                struct why *why)
{
    char *value = strchr(line, ' ');
    const struct option *row;

    if (!value)
        return because(why, STATUS_MALFORMED, "a setting without its value");
    *value++ = '\0';
    row = options_find(PROGRAM_SIM, line);
    if (!row || !is_of_the_run(row))
        return STATUS_OK;
    return options_set(options, PROGRAM_SIM, line, value, OPTION_CONFIG, why);
}

enum status record_settings(const char *text, size_t size,
                            struct options *options, struct why *why)
{
    const char *at = memchr(text, '\n', size), *end = text + size;
    const size_t word = strlen(set_word);
    struct options next = *options;

    if (size < strlen(RECORD_FORMAT) || !at ||
        memcmp(text, RECORD_FORMAT, strlen(RECORD_FORMAT)) != 0)
        return because(why, STATUS_MALFORMED,
                       "line 1 is not '%s ...': this is "
                       "no recording",
                       RECORD_FORMAT);
    for (unsigned line = 2;
         (size_t)(end - ++at) > word && memcmp(at, set_word, word) == 0;
         line++) {
        char setting[2 * VALUE_TEXT_BYTES];
        const char *until = memchr(at, '\n', (size_t)(end - at));
        struct why detail = {"the line is cut off, or too long"};
        enum status status = STATUS_MALFORMED;

        if (until && (size_t)(until - at) - word < sizeof setting) {
            (void)snprintf(setting, sizeof setting, "%.*s",
                           (int)(until - at) - (int)word, at + word);
            status = take_setting(setting, &next, &detail);
        }
        if (status != STATUS_OK)
            return because(why, STATUS_MALFORMED, "line %u: %s", line,
                           detail.text);
        at = until;
    }
    *options = next;
    return STATUS_OK;
}
