/* A call's life, from its beginning to when nobody needs its result. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"

/* ---- telling ---- */

void send_outcome(struct coordinator *coordinator, struct seat *seat,
                  enum ending outcome, const struct call *call,
                  const char *text)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = seat->request.number;
    msg.outcome.outcome = outcome;
    msg.outcome.bytes = call && seat->takes ? call->bytes : 0;
    msg.outcome.version = coordinator->version;
    msg.outcome.averages = coordinator->averages;
    msg.outcome.rank = seat_rank(coordinator, seat);
    msg.outcome.size = call ? call->size : coordinator->size;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(coordinator->out, seat->control, &msg, NULL);
}

void seat_told(struct coordinator *coordinator, struct seat *seat,
               enum ending outcome, const char *text)
{
    if (!seat->calling)
        return;
    send_outcome(coordinator, seat, outcome, NULL, text);
    seat->calling = false;
    seat->call = NULL;
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
    call->entries = calloc(coordinator->size, sizeof *call->entries);
    if (!call->entries)
        abort();
    call->id = coordinator->next_id++;
    call->era = spec->era;
    call->sequence = spec->sequence;
    call->spec = *spec;
    (void)snprintf(call->first, sizeof call->first, "%s", first);
    call->size = coordinator->size;
    call->giver = -1;
    for (unsigned i = 0; i < call->size; i++)
        call->entries[i].seat = coordinator->roster[i];
    call->next = coordinator->calls;
    coordinator->calls = call;
    return call;
}

static void call_free(struct coordinator *coordinator, struct call *call)
{
    for (unsigned i = 0; i < call->size; i++) {
        struct entry *entry = &call->entries[i];

        for (uint32_t j = 0; entry->parts && j < entry->count; j++)
            blob_unref(&entry->parts[j].blob);
        free(entry->parts);
    }
    for (uint32_t i = 0; i < call->count; i++)
        blob_unref(&call->pieces[i].blob);
    coordinator->held -= call->bytes;
    free(call->entries);
    free(call->pieces);
    free(call);
}

static bool is_used(const struct coordinator *coordinator,
                    const struct call *call)
{
    if (call == coordinator->kept || call == coordinator->model)
        return true;
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        if (coordinator->seats[i].call == call)
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
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        coordinator->seats[i].call = NULL;
    for (struct call *call = coordinator->calls; call; call = call->next)
        call->retired = true;
    coordinator->kept = coordinator->model = NULL;
    coordinator->server = -1;
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

struct entry *call_entry(struct call *call,
                         const struct coordinator *coordinator,
                         const struct seat *seat)
{
    for (unsigned i = 0; i < call->size; i++)
        if (call->entries[i].seat == (int)(seat - coordinator->seats))
            return &call->entries[i];
    return NULL;
}

/* ---- failing ---- */

void call_fail(struct coordinator *coordinator, struct call *call,
               enum ending outcome, const char *text)
{
    call->retired = true;
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        if (coordinator->seats[i].call == call)
            seat_told(coordinator, &coordinator->seats[i], outcome, text);
}

/* Whether the call still needs something of this seat, which is gone: what a
 * patient group has got from it already is as good as ever. */
static bool misses(const struct coordinator *coordinator, struct call *call,
                   int seat)
{
    bool missed = seat < 0;

    for (unsigned i = 0; i < call->size; i++) {
        struct entry *entry = &call->entries[i];
        bool whole = entry->entered &&
                     (entry->here == entry->count || !entry_gives(call, entry));

        if (entry->seat != seat)
            continue;
        entry->seat = -1;
        missed |= !whole || coordinator->manner == MANNER_ELASTIC;
    }
    return missed;
}

void calls_fail(struct coordinator *coordinator, int seat, enum ending outcome,
                const char *text)
{
    for (struct call *call = coordinator->calls; call; call = call->next)
        if (misses(coordinator, call, seat) && !call->complete &&
            !call->retired && call != coordinator->model)
            call_fail(coordinator, call, outcome, text);
}
