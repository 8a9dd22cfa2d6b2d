#include "tests/collectives/virtual_group.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* The coordinator, among the members' places. */
enum { COORDINATOR = VIRTUAL_MEMBERS };

struct virtual_event {
    struct virtual_event *next;
    nanos due;
    unsigned to;          /* a member, or COORDINATOR */
    uint64_t incarnation; /* of the member that it is for */
    struct event event;   /* its msg points here */
    struct msg msg;
    struct blob *payload;
};

void virtual_post(struct virtual_group *group, unsigned to, nanos due,
                  const struct event *event)
{
    struct virtual_event *made = calloc(1, sizeof *made);
    struct virtual_event **link = &group->events;

    if (!made)
        abort();
    made->due = due;
    made->to = to;
    made->incarnation =
        to == COORDINATOR ? 0 : group->members[to].config.incarnation;
    made->event = *event;
    if (event->msg)
        made->msg = *event->msg;
    made->payload = blob_ref(event->payload);
    while (*link && (*link)->due <= due)
        link = &(*link)->next;
    made->next = *link;
    *link = made;
}

static void post_free(struct virtual_event *gone)
{
    blob_unref(&gone->payload);
    job_destroy(&gone->event.job);
    free(gone);
}

/* When a message that is sent now arrives; those of a channel in order. */
static nanos arrival(struct virtual_group *group, struct virtual_member *member,
                     bool up, enum channel channel)
{
    nanos *last = &member->last[up][channel];
    nanos due = group->now + group->latency +
                (channel == CHANNEL_BULK ? member->bulk_later : 0);

    if (group->jitter)
        due += (nanos)prng_below(&group->prng, (uint64_t)group->jitter);
    *last = due > *last ? due : *last;
    return *last;
}

/* ---- connections ---- */

static void coordinator_hears_leave(struct virtual_group *group,
                                    struct virtual_member *member, nanos due)
{
    for (unsigned i = 0; i < 2; i++) {
        struct event leave = {.kind = EVENT_LEAVE, .peer = member->peers[i]};

        if (member->peers[i] != PEER_NONE)
            virtual_post(group, COORDINATOR, due, &leave);
        member->peers[i] = PEER_NONE;
    }
}

void virtual_cut(struct virtual_group *group, unsigned place)
{
    struct virtual_member *member = &group->members[place];
    const struct event leaves[] = {{.kind = EVENT_LEAVE, .peer = PEER_CONTROL},
                                   {.kind = EVENT_LEAVE, .peer = PEER_BULK}};

    if (member->peers[0] == PEER_NONE)
        return;
    coordinator_hears_leave(group, member, group->now + group->latency);
    for (unsigned i = 0; i < 2 && member->client; i++)
        virtual_post(group, place, group->now, &leaves[i]);
    member->connect_at =
        member->client ? group->now + 250 * MILLISECOND : NEVER;
}

static void connect(struct virtual_group *group, unsigned place)
{
    struct virtual_member *member = &group->members[place];
    struct event join = {.kind = EVENT_JOIN};

    member->connect_at = NEVER;
    for (unsigned i = 0; i < 2; i++) {
        member->peers[i] = group->next_peer++;
        join.peer = i ? PEER_BULK : PEER_CONTROL;
        join.channel = (enum channel)i;
        virtual_post(group, place, group->now, &join);
    }
}

static unsigned whose(const struct virtual_group *group, peer_id peer)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].peers[0] == peer ||
            group->members[i].peers[1] == peer)
            return i;
    return COORDINATOR;
}

/* ---- what machines do ---- */

/* Somebody changes a byte of a segment on its way. */
static struct blob *spoilt(struct virtual_group *group, struct blob *payload)
{
    struct blob *copy = blob_new(group->pool, payload->size);

    memcpy(copy->bytes, payload->bytes, payload->size);
    copy->bytes[0] ^= 1;
    group->spoil = false;
    return copy;
}

static void send_up(struct virtual_group *group, unsigned place,
                    struct effect *effect)
{
    struct virtual_member *member = &group->members[place];
    enum channel channel =
        effect->peer == PEER_BULK ? CHANNEL_BULK : CHANNEL_CONTROL;
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = member->peers[channel],
                          .channel = channel,
                          .msg = &effect->msg,
                          .payload = effect->payload};
    struct blob *copy = NULL;

    if (event.peer == PEER_NONE || member->deaf)
        return;
    if (effect->msg.kind == MSG_END)
        effect->msg.end.checksum += group->spoil_end;
    if (effect->msg.kind == MSG_PART) {
        group->inputs++;
        if (group->spoil)
            event.payload = copy = spoilt(group, effect->payload);
    }
    virtual_post(group, COORDINATOR, arrival(group, member, true, channel),
                 &event);
    blob_unref(&copy);
}

static void send_down(struct virtual_group *group, struct effect *effect)
{
    unsigned place = whose(group, effect->peer);
    struct virtual_member *member = &group->members[place];
    enum channel channel = msg_info(effect->msg.kind)->channel;
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = channel ? PEER_BULK : PEER_CONTROL,
                          .channel = channel,
                          .msg = &effect->msg,
                          .payload = effect->payload};

    if (place == COORDINATOR || member->deaf || !member->client)
        return;
    group->results += effect->msg.kind == MSG_PIECE;
    virtual_post(group, place, arrival(group, member, false, channel), &event);
}

static void run_job(struct virtual_group *group, unsigned place,
                    struct effect *effect)
{
    struct event done = {.kind = EVENT_DONE, .job = effect->job};

    effect->job = NULL;
    job_run(done.job);
    virtual_post(group, place, group->now, &done);
}

static void carry_out(struct virtual_group *group, unsigned place)
{
    struct effects effects = group->effects; /* posts do not step */

    for (unsigned i = 0; i < effects.count; i++) {
        struct effect *effect = &effects.list[i];
        unsigned at = place == COORDINATOR ? whose(group, effect->peer) : place;

        if (effect->kind == EFFECT_JOB)
            run_job(group, place, effect);
        else if (effect->kind == EFFECT_NOTE)
            group->said += effect->note.kind == NOTE_SAID;
        else if (effect->kind == EFFECT_DROP && at != COORDINATOR)
            virtual_cut(group, at);
        else if (effect->kind == EFFECT_SEND && place == COORDINATOR)
            send_down(group, effect);
        else if (effect->kind == EFFECT_SEND && effect->peer == PEER_TRAINER)
            virtual_hear(group, place, effect);
        else if (effect->kind == EFFECT_SEND)
            send_up(group, place, effect);
    }
    effects_clear(&group->effects);
}

void virtual_step(struct virtual_group *group, unsigned place,
                  struct event *event)
{
    struct machine machine = place == COORDINATOR
                                 ? group->machine
                                 : client_machine(group->members[place].client);
    const char *broken;

    event->now = group->now;
    machine.step(machine.self, event, &group->effects);
    history_add(&group->history, machine.name, event, &group->effects);
    carry_out(group, place);
    broken = coordinator_check(group->coordinator);
    if (broken)
        CHECK_TEXT(NULL, broken);
}

/* ---- time ---- */

static bool can_hear(const struct virtual_group *group,
                     const struct virtual_event *first)
{
    const struct virtual_member *member;

    if (first->to == COORDINATOR)
        return true;
    member = &group->members[first->to];
    return member->client && member->config.incarnation == first->incarnation &&
           (first->event.kind != EVENT_MESSAGE ||
            first->event.peer == PEER_TRAINER || member->peers[0] != PEER_NONE);
}

static void deliver(struct virtual_group *group)
{
    struct virtual_event *first = group->events;

    group->events = first->next;
    if (first->event.msg)
        first->event.msg = &first->msg;
    first->event.payload = first->payload;
    if (can_hear(group, first))
        virtual_step(group, first->to, &first->event);
    post_free(first);
}

static nanos next_time(const struct virtual_group *group)
{
    nanos next = group->events ? group->events->due : NEVER;

    if (group->coordinator_wake < next)
        next = group->coordinator_wake;
    for (unsigned i = 0; i < group->count; i++) {
        const struct virtual_member *member = &group->members[i];
        nanos due = NEVER;

        if (member->client)
            due = client_machine(member->client).deadline(member->client);
        if (member->client && member->connect_at < due)
            due = member->connect_at;
        if (due < next)
            next = due;
    }
    return next > group->now ? next : group->now;
}

/* Wakes whom it is time to wake. */
static void wake(struct virtual_group *group)
{
    struct event event = {.kind = EVENT_WAKE};

    if (group->coordinator_wake <= group->now) {
        virtual_step(group, COORDINATOR, &event);
        group->coordinator_wake = group->now + 250 * MILLISECOND;
    }
    for (unsigned i = 0; i < group->count; i++) {
        struct virtual_member *member = &group->members[i];

        if (!member->client)
            continue;
        if (member->connect_at <= group->now && member->deaf)
            member->connect_at = group->now + 250 * MILLISECOND;
        else if (member->connect_at <= group->now)
            connect(group, i);
        if (client_machine(member->client).deadline(member->client) <=
            group->now)
            virtual_step(group, i, &event);
    }
}

/* Does what is due first; false when that is after `until`. */
static bool turn(struct virtual_group *group, nanos until)
{
    nanos next = next_time(group);

    if (next > until) {
        group->now = until;
        return false;
    }
    group->now = next;
    if (group->events && group->events->due <= next)
        deliver(group);
    else
        wake(group);
    return true;
}

void virtual_run(struct virtual_group *group, nanos span)
{
    nanos until = group->now + span;

    while (turn(group, until))
        ;
}

static bool anybody_asks(const struct virtual_group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].asking)
            return true;
    return false;
}

bool virtual_settle(struct virtual_group *group, nanos limit)
{
    nanos until = group->now + limit;

    while (anybody_asks(group) && turn(group, until))
        ;
    return !anybody_asks(group);
}

/* ---- members ---- */

void virtual_destroy(struct virtual_group **reference)
{
    struct virtual_group *group = *reference;

    *reference = NULL;
    while (group->events) {
        struct virtual_event *next = group->events->next;

        post_free(group->events);
        group->events = next;
    }
    effects_free(&group->effects);
    for (unsigned i = 0; i < group->count; i++)
        client_destroy(&group->members[i].client);
    coordinator_destroy(&group->coordinator);
    pool_destroy(&group->pool);
    free(group);
}

void virtual_kill(struct virtual_group *group, unsigned place)
{
    struct virtual_member *member = &group->members[place];

    client_destroy(&member->client);
    member->asking = false;
    virtual_cut(group, place);
}
