/* Who is in the group: JOIN, SIT, WHO, PING, BYE, loss and ranks. */
#include <stdio.h>
#include <string.h>

#include "collectives/inside.h"
#include "core/quote.h"

struct seat *seat_of(struct coordinator *coordinator, peer_id peer)
{
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        if (peer != PEER_NONE && (coordinator->seats[i].control == peer ||
                                  coordinator->seats[i].bulk == peer))
            return &coordinator->seats[i];
    return NULL;
}

unsigned seat_rank(const struct coordinator *coordinator,
                   const struct seat *seat)
{
    for (unsigned i = 0; i < coordinator->size; i++)
        if (&coordinator->seats[coordinator->roster[i]] == seat)
            return i;
    return coordinator->size;
}

void roster_renew(struct coordinator *coordinator)
{
    struct entrant list[COORDINATOR_SEATS];
    unsigned count = 0;

    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        if (coordinator->seats[i].listed)
            list[count++] = (struct entrant){coordinator->seats[i].since,
                                             coordinator->seats[i].high,
                                             coordinator->seats[i].low};
    for (int i = 0; i < COORDINATOR_SEATS; i++) {
        const struct seat *seat = &coordinator->seats[i];

        if (seat->listed)
            coordinator
                ->roster[roster_rank(list, count, seat->high, seat->low)] = i;
    }
    coordinator->size = count;
    coordinator->epoch++;
}

static void say_bye(struct coordinator *coordinator, peer_id peer,
                    enum farewell farewell, const char *text)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = farewell;
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", text);
    effects_send(coordinator->out, peer, &bye, NULL);
}

/* ---- losing ---- */

/* The last one has left: the next to come says how the group is to be. */
static void close_if_empty(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++)
        if (coordinator->seats[i].used)
            return;
    calls_forget(coordinator);
    coordinator->open = coordinator->begun = coordinator->stopping = false;
    coordinator->averages = coordinator->version = 0;
}

static void seat_cut(struct coordinator *coordinator, struct seat *seat)
{
    mails_forget(coordinator, seat);
    if (seat->control != PEER_NONE)
        effects_drop(coordinator->out, seat->control);
    if (seat->bulk != PEER_NONE)
        effects_drop(coordinator->out, seat->bulk);
    seat->control = seat->bulk = PEER_NONE;
    seat->present = seat->calling = false;
    seat->confirming = 0;
    seat->call = NULL;
    seat->upload = seat->credit = 0;
    seat->lost = coordinator->now;
}

void seat_lost(struct coordinator *coordinator, struct seat *seat,
               const char *why, bool for_good)
{
    int place = (int)(seat - coordinator->seats);
    bool listed = seat->listed;
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s: %s", seat->name, why);
    effects_note(coordinator->out, for_good ? NOTE_LEFT : NOTE_LOST, seat->name,
                 "%s, of the group for collectives", why);
    seat_cut(coordinator, seat);
    if (coordinator->manner == MANNER_ELASTIC || for_good) {
        memset(seat, 0, sizeof *seat);
        if (listed) {
            roster_renew(coordinator);
            calls_fail(coordinator, place, ENDING_FAIL, text);
        }
    }
    models_look(coordinator);
    calls_enter_all(coordinator);
    close_if_empty(coordinator);
}

void seats_leave(struct coordinator *coordinator, peer_id peer)
{
    struct seat *seat = seat_of(coordinator, peer);

    if (!seat)
        return;
    if (seat->control == peer)
        seat->control = PEER_NONE;
    else
        seat->bulk = PEER_NONE;
    seat_lost(coordinator, seat, "connection lost", false);
}

void seats_on_bye(struct coordinator *coordinator, struct seat *seat,
                  const struct event *event)
{
    seat_lost(coordinator, seat, farewell_words[event->msg->bye.farewell].doc,
              true);
}

void seats_on_say(struct coordinator *coordinator, struct seat *seat,
                  const struct event *event)
{
    effects_note(coordinator->out, NOTE_SAID, seat->name, "%s",
                 event->msg->say.text);
}

void seats_on_ping(struct coordinator *coordinator, struct seat *seat,
                   const struct event *event)
{
    struct msg pong = {.kind = MSG_PONG};

    pong.pong.sent = event->msg->ping.sent;
    pong.pong.version = coordinator->version;
    effects_send(coordinator->out, seat->control, &pong, NULL);
}

/* Looks who is silent, and who has been away for too long. */
void seats_tick(struct coordinator *coordinator)
{
    char text[MSG_TEXT_BYTES];

    for (unsigned i = 0; i < COORDINATOR_SEATS; i++) {
        struct seat *seat = &coordinator->seats[i];

        if (seat->present &&
            coordinator->now - seat->heard >= COORDINATOR_LEASE) {
            seat_lost(coordinator, seat, "silent for 20 s", false);
        } else if (seat->used && !seat->present &&
                   coordinator->now - seat->lost >= coordinator->patience) {
            (void)snprintf(text, sizeof text,
                           "not back within %lld s; the group goes on without",
                           (long long)(coordinator->patience / SECOND));
            seat_lost(coordinator, seat, text, true);
        }
    }
}

/* ---- coming ---- */

/* Why this member cannot come in, or NULL. */
static const char *refusal(const struct coordinator *coordinator,
                           const struct msg_join *join)
{
    if (join->protocol_min > PROTOCOL_MAX || join->protocol_max < PROTOCOL_MIN)
        return "the hub speaks another protocol: install the same release";
    if (join->size > COORDINATOR_SEATS)
        return "a group has at most 64 members";
    if (!coordinator->open)
        return NULL;
    if (coordinator->manner != join->manner)
        return "the group is of the other kind (elastic or patient)";
    if (coordinator->wanted != (join->size ? join->size : 1))
        return "the group was begun with another number of members";
    return NULL;
}

/* The seat of this id, a free one, or NULL. A patient group has as many as it
 * was begun with. */
static struct seat *seat_find(struct coordinator *coordinator,
                              const struct msg_join *join)
{
    struct seat *free_seat = NULL;

    for (unsigned i = COORDINATOR_SEATS; i > 0; i--) {
        struct seat *seat = &coordinator->seats[i - 1];

        if (seat->used && seat->high == join->node_high &&
            seat->low == join->node_low)
            return seat;
        if (!seat->used)
            free_seat = seat;
    }
    return coordinator->open && coordinator->manner == MANNER_PATIENT &&
                   coordinator->size >= coordinator->wanted
               ? NULL
               : free_seat;
}

static void seat_name(struct seat *seat, const char *name)
{
    struct text text;

    text_init(&text, seat->name, sizeof seat->name);
    quote_visible(&text, name[0] ? name : "member");
}

static void open_group(struct coordinator *coordinator,
                       const struct msg_join *join)
{
    coordinator->open = true;
    coordinator->manner = join->manner;
    coordinator->wanted = join->size ? join->size : 1;
    coordinator->patience = join->patience;
}

/* Becomes a member: of the founders, or of the epoch that begins with it. */
static void seat_list(struct coordinator *coordinator, struct seat *seat)
{
    if (seat->listed)
        return;
    seat->listed = true;
    seat->since = coordinator->begun ? coordinator->epoch + 1 : 0;
    roster_renew(coordinator);
    if (coordinator->size >= coordinator->wanted)
        coordinator->begun = true;
}

static void seat_take(struct coordinator *coordinator, struct seat *seat,
                      const struct event *event, const struct msg_join *join)
{
    bool again = seat->used;
    struct msg msg = {.kind = MSG_JOINED};

    if (!again || seat->incarnation != join->incarnation)
        seat->version = join->version;
    if (seat->version > coordinator->version)
        seat->version = 0;
    seat->used = seat->present = true;
    seat->key = event->key;
    seat->high = join->node_high;
    seat->low = join->node_low;
    seat->incarnation = join->incarnation;
    seat->session = coordinator->next_session++;
    seat->control = event->peer;
    seat->heard = coordinator->now;
    seat_name(seat, join->name);
    effects_note(coordinator->out, again ? NOTE_REJOINED : NOTE_JOINED,
                 seat->name, "in the group for collectives (%s)",
                 manner_words[coordinator->manner].text);
    msg.joined.protocol = PROTOCOL_MAX;
    msg.joined.run = coordinator->config.run;
    msg.joined.session = seat->session;
    msg.joined.part_bytes = coordinator->config.part_bytes;
    msg.joined.window = coordinator->config.window;
    effects_send(coordinator->out, event->peer, &msg, NULL);
    if (coordinator->manner == MANNER_PATIENT)
        seat_list(coordinator, seat);
}

/* Whether another process of this name is here to stay: a lower incarnation is
 * older only beside one that is heard (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct coordinator *coordinator,
                     const struct seat *seat, const struct msg_join *join)
{
    return seat->present &&
           coordinator->now - seat->heard < COORDINATOR_SILENT &&
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

void seats_on_join(struct coordinator *coordinator, struct seat *nobody,
                   const struct event *event)
{
    const struct msg msg = identified(event);
    const struct msg_join *join = &msg.join;
    const char *words = refusal(coordinator, join);
    struct seat *seat = words ? NULL : seat_find(coordinator, join);

    (void)nobody;
    if (words) {
        effects_note(coordinator->out, NOTE_REFUSED, join->name, "%s", words);
        say_bye(coordinator, event->peer, FAREWELL_OFFENCE, words);
        return;
    }
    if (!seat) {
        say_bye(coordinator, event->peer, FAREWELL_FULL, "the group is full");
        return;
    }
    if (is_taken(coordinator, seat, join)) {
        say_bye(coordinator, event->peer, FAREWELL_REPLACED,
                "a newer member of this name is here");
        return;
    }
    if (seat->present) {
        if (join->incarnation != seat->incarnation)
            say_bye(coordinator, seat->control, FAREWELL_REPLACED,
                    "a newer member of this name has joined");
        seat_lost(coordinator, seat, "replaced by a newer connection", false);
    }
    if (!coordinator->open)
        open_group(coordinator, join);
    seat_take(coordinator, seat, event, join);
    calls_enter_all(coordinator);
}

void seats_on_sit(struct coordinator *coordinator, struct seat *nobody,
                  const struct event *event)
{
    (void)nobody;
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++) {
        struct seat *seat = &coordinator->seats[i];

        if (!seat->present || seat->bulk != PEER_NONE ||
            seat->session != event->msg->sit.session || seat->key != event->key)
            continue;
        seat->bulk = event->peer;
        pieces_deliver(coordinator, seat);
        mails_flow(coordinator, (int)i);
        return;
    }
    effects_drop(coordinator->out, event->peer);
}

/* ---- who is here ---- */

static void send_roster(struct coordinator *coordinator,
                        const struct seat *seat, uint64_t number)
{
    struct msg msg = {.kind = MSG_ROSTER};

    msg.roster.number = number;
    msg.roster.epoch = coordinator->epoch;
    msg.roster.rank = seat_rank(coordinator, seat);
    msg.roster.size = coordinator->size;
    msg.roster.averages = coordinator->averages;
    effects_send(coordinator->out, seat->control, &msg, NULL);
}

static void answer_confirms(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_SEATS; i++) {
        struct seat *seat = &coordinator->seats[i];

        if (!seat->confirming || (!coordinator->begun && seat->listed))
            continue;
        send_roster(coordinator, seat, seat->confirming);
        seat->confirming = 0;
    }
}

/* A member that has missed what the others have done is told so, by a roster
 * that it is not on. */
void seats_on_confirm(struct coordinator *coordinator, struct seat *seat,
                      const struct event *event)
{
    const struct msg_who *confirm = &event->msg->who;
    struct seat *master = coordinator->begun && coordinator->size
                              ? &coordinator->seats[coordinator->roster[0]]
                              : NULL;
    bool behind =
        confirm->averages && confirm->averages < coordinator->averages;

    seat->confirming = confirm->number;
    if (!seat->listed && !behind) {
        seat_list(coordinator, seat);
        if (confirm->reports && master)
            send_roster(coordinator, master, 0);
    }
    answer_confirms(coordinator);
}
