#include "seam/history.h"

#include <assert.h>
#include <string.h>

#include <xxhash.h>

/* The last tag is none of a transcript: machines may keep anything there. */
enum { TAGS_TOLD = JOB_TAGS - 1 };

/* What is hashed at once: the values of an event or an effect, one after the
 * other, each kind of them always the same ones. */
struct values {
    unsigned char bytes[sizeof(struct msg) + 1024];
    size_t size;
};

static void put(struct values *values, const void *bytes, size_t size)
{
    assert(size <= sizeof values->bytes - values->size);
    memcpy(values->bytes + values->size, bytes, size);
    values->size += size;
}

static void put_number(struct values *values, uint64_t number)
{
    put(values, &number, sizeof number);
}

/* With its end, so that no two lists of texts look alike. */
static void put_text(struct values *values, const char *text, size_t most)
{
    size_t length = strnlen(text, most - 1);

    put(values, text, length);
    put(values, "", 1);
}

static const size_t field_bytes[] = {
    [FIELD_U32] = sizeof(uint32_t),
    [FIELD_U64] = sizeof(uint64_t),
    [FIELD_I64] = sizeof(int64_t),
    [FIELD_F64] = sizeof(double),
};

static void put_message(struct values *values, const struct msg *msg,
                        const struct blob *payload)
{
    const struct msg_info *info = msg_info(msg->kind);

    put_number(values, (uint64_t)msg->kind);
    for (unsigned i = 0; i < info->field_count; i++) {
        const struct msg_field *field = &info->fields[i];
        const char *value = (const char *)msg + field->offset;

        if (field->type == FIELD_TEXT)
            put_text(values, value, MSG_TEXT_BYTES);
        else
            put(values, value, field_bytes[field->type]);
    }
    put_number(values, payload ? payload->wire_bytes : 0);
    put_number(values, payload ? payload->checksum : 0);
    put_number(values, payload != NULL);
}

static void put_job(struct values *values, const struct job *job)
{
    put_text(values, job->work->name, SUBJECT_BYTES);
    put_number(values, job->id);
    put_number(values, (uint64_t)job->status);
    put(values, job->tag, TAGS_TOLD * sizeof *job->tag);
}

static void add(struct history *history, const struct values *values)
{
    history->hash =
        XXH3_64bits_withSeed(values->bytes, values->size, history->hash);
}

static void add_event(struct history *history, const char *machine,
                      const struct event *event)
{
    struct values values;

    values.size = 0;
    put_text(&values, machine, SUBJECT_BYTES);
    put_number(&values, (uint64_t)event->now);
    put_number(&values, (uint64_t)event->kind);
    put_number(&values, event->peer);
    put_number(&values, (uint64_t)event->channel);
    put_number(&values, event->key);
    if (event->msg)
        put_message(&values, event->msg, event->payload);
    if (event->job)
        put_job(&values, event->job);
    add(history, &values);
}

static void add_effect(struct history *history, const struct effect *effect)
{
    struct values values;

    values.size = 0;
    put_number(&values, (uint64_t)effect->kind);
    put_number(&values, effect->peer);
    if (effect->kind == EFFECT_SEND) {
        put_message(&values, &effect->msg, effect->payload);
    } else if (effect->kind == EFFECT_JOB) {
        put_job(&values, effect->job);
    } else if (effect->kind == EFFECT_NOTE) {
        put_number(&values, (uint64_t)effect->note.kind);
        put_text(&values, effect->note.subject, SUBJECT_BYTES);
        put_text(&values, effect->note.text, NOTE_BYTES);
    }
    add(history, &values);
}

void history_init(struct history *history)
{
    history->hash = 0;
}

void history_add(struct history *history, const char *machine,
                 const struct event *event, const struct effects *effects)
{
    add_event(history, machine, event);
    for (unsigned i = 0; i < effects->count; i++)
        add_effect(history, &effects->list[i]);
}

uint64_t history_hash(const struct history *history)
{
    return history->hash;
}
