/* Who is in the group: JOIN, SIT, WHO, PING, BYE, loss and ranks. */
#include <stdio.h>
#include <string.h>

#include "collectives/inside.h"
#include "core/quote.h"

struct member *member_of(struct coordinator *coordinator, peer_id peer)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (peer != PEER_NONE && (coordinator->members[i].control == peer ||
                                  coordinator->members[i].bulk == peer))
            return &coordinator->members[i];
    return NULL;
}

unsigned member_rank(const struct coordinator *coordinator,
                     const struct member *member)
{
    for (unsigned i = 0; i < coordinator->size; i++)
        if (&coordinator->members[coordinator->roster[i]] == member)
            return i;
    return coordinator->size;
}

void roster_renew(struct coordinator *coordinator)
{
    struct entrant list[COORDINATOR_MEMBERS];
    unsigned count = 0;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].listed)
            list[count++] = (struct entrant){coordinator->members[i].since,
                                             coordinator->members[i].high,
                                             coordinator->members[i].low};
    for (int i = 0; i < COORDINATOR_MEMBERS; i++) {
        const struct member *member = &coordinator->members[i];

        if (member->listed)
            coordinator
                ->roster[roster_rank(list, count, member->high, member->low)] =
                i;
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
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->members[i].used)
            return;
    calls_forget(coordinator);
    coordinator->open = coordinator->begun = coordinator->stopping = false;
    coordinator->averages = coordinator->version = 0;
}

static void member_cut(struct coordinator *coordinator, struct member *member)
{
    mails_forget(coordinator, member);
    if (member->control != PEER_NONE)
        effects_drop(coordinator->out, member->control);
    if (member->bulk != PEER_NONE)
        effects_drop(coordinator->out, member->bulk);
    member->control = member->bulk = PEER_NONE;
    member->present = member->calling = false;
    member->confirming = 0;
    member->call = NULL;
    member->upload = member->credit = 0;
    member->lost = coordinator->now;
}

void member_lost(struct coordinator *coordinator, struct member *member,
                 const char *why, bool for_good)
{
    int place = (int)(member - coordinator->members);
    bool listed = member->listed;
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s: %s", member->name, why);
    effects_note(coordinator->out, for_good ? NOTE_LEFT : NOTE_LOST,
                 member->name, "%s, of the group for collectives", why);
    member_cut(coordinator, member);
    if (coordinator->manner == MANNER_ELASTIC || for_good) {
        memset(member, 0, sizeof *member);
        if (listed) {
            roster_renew(coordinator);
            calls_fail(coordinator, place, ENDING_FAIL, text);
        }
    }
    checkpoint_look(coordinator);
    calls_enter_all(coordinator);
    close_if_empty(coordinator);
}

void group_leave(struct coordinator *coordinator, peer_id peer)
{
    struct member *member = member_of(coordinator, peer);

    if (!member)
        return;
    if (member->control == peer)
        member->control = PEER_NONE;
    else
        member->bulk = PEER_NONE;
    member_lost(coordinator, member, "connection lost", false);
}

void group_on_bye(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    member_lost(coordinator, member,
                farewell_words[event->msg->bye.farewell].doc, true);
}

void group_on_say(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    effects_note(coordinator->out, NOTE_SAID, member->name, "%s",
                 event->msg->say.text);
}

void group_on_ping(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    struct msg pong = {.kind = MSG_PONG};

    pong.pong.sent = event->msg->ping.sent;
    pong.pong.version = coordinator->version;
    effects_send(coordinator->out, member->control, &pong, NULL);
}

/* Looks who is silent, and who has been away for too long. */
void group_tick(struct coordinator *coordinator)
{
    char text[MSG_TEXT_BYTES];

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->members[i];

        if (member->present &&
            coordinator->now - member->heard >= COORDINATOR_LEASE) {
            member_lost(coordinator, member, "silent for 20 s", false);
        } else if (member->used && !member->present &&
                   coordinator->now - member->lost >= coordinator->patience) {
            (void)snprintf(text, sizeof text,
                           "not back within %lld s; the group goes on without",
                           (long long)(coordinator->patience / SECOND));
            member_lost(coordinator, member, text, true);
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
    if (join->size > COORDINATOR_MEMBERS)
        return "a group has at most 64 members";
    if (!coordinator->open)
        return NULL;
    if (coordinator->manner != join->manner)
        return "the group is of the other kind (elastic or patient)";
    if (coordinator->wanted != (join->size ? join->size : 1))
        return "the group was begun with another number of members";
    return NULL;
}

/* The member of this id, a free one, or NULL. A patient group has as many as it
 * was begun with. */
static struct member *member_find(struct coordinator *coordinator,
                                  const struct msg_join *join)
{
    struct member *vacant = NULL;

    for (unsigned i = COORDINATOR_MEMBERS; i > 0; i--) {
        struct member *member = &coordinator->members[i - 1];

        if (member->used && member->high == join->node_high &&
            member->low == join->node_low)
            return member;
        if (!member->used)
            vacant = member;
    }
    return coordinator->open && coordinator->manner == MANNER_PATIENT &&
                   coordinator->size >= coordinator->wanted
               ? NULL
               : vacant;
}

static void member_name(struct member *member, const char *name)
{
    struct text text;

    text_init(&text, member->name, sizeof member->name);
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
static void member_list(struct coordinator *coordinator, struct member *member)
{
    if (member->listed)
        return;
    member->listed = true;
    member->since = coordinator->begun ? coordinator->epoch + 1 : 0;
    roster_renew(coordinator);
    if (coordinator->size >= coordinator->wanted)
        coordinator->begun = true;
}

static void member_take(struct coordinator *coordinator, struct member *member,
                        const struct event *event, const struct msg_join *join)
{
    bool again = member->used;
    struct msg msg = {.kind = MSG_JOINED};

    if (!again || member->incarnation != join->incarnation)
        member->version = join->version;
    if (member->version > coordinator->version)
        member->version = 0;
    member->used = member->present = true;
    member->key = event->key;
    member->high = join->node_high;
    member->low = join->node_low;
    member->incarnation = join->incarnation;
    member->session = coordinator->next_session++;
    member->control = event->peer;
    member->heard = coordinator->now;
    member_name(member, join->name);
    effects_note(coordinator->out, again ? NOTE_REJOINED : NOTE_JOINED,
                 member->name, "in the group for collectives (%s)",
                 manner_words[coordinator->manner].text);
    msg.joined.protocol = PROTOCOL_MAX;
    msg.joined.run = coordinator->config.run;
    msg.joined.session = member->session;
    msg.joined.part_bytes = coordinator->config.segment_bytes;
    msg.joined.window = coordinator->config.window;
    effects_send(coordinator->out, event->peer, &msg, NULL);
    if (coordinator->manner == MANNER_PATIENT)
        member_list(coordinator, member);
}

/* Whether another process of this name is here to stay: a lower incarnation is
 * older only beside one that is heard (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct coordinator *coordinator,
                     const struct member *member, const struct msg_join *join)
{
    return member->present &&
           coordinator->now - member->heard < COORDINATOR_SILENT &&
           join->incarnation < member->incarnation;
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

void group_on_join(struct coordinator *coordinator, struct member *nobody,
                   const struct event *event)
{
    const struct msg msg = identified(event);
    const struct msg_join *join = &msg.join;
    const char *words = refusal(coordinator, join);
    struct member *member = words ? NULL : member_find(coordinator, join);

    (void)nobody;
    if (words) {
        effects_note(coordinator->out, NOTE_REFUSED, join->name, "%s", words);
        say_bye(coordinator, event->peer, FAREWELL_OFFENCE, words);
        return;
    }
    if (!member) {
        say_bye(coordinator, event->peer, FAREWELL_FULL, "the group is full");
        return;
    }
    if (is_taken(coordinator, member, join)) {
        say_bye(coordinator, event->peer, FAREWELL_REPLACED,
                "a newer member of this name is here");
        return;
    }
    if (member->present) {
        if (join->incarnation != member->incarnation)
            say_bye(coordinator, member->control, FAREWELL_REPLACED,
                    "a newer member of this name has joined");
        member_lost(coordinator, member, "replaced by a newer connection",
                    false);
    }
    if (!coordinator->open)
        open_group(coordinator, join);
    member_take(coordinator, member, event, join);
    calls_enter_all(coordinator);
}

void group_on_sit(struct coordinator *coordinator, struct member *nobody,
                  const struct event *event)
{
    (void)nobody;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->members[i];

        if (!member->present || member->bulk != PEER_NONE ||
            member->session != event->msg->sit.session ||
            member->key != event->key)
            continue;
        member->bulk = event->peer;
        results_deliver(coordinator, member);
        mails_flow(coordinator, (int)i);
        return;
    }
    effects_drop(coordinator->out, event->peer);
}

/* ---- who is here ---- */

static void send_roster(struct coordinator *coordinator,
                        const struct member *member, uint64_t number)
{
    struct msg msg = {.kind = MSG_ROSTER};

    msg.roster.number = number;
    msg.roster.epoch = coordinator->epoch;
    msg.roster.rank = member_rank(coordinator, member);
    msg.roster.size = coordinator->size;
    msg.roster.averages = coordinator->averages;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

static void answer_confirms(struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->members[i];

        if (!member->confirming || (!coordinator->begun && member->listed))
            continue;
        send_roster(coordinator, member, member->confirming);
        member->confirming = 0;
    }
}

/* A member that has missed what the others have done is told so, by a roster
 * that it is not on. */
void group_on_confirm(struct coordinator *coordinator, struct member *member,
                      const struct event *event)
{
    const struct msg_who *confirm = &event->msg->who;
    struct member *master = coordinator->begun && coordinator->size
                                ? &coordinator->members[coordinator->roster[0]]
                                : NULL;
    bool behind =
        confirm->averages && confirm->averages < coordinator->averages;

    member->confirming = confirm->number;
    if (!member->listed && !behind) {
        member_list(coordinator, member);
        if (confirm->reports && master)
            send_roster(coordinator, master, 0);
    }
    answer_confirms(coordinator);
}
