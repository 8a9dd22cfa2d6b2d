/* Checkpoints of a patient group: who must come to one, who has the model, and
 * how a member that was lost gets it. */
#include <stdio.h>

#include "collectives/inside.h"

/* Whether it has the model of this version, or has nothing to have. */
static bool holds(const struct board *board, const struct seat *seat)
{
    bool loading = seat->calling && seat->request.collective == COLLECTIVE_LOAD;

    return seat->present && seat->version == board->version &&
           !(loading && board->version);
}

/* One that is away may still be at work on this version. One that has come
 * back without it does not belong to it, and loads what follows. */
bool models_all_here(const struct board *board, const struct call *call)
{
    bool somebody = false;

    for (unsigned i = 0; i < BOARD_SEATS; i++) {
        const struct seat *seat = &board->seats[i];

        if (!seat->listed)
            continue;
        if (!seat->present || (holds(board, seat) && seat->call != call))
            return false;
        somebody |= seat->call == call;
    }
    return somebody;
}

bool models_choose_giver(struct board *board, struct call *call)
{
    if (call->ready == call->count)
        return false;
    if (call->giver >= 0) {
        int place = call->entries[call->giver].seat;

        if (place >= 0 && board->seats[place].call == call)
            return true;
    }
    for (unsigned i = 0; i < call->size; i++) {
        struct entry *entry = &call->entries[i];

        if (entry->seat < 0 || board->seats[entry->seat].call != call)
            continue;
        call->giver = (int)i;
        entry_open(board, &board->seats[entry->seat], call, entry);
        break;
    }
    return true;
}

/* ---- keeping ---- */

static void forget_fetching(struct board *board)
{
    if (board->model)
        board->model->retired = true;
    board->model = NULL;
    board->server = -1;
}

static bool is_loading(const struct seat *seat)
{
    return seat->calling && !seat->call &&
           seat->request.collective == COLLECTIVE_LOAD;
}

static void serve_all(struct board *board)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (is_loading(&board->seats[i]))
            models_load(board, &board->seats[i]);
}

void models_commit(struct board *board, struct call *call)
{
    board->version++;
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].call == call)
            board->seats[i].version = board->version;
    forget_fetching(board);
    for (struct call *old = board->calls; old; old = old->next)
        old->retired = true;
    board->kept = call->spec.collective == COLLECTIVE_LAZY ? NULL : call;
    serve_all(board);
}

/* ---- fetching what the members keep ---- */

static bool somebody_loads(const struct board *board)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (is_loading(&board->seats[i]))
            return true;
    return false;
}

static void nobody_has_it(struct board *board)
{
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "version %llu was kept by its members only, and they are "
                   "all lost",
                   (unsigned long long)board->version);
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (is_loading(&board->seats[i]))
            seat_told(board, &board->seats[i], ENDING_ABORT, text);
}

void models_look(struct board *board)
{
    struct msg msg = {.kind = MSG_SERVE};

    if (board->server >= 0 && !holds(board, &board->seats[board->server]))
        forget_fetching(board);
    if (board->manner != MANNER_PATIENT || board->kept || !board->version ||
        board->server >= 0 || !somebody_loads(board))
        return;
    for (unsigned i = 0; i < board->size && board->server < 0; i++)
        if (holds(board, &board->seats[board->roster[i]]))
            board->server = board->roster[i];
    if (board->server < 0) {
        nobody_has_it(board);
        return;
    }
    msg.serve.version = board->version;
    effects_send(board->out, board->seats[board->server].control, &msg, NULL);
}

void models_load(struct board *board, struct seat *seat)
{
    if (!board->version) {
        seat_told(board, seat, ENDING_SUCCESS, "");
    } else if (board->kept) {
        seat->takes = true;
        seat->version = board->version;
        call_attend(board, seat, board->kept);
    } else {
        models_look(board);
    }
}

void models_bring(struct board *board, struct seat *seat,
                  const struct msg_call *spec)
{
    int place = (int)(seat - board->seats);
    struct entry *entry;

    if (place != board->server || board->model ||
        spec->era != board->version || !spec->bytes)
        return;
    if (!board_has_room(board, spec->bytes)) {
        for (unsigned i = 0; i < BOARD_SEATS; i++)
            if (is_loading(&board->seats[i]))
                seat_told(board, &board->seats[i], ENDING_ABORT,
                          "the model is more than the hub keeps");
        return;
    }
    board->model = call_new(board, spec, seat->name);
    board->model_number = spec->number;
    board->model->giver = (int)seat_rank(board, seat);
    entry = &board->model->entries[board->model->giver];
    (void)entry_fill(board, board->model, entry, spec);
    pieces_lay(board, board->model);
    entry_open(board, seat, board->model, entry);
}

void models_fetched(struct board *board, struct call *call)
{
    struct msg msg = {.kind = MSG_OUTCOME};

    msg.outcome.number = board->model_number;
    msg.outcome.version = board->version;
    msg.outcome.size = board->size;
    effects_send(board->out, board->seats[board->server].control, &msg, NULL);
    board->kept = call;
    board->model = NULL;
    board->server = -1;
    serve_all(board);
}
