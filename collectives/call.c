#include "collectives/call.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/state.h"

/* ---- the lists of calls ---- */

bool calls_have_room(const struct coordinator *coordinator, uint64_t bytes)
{
    return bytes <= coordinator->config.limit - coordinator->calls.held;
}

struct call *call_new(struct coordinator *coordinator,
                      const struct msg_call *spec, const char *first)
{
    const struct group *group = &coordinator->group;
    struct calls *calls = &coordinator->calls;
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        abort();
    call->participants = calloc(group->size, sizeof *call->participants);
    if (!call->participants)
        abort();
    call->id = ++calls->next_id;
    call->era = spec->era;
    call->sequence = spec->sequence;
    call->spec = *spec;
    (void)snprintf(call->first, sizeof call->first, "%s", first);
    call->size = group->size;
    call->source = -1;
    for (unsigned i = 0; i < call->size; i++)
        call->participants[i].member = group->roster[i];
    call->next = calls->list;
    calls->list = call;
    return call;
}

static bool is_meant(const struct call *call, const struct msg_call *spec)
{
    return call->era == spec->era &&
           call->spec.collective != COLLECTIVE_MODEL &&
           (call->sequence == spec->sequence ||
            (spec->collective == COLLECTIVE_STOP &&
             call->spec.collective == COLLECTIVE_STOP));
}

struct call *call_find(const struct coordinator *coordinator,
                       const struct msg_call *spec)
{
    const struct calls *calls = &coordinator->calls;

    for (struct call *call = calls->list; call; call = call->next)
        if (call->state == CALL_OPEN && is_meant(call, spec))
            return call;
    for (struct call *call = calls->kept; call; call = call->next)
        if (is_meant(call, spec))
            return call;
    return NULL;
}

struct call *call_by_id(const struct coordinator *coordinator, uint64_t id)
{
    struct call *call = coordinator->calls.list;

    while (call && (call->id != id || call->state != CALL_OPEN))
        call = call->next;
    return call;
}

static void free_segments(struct participant *participant)
{
    for (uint32_t i = 0; participant->segments && i < participant->count; i++)
        blob_unref(&participant->segments[i].blob);
    free(participant->segments);
    participant->segments = NULL;
}

static void call_free(struct coordinator *coordinator, struct call *call)
{
    for (unsigned i = 0; i < call->size; i++)
        free_segments(&call->participants[i]);
    for (uint32_t i = 0; i < call->count; i++)
        blob_unref(&call->results[i].blob);
    coordinator->calls.held -= call->bytes;
    free(call->participants);
    free(call->results);
    free(call);
}

static bool is_needed(const struct coordinator *coordinator,
                      const struct call *call)
{
    const struct checkpoint *checkpoint = &coordinator->checkpoint;

    if (call == checkpoint->call || call == checkpoint->fetch)
        return true;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->group.members[i].request.call == call)
            return true;
    return false;
}

/* A patient group's open call waits for its members; of an elastic one nobody
 * comes to a call that all have left. */
void calls_sweep(struct coordinator *coordinator)
{
    bool waits = coordinator->group.manner == MANNER_PATIENT;
    struct call **link = &coordinator->calls.list;

    while (*link) {
        struct call *call = *link;

        if ((call->state == CALL_OPEN && waits) ||
            is_needed(coordinator, call)) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        call_free(coordinator, call);
    }
}

void calls_close_kept(struct coordinator *coordinator)
{
    struct calls *calls = &coordinator->calls;
    struct call **end = &calls->list;

    for (struct call *call = calls->kept; call; call = call->next)
        call->state = CALL_CLOSED;
    while (*end)
        end = &(*end)->next;
    *end = calls->kept;
    calls->kept = NULL;
}

void calls_forget(struct coordinator *coordinator)
{
    struct calls *calls = &coordinator->calls;

    calls_close_kept(coordinator);
    for (struct call *call = calls->list; call; call = call->next)
        call->state = CALL_CLOSED;
    calls->stopping = false;
    calls->averages = 0;
}

void calls_free(struct coordinator *coordinator)
{
    struct calls *calls = &coordinator->calls;
    struct call *next;

    calls_forget(coordinator);
    for (struct call *call = calls->list; call; call = next) {
        next = call->next;
        call_free(coordinator, call);
    }
    calls->list = NULL;
}

/* ---- participants ---- */

struct participant *call_participant(struct call *call,
                                     const struct member *member)
{
    for (unsigned i = 0; i < call->size; i++)
        if (call->participants[i].member == member)
            return &call->participants[i];
    return NULL;
}

bool participant_gives(const struct call *call,
                       const struct participant *participant)
{
    unsigned rank = (unsigned)(participant - call->participants);

    switch ((enum collective)call->spec.collective) {
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_ALLGATHER:
        return true;
    case COLLECTIVE_BROADCAST:
        return rank == call->spec.root;
    case COLLECTIVE_CHECKPOINT:
    case COLLECTIVE_MODEL:
        return (int)rank == call->source;
    default:
        return false;
    }
}

/* Of a number of bytes that has been checked against the limit. */
static uint32_t segments_in(const struct coordinator *coordinator,
                            uint64_t bytes)
{
    uint32_t size = coordinator->config.segment_bytes;

    return (uint32_t)((bytes + size - 1) / size);
}

bool participant_fill(struct coordinator *coordinator, struct call *call,
                      struct participant *participant,
                      const struct msg_call *spec)
{
    uint32_t count = segments_in(coordinator, spec->bytes);

    if (participant->entered)
        return true;
    if (call->spec.collective == COLLECTIVE_ALLGATHER) {
        if (!calls_have_room(coordinator, spec->bytes))
            return false;
        call->bytes += spec->bytes;
        coordinator->calls.held += spec->bytes;
    }
    if (call->spec.collective == COLLECTIVE_LAZY)
        count = 0;
    participant->entered = true;
    participant->bytes = spec->bytes;
    participant->count = count;
    participant->segments =
        calloc(count ? count : 1, sizeof *participant->segments);
    if (!participant->segments)
        abort();
    return true;
}

/* ---- the end of a call ---- */

/* All that its participants have brought is in the result. */
static void call_complete(struct coordinator *coordinator, struct call *call,
                          enum call_state state)
{
    call->state = state;
    for (unsigned i = 0; i < call->size; i++)
        free_segments(&call->participants[i]);
    coordinator->dirty |= DIRTY_DELIVERY;
}

void call_close(struct coordinator *coordinator, struct call *call)
{
    call_complete(coordinator, call, CALL_CLOSED);
}

void call_keep(struct coordinator *coordinator, struct call *call)
{
    struct calls *calls = &coordinator->calls;
    struct call **link = &calls->list;

    call_complete(coordinator, call, CALL_KEPT);
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
    call->next = calls->kept;
    calls->kept = call;
}

void call_fail(struct coordinator *coordinator, struct call *call,
               enum ending outcome, const char *text)
{
    call->state = CALL_FAILED;
    call->outcome = outcome;
    (void)snprintf(call->text, sizeof call->text, "%s", text);
    coordinator->dirty |= DIRTY_DELIVERY;
}

static bool can_fail(const struct coordinator *coordinator,
                     const struct call *call)
{
    return call->state == CALL_OPEN && call != coordinator->checkpoint.fetch;
}

void calls_fail(struct coordinator *coordinator, enum ending outcome,
                const char *text)
{
    struct call *call = coordinator->calls.list;

    for (; call; call = call->next)
        if (can_fail(coordinator, call))
            call_fail(coordinator, call, outcome, text);
}

/* Whether the call, which the member leaves, still needs something of it. */
static bool call_lose(const struct coordinator *coordinator, struct call *call,
                      const struct member *member)
{
    struct participant *participant = call_participant(call, member);
    bool whole;

    if (!participant)
        return false;
    whole =
        participant->entered && (participant->checked == participant->count ||
                                 !participant_gives(call, participant));
    participant->member = NULL;
    return !whole || coordinator->group.manner == MANNER_ELASTIC;
}

void calls_lose(struct coordinator *coordinator, const struct member *member,
                const char *text)
{
    struct calls *calls = &coordinator->calls;

    for (struct call *call = calls->kept; call; call = call->next)
        (void)call_lose(coordinator, call, member);
    for (struct call *call = calls->list; call; call = call->next)
        if (call_lose(coordinator, call, member) && can_fail(coordinator, call))
            call_fail(coordinator, call, ENDING_FAIL, text);
}

void calls_pass(struct coordinator *coordinator, const struct member *member)
{
    const struct group *group = &coordinator->group;
    struct call *call = coordinator->calls.list;

    for (; call && group->manner == MANNER_ELASTIC; call = call->next)
        if (call->state == CALL_OPEN && call->era != group->epoch &&
            call_participant(call, member))
            call_fail(coordinator, call, ENDING_FAIL,
                      "the membership has changed");
}

/* ---- requests ---- */

void request_attend(struct coordinator *coordinator, struct member *member,
                    struct call *call)
{
    struct request *request = &member->request;

    request->state = REQUEST_CALLING;
    request->call = call;
    request->next = 0;
    request->credit = coordinator->config.window;
    coordinator->dirty |= DIRTY_DELIVERY;
}

void request_drop(struct coordinator *coordinator, struct member *member)
{
    member->request = (struct request){.spec = member->request.spec};
    coordinator->dirty |= DIRTY_DELIVERY; /* of which the sweep is a part */
}

/* `call`: the one that succeeded, or NULL. */
static void send_outcome(struct coordinator *coordinator,
                         const struct member *member, enum ending outcome,
                         const struct call *call, const char *text)
{
    const struct request *request = &member->request;
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = request->spec.number;
    msg.outcome.outcome = outcome;
    msg.outcome.bytes = call && request->takes ? call->bytes : 0;
    msg.outcome.version = coordinator->checkpoint.version;
    msg.outcome.averages = coordinator->calls.averages;
    msg.outcome.rank = group_rank(coordinator, member);
    msg.outcome.size = call ? call->size : coordinator->group.size;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(coordinator->out, member->control, &msg, NULL);
}

void request_end(struct coordinator *coordinator, struct member *member,
                 enum ending outcome, const char *text)
{
    send_outcome(coordinator, member, outcome, NULL, text);
    request_drop(coordinator, member);
}

void calls_tell(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];
        const struct call *call = member->request.call;

        if (member->request.state != REQUEST_CALLING ||
            call->state == CALL_OPEN)
            continue;
        if (call->state == CALL_FAILED) {
            request_end(coordinator, member, call->outcome, call->text);
        } else {
            send_outcome(coordinator, member, ENDING_SUCCESS, call, "");
            member->request.state = REQUEST_RECEIVING;
        }
    }
}
