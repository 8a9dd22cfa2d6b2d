#include "collectives/board.h"

#include <assert.h>
#include <stdlib.h>

#include "collectives/inside.h"

typedef void handler(struct board *board, struct seat *seat,
                     const struct event *event);

enum role { ROLE_STRANGER, ROLE_CONTROL, ROLE_BULK, ROLES };

/* That it is heard is all. */
static void on_arriving(struct board *board, struct seat *seat,
                        const struct event *event)
{
    (void)board;
    (void)seat;
    (void)event;
}

/* What a message of each kind does, by whom it comes from. What is absent is
 * an offence. */
static handler *const handlers[ROLES][MSG_KINDS] = {
    [ROLE_STRANGER] = {[MSG_JOIN] = seats_on_join, [MSG_SIT] = seats_on_sit},
    [ROLE_CONTROL] = {[MSG_WHO] = seats_on_confirm,
                      [MSG_CALL] = calls_on_call,
                      [MSG_GIVE_UP] = calls_on_give_up,
                      [MSG_CREDIT] = parts_on_credit,
                      [MSG_PING] = seats_on_ping,
                      [MSG_SAY] = seats_on_say,
                      [MSG_SEND] = mails_on_send,
                      [MSG_TAKE] = mails_on_take,
                      [MSG_END] = mails_on_end,
                      [MSG_RECEIVED] = mails_on_received,
                      [MSG_BYE] = seats_on_bye},
    [ROLE_BULK] = {[MSG_PART] = parts_on_part,
                   [MSG_ARRIVING] = on_arriving},
};

struct board *board_new(const struct board_config *config, struct pool *pool)
{
    struct board *board = calloc(1, sizeof *board);

    if (!board)
        abort();
    assert(config->part_bytes && config->part_bytes % 8 == 0);
    board->config = *config;
    board->pool = pool;
    board->next_id = board->next_session = board->next_job = 1;
    board->server = -1;
    return board;
}

void board_destroy(struct board **reference)
{
    struct board *board = *reference;

    *reference = NULL;
    if (!board)
        return;
    calls_forget(board);
    mails_free(board);
    free(board);
}

bool board_does(const struct work *work)
{
    return work == &work_part_check || work == &work_part_reduce;
}

void board_job(struct board *board, struct job *job)
{
    job->id = board->next_job++;
    job->pool = board->pool;
    effects_job(board->out, job);
}

static void on_message(struct board *board, const struct event *event)
{
    struct seat *seat = seat_of(board, event->peer);
    enum role role = !seat                          ? ROLE_STRANGER
                     : seat->control == event->peer ? ROLE_CONTROL
                                                    : ROLE_BULK;
    handler *handle = handlers[role][event->msg->kind];

    if (handle && (!msg_info(event->msg->kind)->payload || event->payload)) {
        if (seat)
            seat->heard = board->now;
        handle(board, seat, event);
        return;
    }
    effects_note(board->out, NOTE_OFFENCE, seat ? seat->name : "",
                 "%s makes no sense here", msg_info(event->msg->kind)->name);
    if (seat)
        seat_lost(board, seat, "cut for an offence", false);
    else
        effects_drop(board->out, event->peer);
}

static void step(void *self, const struct event *event, struct effects *out)
{
    struct board *board = self;

    board->now = event->now;
    board->out = out;
    if (event->kind == EVENT_MESSAGE)
        on_message(board, event);
    else if (event->kind == EVENT_LEAVE)
        seats_leave(board, event->peer);
    else if (event->kind == EVENT_DONE)
        parts_done(board, event->job);
    else if (event->kind == EVENT_WAKE)
        seats_tick(board);
    calls_sweep(board);
    board->out = NULL;
}

static nanos deadline(const void *self)
{
    const struct board *board = self;

    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].used)
            return board->now + BOARD_TICK;
    return NEVER;
}

struct machine board_machine(struct board *board)
{
    return (struct machine){board, "board", step, deadline};
}

void board_look(const struct board *board, struct board_view *view)
{
    *view = (struct board_view){.manner = board->manner,
                                .epoch = board->epoch,
                                .version = board->version,
                                .averages = board->averages,
                                .held = board->held};
    for (unsigned i = 0; i < BOARD_SEATS; i++) {
        view->members += board->seats[i].listed;
        view->present += board->seats[i].present;
    }
    for (const struct call *call = board->calls; call; call = call->next)
        view->calls++;
}

bool board_knows(const struct board *board, peer_id peer)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].control == peer || board->seats[i].bulk == peer)
            return true;
    return false;
}

static const char *check_seat(const struct board *board,
                              const struct seat *seat)
{
    if (seat->present && !seat->used)
        return "somebody is here without a seat";
    if (seat->used && !seat->present && board->manner == MANNER_ELASTIC)
        return "an elastic group keeps a seat for somebody who is lost";
    if (seat->call && !seat->present)
        return "a result is delivered to somebody who is not here";
    if (seat->credit > board->config.window ||
        seat->upload > board->config.window)
        return "more credit than the window";
    if (seat->version > board->version)
        return "a member is ahead of the group's version";
    return NULL;
}

static const char *check_call(const struct call *call)
{
    if (call->ready > call->count)
        return "a call has more pieces than it can have";
    if (call->complete && call->ready != call->count)
        return "a call is complete and has not all its pieces";
    return NULL;
}

const char *board_check(const struct board *board)
{
    const char *broken = NULL;
    uint64_t held = 0;

    for (unsigned i = 0; i < BOARD_SEATS && !broken; i++)
        broken = check_seat(board, &board->seats[i]);
    for (const struct call *call = board->calls; call && !broken;
         call = call->next) {
        held += call->bytes;
        broken = check_call(call);
    }
    if (!broken && held != board->held)
        broken = "the bytes that are held are not those that are counted";
    if (board->held > board->config.limit)
        broken = "more is held than allowed";
    return broken;
}
