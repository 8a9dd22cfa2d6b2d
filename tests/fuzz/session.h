/* A machine that is driven by the bytes of a fuzzer: its connections, its jobs
 * and what a driver does with its effects. */
#ifndef TESTS_FUZZ_SESSION_H
#define TESTS_FUZZ_SESSION_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/schema.h"
#include "seam/machine.h"

enum { SLOTS = 16, HELD = 4096 };

struct slot {
    peer_id peer; /* PEER_NONE: not connected */
    enum channel channel;
};

struct session {
    const uint8_t *bytes;
    size_t left;
    nanos now;
    struct pool *pool;
    struct schema *schema;
    struct machine machine;
    const char *(*check)(const void *self); /* a broken invariant, or NULL */
    peer_id next_peer;
    struct slot slots[SLOTS];
    struct effects effects;
    struct job *jobs[HELD];
    unsigned job_count, steps;
    bool holds;
    uint32_t exchange; /* what nodes were last told to offer */
    uint64_t lineage;  /* that they were last told, 0: none yet */
};

static uint8_t next(struct session *session)
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

/* What every node would know from what it is sent. */
static void overhear(struct session *session, const struct msg *msg)
{
    if (msg->kind == MSG_TUNE)
        session->exchange = msg->tune.exchange;
    if (msg->kind != MSG_WELCOME)
        return;
    session->exchange = msg->welcome.exchange;
    session->lineage = msg->welcome.lineage;
}

static struct slot *slot_of(struct session *session, peer_id peer)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (session->slots[i].peer == peer)
            return &session->slots[i];
    return NULL;
}

static void step(struct session *session, struct event *event);

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
            overhear(session, &effect->msg);
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

static void step(struct session *session, struct event *event)
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

static void run_jobs(struct session *session)
{
    while (session->job_count)
        run_job(session, 0);
}

#endif
