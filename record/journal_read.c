#include "record/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "hub/work.h"
#include "store/file.h"

struct journal_reader {
    FILE *file;
    const char *path;
    uint64_t size, at; /* bytes of the file; where the next frame begins */
    uint64_t frames;   /* read so far */
    uint64_t steps;
    unsigned char *body; /* of the frame that was read last */
    size_t body_room;
    uint64_t payload_bytes, checksum; /* of its payload, yet to be read */
    struct blob *payload;             /* of the step that was read last */
    struct journal_head head;
    float *vectors[1 + POLICY_SLOTS];
    char *state;
};

static enum status damaged(const struct journal_reader *reader,
                           const char *what, struct why *why)
{
    return because(why, STATUS_MALFORMED,
                   "%.120s is damaged at byte %" PRIu64 ", after step %" PRIu64
                   ": %s",
                   reader->path, reader->at, reader->steps, what);
}

static enum status read_bytes(struct journal_reader *reader, void *to,
                              size_t size, struct why *why)
{
    if (!size || fread(to, size, 1, reader->file) == 1)
        return STATUS_OK;
    if (ferror(reader->file))
        return file_failed("read", reader->path, why);
    return damaged(reader, "it breaks off", why);
}

/* ---- frames ---- */

static enum status make_room(struct journal_reader *reader, size_t size,
                             struct why *why)
{
    unsigned char *grown;

    if (reader->body_room >= size)
        return STATUS_OK;
    grown = realloc(reader->body, 2 * size);
    if (!grown)
        return because(why, STATUS_NO_MEMORY, "not enough memory for %.150s",
                       reader->path);
    reader->body = grown;
    reader->body_room = 2 * size;
    return STATUS_OK;
}

/* Reads a frame up to its payload. */
static enum status read_body(struct journal_reader *reader, struct formed *body,
                             struct why *why)
{
    uint64_t numbers[3], left = reader->size - reader->at;
    enum status status;

    if (left < sizeof numbers)
        return damaged(reader, "it breaks off", why);
    status = read_bytes(reader, numbers, sizeof numbers, why);
    if (status != STATUS_OK)
        return status;
    left -= sizeof numbers;
    if (!numbers[0] || numbers[0] > left || numbers[1] > left - numbers[0])
        return damaged(reader, "what is there is longer than the file", why);
    status = make_room(reader, (size_t)numbers[0], why);
    if (status == STATUS_OK)
        status = read_bytes(reader, reader->body, (size_t)numbers[0], why);
    if (status != STATUS_OK)
        return status;
    reader->payload_bytes = numbers[1];
    reader->checksum = numbers[2];
    *body = (struct formed){reader->body, (size_t)numbers[0], false};
    return STATUS_OK;
}

/* Reads the payload of the frame and checks all of it. */
static enum status read_payload(struct journal_reader *reader,
                                const struct formed *body, void *to,
                                struct why *why)
{
    size_t size = (size_t)reader->payload_bytes;
    uint64_t checksum =
        XXH3_64bits_withSeed(body->at, body->left, reader->frames);
    enum status status = read_bytes(reader, to, size, why);

    if (status != STATUS_OK)
        return status;
    if (XXH3_64bits_withSeed(to, size, checksum) != reader->checksum)
        return damaged(reader, "the checksum is wrong", why);
    reader->frames++;
    reader->at += 3 * sizeof(uint64_t) + body->left + size;
    return STATUS_OK;
}

/* Whether the frame is of this kind; takes it off. */
static bool is_frame(struct formed *body, char kind)
{
    if (!body->left || *body->at != (unsigned char)kind)
        return false;
    body->at++;
    body->left--;
    return true;
}

/* ---- head ---- */

static enum status read_title(struct journal_reader *reader, struct why *why)
{
    char title[sizeof JOURNAL_FORMAT];

    if (fread(title, sizeof title, 1, reader->file) != 1 ||
        memcmp(title, JOURNAL_FORMAT "\n", sizeof title) != 0)
        return because(why, STATUS_MALFORMED,
                       "%.120s does not begin with '%s':"
                       " this is no journal, or one that another version of "
                       "starswitch-hub has made",
                       reader->path, JOURNAL_FORMAT);
    reader->at = sizeof title;
    return STATUS_OK;
}

static char *text_of(struct formed *from)
{
    size_t size;
    const unsigned char *at = formed_string(from, &size);
    char *text = calloc(size + 1, 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, at, size);
    return text;
}

/* A frame with one of the vectors that the hub was restored from. */
static enum status read_vector(struct journal_reader *reader, unsigned i,
                               struct why *why)
{
    struct hub_saved *saved = &reader->head.saved;
    struct formed body, all;
    enum status status = read_body(reader, &all, why);
    const unsigned char *schema;
    size_t size;

    if (status != STATUS_OK)
        return status;
    reader->vectors[i] = malloc((size_t)reader->payload_bytes + 1);
    if (!reader->vectors[i])
        return because(why, STATUS_NO_MEMORY, "not enough memory for it");
    status = read_payload(reader, &all, reader->vectors[i], why);
    body = all;
    if (status == STATUS_OK && !is_frame(&body, 'V'))
        return damaged(reader, "a vector should be there", why);
    if (status == STATUS_OK && i == 0) {
        schema = formed_string(&body, &size);
        saved->schema = schema_parse((const char *)schema, size, NULL);
        saved->state = reader->state = text_of(&body);
    }
    if (status == STATUS_OK &&
        (body.bad || !saved->schema ||
         reader->payload_bytes != saved->schema->elements * sizeof(float)))
        return damaged(reader, "the vector is not the schema's", why);
    return status;
}

static enum status read_head(struct journal_reader *reader, struct why *why)
{
    struct journal_head *head = &reader->head;
    struct formed body, all;
    enum status status = read_body(reader, &all, why);
    unsigned vectors = 0;
    char nothing;

    if (status == STATUS_OK && reader->payload_bytes)
        return damaged(reader, "a head should be there", why);
    if (status == STATUS_OK)
        status = read_payload(reader, &all, &nothing, why);
    if (status != STATUS_OK)
        return status;
    body = all;
    if (!is_frame(&body, 'H'))
        return damaged(reader, "a head should be there", why);
    head->settings = text_of(&body);
    head->run = formed_number(&body);
    head->secret[0] = formed_number(&body);
    head->secret[1] = formed_number(&body);
    head->life = formed_number(&body);
    formed_text(&body, head->save, sizeof head->save);
    formed_text(&body, head->evaluate, sizeof head->evaluate);
    vectors = formed_below(&body, 2 + POLICY_SLOTS);
    if (body.bad)
        return damaged(reader, "the head makes no sense", why);
    for (unsigned i = 0; i < vectors && status == STATUS_OK; i++) {
        status = read_vector(reader, i, why);
        if (i)
            head->saved.slot[i - 1] = reader->vectors[i];
        else
            head->saved.theta = reader->vectors[i];
    }
    return status;
}

static enum status open_file(struct journal_reader *reader, struct why *why)
{
    enum status status = file_open_saved(reader->path, &reader->file, why);
    struct stat found;

    if (status != STATUS_OK)
        return status;
    if (fstat(fileno(reader->file), &found) != 0)
        return file_failed("read", reader->path, why);
    reader->size = (uint64_t)found.st_size;
    return STATUS_OK;
}

enum status journal_read(const char *path, struct journal_reader **out,
                         struct why *why)
{
    struct journal_reader *reader = calloc(1, sizeof *reader);
    enum status status;

    if (!reader)
        return because(why, STATUS_NO_MEMORY, "not enough memory");
    reader->path = path;
    status = open_file(reader, why);
    if (status == STATUS_OK)
        status = read_title(reader, why);
    if (status == STATUS_OK)
        status = read_head(reader, why);
    if (status == STATUS_OK)
        *out = reader;
    else
        journal_read_close(&reader);
    return status;
}

const struct journal_head *journal_head(const struct journal_reader *reader)
{
    return &reader->head;
}

/* ---- steps ---- */

static void read_job(const struct journal_reader *reader, struct formed *body,
                     struct journal_step *step)
{
    uint64_t left = 0; /* of values */

    formed_text(body, step->work, sizeof step->work);
    step->job = formed_number(body);
    step->status = (enum status)formed_below(body, STATUSES);
    step->given = formed_below(body, 2);
    step->output = *body;
    if (!step->given)
        return;
    for (unsigned i = 0; i < JOB_OUTPUTS; i++) {
        size_t size;

        if (formed_below(body, 2))
            (void)formed_string(body, &size);
    }
    if (strcmp(step->work, work_judge.name) == 0)
        left = formed_number(body);
    else if (strcmp(step->work, reader->head.evaluate) == 0)
        left = 1;
    for (; left && !body->bad; left--)
        for (unsigned i = 0; i < 3; i++)
            (void)formed_number(body);
}

static void read_event(struct journal_reader *reader, struct formed *body,
                       struct journal_step *step)
{
    struct event *event = &step->event;
    bool has_payload;

    event->now = (nanos)formed_number(body);
    event->kind = formed_below(body, EVENT_KINDS);
    event->peer = formed_number(body);
    event->channel = formed_below(body, CHANNEL_COUNT);
    event->key = formed_number(body);
    has_payload = formed_below(body, 2);
    reader->payload->wire_bytes = formed_number(body);
    reader->payload->checksum = formed_number(body);
    event->payload = has_payload ? reader->payload : NULL;
    if (event->kind == EVENT_MESSAGE) {
        formed_message(body, &step->msg);
        event->msg = &step->msg;
    }
    if (event->kind == EVENT_DONE)
        read_job(reader, body, step);
    step->lines = (const char *)formed_string(body, &step->size);
}

enum status journal_next(struct journal_reader *reader, struct pool *pool,
                         struct journal_step *out, struct why *why)
{
    struct formed body, all;
    enum status status;

    blob_unref(&reader->payload);
    if (reader->at == reader->size)
        return damaged(reader,
                       "the end is missing: the hub was killed, or the "
                       "file was cut",
                       why);
    status = read_body(reader, &all, why);
    if (status != STATUS_OK)
        return status;
    reader->payload = blob_new(pool, (size_t)reader->payload_bytes);
    if (!reader->payload)
        return because(why, STATUS_NO_MEMORY, "not enough memory for a step");
    status = read_payload(reader, &all, reader->payload->bytes, why);
    body = all;
    if (status != STATUS_OK)
        return status;
    if (is_frame(&body, 'E'))
        return reader->at == reader->size
                   ? STATUS_AGAIN
                   : damaged(reader, "something is behind the end", why);
    *out = (struct journal_step){.number = ++reader->steps};
    if (!is_frame(&body, 'S'))
        return damaged(reader, "a step should be there", why);
    read_event(reader, &body, out);
    return body.bad || body.left
               ? damaged(reader, "the step makes no sense", why)
               : STATUS_OK;
}

static void give_judgement(struct formed *output, struct job *job)
{
    struct judge_order *order =
        (struct judge_order *)(void *)job->in[0].blob->bytes;

    output->bad |= formed_number(output) != order->count;
    for (unsigned i = 0; i < order->count && !output->bad; i++) {
        order->one[i].weight = formed_real(output);
        order->one[i].candidate.score = formed_real(output);
        order->one[i].candidate.verified = formed_number(output) != 0;
    }
}

static void give_scores(struct formed *output, struct score_job *score)
{
    score->loss = formed_real(output);
    score->accuracy = formed_real(output);
    score->error = formed_real(output);
}

bool journal_give(const struct journal_step *step, const struct work *evaluate,
                  struct job *job)
{
    struct formed output = step->output;

    job->status = step->status;
    for (unsigned i = 0; i < JOB_OUTPUTS; i++) {
        size_t size;
        const unsigned char *bytes;

        if (!formed_below(&output, 2))
            continue;
        bytes = formed_string(&output, &size);
        job->out[i] = blob_new(job->pool, size);
        if (!job->out[i])
            abort();
        if (size)
            memcpy(job->out[i]->bytes, bytes, size);
    }
    if (job->work == &work_judge)
        give_judgement(&output, job);
    if (job->work == evaluate)
        give_scores(&output, (struct score_job *)job);
    return !output.bad;
}

void journal_read_close(struct journal_reader **reference)
{
    struct journal_reader *reader = *reference;

    *reference = NULL;
    if (!reader)
        return;
    if (reader->file)
        (void)fclose(reader->file);
    blob_unref(&reader->payload);
    schema_destroy(&reader->head.saved.schema);
    for (unsigned i = 0; i < 1 + POLICY_SLOTS; i++)
        free(reader->vectors[i]);
    free(reader->head.settings);
    free(reader->state);
    free(reader->body);
    free(reader);
}
