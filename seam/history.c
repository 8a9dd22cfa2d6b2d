#include "seam/history.h"

#include <assert.h>
#include <string.h>

#include <xxhash.h>

/* The last tag is none of a transcript: machines may keep anything there. */
enum { TAGS_TOLD = JOB_TAGS - 1 };

/* Room for what is hashed at once: the values of an event or an effect, one
 * after the other, each kind of them always the same ones. */
enum { VALUES_BYTES = sizeof(struct msg) + 1024 };

/* Each of them puts a value at `at` and returns what is behind it. */
static unsigned char *put_number(unsigned char *at, uint64_t number)
{
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

/* With its end, so that no two lists of texts look alike. */
static unsigned char *put_text(unsigned char *at, const char *text, size_t most)
{
    size_t length = strnlen(text, most - 1);

    memcpy(at, text, length);
    at[length] = '\0';
    return at + length + 1;
}

static unsigned char *put_field(unsigned char *at, enum field_type type,
                                const char *value)
{
    switch (type) {
    case FIELD_U32:
        memcpy(at, value, sizeof(uint32_t));
        return at + sizeof(uint32_t);
    case FIELD_TEXT:
        return put_text(at, value, MSG_TEXT_BYTES);
    default: /* the others are as long as each other */
        memcpy(at, value, sizeof(uint64_t));
        return at + sizeof(uint64_t);
    }
}

static unsigned char *put_message(unsigned char *at, const struct msg *msg,
                                  const struct blob *payload)
{
    const struct msg_info *info = msg_info(msg->kind);

    at = put_number(at, (uint64_t)msg->kind);
    for (unsigned i = 0; i < info->field_count; i++)
        at = put_field(at, info->fields[i].type,
                       (const char *)msg + info->fields[i].offset);
    at = put_number(at, payload ? payload->wire_bytes : 0);
    at = put_number(at, payload ? payload->checksum : 0);
    return put_number(at, payload != NULL);
}

static unsigned char *put_job(unsigned char *at, const struct job *job)
{
    at = put_text(at, job->work->name, SUBJECT_BYTES);
    at = put_number(at, job->id);
    at = put_number(at, (uint64_t)job->status);
    for (unsigned i = 0; i < TAGS_TOLD; i++)
        at = put_number(at, job->tag[i]);
    return at;
}

static void add(struct history *history, const unsigned char *values,
                const unsigned char *end)
{
    size_t size = (size_t)(end - values);

    assert(size <= VALUES_BYTES);
    history->hash = XXH3_64bits_withSeed(values, size, history->hash);
}

static void add_event(struct history *history, const char *machine,
                      const struct event *event)
{
    unsigned char values[VALUES_BYTES];
    unsigned char *at = put_text(values, machine, SUBJECT_BYTES);

    at = put_number(at, (uint64_t)event->now);
    at = put_number(at, (uint64_t)event->kind);
    at = put_number(at, event->peer);
    at = put_number(at, (uint64_t)event->channel);
    at = put_number(at, event->key);
    if (event->msg)
        at = put_message(at, event->msg, event->payload);
    if (event->job)
        at = put_job(at, event->job);
    add(history, values, at);
}

static void add_effect(struct history *history, const struct effect *effect)
{
    unsigned char values[VALUES_BYTES];
    unsigned char *at = put_number(values, (uint64_t)effect->kind);

    at = put_number(at, effect->peer);
    if (effect->kind == EFFECT_SEND) {
        at = put_message(at, &effect->msg, effect->payload);
    } else if (effect->kind == EFFECT_JOB) {
        at = put_job(at, effect->job);
    } else if (effect->kind == EFFECT_NOTE) {
        at = put_number(at, (uint64_t)effect->note.kind);
        at = put_text(at, effect->note.subject, SUBJECT_BYTES);
        at = put_text(at, effect->note.text, NOTE_BYTES);
    }
    add(history, values, at);
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
