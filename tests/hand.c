#include "tests/hand.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

void hand_init(struct hand *hand, struct machine machine, struct pool *pool,
               const char *(*check)(const void *self))
{
    memset(hand, 0, sizeof *hand);
    hand->machine = machine;
    hand->pool = pool;
    hand->check = check;
    hand->now = SECOND;
}

void hand_forget(struct hand *hand)
{
    for (unsigned i = 0; i < hand->sent_count; i++)
        blob_unref(&hand->sent[i].payload);
    hand->sent_count = hand->note_count = hand->drop_count = 0;
}

void hand_free(struct hand *hand)
{
    hand_forget(hand);
    for (unsigned i = 0; i < hand->job_count; i++)
        job_destroy(&hand->jobs[i]);
    effects_free(&hand->effects);
}

/* A test that does more than there is room for is a wrong test. */
static unsigned take_place(unsigned *count, unsigned room)
{
    if (*count == room)
        abort();
    return (*count)++;
}

static void keep(struct hand *hand, struct effect *effect)
{
    struct hand_sent *sent;

    switch (effect->kind) {
    case EFFECT_SEND:
        sent = &hand->sent[take_place(&hand->sent_count, HAND_SENT)];
        sent->peer = effect->peer;
        sent->msg = effect->msg;
        sent->payload = blob_ref(effect->payload);
        break;
    case EFFECT_DROP:
        hand->drops[take_place(&hand->drop_count, HAND_DROPS)] = effect->peer;
        break;
    case EFFECT_JOB:
        hand->jobs[take_place(&hand->job_count, HAND_JOBS)] = effect->job;
        effect->job = NULL;
        break;
    case EFFECT_NOTE:
        hand->notes[take_place(&hand->note_count, HAND_NOTES)] = effect->note;
        break;
    case EFFECT_KINDS:
        break;
    }
}

static void step_once(struct hand *hand, struct event *event)
{
    const char *broken;

    event->now = hand->now;
    hand->machine.step(hand->machine.self, event, &hand->effects);
    for (unsigned i = 0; i < hand->effects.count; i++)
        keep(hand, &hand->effects.list[i]);
    effects_clear(&hand->effects);
    job_destroy(&event->job);
    broken = hand->check ? hand->check(hand->machine.self) : NULL;
    if (broken)
        CHECK_TEXT(NULL, broken);
}

void hand_work(struct hand *hand)
{
    while (hand->job_count) {
        struct event done = {.kind = EVENT_DONE, .job = hand->jobs[0]};

        memmove(hand->jobs, hand->jobs + 1,
                --hand->job_count * sizeof(struct job *));
        job_run(done.job);
        if (hand->starves && ++hand->starved >= hand->starves) {
            done.job->status = STATUS_NO_MEMORY;
            hand->starved = 0;
        }
        step_once(hand, &done);
    }
}

/* An event, the leaves that its drops lead to, and the jobs. */
static void step(struct hand *hand, struct event *event)
{
    unsigned told = hand->drop_count;

    step_once(hand, event);
    if (!hand->holds_jobs)
        hand_work(hand);
    for (; told < hand->drop_count; told++) {
        struct event leave = {.kind = EVENT_LEAVE, .peer = hand->drops[told]};

        step_once(hand, &leave);
    }
    if (!hand->holds_jobs)
        hand_work(hand);
}

void hand_join_as(struct hand *hand, peer_id peer, enum channel channel,
                  uint64_t key)
{
    struct event event = {
        .kind = EVENT_JOIN, .peer = peer, .channel = channel, .key = key};

    step(hand, &event);
}

void hand_join(struct hand *hand, peer_id peer, enum channel channel)
{
    hand_join_as(hand, peer, channel, KEY_NONE);
}

void hand_leave(struct hand *hand, peer_id peer)
{
    struct event event = {.kind = EVENT_LEAVE, .peer = peer};

    step(hand, &event);
}

void hand_say(struct hand *hand, peer_id peer, const struct msg *msg,
              struct blob *payload)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = peer,
                          .channel = msg_info(msg->kind)->channel,
                          .msg = msg,
                          .payload = payload};

    step(hand, &event);
}

void hand_wait(struct hand *hand, nanos span)
{
    nanos until = hand->now + span;
    nanos due = hand->machine.deadline(hand->machine.self);

    while (due <= until) {
        struct event wake = {.kind = EVENT_WAKE};

        if (due > hand->now)
            hand->now = due;
        step(hand, &wake);
        due = hand->machine.deadline(hand->machine.self);
    }
    hand->now = until;
}

static bool is_it(const struct hand_sent *sent, peer_id peer,
                  enum msg_kind kind)
{
    return sent->peer == peer && sent->msg.kind == kind;
}

unsigned hand_count(const struct hand *hand, peer_id peer, enum msg_kind kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < hand->sent_count; i++)
        count += is_it(&hand->sent[i], peer, kind);
    return count;
}

const struct hand_sent *hand_nth(const struct hand *hand, peer_id peer,
                                 enum msg_kind kind, unsigned nth)
{
    for (unsigned i = 0; i < hand->sent_count; i++)
        if (is_it(&hand->sent[i], peer, kind) && nth-- == 0)
            return &hand->sent[i];
    return NULL;
}

const struct hand_sent *hand_last(const struct hand *hand, peer_id peer,
                                  enum msg_kind kind)
{
    unsigned count = hand_count(hand, peer, kind);

    return count ? hand_nth(hand, peer, kind, count - 1) : NULL;
}

bool hand_dropped(const struct hand *hand, peer_id peer)
{
    for (unsigned i = 0; i < hand->drop_count; i++)
        if (hand->drops[i] == peer)
            return true;
    return false;
}

const struct note *hand_note(const struct hand *hand, enum note_kind kind)
{
    for (unsigned i = hand->note_count; i > 0; i--)
        if (hand->notes[i - 1].kind == kind)
            return &hand->notes[i - 1];
    return NULL;
}

struct blob *hand_floats(struct pool *pool, size_t count, double value)
{
    struct blob *blob = blob_new(pool, count * sizeof(float));

    if (!blob)
        abort();
    for (size_t i = 0; i < count; i++)
        blob_floats(blob)[i] = (float)value;
    blob_seal(blob);
    return blob;
}

double hand_float(const struct blob *blob, size_t at)
{
    float value;

    memcpy(&value, blob->bytes + at * sizeof value, sizeof value);
    return (double)value;
}
