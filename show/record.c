#include "show/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "seam/trace.h"
#include "store/file.h"

/* Many steps per write. */
enum { BUFFER_BYTES = 1 << 18 };

struct record {
    FILE *file; /* NULL once writing has failed */
    const char *path;
    void (*complain)(void *of, const char *sentence);
    void *of;
    char buffer[BUFFER_BYTES];
};

/* Ends the recording, and says why. */
static void give_up(struct record *record)
{
    struct why why;

    (void)file_failed("record to", record->path, &why);
    (void)fclose(record->file);
    record->file = NULL;
    if (record->complain)
        record->complain(record->of, why.text);
}

enum status record_open(const char *path, const char *machine,
                        void (*complain)(void *of, const char *sentence),
                        void *of, struct record **out, struct why *why)
{
    struct record *record = calloc(1, sizeof *record);

    if (!record)
        return because(why, STATUS_NO_MEMORY, "no memory to record");
    record->path = path;
    record->complain = complain;
    record->of = of;
    record->file = fopen(path, "we");
    if (!record->file) {
        free(record);
        return file_failed("record to", path, why);
    }
    (void)setvbuf(record->file, record->buffer, _IOFBF, BUFFER_BYTES);
    (void)fprintf(record->file, "%s %s\n", RECORD_FORMAT, machine);
    *out = record;
    return STATUS_OK;
}

static bool write_line(struct record *record, const char *line)
{
    return fputs(line, record->file) >= 0 && putc('\n', record->file) >= 0;
}

static bool write_step(struct record *record, const struct event *event,
                       const struct effects *effects)
{
    char line[TRACE_BYTES];

    (void)trace_event(event, line, sizeof line);
    if (!write_line(record, line))
        return false;
    for (unsigned i = 0; i < effects->count; i++) {
        (void)trace_effect(&effects->list[i], line, sizeof line);
        if (!write_line(record, line))
            return false;
    }
    return true;
}

void record_step(void *of, const struct event *event,
                 const struct effects *effects)
{
    struct record *record = of;

    if (record && record->file && !write_step(record, event, effects))
        give_up(record);
}

void record_close(struct record **reference)
{
    struct record *record = *reference;

    *reference = NULL;
    if (!record)
        return;
    if (record->file && fflush(record->file) != 0)
        give_up(record);
    if (record->file)
        (void)fclose(record->file);
    free(record);
}
