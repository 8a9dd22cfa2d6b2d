/* libstarswitch's groups: how a call waits, and gets what it waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "node/library/group.h"

/* The machine ends a request in time; should it not, this does. */
#define SPARE (10 * SECOND)

static const enum star_group_status statuses[ENDING_COUNT] = {
    [ENDING_SUCCESS] = STAR_GROUP_SUCCESS,
    [ENDING_FAIL] = STAR_GROUP_FAIL,
    [ENDING_ABORT] = STAR_GROUP_ABORT,
    [ENDING_NO_NEED] = STAR_GROUP_NO_NEED,
};

/* ---- the network's thread ---- */

/* False: there is no memory for it. */
static bool take_gain(struct star_group *group, uint64_t offset,
                      struct blob *payload)
{
    if (group->gain_count == group->gain_room) {
        size_t room = group->gain_room ? 2 * group->gain_room : 16;
        struct gain *gains = realloc(group->gains, room * sizeof *gains);

        if (!gains)
            return false;
        group->gains = gains;
        group->gain_room = room;
    }
    group->gains[group->gain_count++] =
        (struct gain){blob_ref(payload), offset};
    return true;
}

static void take_want(struct star_group *group, const struct msg_want *want)
{
    if (want->model)
        group->wants_model = true;
    else
        group->wants = true;
}

void group_local(void *self, const struct msg *msg, struct blob *payload)
{
    struct star_group *group = self;

    (void)pthread_mutex_lock(&group->shell.lock);
    if (msg->kind == MSG_WANT && msg->want.request == group->asked) {
        take_want(group, &msg->want);
    } else if (msg->kind == MSG_GAIN && msg->gain.request == group->asked) {
        while (msg->gain.request == group->asked &&
               !take_gain(group, msg->gain.offset, payload)) {
            (void)pthread_mutex_unlock(&group->shell.lock);
            need_wait();
            (void)pthread_mutex_lock(&group->shell.lock);
        }
    } else if (msg->kind == MSG_GAIN) {
        mail_take_gain(group, &msg->gain, payload);
    } else if (msg->kind == MSG_TOLD && msg->told.request == group->asked) {
        group->told = msg->told;
        group->done = true;
    } else if (msg->kind == MSG_DELIVERED) {
        mail_delivered(group, &msg->delivered);
    } else if (msg->kind == MSG_MAIL) {
        mail_add(group, &msg->mail);
    } else if (msg->kind == MSG_WITHDRAW) {
        mail_withdraw(group, &msg->withdraw);
    }
    (void)pthread_cond_broadcast(&group->shell.changed);
    (void)pthread_mutex_unlock(&group->shell.lock);
}

/* ---- a call ---- */

size_t spans_size(const struct span *spans, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += spans[i].size;
    return size;
}

/* What of a segment lies in the span that begins at `start`. */
static void copy_into(const struct span *span, uint64_t start,
                      const struct gain *gain)
{
    uint64_t first = gain->offset > start ? gain->offset : start;
    uint64_t end = gain->offset + gain->blob->size;

    if (end > start + span->size)
        end = start + span->size;
    if (first < end)
        memcpy((unsigned char *)span->bytes + (first - start),
               gain->blob->bytes + (first - gain->offset),
               (size_t)(end - first));
}

void gains_copy(const struct star_group *group, const struct span *spans,
                size_t count)
{
    uint64_t start = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < group->gain_count; j++)
            copy_into(&spans[i], start, &group->gains[j]);
        start += spans[i].size;
    }
}

void gains_drop(struct star_group *group)
{
    for (size_t i = 0; i < group->gain_count; i++)
        blob_unref(&group->gains[i].blob);
    group->gain_count = 0;
}

/* Hands the machine a copy of these bytes, which `cargo` may have to prepare;
 * false: there is no memory for it. */
static bool give(struct star_group *group, const struct cargo *cargo,
                 const struct span *spans, size_t count, bool model)
{
    struct msg msg = {.kind = MSG_GIVE};
    struct blob *blob = blob_new(group->shell.pool, spans_size(spans, count));
    unsigned char *at;

    if (!blob)
        return false;
    if (cargo && cargo->prepare)
        cargo->prepare(cargo->argument);
    at = blob->bytes;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].size)
            memcpy(at, spans[i].bytes, spans[i].size);
        at += spans[i].size;
    }
    msg.give.request = group->asked;
    msg.give.model = model;
    shell_post(&group->shell, &msg, blob);
    return true;
}

/* With the lock held, which it lets go: what the machine wants; what there is
 * no memory for, a moment later. */
static void provide(struct star_group *group, const struct cargo *cargo)
{
    bool wants = group->wants, wants_model = group->wants_model;

    group->wants = group->wants_model = false;
    (void)pthread_mutex_unlock(&group->shell.lock);
    if (wants && cargo && cargo->in)
        wants = !give(group, cargo, cargo->in, cargo->in_count, false);
    else
        wants = false;
    if (wants_model && group->lazy.bytes)
        wants_model = !give(group, NULL, &group->lazy, 1, true);
    else
        wants_model = false;
    (void)pthread_mutex_lock(&group->shell.lock);
    if (!wants && !wants_model)
        return;
    group->wants |= wants;
    group->wants_model |= wants_model;
    group->shell.missing = true;
    (void)shell_tell_memory(&group->shell, false);
    (void)shell_wait(&group->shell, net_now() + SECOND / 100);
}

static void wait_until_done(struct star_group *group, nanos limit,
                            const struct cargo *cargo)
{
    nanos until = net_now() + limit + SPARE;
    bool waits = true;

    while (!group->done && !group->interrupted && waits) {
        if (group->wants || group->wants_model)
            provide(group, cargo);
        else
            waits = shell_wait(&group->shell, until);
    }
}

/* With the lock held: the answer to a call that the machine gave none to. */
static void give_up(struct star_group *group)
{
    struct msg forget = {.kind = MSG_ASK, .ask.ask = ASK_FORGET};

    group->told.outcome = group->interrupted ? ENDING_FAIL : ENDING_ABORT;
    (void)snprintf(group->told.text, sizeof group->told.text, "%s",
                   group->interrupted     ? GROUP_INTERRUPTED
                   : group->shell.starved ? "there was no memory"
                                          : "the thread for the network "
                                            "does not answer");
    group->asked = 0; /* whatever it still says is for nobody */
    if (!group->interrupted)
        return;
    forget.ask.request = ++group->request;
    shell_post(&group->shell, &forget, NULL);
}

void star_group_interrupt(struct star_group *group)
{
    (void)pthread_mutex_lock(&group->shell.lock);
    group->interrupted = group->asked && !group->done;
    group->interrupts++;
    (void)pthread_cond_broadcast(&group->shell.changed);
    (void)pthread_mutex_unlock(&group->shell.lock);
}

enum star_group_status group_ask(struct star_group *group,
                                 const struct msg_ask *ask,
                                 const struct cargo *cargo)
{
    struct msg msg = {.kind = MSG_ASK, .ask = *ask};
    enum star_group_status status;

    (void)pthread_mutex_lock(&group->shell.lock);
    gains_drop(group);
    free(group->loaded);
    group->loaded = NULL;
    msg.ask.request = group->asked = ++group->request;
    if (!msg.ask.limit)
        msg.ask.limit = group->timeout;
    group->done = group->wants = group->wants_model = false;
    group->interrupted = false;
    group->shell.starved = false; /* what was lost was of another call */
    shell_post(&group->shell, &msg, NULL);
    (void)shell_tell_memory(&group->shell, false);
    if (!group->shell.starved)
        wait_until_done(group, msg.ask.limit, cargo);
    if (!group->done)
        give_up(group);
    status = statuses[group->told.outcome];
    if (status == STAR_GROUP_SUCCESS && cargo && cargo->out)
        gains_copy(group, cargo->out, cargo->out_count);
    (void)pthread_mutex_unlock(&group->shell.lock);
    return status;
}
