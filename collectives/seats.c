/* Who is in the group: JOIN, SIT, WHO, PING, BYE, loss and ranks. */
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "collectives/inside.h"

struct seat *seat_of(struct board *board, peer_id peer)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (peer != PEER_NONE && (board->seats[i].control == peer ||
                                  board->seats[i].bulk == peer))
            return &board->seats[i];
    return NULL;
}

unsigned seat_rank(const struct board *board, const struct seat *seat)
{
    for (unsigned i = 0; i < board->size; i++)
        if (&board->seats[board->roster[i]] == seat)
            return i;
    return board->size;
}

void roster_renew(struct board *board)
{
    struct entrant list[BOARD_SEATS];
    unsigned count = 0;

    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].listed)
            list[count++] = (struct entrant){board->seats[i].since,
                                             board->seats[i].high,
                                             board->seats[i].low};
    for (int i = 0; i < BOARD_SEATS; i++) {
        const struct seat *seat = &board->seats[i];

        if (seat->listed)
            board->roster[roster_rank(list, count, seat->high, seat->low)] = i;
    }
    board->size = count;
    board->epoch++;
}

static void say_bye(struct board *board, peer_id peer, enum farewell farewell,
                    const char *text)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = farewell;
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", text);
    effects_send(board->out, peer, &bye, NULL);
}

/* ---- losing ---- */

/* The last one has left: the next to come says how the group is to be. */
static void close_if_empty(struct board *board)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++)
        if (board->seats[i].used)
            return;
    calls_forget(board);
    board->open = board->begun = board->stopping = false;
    board->averages = board->version = 0;
}

static void seat_cut(struct board *board, struct seat *seat)
{
    mails_forget(board, seat);
    if (seat->control != PEER_NONE)
        effects_drop(board->out, seat->control);
    if (seat->bulk != PEER_NONE)
        effects_drop(board->out, seat->bulk);
    seat->control = seat->bulk = PEER_NONE;
    seat->present = seat->calling = false;
    seat->confirming = 0;
    seat->call = NULL;
    seat->upload = seat->credit = 0;
    seat->lost = board->now;
}

void seat_lost(struct board *board, struct seat *seat, const char *why,
               bool for_good)
{
    int place = (int)(seat - board->seats);
    bool listed = seat->listed;
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s: %s", seat->name, why);
    effects_note(board->out, for_good ? NOTE_LEFT : NOTE_LOST, seat->name,
                 "%s, of the group for collectives", why);
    seat_cut(board, seat);
    if (board->manner == MANNER_ELASTIC || for_good) {
        memset(seat, 0, sizeof *seat);
        if (listed) {
            roster_renew(board);
            calls_fail(board, place, ENDING_FAIL, text);
        }
    }
    models_look(board);
    calls_enter_all(board);
    close_if_empty(board);
}

void seats_leave(struct board *board, peer_id peer)
{
    struct seat *seat = seat_of(board, peer);

    if (!seat)
        return;
    if (seat->control == peer)
        seat->control = PEER_NONE;
    else
        seat->bulk = PEER_NONE;
    seat_lost(board, seat, "connection lost", false);
}

void seats_on_bye(struct board *board, struct seat *seat,
                  const struct event *event)
{
    seat_lost(board, seat, farewell_words[event->msg->bye.farewell].doc, true);
}

void seats_on_say(struct board *board, struct seat *seat,
                  const struct event *event)
{
    effects_note(board->out, NOTE_SAID, seat->name, "%s",
                 event->msg->say.text);
}

void seats_on_ping(struct board *board, struct seat *seat,
                   const struct event *event)
{
    struct msg pong = {.kind = MSG_PONG};

    pong.pong.sent = event->msg->ping.sent;
    pong.pong.version = board->version;
    effects_send(board->out, seat->control, &pong, NULL);
}

/* Looks who is silent, and who has been away for too long. */
void seats_tick(struct board *board)
{
    char text[MSG_TEXT_BYTES];

    for (unsigned i = 0; i < BOARD_SEATS; i++) {
        struct seat *seat = &board->seats[i];

        if (seat->present && board->now - seat->heard >= BOARD_LEASE) {
            seat_lost(board, seat, "silent for 20 s", false);
        } else if (seat->used && !seat->present &&
                   board->now - seat->lost >= board->patience) {
            (void)snprintf(text, sizeof text,
                           "not back within %lld s; the group goes on without",
                           (long long)(board->patience / SECOND));
            seat_lost(board, seat, text, true);
        }
    }
}

/* ---- coming ---- */

/* Why this member cannot come in, or NULL. */
static const char *refusal(const struct board *board,
                           const struct msg_join *join)
{
    if (join->protocol_min > PROTOCOL_MAX || join->protocol_max < PROTOCOL_MIN)
        return "the hub speaks another protocol: install the same release";
    if (join->size > BOARD_SEATS)
        return "a group has at most 64 members";
    if (!board->open)
        return NULL;
    if (board->manner != join->manner)
        return "the group is of the other kind (elastic or patient)";
    if (board->wanted != (join->size ? join->size : 1))
        return "the group was begun with another number of members";
    return NULL;
}

/* The seat of this id, a free one, or NULL. A patient group has as many as it
 * was begun with. */
static struct seat *seat_find(struct board *board, const struct msg_join *join)
{
    struct seat *free_seat = NULL;

    for (unsigned i = BOARD_SEATS; i > 0; i--) {
        struct seat *seat = &board->seats[i - 1];

        if (seat->used && seat->high == join->node_high &&
            seat->low == join->node_low)
            return seat;
        if (!seat->used)
            free_seat = seat;
    }
    return board->open && board->manner == MANNER_PATIENT &&
                   board->size >= board->wanted
               ? NULL
               : free_seat;
}

static void seat_name(struct seat *seat, const char *name)
{
    struct text text;

    text_init(&text, seat->name, sizeof seat->name);
    quote_visible(&text, name[0] ? name : "member");
}

static void open_group(struct board *board, const struct msg_join *join)
{
    board->open = true;
    board->manner = join->manner;
    board->wanted = join->size ? join->size : 1;
    board->patience = join->patience;
}

/* Becomes a member: of the founders, or of the epoch that begins with it. */
static void seat_list(struct board *board, struct seat *seat)
{
    if (seat->listed)
        return;
    seat->listed = true;
    seat->since = board->begun ? board->epoch + 1 : 0;
    roster_renew(board);
    if (board->size >= board->wanted)
        board->begun = true;
}

static void seat_take(struct board *board, struct seat *seat,
                      const struct event *event, const struct msg_join *join)
{
    bool again = seat->used;
    struct msg msg = {.kind = MSG_JOINED};

    if (!again || seat->incarnation != join->incarnation)
        seat->version = join->version;
    if (seat->version > board->version)
        seat->version = 0;
    seat->used = seat->present = true;
    seat->key = event->key;
    seat->high = join->node_high;
    seat->low = join->node_low;
    seat->incarnation = join->incarnation;
    seat->session = board->next_session++;
    seat->control = event->peer;
    seat->heard = board->now;
    seat_name(seat, join->name);
    effects_note(board->out, again ? NOTE_REJOINED : NOTE_JOINED, seat->name,
                 "in the group for collectives (%s)",
                 manner_words[board->manner].text);
    msg.joined.protocol = PROTOCOL_MAX;
    msg.joined.run = board->config.run;
    msg.joined.session = seat->session;
    msg.joined.part_bytes = board->config.part_bytes;
    msg.joined.window = board->config.window;
    effects_send(board->out, event->peer, &msg, NULL);
    if (board->manner == MANNER_PATIENT)
        seat_list(board, seat);
}

/* Whether another process of this name is here to stay: a lower incarnation is
 * older only beside one that is heard (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct board *board, const struct seat *seat,
                     const struct msg_join *join)
{
    return seat->present && board->now - seat->heard < BOARD_SILENT &&
           join->incarnation < seat->incarnation;
}

/* With keys a member is its key, whatever it says of itself. */
static struct msg identified(const struct event *event)
{
    struct msg msg = *event->msg;

    if (event->key != KEY_NONE) {
        msg.join.node_high = event->key;
        msg.join.node_low = 0;
    }
    return msg;
}

void seats_on_join(struct board *board, struct seat *nobody,
                   const struct event *event)
{
    const struct msg msg = identified(event);
    const struct msg_join *join = &msg.join;
    const char *words = refusal(board, join);
    struct seat *seat = words ? NULL : seat_find(board, join);

    (void)nobody;
    if (words) {
        effects_note(board->out, NOTE_REFUSED, join->name, "%s", words);
        say_bye(board, event->peer, FAREWELL_OFFENCE, words);
        return;
    }
    if (!seat) {
        say_bye(board, event->peer, FAREWELL_FULL, "the group is full");
        return;
    }
    if (is_taken(board, seat, join)) {
        say_bye(board, event->peer, FAREWELL_REPLACED,
                "a newer member of this name is here");
        return;
    }
    if (seat->present) {
        if (join->incarnation != seat->incarnation)
            say_bye(board, seat->control, FAREWELL_REPLACED,
                    "a newer member of this name has joined");
        seat_lost(board, seat, "replaced by a newer connection", false);
    }
    if (!board->open)
        open_group(board, join);
    seat_take(board, seat, event, join);
    calls_enter_all(board);
}

void seats_on_sit(struct board *board, struct seat *nobody,
                  const struct event *event)
{
    (void)nobody;
    for (unsigned i = 0; i < BOARD_SEATS; i++) {
        struct seat *seat = &board->seats[i];

        if (!seat->present || seat->bulk != PEER_NONE ||
            seat->session != event->msg->sit.session ||
            seat->key != event->key)
            continue;
        seat->bulk = event->peer;
        pieces_deliver(board, seat);
        mails_flow(board, (int)i);
        return;
    }
    effects_drop(board->out, event->peer);
}

/* ---- who is here ---- */

static void send_roster(struct board *board, const struct seat *seat,
                        uint64_t number)
{
    struct msg msg = {.kind = MSG_ROSTER};

    msg.roster.number = number;
    msg.roster.epoch = board->epoch;
    msg.roster.rank = seat_rank(board, seat);
    msg.roster.size = board->size;
    msg.roster.averages = board->averages;
    effects_send(board->out, seat->control, &msg, NULL);
}

static void answer_confirms(struct board *board)
{
    for (unsigned i = 0; i < BOARD_SEATS; i++) {
        struct seat *seat = &board->seats[i];

        if (!seat->confirming || (!board->begun && seat->listed))
            continue;
        send_roster(board, seat, seat->confirming);
        seat->confirming = 0;
    }
}

/* A member that has missed what the others have done is told so, by a roster
 * that it is not on. */
void seats_on_confirm(struct board *board, struct seat *seat,
                      const struct event *event)
{
    const struct msg_who *confirm = &event->msg->who;
    struct seat *master =
        board->begun && board->size ? &board->seats[board->roster[0]] : NULL;
    bool behind =
        confirm->averages && confirm->averages < board->averages;

    seat->confirming = confirm->number;
    if (!seat->listed && !behind) {
        seat_list(board, seat);
        if (confirm->reports && master)
            send_roster(board, master, 0);
    }
    answer_confirms(board);
}
