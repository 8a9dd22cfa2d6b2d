#include "tests/fuzz/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint8_t next(struct session *session)
{
    if (!session->left)
        return 0;
    session->left--;
    return *session->bytes++;
}

static void must_be_sendable(const struct effect *effect)
{
    unsigned char bytes[MSG_MAX_BYTES];
    struct msg read;
    size_t length;

    assert(effect->peer != PEER_NONE);
    if (msg_info(effect->msg.kind)->channel == CHANNEL_LOCAL)
        return; /* to the operator: never on a wire */
    length = msg_encode(&effect->msg, bytes);
    assert(msg_decode(bytes, length, &read) == STATUS_OK);
    assert(!msg_info(effect->msg.kind)->payload == !effect->payload);
}

static struct slot *slot_of(struct session *session, peer_id peer)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (session->slots[i].peer == peer)
            return &session->slots[i];
    return NULL;
}

/* What a driver does with effects. A connection that was dropped leaves, which
 * drops at most those that are left.
 * NOLINTBEGIN(misc-no-recursion) */
static void carry_out(struct session *session)
{
    peer_id drops[SLOTS];
    unsigned count = 0;

    for (unsigned i = 0; i < session->effects.count; i++) {
        struct effect *effect = &session->effects.list[i];
        struct slot *slot = slot_of(session, effect->peer);

        if (effect->kind == EFFECT_SEND) {
            must_be_sendable(effect);
            if (session->overhear)
                session->overhear(session, effect);
        } else if (effect->kind == EFFECT_DROP && slot) {
            drops[count++] = slot->peer;
            slot->peer = PEER_NONE;
        } else if (effect->kind == EFFECT_JOB) {
            assert(session->job_count < HELD);
            session->jobs[session->job_count++] = effect->job;
            effect->job = NULL;
        }
    }
    effects_clear(&session->effects);
    for (unsigned i = 0; i < count; i++) {
        struct event leave = {.kind = EVENT_LEAVE, .peer = drops[i]};

        step(session, &leave);
    }
}

void step(struct session *session, struct event *event)
{
    event->now = session->now;
    session->steps++;
    session->machine.step(session->machine.self, event, &session->effects);
    job_destroy(&event->job);
    if (session->check(session->machine.self))
        abort();
    carry_out(session);
}

/* NOLINTEND(misc-no-recursion) */

static void run_job(struct session *session, unsigned which)
{
    struct event done = {.kind = EVENT_DONE, .job = session->jobs[which]};

    memmove(session->jobs + which, session->jobs + which + 1,
            (--session->job_count - which) * sizeof(struct job *));
    job_run(done.job);
    step(session, &done);
}

void run_jobs(struct session *session)
{
    while (session->job_count)
        run_job(session, 0);
}

/* ---- acts ---- */

void say(struct session *session, struct slot *slot, const struct msg *msg,
         struct blob *payload)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = slot->peer,
                          .channel = slot->channel,
                          .msg = msg,
                          .payload = payload};

    if (slot->peer != PEER_NONE &&
        slot->channel == msg_info(msg->kind)->channel)
        step(session, &event);
}

void leave(struct session *session, struct slot *slot)
{
    struct event event = {.kind = EVENT_LEAVE, .peer = slot->peer};

    slot->peer = PEER_NONE;
    if (event.peer != PEER_NONE)
        step(session, &event);
}

void bye(struct session *session, struct slot *slot)
{
    const struct msg msg = {.kind = MSG_BYE};

    say(session, slot, &msg, NULL);
}

void pass_time(struct session *session, struct slot *slot)
{
    (void)slot;
    for (unsigned i = next(session); i > 0; i--) {
        struct event wake = {.kind = EVENT_WAKE};

        session->now += session->tick;
        if (session->machine.deadline(session->machine.self) <= session->now)
            step(session, &wake);
    }
}

void run_some_job(struct session *session, struct slot *slot)
{
    if (session->job_count)
        run_job(session,
                (unsigned)(slot - session->slots) % session->job_count);
}

void hold(struct session *session, struct slot *slot)
{
    (void)slot;
    session->holds = !session->holds;
}

/* ---- of a machine with a hub and a program ---- */

uint64_t number(struct session *session)
{
    static const uint64_t large[] = {UINT64_MAX,        UINT64_MAX - 1,
                                     UINT64_MAX / 2,    (uint64_t)1 << 63,
                                     (uint64_t)1 << 32, UINT32_MAX};
    uint8_t byte = next(session);

    return byte < 250 ? byte : large[byte - 250];
}

void come(struct session *session, unsigned which)
{
    struct slot *slot = &session->slots[which & 1];
    struct event event = {.kind = EVENT_JOIN};

    if (slot->peer != PEER_NONE)
        return;
    slot->peer = event.peer = which & 1 ? PEER_BULK : PEER_CONTROL;
    slot->channel = event.channel = which & 1 ? CHANNEL_BULK : CHANNEL_CONTROL;
    step(session, &event);
}

void go(struct session *session, unsigned which)
{
    leave(session, &session->slots[which & 1]);
}

void tell(struct session *session, const struct msg *msg, struct blob *payload)
{
    bool bulk = msg_info(msg->kind)->channel == CHANNEL_BULK;

    say(session, &session->slots[bulk ? SLOT_BULK : SLOT_CONTROL], msg,
        payload);
}

void asks(struct session *session, const struct msg *msg, struct blob *payload)
{
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = PEER_TRAINER,
                          .channel = CHANNEL_LOCAL,
                          .msg = msg,
                          .payload = payload};

    step(session, &event);
}

void common(struct session *session, unsigned which)
{
    static void (*const list[])(struct session *, struct slot *) = {
        pass_time, run_some_job, hold};

    list[which % 3](session, &session->slots[which / 3]);
}
