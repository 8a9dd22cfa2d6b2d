/* A call's life, from its beginning to when nobody needs its result. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"

/* ---- telling ---- */

void send_outcome(struct coordinator *coordinator, struct member *member,
                  enum ending outcome, const struct call *call,
                  const char *text)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = member->request.number;
    msg.outcome.outcome = outcome;
    msg.outcome.bytes = call && member->takes ? call->bytes : 0;
    msg.outcome.version = coordinator->version;
    msg.outcome.averages = coordinator->averages;
    msg.outcome.rank = member_rank(coordinator, member);
    msg.outcome.size = call ? call->size : coordinator->size;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(coordinator->out, member->control, &msg, NULL);
}

void member_told(struct coordinator *coordinator, struct member *member,
                 enum ending outcome, const char *text)
{
    if (!member->calling)
        return;
    send_outcome(coordinator, member, outcome, NULL, text);
    member->calling = false;
    member->call = NULL;
}

/* ---- the list of calls ---- */

bool coordinator_has_room(const struct coordinator *coordinator, uint64_t bytes)
{
    return bytes <= coordinator->config.limit - coordinator->held;
}

struct call *call_new(struct coordinator *coordinator,
                      const struct msg_call *spec, const char *first)
{
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        abort();
    call->participants = calloc(coordinator->size, sizeof *call->participants);
    if (!call->participants)
        abort();
    call->id = coordinator->next_id++;
    call->era = spec->era;
    call->sequence = spec->sequence;
    call->spec = *spec;
    (void)snprintf(call->first, sizeof call->first, "%s", first);
    call->size = coordinator->size;
    call->source = -1;
    for (unsigned i = 0; i < call->size; i++)
        call->participants[i].member = coordinator->roster[i];
    call->next = coordinator->calls;
    coordinator->calls = call;
    return call;
}

static void call_free(struct coordinator *coordinator, struct call *call)
{
    for (unsigned i = 0; i < call->size; i++) {
        struct participant *participant = &call->participants[i];

        for (uint32_t j = 0; participant->segments && j < participant->count;
             j++)
            blob_unref(&participant->segments[j].blob);
        free(participant->segments);
    }
    for (uint32_t i = 0; i < call->count; i++)
        blob_unref(&call->results[i].blob);
    coordinator->held -= call->bytes;
    free(call->participants);
    free(call->results);
    free(call);
}

static bool is_used(const struct coordinator *coordinator,
                    const struct call *call)
{
    if (call == coordinator->checkpoint || call == coordinator->fetch)
        return true;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call)
            return true;
    return false;
}

void calls_sweep(struct coordinator *coordinator)
{
    struct call **link = &coordinator->calls;

    while (*link) {
        struct call *call = *link;
        bool over = call->retired ||
                    (coordinator->manner == MANNER_ELASTIC && !call->complete);

        if (!over || is_used(coordinator, call)) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        call_free(coordinator, call);
    }
}

void calls_forget(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        coordinator->members[i].call = NULL;
    for (struct call *call = coordinator->calls; call; call = call->next)
        call->retired = true;
    coordinator->checkpoint = coordinator->fetch = NULL;
    coordinator->holder = -1;
    calls_sweep(coordinator);
}

struct call *call_find(const struct coordinator *coordinator,
                       const struct msg_call *spec)
{
    for (struct call *call = coordinator->calls; call; call = call->next)
        if (!call->retired && call->era == spec->era &&
            call->spec.collective != COLLECTIVE_MODEL &&
            (call->sequence == spec->sequence ||
             (spec->collective == COLLECTIVE_STOP &&
              call->spec.collective == COLLECTIVE_STOP)))
            return call;
    return NULL;
}

struct participant *call_participant(struct call *call,
                                     const struct coordinator *coordinator,
                                     const struct member *member)
{
    for (unsigned i = 0; i < call->size; i++)
        if (call->participants[i].member ==
            (int)(member - coordinator->members))
            return &call->participants[i];
    return NULL;
}

/* ---- failing ---- */

void call_fail(struct coordinator *coordinator, struct call *call,
               enum ending outcome, const char *text)
{
    call->retired = true;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].call == call)
            member_told(coordinator, &coordinator->members[i], outcome, text);
}

/* Whether the call still needs something of this member, which is gone: what a
 * patient group has got from it already is as good as ever. */
static bool misses(const struct coordinator *coordinator, struct call *call,
                   int member)
{
    bool missed = member < 0;

    for (unsigned i = 0; i < call->size; i++) {
        struct participant *participant = &call->participants[i];
        bool whole =
            participant->entered && (participant->here == participant->count ||
                                     !participant_gives(call, participant));

        if (participant->member != member)
            continue;
        participant->member = -1;
        missed |= !whole || coordinator->manner == MANNER_ELASTIC;
    }
    return missed;
}

void calls_fail(struct coordinator *coordinator, int member,
                enum ending outcome, const char *text)
{
    for (struct call *call = coordinator->calls; call; call = call->next)
        if (misses(coordinator, call, member) && !call->complete &&
            !call->retired && call != coordinator->fetch)
            call_fail(coordinator, call, outcome, text);
}
