#include "collectives/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/segment.h"
#include "collectives/state.h"

static bool is_loading(const struct member *member)
{
    return member->request.state == REQUEST_WAITING &&
           member->request.spec.collective == COLLECTIVE_LOAD;
}

/* Whether it has the model of this version, or has nothing to have. */
static bool has_model(const struct coordinator *coordinator,
                      const struct member *member)
{
    return is_here(member) &&
           member->version == coordinator->checkpoint.version &&
           !(is_loading(member) && member->version);
}

/* ---- the checkpoint as a call ---- */

/* One that is away may still be at work on this version. One that has come
 * back without it does not belong to it, and loads what follows. */
bool checkpoint_has_all(const struct coordinator *coordinator,
                        const struct call *call)
{
    bool somebody = false;

    for (unsigned i = 0; i < coordinator->group.size; i++) {
        const struct member *member = coordinator->group.roster[i];
        bool came = member->request.call == call;

        if (!is_here(member) || (has_model(coordinator, member) && !came))
            return false;
        somebody |= came;
    }
    return somebody;
}

/* Whether the participant is in the call. */
static bool is_in(const struct call *call,
                  const struct participant *participant)
{
    return participant->member && participant->member->request.call == call;
}

bool checkpoint_needs_source(struct coordinator *coordinator, struct call *call)
{
    if (call->ready == call->count)
        return false;
    if (call->source >= 0 && is_in(call, &call->participants[call->source]))
        return true;
    for (unsigned i = 0; i < call->size; i++) {
        struct participant *participant = &call->participants[i];

        if (!is_in(call, participant))
            continue;
        call->source = (int)i;
        input_open(coordinator, participant->member, call, participant);
        break;
    }
    return true;
}

/* The holder need not keep what it brings under this number any longer. */
static void release(struct coordinator *coordinator,
                    const struct member *holder, uint64_t number)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = number;
    msg.outcome.version = coordinator->checkpoint.version;
    msg.outcome.size = coordinator->group.size;
    effects_send(coordinator->out, holder->control, &msg, NULL);
}

static void forget_fetch(struct coordinator *coordinator)
{
    struct checkpoint *checkpoint = &coordinator->checkpoint;

    if (checkpoint->fetch) {
        checkpoint->fetch->state = CALL_CLOSED;
        if (checkpoint->holder->control != PEER_NONE)
            release(coordinator, checkpoint->holder,
                    checkpoint->allowance.number);
    }
    checkpoint->fetch = NULL;
    checkpoint->holder = NULL;
}

void checkpoint_commit(struct coordinator *coordinator, struct call *call)
{
    struct checkpoint *checkpoint = &coordinator->checkpoint;

    checkpoint->version++;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->group.members[i].request.call == call)
            coordinator->group.members[i].version = checkpoint->version;
    forget_fetch(coordinator);
    calls_close_kept(coordinator);
    checkpoint->call = call->spec.collective == COLLECTIVE_LAZY ? NULL : call;
    coordinator->dirty |= DIRTY_REQUESTS;
}

void checkpoint_forget(struct coordinator *coordinator)
{
    forget_fetch(coordinator);
    coordinator->checkpoint.call = NULL;
    coordinator->checkpoint.version = 0;
}

/* ---- loading ---- */

void checkpoint_load(struct coordinator *coordinator, struct member *member)
{
    const struct checkpoint *checkpoint = &coordinator->checkpoint;

    if (!checkpoint->version) {
        request_end(coordinator, member, ENDING_SUCCESS, "");
    } else if (checkpoint->call) {
        member->request.takes = true;
        member->version = checkpoint->version;
        request_attend(coordinator, member, checkpoint->call);
    } else {
        coordinator->dirty |= DIRTY_CALLS | DIRTY_CHECKPOINT;
    }
}

/* Whoever waits for a model is told that it cannot have it. */
static void refuse_all(struct coordinator *coordinator, const char *text)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];

        if (is_loading(member))
            request_end(coordinator, member, ENDING_ABORT, text);
    }
}

/* ---- fetching what the members hold ---- */

static bool somebody_loads(const struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (is_loading(&coordinator->group.members[i]))
            return true;
    return false;
}

static struct member *find_holder(const struct coordinator *coordinator)
{
    const struct group *group = &coordinator->group;

    for (unsigned i = 0; i < group->size; i++)
        if (has_model(coordinator, group->roster[i]))
            return group->roster[i];
    return NULL;
}

static void ask_holder(struct coordinator *coordinator, struct member *holder)
{
    struct msg msg = {.kind = MSG_SERVE};

    coordinator->checkpoint.holder = holder;
    msg.serve.version = coordinator->checkpoint.version;
    effects_send(coordinator->out, holder->control, &msg, NULL);
}

void checkpoint_settle(struct coordinator *coordinator)
{
    struct checkpoint *checkpoint = &coordinator->checkpoint;
    char text[MSG_TEXT_BYTES];
    struct member *holder;

    if (checkpoint->holder && !has_model(coordinator, checkpoint->holder))
        forget_fetch(coordinator);
    if (checkpoint->holder || checkpoint->call || !checkpoint->version ||
        !somebody_loads(coordinator))
        return;
    holder = find_holder(coordinator);
    if (holder) {
        ask_holder(coordinator, holder);
        return;
    }
    (void)snprintf(text, sizeof text,
                   "version %" PRIu64 " was kept by its members only, and they "
                   "are all lost",
                   checkpoint->version);
    refuse_all(coordinator, text);
}

void checkpoint_drop(struct coordinator *coordinator,
                     const struct member *member)
{
    if (coordinator->checkpoint.holder == member)
        forget_fetch(coordinator);
}

void checkpoint_on_model(struct coordinator *coordinator, struct member *member,
                         const struct event *event)
{
    const struct msg_call *spec = &event->msg->call;
    struct checkpoint *checkpoint = &coordinator->checkpoint;
    struct participant *participant;
    struct call *fetch;

    if (member != checkpoint->holder || checkpoint->fetch ||
        spec->era != checkpoint->version || !spec->bytes)
        return;
    if (!calls_have_room(coordinator, spec->bytes)) {
        refuse_all(coordinator, "the model is more than the hub keeps");
        release(coordinator, member, spec->number);
        checkpoint->holder = NULL;
        return;
    }
    fetch = checkpoint->fetch = call_new(coordinator, spec, member->name);
    fetch->source = (int)group_rank(coordinator, member);
    participant = &fetch->participants[fetch->source];
    (void)participant_fill(coordinator, fetch, participant, spec);
    results_lay(coordinator, fetch);
    checkpoint->allowance.number = spec->number;
    input_open(coordinator, member, fetch, participant);
}

void checkpoint_fetched(struct coordinator *coordinator, struct call *call)
{
    struct checkpoint *checkpoint = &coordinator->checkpoint;

    release(coordinator, checkpoint->holder, checkpoint->allowance.number);
    checkpoint->call = call;
    checkpoint->fetch = NULL;
    checkpoint->holder = NULL;
    coordinator->dirty |= DIRTY_REQUESTS;
}
