#include "tests/collectives/circle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

/* The coordinator, among the members' places. */
enum { COORDINATOR = CIRCLE_MEMBERS };

struct circle_post {
    struct circle_post *next;
    nanos due;
    unsigned to;          /* a member, or COORDINATOR */
    uint64_t incarnation; /* of the member that it is for */
    struct event event;   /* its msg points here */
    struct msg msg;
    struct blob *payload;
};

void circle_post(struct circle *circle, unsigned to, nanos due,
                 const struct event *event)
{
    struct circle_post *made = calloc(1, sizeof *made);
    struct circle_post **link = &circle->posts;

    if (!made)
        abort();
    made->due = due;
    made->to = to;
    made->incarnation =
        to == COORDINATOR ? 0 : circle->members[to].config.incarnation;
    made->event = *event;
    if (event->msg)
        made->msg = *event->msg;
    made->payload = blob_ref(event->payload);
    while (*link && (*link)->due <= due)
        link = &(*link)->next;
    made->next = *link;
    *link = made;
}

static void post_free(struct circle_post *gone)
{
    blob_unref(&gone->payload);
    job_destroy(&gone->event.job);
    free(gone);
}

/* When a message that is sent now arrives; those of a channel in order. */
static nanos arrival(struct circle *circle, struct circle_member *member,
                     bool up, enum channel channel)
{
    nanos *last = &member->last[up][channel];
    nanos due = circle->now + circle->latency +
                (channel == CHANNEL_BULK ? member->bulk_later : 0);

    if (circle->jitter)
        due += (nanos)prng_below(&circle->prng, (uint64_t)circle->jitter);
    *last = due > *last ? due : *last;
    return *last;
}

/* ---- connections ---- */

static void coordinator_hears_leave(struct circle *circle,
                                    struct circle_member *member, nanos due)
{
    for (unsigned i = 0; i < 2; i++) {
        struct event leave = {.kind = EVENT_LEAVE, .peer = member->peers[i]};

        if (member->peers[i] != PEER_NONE)
            circle_post(circle, COORDINATOR, due, &leave);
        member->peers[i] = PEER_NONE;
    }
}

void circle_cut(struct circle *circle, unsigned place)
{
    struct circle_member *member = &circle->members[place];
    const struct event leaves[] = {{.kind = EVENT_LEAVE, .peer = PEER_CONTROL},
                                   {.kind = EVENT_LEAVE, .peer = PEER_BULK}};

    if (member->peers[0] == PEER_NONE)
        return;
    coordinator_hears_leave(circle, member, circle->now + circle->latency);
    for (unsigned i = 0; i < 2 && member->client; i++)
        circle_post(circle, place, circle->now, &leaves[i]);
    member->connect_at =
        member->client ? circle->now + 250 * MILLISECOND : NEVER;
}

static void connect(struct circle *circle, unsigned place)
{
    struct circle_member *member = &circle->members[place];
    struct event join = {.kind = EVENT_JOIN};

    member->connect_at = NEVER;
    for (unsigned i = 0; i < 2; i++) {
        member->peers[i] = circle->next_peer++;
        join.peer = i ? PEER_BULK : PEER_CONTROL;
        join.channel = (enum channel)i;
        circle_post(circle, place, circle->now, &join);
    }
}

static unsigned whose(const struct circle *circle, peer_id peer)
{
    for (unsigned i = 0; i < circle->count; i++)
        if (circle->members[i].peers[0] == peer ||
            circle->members[i].peers[1] == peer)
            return i;
    return COORDINATOR;
}

/* ---- what machines do ---- */

/* Somebody changes a byte of a segment on its way. */
static struct blob *spoilt(struct circle *circle, struct blob *payload)
{
    struct blob *copy = blob_new(circle->pool, payload->size);

    memcpy(copy->bytes, payload->bytes, payload->size);
    copy->bytes[0] ^= 1;
    circle->spoil = false;
    return copy;
}

static void send_up(struct circle *circle, unsigned place,
                    struct effect *effect)
{
    struct circle_member *member = &circle->members[place];
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
        effect->msg.end.checksum += circle->spoil_end;
    if (effect->msg.kind == MSG_PART) {
        circle->inputs++;
        if (circle->spoil)
            event.payload = copy = spoilt(circle, effect->payload);
    }
    circle_post(circle, COORDINATOR, arrival(circle, member, true, channel),
                &event);
    blob_unref(&copy);
}

static void send_down(struct circle *circle, struct effect *effect)
{
    unsigned place = whose(circle, effect->peer);
    struct circle_member *member = &circle->members[place];
    enum channel channel = msg_info(effect->msg.kind)->channel;
    struct event event = {.kind = EVENT_MESSAGE,
                          .peer = channel ? PEER_BULK : PEER_CONTROL,
                          .channel = channel,
                          .msg = &effect->msg,
                          .payload = effect->payload};

    if (place == COORDINATOR || member->deaf || !member->client)
        return;
    circle->results += effect->msg.kind == MSG_PIECE;
    circle_post(circle, place, arrival(circle, member, false, channel), &event);
}

static void run_job(struct circle *circle, unsigned place,
                    struct effect *effect)
{
    struct event done = {.kind = EVENT_DONE, .job = effect->job};

    effect->job = NULL;
    job_run(done.job);
    circle_post(circle, place, circle->now, &done);
}

static void carry_out(struct circle *circle, unsigned place)
{
    struct effects effects = circle->effects; /* posts do not step */

    for (unsigned i = 0; i < effects.count; i++) {
        struct effect *effect = &effects.list[i];
        unsigned at =
            place == COORDINATOR ? whose(circle, effect->peer) : place;

        if (effect->kind == EFFECT_JOB)
            run_job(circle, place, effect);
        else if (effect->kind == EFFECT_DROP && at != COORDINATOR)
            circle_cut(circle, at);
        else if (effect->kind == EFFECT_SEND && place == COORDINATOR)
            send_down(circle, effect);
        else if (effect->kind == EFFECT_SEND && effect->peer == PEER_TRAINER)
            circle_hear(circle, place, effect);
        else if (effect->kind == EFFECT_SEND)
            send_up(circle, place, effect);
    }
    effects_clear(&circle->effects);
}

void circle_step(struct circle *circle, unsigned place, struct event *event)
{
    struct machine machine =
        place == COORDINATOR ? circle->machine
                             : client_machine(circle->members[place].client);
    const char *broken;

    event->now = circle->now;
    machine.step(machine.self, event, &circle->effects);
    history_add(&circle->history, machine.name, event, &circle->effects);
    carry_out(circle, place);
    broken = coordinator_check(circle->coordinator);
    if (broken)
        CHECK_TEXT(NULL, broken);
}

/* ---- time ---- */

static bool can_hear(const struct circle *circle,
                     const struct circle_post *first)
{
    const struct circle_member *member;

    if (first->to == COORDINATOR)
        return true;
    member = &circle->members[first->to];
    return member->client && member->config.incarnation == first->incarnation &&
           (first->event.kind != EVENT_MESSAGE ||
            first->event.peer == PEER_TRAINER || member->peers[0] != PEER_NONE);
}

static void deliver(struct circle *circle)
{
    struct circle_post *first = circle->posts;

    circle->posts = first->next;
    if (first->event.msg)
        first->event.msg = &first->msg;
    first->event.payload = first->payload;
    if (can_hear(circle, first))
        circle_step(circle, first->to, &first->event);
    post_free(first);
}

static nanos next_time(const struct circle *circle)
{
    nanos next = circle->posts ? circle->posts->due : NEVER;

    if (circle->coordinator_wake < next)
        next = circle->coordinator_wake;
    for (unsigned i = 0; i < circle->count; i++) {
        const struct circle_member *member = &circle->members[i];
        nanos due = NEVER;

        if (member->client)
            due = client_machine(member->client).deadline(member->client);
        if (member->client && member->connect_at < due)
            due = member->connect_at;
        if (due < next)
            next = due;
    }
    return next > circle->now ? next : circle->now;
}

/* Wakes whom it is time to wake. */
static void wake(struct circle *circle)
{
    struct event event = {.kind = EVENT_WAKE};

    if (circle->coordinator_wake <= circle->now) {
        circle_step(circle, COORDINATOR, &event);
        circle->coordinator_wake = circle->now + 250 * MILLISECOND;
    }
    for (unsigned i = 0; i < circle->count; i++) {
        struct circle_member *member = &circle->members[i];

        if (!member->client)
            continue;
        if (member->connect_at <= circle->now && member->deaf)
            member->connect_at = circle->now + 250 * MILLISECOND;
        else if (member->connect_at <= circle->now)
            connect(circle, i);
        if (client_machine(member->client).deadline(member->client) <=
            circle->now)
            circle_step(circle, i, &event);
    }
}

/* Does what is due first; false when that is after `until`. */
static bool turn(struct circle *circle, nanos until)
{
    nanos next = next_time(circle);

    if (next > until) {
        circle->now = until;
        return false;
    }
    circle->now = next;
    if (circle->posts && circle->posts->due <= next)
        deliver(circle);
    else
        wake(circle);
    return true;
}

void circle_run(struct circle *circle, nanos span)
{
    nanos until = circle->now + span;

    while (turn(circle, until))
        ;
}

static bool anybody_asks(const struct circle *circle)
{
    for (unsigned i = 0; i < circle->count; i++)
        if (circle->members[i].asking)
            return true;
    return false;
}

bool circle_settle(struct circle *circle, nanos limit)
{
    nanos until = circle->now + limit;

    while (anybody_asks(circle) && turn(circle, until))
        ;
    return !anybody_asks(circle);
}

/* ---- members ---- */

void circle_destroy(struct circle **reference)
{
    struct circle *circle = *reference;

    *reference = NULL;
    while (circle->posts) {
        struct circle_post *next = circle->posts->next;

        post_free(circle->posts);
        circle->posts = next;
    }
    effects_free(&circle->effects);
    for (unsigned i = 0; i < circle->count; i++)
        client_destroy(&circle->members[i].client);
    coordinator_destroy(&circle->coordinator);
    pool_destroy(&circle->pool);
    free(circle);
}

void circle_kill(struct circle *circle, unsigned place)
{
    struct circle_member *member = &circle->members[place];

    client_destroy(&member->client);
    member->asking = false;
    circle_cut(circle, place);
}
