#include "hub/page/course_file.h"

#include <json-c/json.h>
#include <json-c/json_visit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hub/page/status.h"
#include "hub/page/stream.h"
#include "store/file.h"
#include "store/json.h"

enum { PARTS = 300 /* of the run's time: a status each */, TOLD_BYTES = 4096 };

struct course_writer {
    struct spool *spool;
    struct status_source source;
    nanos next;
    uint64_t notes;
};

/* ---- writing ---- */

enum status course_writer_open(const char *path, const struct table_head *head,
                               struct goal goal,
                               struct spool_complaint complaint,
                               struct course_writer **out, struct why *why)
{
    static const char begin[] = COURSE_FORMAT "\n";
    struct course_writer *writer = calloc(1, sizeof *writer);
    enum status status;

    if (!writer)
        return because(why, STATUS_NO_MEMORY, "no memory for %.80s", path);
    writer->source = (struct status_source){.head = head, .goal = goal};
    status = spool_open(path, complaint, &writer->spool, why);
    if (status != STATUS_OK) {
        free(writer);
        return status;
    }
    spool_goes_on(writer->spool);
    spool_write(writer->spool, begin, sizeof begin - 1);
    spool_step(writer->spool);
    *out = writer;
    return STATUS_OK;
}

bool course_writer_due(const struct course_writer *writer, nanos elapsed)
{
    return writer && spool_works(writer->spool) && elapsed >= writer->next;
}

static void write_line(struct course_writer *writer, nanos elapsed,
                       const char *what, const struct text *json)
{
    char begin[64];
    struct text line;

    text_init(&line, begin, sizeof begin);
    text_add(&line, "%.3f %s ", (double)elapsed / (double)SECOND, what);
    spool_write(writer->spool, begin, line.length);
    spool_write(writer->spool, json->bytes, json->length);
    if (!json->length || json->bytes[json->length - 1] != '\n')
        spool_write(writer->spool, "\n", 1);
    spool_step(writer->spool);
}

void course_writer_look(struct course_writer *writer,
                        const struct snapshot *now)
{
    size_t room = status_room(now->view.count);
    char *bytes = writer ? malloc(room) : NULL;
    struct text text;

    if (!bytes)
        return;
    writer->source.now = now;
    text_init(&text, bytes, room);
    status_write(&writer->source, now->view.count, &text);
    write_line(writer, now->elapsed, "status", &text);
    free(bytes);
    writer->next =
        now->elapsed +
        (now->elapsed / PARTS > SECOND ? now->elapsed / PARTS : SECOND);
}

void course_writer_note(struct course_writer *writer, nanos elapsed, nanos wall,
                        const struct note *note)
{
    struct told_note told = {0, elapsed, wall, *note};
    char bytes[TOLD_BYTES];
    struct text text;

    if (!writer)
        return;
    told.number = ++writer->notes;
    text_init(&text, bytes, sizeof bytes);
    note_write(&told, &text);
    if (!text.cut)
        write_line(writer, elapsed, "note", &text);
}

void course_writer_close(struct course_writer **reference)
{
    struct course_writer *writer = *reference;

    *reference = NULL;
    if (!writer)
        return;
    spool_close(&writer->spool);
    free(writer);
}

/* ---- reading ---- */

struct line {
    double seconds;
    bool note;
    const char *json;
    size_t size;
};

/* The line at *at, which goes on to the next one; false: it is neither status
 * nor note. */
static bool read_line(const struct course_reader *reader, size_t *at,
                      struct line *out)
{
    const char *begin = reader->text + *at;
    const char *end = memchr(begin, '\n', reader->size - *at);
    char *rest;

    *at = (size_t)(end - reader->text) + 1;
    out->seconds = strtod(begin, &rest);
    out->note = strncmp(rest, " note {", 7) == 0;
    if (rest == begin || !isfinite(out->seconds) || end[-1] != '}' ||
        (!out->note && strncmp(rest, " status {", 9) != 0))
        return false;
    out->json = rest + (out->note ? 6 : 8);
    out->size = (size_t)(end - out->json);
    return true;
}

/* The next one that is; false: there is none. */
static bool next_line(const struct course_reader *reader, size_t *at,
                      struct line *out)
{
    while (*at < reader->size)
        if (read_line(reader, at, out))
            return true;
    return false;
}

/* ---- lines that are no good ---- */

/* What the page draws by. */
static bool has_its_members(struct json_object *json, bool note)
{
    struct json_object *nodes;

    if (note)
        return json_member(json, "event", json_type_string) != NULL;
    nodes = json_member(json, "nodes", json_type_array);
    if (!nodes || !json_member(json, "chunks", json_type_object) ||
        (!json_member(json, "elapsed", json_type_double) &&
         !json_member(json, "elapsed", json_type_int)))
        return false;
    for (size_t i = 0; i < json_object_array_length(nodes); i++)
        if (!json_member(json_object_array_get_idx(nodes, i), "name",
                         json_type_string))
            return false;
    return true;
}

/* No browser reads NaN or infinity, which json-c takes. */
// NOLINTNEXTLINE(readability-function-size): as json-c calls it
static int see_number(struct json_object *json, int flags,
                      struct json_object *parent, const char *key,
                      size_t *index, void *finite)
{
    (void)flags;
    (void)parent;
    (void)key;
    (void)index;
    if (json_object_is_type(json, json_type_double) &&
        !isfinite(json_object_get_double(json)))
        *(bool *)finite = false;
    return JSON_C_VISIT_RETURN_CONTINUE;
}

static bool shows_all(const struct line *line)
{
    for (size_t i = 0; i < line->size; i++)
        if ((unsigned char)line->json[i] < ' ')
            return false;
    return true;
}

static bool is_sound(const struct line *line, struct json_tokener *tokener)
{
    struct json_object *json;
    bool sound = true;

    if (!shows_all(line))
        return false;
    json_tokener_reset(tokener);
    json = json_tokener_parse_ex(tokener, line->json, (int)line->size);
    sound = json && json_tokener_get_parse_end(tokener) == line->size &&
            has_its_members(json, line->note);
    if (sound)
        (void)json_c_visit(json, 0, &see_number, &sound);
    json_object_put(json);
    return sound;
}

/* Takes stock of the lines; those that are no good are marked as none. */
static void look_at_lines(struct course_reader *reader,
                          struct json_tokener *tokener)
{
    size_t at = sizeof COURSE_FORMAT;
    unsigned number = 1;

    while (at < reader->size) {
        char *begin = reader->text + at;
        struct line line;

        number++;
        if (!read_line(reader, &at, &line) || !is_sound(&line, tokener)) {
            if (*begin != '\n')
                *begin = '#';
            if (!reader->left_out++)
                reader->first_left_out = number;
            continue;
        }
        reader->seconds = line.seconds;
        reader->notes += line.note;
        if (!line.note) {
            reader->last = line.json;
            reader->last_size = line.size;
        }
    }
}

static enum status look_through(const char *path, struct course_reader *reader,
                                struct why *why)
{
    struct json_tokener *tokener;

    while (reader->size && reader->text[reader->size - 1] != '\n')
        reader->size--; /* a line that breaks off */
    if (reader->size < sizeof COURSE_FORMAT ||
        memcmp(reader->text, COURSE_FORMAT "\n", sizeof COURSE_FORMAT) != 0)
        return because(why, STATUS_MALFORMED,
                       "%.80s is no course of a run, which starswitch-hub "
                       "--course FILE and starswitch-sim run --course FILE "
                       "write",
                       path);
    tokener = json_tokener_new();
    if (!tokener)
        return because(why, STATUS_NO_MEMORY, "no memory for %.80s", path);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    look_at_lines(reader, tokener);
    json_tokener_free(tokener);
    if (!reader->last)
        return because(why, STATUS_MALFORMED,
                       "%.80s: the run had not begun when this course ended",
                       path);
    return STATUS_OK;
}

enum status course_read(const char *path, struct course_reader *out,
                        struct why *why)
{
    enum status status;

    *out = (struct course_reader){.text = NULL};
    status = file_read(path, SIZE_MAX, &out->text, &out->size, why);
    if (status == STATUS_OK)
        status = look_through(path, out, why);
    if (status != STATUS_OK)
        course_reader_free(out);
    return status;
}

void course_reader_free(struct course_reader *reader)
{
    free(reader->text);
    *reader = (struct course_reader){.text = NULL};
}

size_t course_reader_room(const struct course_reader *reader)
{
    return reader->size + 64;
}

static void add_json(struct text *out, const struct line *line)
{
    if (out->length && out->bytes[out->length - 1] != '[')
        text_add_character(out, ',');

    if (out->size - out->length <= line->size)
        return;
    memcpy(out->bytes + out->length, line->json, line->size);
    out->length += line->size;
    out->bytes[out->length] = '\0';
}

static void add_statuses(const struct course_reader *reader, struct text *out)
{
    double step = reader->seconds / COURSE_STATUSES, next = 0;
    struct line line;
    size_t at = 0;

    while (next_line(reader, &at, &line)) {
        if (line.note || (line.seconds < next && line.json != reader->last))
            continue;
        next = step * (floor(line.seconds / (step > 0 ? step : 1)) + 1);
        add_json(out, &line);
    }
}

void course_reader_write(const struct course_reader *reader, struct text *out)
{
    unsigned skipped =
        reader->notes > COURSE_NOTES ? reader->notes - COURSE_NOTES : 0;
    struct line line;
    size_t at = 0;

    text_add(out, "{\"statuses\":[");
    add_statuses(reader, out);
    text_add(out, "],\"notes\":[");
    while (next_line(reader, &at, &line)) {
        if (!line.note)
            continue;
        if (skipped)
            skipped--;
        else
            add_json(out, &line);
    }
    text_add(out, "]}\n");
}
