#include "collectives/coordinator.h"

#include <assert.h>
#include <stdlib.h>

#include "collectives/inside.h"

typedef void handler(struct coordinator *coordinator, struct member *member,
                     const struct event *event);

enum role { ROLE_STRANGER, ROLE_CONTROL, ROLE_BULK, ROLES };

/* That it is heard is all. */
static void on_arriving(struct coordinator *coordinator, struct member *member,
                        const struct event *event)
{
    (void)coordinator;
    (void)member;
    (void)event;
}

/* What a message of each kind does, by whom it comes from. What is absent is
 * an offence. */
static handler *const handlers[ROLES][MSG_KINDS] = {
    [ROLE_STRANGER] = {[MSG_JOIN] = group_on_join, [MSG_SIT] = group_on_sit},
    [ROLE_CONTROL] = {[MSG_WHO] = group_on_confirm,
                      [MSG_CALL] = calls_on_call,
                      [MSG_GIVE_UP] = calls_on_give_up,
                      [MSG_CREDIT] = segments_on_credit,
                      [MSG_PING] = group_on_ping,
                      [MSG_SAY] = group_on_say,
                      [MSG_SEND] = mails_on_send,
                      [MSG_TAKE] = mails_on_take,
                      [MSG_END] = mails_on_end,
                      [MSG_RECEIVED] = mails_on_received,
                      [MSG_BYE] = group_on_bye},
    [ROLE_BULK] = {[MSG_PART] = segments_on_part, [MSG_ARRIVING] = on_arriving},
};

struct coordinator *coordinator_new(const struct coordinator_config *config,
                                    struct pool *pool)
{
    struct coordinator *coordinator = calloc(1, sizeof *coordinator);

    if (!coordinator)
        abort();
    assert(config->segment_bytes && config->segment_bytes % 8 == 0);
    coordinator->config = *config;
    coordinator->pool = pool;
    coordinator->next_id = coordinator->next_session = coordinator->next_job =
        1;
    coordinator->holder = -1;
    return coordinator;
}

void coordinator_destroy(struct coordinator **reference)
{
    struct coordinator *coordinator = *reference;

    *reference = NULL;
    if (!coordinator)
        return;
    calls_forget(coordinator);
    mails_free(coordinator);
    free(coordinator);
}

bool coordinator_does(const struct work *work)
{
    return work == &work_segment_check || work == &work_segment_reduce;
}

void coordinator_job(struct coordinator *coordinator, struct job *job)
{
    job->id = coordinator->next_job++;
    job->pool = coordinator->pool;
    effects_job(coordinator->out, job);
}

static void on_message(struct coordinator *coordinator,
                       const struct event *event)
{
    struct member *member = member_of(coordinator, event->peer);
    enum role role = !member                          ? ROLE_STRANGER
                     : member->control == event->peer ? ROLE_CONTROL
                                                      : ROLE_BULK;
    handler *handle = handlers[role][event->msg->kind];

    if (handle && (!msg_info(event->msg->kind)->payload || event->payload)) {
        if (member)
            member->heard = coordinator->now;
        handle(coordinator, member, event);
        return;
    }
    effects_note(coordinator->out, NOTE_OFFENCE, member ? member->name : "",
                 "%s makes no sense here", msg_info(event->msg->kind)->name);
    if (member)
        member_lost(coordinator, member, "cut for an offence", false);
    else
        effects_drop(coordinator->out, event->peer);
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct coordinator *coordinator = self;

    coordinator->now = event->now;
    coordinator->out = out;
    if (event->kind == EVENT_MESSAGE)
        on_message(coordinator, event);
    else if (event->kind == EVENT_LEAVE)
        group_leave(coordinator, event->peer);
    else if (event->kind == EVENT_DONE)
        segments_done(coordinator, event->job);
    else if (event->kind == EVENT_WAKE)
        group_tick(coordinator);
    calls_sweep(coordinator);
    coordinator->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct coordinator *coordinator = self;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].used)
            return coordinator->now + COORDINATOR_TICK;
    return NEVER;
}

struct machine coordinator_machine(struct coordinator *coordinator)
{
    return (struct machine){coordinator, "coordinator", step, deadline};
}

void coordinator_look(const struct coordinator *coordinator,
                      struct coordinator_view *view)
{
    *view = (struct coordinator_view){.manner = coordinator->manner,
                                      .epoch = coordinator->epoch,
                                      .version = coordinator->version,
                                      .averages = coordinator->averages,
                                      .held = coordinator->held};
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        view->members += coordinator->members[i].listed;
        view->present += coordinator->members[i].present;
    }
    for (const struct call *call = coordinator->calls; call; call = call->next)
        view->calls++;
}

bool coordinator_knows(const struct coordinator *coordinator, peer_id peer)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].control == peer ||
            coordinator->members[i].bulk == peer)
            return true;
    return false;
}

static const char *check_member(const struct coordinator *coordinator,
                                const struct member *member)
{
    if (member->present && !member->used)
        return "somebody is here without being a member";
    if (member->used && !member->present &&
        coordinator->manner == MANNER_ELASTIC)
        return "an elastic group keeps the place of a member that is lost";
    if (member->call && !member->present)
        return "a result is delivered to somebody who is not here";
    if (member->credit > coordinator->config.window ||
        member->upload > coordinator->config.window)
        return "more credit than the window";
    if (member->version > coordinator->version)
        return "a member is ahead of the group's version";
    return NULL;
}

static const char *check_call(const struct call *call)
{
    if (call->ready > call->count)
        return "a call has more result segments than it can have";
    if (call->complete && call->ready != call->count)
        return "a call is complete and has not all its result segments";
    return NULL;
}

const char *coordinator_check(const struct coordinator *coordinator)
{
    const char *broken = NULL;
    uint64_t held = 0;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS && !broken; i++)
        broken = check_member(coordinator, &coordinator->members[i]);
    for (const struct call *call = coordinator->calls; call && !broken;
         call = call->next) {
        held += call->bytes;
        broken = check_call(call);
    }
    if (!broken && held != coordinator->held)
        broken = "the bytes that are held are not those that are counted";
    if (coordinator->held > coordinator->config.limit)
        broken = "more is held than allowed";
    return broken;
}
