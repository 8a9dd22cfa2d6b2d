/* A call's life, from its beginning to when nobody needs its result. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/inside.h"

/* ---- telling ---- */

void send_outcome(struct board *board, struct seat *seat, enum ending outcome,
                  const struct call *call, const char *text)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = seat->request.number;
    msg.outcome.outcome = outcome;
    msg.outcome.bytes = call && seat->takes ? call->bytes : 0;
    msg.outcome.version = board->version;
    msg.outcome.averages = board->averages;
    msg.outcome.rank = seat_rank(board, seat);
    msg.outcome.size = call ? call->size : board->size;
    (void)snprintf(msg.outcome.text, sizeof msg.outcome.text, "%s", text);
    effects_send(board->out, seat->control, &msg, NULL);
}

void seat_told(struct board *board, struct seat *seat, enum ending outcome,
               const char *text)
{
    if (!seat->calling)
        return;
    send_outcome(board, seat, outcome, NULL, text);
    seat->calling = false;
    seat->call = NULL;
}

/* ---- the list of calls ---- */

bool board_has_room(const struct board *board, uint64_t bytes)
{
    return bytes <= board->config.limit - board->held;
}

struct call *call_new(struct board *board, const struct msg_call *spec,
                      const char *first)
{
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        abort();
    call->entries = calloc(board->size, sizeof *call->entries);
    if (!call->entries)
        abort();
    call->id = board->next_id++;
    call->era = spec->era;
    call->sequence = spec->sequence;
    call->spec = *spec;
    (void)snprintf(call->first, sizeof call->first, "%s", first);
    call->size = board->size;
    call->giver = -1;
    for (unsigned i = 0; i < call->size; i++)
        call->entries[i].seat = board->roster[i];
    call->next = board->calls;
    board->calls = call;
    return call;
}

static void call_free(struct board *board, struct call *call)
{
    for (unsigned i = 0; i < call->size; i++) {
        struct entry *entry = &call->entries[i];

        for (uint32_t j = 0; entry->parts && j < entry->count; j++)
            blob_unref(&entry->parts[j].blob);
        free(entry->parts);
    }
    for (uint32_t i = 0; i < call->count; i++)
        blob_unref(&call->pieces[i].blob);
    board->held -= call->bytes;
    free(call->entries);
    free(call->pieces);
    free(call);
}

static bool is_used(const struct board *board, const struct call *call)
{
    if (call == board->kept || call == board->model)
        return true;
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].call == call)
            return true;
    return false;
}

void calls_sweep(struct board *board)
{
    struct call **link = &board->calls;

    while (*link) {
        struct call *call = *link;
        bool over = call->retired || (board->manner == MANNER_ELASTIC &&
                                      !call->complete);

        if (!over || is_used(board, call)) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        call_free(board, call);
    }
}

void calls_forget(struct board *board)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        board->seats[i].call = NULL;
    for (struct call *call = board->calls; call; call = call->next)
        call->retired = true;
    board->kept = board->model = NULL;
    board->server = -1;
    calls_sweep(board);
}

struct call *call_find(const struct board *board,
                       const struct msg_call *spec)
{
    for (struct call *call = board->calls; call; call = call->next)
        if (!call->retired && call->era == spec->era &&
            call->spec.collective != COLLECTIVE_MODEL &&
            (call->sequence == spec->sequence ||
             (spec->collective == COLLECTIVE_STOP &&
              call->spec.collective == COLLECTIVE_STOP)))
            return call;
    return NULL;
}

struct entry *call_entry(struct call *call, const struct board *board,
                         const struct seat *seat)
{
    for (unsigned i = 0; i < call->size; i++)
        if (call->entries[i].seat == (int)(seat - board->seats))
            return &call->entries[i];
    return NULL;
}

/* ---- failing ---- */

void call_fail(struct board *board, struct call *call, enum ending outcome,
               const char *text)
{
    call->retired = true;
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].call == call)
            seat_told(board, &board->seats[i], outcome, text);
}

/* Whether the call still needs something of this seat, which is gone: what a
 * patient group has got from it already is as good as ever. */
static bool misses(const struct board *board, struct call *call, int seat)
{
    bool missed = seat < 0;

    for (unsigned i = 0; i < call->size; i++) {
        struct entry *entry = &call->entries[i];
        bool whole = entry->entered && (entry->here == entry->count ||
                                        !entry_gives(call, entry));

        if (entry->seat != seat)
            continue;
        entry->seat = -1;
        missed |= !whole || board->manner == MANNER_ELASTIC;
    }
    return missed;
}

void calls_fail(struct board *board, int seat, enum ending outcome,
                const char *text)
{
    for (struct call *call = board->calls; call; call = call->next)
        if (misses(board, call, seat) && !call->complete && !call->retired &&
            call != board->model)
            call_fail(board, call, outcome, text);
}
