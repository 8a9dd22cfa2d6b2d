#include "seam/transcript.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "core/quote.h"
#include "core/text.h"

/* Seconds, with as many decimals as there are. */
static void add_time(struct text *out, nanos time)
{
    uint64_t size = time < 0 ? 0 - (uint64_t)time : (uint64_t)time;
    uint64_t fraction = size % (uint64_t)SECOND;
    int decimals = 9;

    text_add(out, "%s%" PRIu64, time < 0 ? "-" : "", size / (uint64_t)SECOND);
    if (!fraction)
        return;
    for (; fraction % 10 == 0; decimals--)
        fraction /= 10;
    text_add(out, ".%0*" PRIu64, decimals, fraction);
}

static void add_message(struct text *out, const struct msg *msg,
                        const struct blob *payload)
{
    char line[TRANSCRIPT_BYTES];

    (void)msg_print(msg, line, sizeof line);
    text_add(out, " %s", line);
    if (!payload)
        return;
    text_add(out, " [%" PRIu64, payload->wire_bytes);
    if (payload->checksum)
        text_add(out, " %016" PRIx64, payload->checksum);
    text_add(out, "]");
}

static void add_work(struct text *out, const struct job *job)
{
    text_add(out, " %s #%" PRIu64, job->work->name, job->id);
}

static void add_tags(struct text *out, const struct job *job)
{
    text_add(out, " %" PRIu64 ",%" PRIu64 ",%" PRIu64, job->tag[0], job->tag[1],
             job->tag[2]);
}

static void add_join(struct text *out, const struct event *event)
{
    text_add(out, " %" PRIu64 " %s", event->peer,
             channel_words[event->channel].text);
    if (event->key != KEY_NONE)
        text_add(out, " %016" PRIx64, event->key);
}

static void add_leave(struct text *out, const struct event *event)
{
    text_add(out, " %" PRIu64, event->peer);
}

static void add_arrival(struct text *out, const struct event *event)
{
    text_add(out, " %" PRIu64, event->peer);
    add_message(out, event->msg, event->payload);
}

static void add_nothing(struct text *out, const struct event *event)
{
    (void)out;
    (void)event;
}

static void add_done(struct text *out, const struct event *event)
{
    add_work(out, event->job);
    text_add(out, " %s", status_name(event->job->status));
    add_tags(out, event->job);
}

static const struct {
    const char *name;
    void (*add)(struct text *out, const struct event *event);
} event_kinds[EVENT_KINDS] = {
    [EVENT_JOIN] = {"join", add_join},
    [EVENT_LEAVE] = {"leave", add_leave},
    [EVENT_MESSAGE] = {"message", add_arrival},
    [EVENT_WAKE] = {"wake", add_nothing},
    [EVENT_DONE] = {"done", add_done},
};

size_t transcript_event(const struct event *event, char *text, size_t size)
{
    struct text out;

    assert((unsigned)event->kind < EVENT_KINDS);
    text_init(&out, text, size);
    add_time(&out, event->now);
    text_add(&out, " %s", event_kinds[event->kind].name);
    event_kinds[event->kind].add(&out, event);
    return out.length;
}

static void add_send(struct text *out, const struct effect *effect)
{
    text_add(out, " %" PRIu64, effect->peer);
    add_message(out, &effect->msg, effect->payload);
}

static void add_drop(struct text *out, const struct effect *effect)
{
    text_add(out, " %" PRIu64, effect->peer);
}

static void add_job(struct text *out, const struct effect *effect)
{
    add_work(out, effect->job);
    add_tags(out, effect->job);
}

static void add_note(struct text *out, const struct effect *effect)
{
    text_add(out, " %s ", note_name(effect->note.kind));
    quote_json(out, effect->note.subject);
    text_add(out, " ");
    quote_json(out, effect->note.text);
}

static const struct {
    const char *name;
    void (*add)(struct text *out, const struct effect *effect);
} effect_kinds[EFFECT_KINDS] = {
    [EFFECT_SEND] = {"send", add_send},
    [EFFECT_DROP] = {"drop", add_drop},
    [EFFECT_JOB] = {"job", add_job},
    [EFFECT_NOTE] = {"note", add_note},
};

size_t transcript_effect(const struct effect *effect, char *text, size_t size)
{
    struct text out;

    assert((unsigned)effect->kind < EFFECT_KINDS);
    text_init(&out, text, size);
    text_add(&out, "  %s", effect_kinds[effect->kind].name);
    effect_kinds[effect->kind].add(&out, effect);
    return out.length;
}
