#include "collectives/coordinator.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/matching.h"
#include "collectives/segment.h"
#include "collectives/state.h"

#define TICK (250 * MILLISECOND)

/* A checkpoint or a fetched model, which the third stage completes, is what
 * requests of the second one wait for: twice round is all there can be. */
enum { MOST_PASSES = 3 };

struct coordinator *coordinator_new(const struct coordinator_config *config,
                                    struct pool *pool)
{
    struct coordinator *coordinator = calloc(1, sizeof *coordinator);

    if (!coordinator)
        abort();
    assert(config->segment_bytes && config->segment_bytes % 8 == 0);
    coordinator->config = *config;
    coordinator->pool = pool;
    return coordinator;
}

void coordinator_destroy(struct coordinator **reference)
{
    struct coordinator *coordinator = *reference;

    *reference = NULL;
    if (!coordinator)
        return;
    calls_free(coordinator);
    mails_destroy(coordinator);
    free(coordinator);
}

/* ---- messages ---- */

/* A holder brings a model while it is in another call. */
static void on_call(struct coordinator *coordinator, struct member *member,
                    const struct event *event)
{
    if (event->msg->call.collective == COLLECTIVE_MODEL)
        checkpoint_on_model(coordinator, member, event);
    else
        matching_on_call(coordinator, member, event);
}

/* It is told the epoch of now. */
static void on_who(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    calls_pass(coordinator, member);
    group_on_who(coordinator, member, event);
}

/* Segments and credit are a call's or a message's, by their number. */
static void on_part(struct coordinator *coordinator, struct member *member,
                    const struct event *event)
{
    struct call *call =
        input_call(coordinator, member, event->msg->part.number);

    if (call)
        input_on_part(coordinator, member, call, event);
    else
        mail_on_segment(coordinator, member, event);
}

static void on_credit(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    const struct msg_credit *credit = &event->msg->credit;
    const struct request *request = &member->request;

    if (request->call && credit->exchange == request->spec.number)
        results_on_credit(coordinator, member, credit);
    else
        mail_on_credit(coordinator, member, credit);
}

/* That it is heard is all. */
static void on_arriving(struct coordinator *coordinator, struct member *member,
                        const struct event *event)
{
    (void)coordinator;
    (void)member;
    (void)event;
}

typedef void handler(struct coordinator *coordinator, struct member *member,
                     const struct event *event);

enum role { ROLE_STRANGER, ROLE_CONTROL, ROLE_BULK, ROLES };

/* What a message of each kind does, by the connection that it comes from. What
 * is absent is an offence. */
static handler *const handlers[ROLES][MSG_KINDS] = {
    [ROLE_STRANGER] = {[MSG_JOIN] = group_on_join, [MSG_SIT] = group_on_sit},
    [ROLE_CONTROL] = {[MSG_WHO] = on_who,
                      [MSG_CALL] = on_call,
                      [MSG_GIVE_UP] = matching_on_give_up,
                      [MSG_CREDIT] = on_credit,
                      [MSG_PING] = group_on_ping,
                      [MSG_SAY] = group_on_say,
                      [MSG_SEND] = mail_on_send,
                      [MSG_TAKE] = mail_on_take,
                      [MSG_END] = mail_on_end,
                      [MSG_RECEIVED] = mail_on_received,
                      [MSG_BYE] = group_on_bye},
    [ROLE_BULK] = {[MSG_PART] = on_part, [MSG_ARRIVING] = on_arriving},
};

static void on_message(struct coordinator *coordinator,
                       const struct event *event)
{
    struct member *member = group_find(coordinator, event->peer);
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
        group_lose(coordinator, member, "cut for an offence");
    else
        effects_drop(coordinator->out, event->peer);
}

/* ---- the settle pass ---- */

static void lose(struct coordinator *coordinator, struct member *member)
{
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s: %s", member->name, member->loss);
    request_drop(coordinator, member);
    checkpoint_drop(coordinator, member);
    if (group_remove(coordinator, member))
        calls_lose(coordinator, member, text);
    coordinator->dirty |=
        DIRTY_REQUESTS | DIRTY_CALLS | DIRTY_CHECKPOINT | DIRTY_MAIL;
}

/* The last one has left: the next to come says how the group is to be. */
static void close_group(struct coordinator *coordinator)
{
    calls_forget(coordinator);
    checkpoint_forget(coordinator);
    group_close(coordinator);
}

static void settle_members(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->group.members[i].loss[0])
            lose(coordinator, &coordinator->group.members[i]);
    if (group_is_empty(coordinator))
        close_group(coordinator);
    group_admit(coordinator);
    coordinator->dirty |= DIRTY_REQUESTS | DIRTY_CALLS | DIRTY_DELIVERY;
}

/* Once, at the end of a step: whatever members are told or sent because of
 * what has been settled. */
static void deliver(struct coordinator *coordinator)
{
    group_answer(coordinator);
    inputs_grant(coordinator);
    calls_tell(coordinator);
    results_send(coordinator);
    calls_sweep(coordinator);
}

static const struct {
    enum dirty dirty;
    void (*settle)(struct coordinator *coordinator);
} stages[] = {
    {DIRTY_MEMBERS, settle_members},  {DIRTY_REQUESTS, matching_enter},
    {DIRTY_CALLS, matching_complete}, {DIRTY_CHECKPOINT, checkpoint_settle},
    {DIRTY_MAIL, mail_settle},
};

static void settle(struct coordinator *coordinator)
{
    for (unsigned pass = 0; coordinator->dirty & ~(unsigned)DIRTY_DELIVERY;
         pass++) {
        assert(pass < MOST_PASSES);
        for (unsigned i = 0; i < sizeof stages / sizeof *stages; i++) {
            unsigned dirty = coordinator->dirty & stages[i].dirty;

            coordinator->dirty &= ~dirty;
            if (dirty)
                stages[i].settle(coordinator);
        }
    }
    if (coordinator->dirty)
        deliver(coordinator);
    coordinator->dirty = 0;
}

/* ---- the machine ---- */

static void step(void *self, const struct event *event, struct effects *out)
{
    struct coordinator *coordinator = self;

    coordinator->now = event->now;
    coordinator->out = out;
    if (event->kind == EVENT_MESSAGE)
        on_message(coordinator, event);
    else if (event->kind == EVENT_LEAVE)
        group_on_leave(coordinator, event->peer);
    else if (event->kind == EVENT_DONE)
        event->job->work->done(coordinator, event->job);
    else if (event->kind == EVENT_WAKE)
        group_expire(coordinator);
    settle(coordinator);
    coordinator->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct coordinator *coordinator = self;

    return group_is_empty(coordinator) ? NEVER : coordinator->now + TICK;
}

struct machine coordinator_machine(struct coordinator *coordinator)
{
    return (struct machine){coordinator, "coordinator", step, deadline};
}

bool coordinator_does(const struct work *work)
{
    return segments_do(work);
}

bool coordinator_knows(const struct coordinator *coordinator, peer_id peer)
{
    const struct member *members = coordinator->group.members;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (members[i].control == peer || members[i].bulk == peer)
            return true;
    return false;
}

/* ---- what is seen of it ---- */

void coordinator_look(const struct coordinator *coordinator,
                      struct coordinator_view *view)
{
    const struct calls *calls = &coordinator->calls;

    *view =
        (struct coordinator_view){.manner = coordinator->group.manner,
                                  .epoch = coordinator->group.epoch,
                                  .version = coordinator->checkpoint.version,
                                  .averages = calls->averages,
                                  .held = calls->held};
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        view->members += is_listed(&coordinator->group.members[i]);
        view->present += is_here(&coordinator->group.members[i]);
    }
    for (const struct call *call = calls->list; call; call = call->next)
        view->calls++;
    for (const struct call *call = calls->kept; call; call = call->next)
        view->calls++;
}

static const char *check_request(const struct coordinator *coordinator,
                                 const struct member *member)
{
    const struct request *request = &member->request;
    bool called = request->state == REQUEST_CALLING ||
                  request->state == REQUEST_RECEIVING;

    if (request->state != REQUEST_NONE && !is_here(member))
        return "a member that is not here has a request";
    if (called != (request->call != NULL))
        return "a request is in a call that it is not in";
    if (request->state == REQUEST_CALLING && request->call->state != CALL_OPEN)
        return "the outcome of a call was not told";
    if (request->credit > coordinator->config.window ||
        request->allowance.credit > coordinator->config.window)
        return "more credit than the window";
    return NULL;
}

static const char *check_member(const struct coordinator *coordinator,
                                const struct member *member)
{
    if (member->state == MEMBER_AWAY &&
        coordinator->group.manner == MANNER_ELASTIC)
        return "an elastic group keeps the place of a member that is lost";
    if (is_here(member) != (member->session != 0))
        return "a member is here without a connection, or has one and is not";
    if (is_listed(member) !=
        (group_rank(coordinator, member) < coordinator->group.size))
        return "the roster is not that of the members";
    if (member->version > coordinator->checkpoint.version)
        return "a member is ahead of the group's version";
    if (member->loss[0])
        return "a loss was not settled";
    return check_request(coordinator, member);
}

static const char *check_calls(const struct call *call, bool kept,
                               uint64_t *held)
{
    for (; call; call = call->next) {
        *held += call->bytes;
        if ((call->state == CALL_KEPT) != kept)
            return "a call is in the wrong list";
        if (call->ready > call->count)
            return "a call has more result segments than it can have";
        if (kept && call->ready != call->count)
            return "a call is complete and has not all its result segments";
    }
    return NULL;
}

const char *coordinator_check(const struct coordinator *coordinator)
{
    const char *broken = NULL;
    uint64_t held = 0;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS && !broken; i++)
        broken = check_member(coordinator, &coordinator->group.members[i]);
    if (!broken)
        broken = check_calls(coordinator->calls.list, false, &held);
    if (!broken)
        broken = check_calls(coordinator->calls.kept, true, &held);
    if (!broken && held != coordinator->calls.held)
        broken = "the bytes that are held are not those that are counted";
    if (!broken && coordinator->dirty)
        broken = "something was left to be settled";
    if (coordinator->calls.held > coordinator->config.limit)
        broken = "more is held than allowed";
    return broken;
}
