#include "collectives/group.h"

#include <stdio.h>
#include <string.h>

#include "collectives/roster.h"
#include "collectives/state.h"
#include "core/quote.h"
#include "core/text.h"

/* Of a member; more of them would fill the hub's disk with its log. */
enum { SAYS_A_SECOND = 50 };

/* ---- members and ranks ---- */

struct member *group_find(struct coordinator *coordinator, peer_id peer)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];

        if (peer != PEER_NONE &&
            (member->control == peer || member->bulk == peer))
            return member;
    }
    return NULL;
}

unsigned group_rank(const struct coordinator *coordinator,
                    const struct member *member)
{
    const struct group *group = &coordinator->group;
    unsigned rank = 0;

    while (rank < group->size && group->roster[rank] != member)
        rank++;
    return rank;
}

void group_renew(struct coordinator *coordinator)
{
    struct group *group = &coordinator->group;
    struct entrant list[COORDINATOR_MEMBERS];
    unsigned count = 0;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        const struct member *member = &group->members[i];

        if (is_listed(member))
            list[count++] =
                (struct entrant){member->since, member->high, member->low};
    }
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &group->members[i];

        if (is_listed(member))
            group->roster[roster_rank(list, count, member->high, member->low)] =
                member;
    }
    group->size = count;
    group->epoch++;
}

bool group_is_empty(const struct coordinator *coordinator)
{
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++)
        if (coordinator->group.members[i].state != MEMBER_NONE)
            return false;
    return true;
}

void group_close(struct coordinator *coordinator)
{
    coordinator->group.phase = GROUP_CLOSED;
}

static void send_bye(struct coordinator *coordinator, peer_id peer,
                     enum farewell farewell, const char *text)
{
    struct msg bye = {.kind = MSG_BYE};

    bye.bye.farewell = farewell;
    (void)snprintf(bye.bye.text, sizeof bye.bye.text, "%s", text);
    effects_send(coordinator->out, peer, &bye, NULL);
}

/* ---- losing ---- */

static void lose(struct coordinator *coordinator, struct member *member,
                 const char *why, bool for_good)
{
    if (member->loss[0])
        return;
    (void)snprintf(member->loss, sizeof member->loss, "%s", why);
    member->lost_for_good = for_good;
    coordinator->dirty |= DIRTY_MEMBERS;
}

void group_lose(struct coordinator *coordinator, struct member *member,
                const char *why)
{
    lose(coordinator, member, why, false);
}

static void cut(struct coordinator *coordinator, struct member *member)
{
    if (member->control != PEER_NONE)
        effects_drop(coordinator->out, member->control);
    if (member->bulk != PEER_NONE)
        effects_drop(coordinator->out, member->bulk);
    member->control = member->bulk = PEER_NONE;
    member->session = member->confirming = 0;
    member->lost = coordinator->now;
    member->loss[0] = '\0';
}

bool group_remove(struct coordinator *coordinator, struct member *member)
{
    bool listed = is_listed(member);
    bool gone =
        member->lost_for_good || coordinator->group.manner == MANNER_ELASTIC;

    effects_note(coordinator->out,
                 member->lost_for_good ? NOTE_LEFT : NOTE_LOST, member->name,
                 "%s, of the group for collectives", member->loss);
    cut(coordinator, member);
    if (!gone) {
        member->state = MEMBER_AWAY;
        return false;
    }
    *member = (struct member){.state = MEMBER_NONE};
    if (listed)
        group_renew(coordinator);
    return listed;
}

void group_on_leave(struct coordinator *coordinator, peer_id peer)
{
    struct member *member = group_find(coordinator, peer);

    if (!member)
        return;
    if (member->control == peer)
        member->control = PEER_NONE;
    else
        member->bulk = PEER_NONE;
    group_lose(coordinator, member, "connection lost");
}

void group_on_bye(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    lose(coordinator, member, farewell_words[event->msg->bye.farewell].doc,
         true);
}

void group_expire(struct coordinator *coordinator)
{
    const struct group *group = &coordinator->group;
    char text[MSG_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "not back within %lld s; the group goes on without",
                   (long long)(group->patience / SECOND));
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];

        if (is_here(member) &&
            coordinator->now - member->heard >= COORDINATOR_LEASE)
            group_lose(coordinator, member, "silent for 20 s");
        else if (member->state == MEMBER_AWAY &&
                 coordinator->now - member->lost >= group->patience)
            lose(coordinator, member, text, true);
    }
}

/* ---- what members say of themselves ---- */

void group_on_say(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    if (coordinator->now - member->said_since >= SECOND) {
        member->said_since = coordinator->now;
        member->said = 0;
    }
    if (member->said++ < SAYS_A_SECOND)
        effects_note(coordinator->out, NOTE_SAID, member->name, "%s",
                     event->msg->say.text);
}

void group_on_ping(struct coordinator *coordinator, struct member *member,
                   const struct event *event)
{
    struct msg pong = {.kind = MSG_PONG};

    pong.pong.sent = event->msg->ping.sent;
    pong.pong.version = coordinator->checkpoint.version;
    effects_send(coordinator->out, member->control, &pong, NULL);
}

/* ---- coming ---- */

static unsigned founders_of(const struct msg_join *join)
{
    return join->size ? join->size : 1;
}

/* Why this member cannot come in, or NULL; may be written to `text`. */
static const char *refusal(const struct group *group,
                           const struct msg_join *join,
                           char text[MSG_TEXT_BYTES])
{
    if (join->protocol_min > PROTOCOL_MAX || join->protocol_max < PROTOCOL_MIN)
        return "the hub speaks another protocol: install the same release";
    if (join->size > COORDINATOR_MEMBERS)
        return "a group has at most 64 members";
    if (group->phase == GROUP_CLOSED)
        return NULL;
    if (group->manner != join->manner)
        return "the group is of the other kind (elastic or patient)";
    if (group->wanted == founders_of(join))
        return NULL;
    (void)snprintf(text, MSG_TEXT_BYTES,
                   "the group was begun with %u member%s, this one asks for %u",
                   group->wanted, plural(group->wanted), founders_of(join));
    return text;
}

/* The place of the member with this id, a free one, or NULL. A patient group
 * has as many as it was begun with. */
static struct member *find_place(struct group *group,
                                 const struct msg_join *join)
{
    struct member *vacant = NULL;

    for (unsigned i = COORDINATOR_MEMBERS; i > 0; i--) {
        struct member *member = &group->members[i - 1];

        if (member->state == MEMBER_NONE)
            vacant = member;
        else if (member->high == join->node_high &&
                 member->low == join->node_low)
            return member;
    }
    return group->phase != GROUP_CLOSED && group->manner == MANNER_PATIENT &&
                   group->size >= group->wanted
               ? NULL
               : vacant;
}

/* Whether another process of this name is here to stay: a lower incarnation is
 * older only beside one that is heard (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct coordinator *coordinator,
                     const struct member *member, const struct msg_join *join)
{
    return is_here(member) &&
           coordinator->now - member->heard < COORDINATOR_SILENT &&
           join->incarnation < member->incarnation;
}

/* With keys a member is its key, whatever it says of itself. */
static struct msg_join identified(const struct event *event)
{
    struct msg_join join = event->msg->join;

    if (event->key != KEY_NONE) {
        join.node_high = event->key;
        join.node_low = 0;
    }
    return join;
}

/* A newer connection of a member replaces the one that it has. */
static void replace(struct coordinator *coordinator, struct member *member,
                    const struct msg_join *join)
{
    if (join->incarnation != member->incarnation)
        send_bye(coordinator, member->control, FAREWELL_REPLACED,
                 "a newer member of this name has joined");
    group_lose(coordinator, member, "replaced by a newer connection");
}

void group_on_join(struct coordinator *coordinator, struct member *nobody,
                   const struct event *event)
{
    struct group *group = &coordinator->group;
    struct msg_join join = identified(event);
    char text[MSG_TEXT_BYTES];
    const char *words = refusal(group, &join, text);
    struct member *member = words ? NULL : find_place(group, &join);

    (void)nobody;
    if (words) {
        effects_note(coordinator->out, NOTE_REFUSED, join.name, "%s", words);
        send_bye(coordinator, event->peer, FAREWELL_OFFENCE, words);
    } else if (!member) {
        send_bye(coordinator, event->peer, FAREWELL_FULL, "the group is full");
    } else if (is_taken(coordinator, member, &join)) {
        send_bye(coordinator, event->peer, FAREWELL_REPLACED,
                 "a newer member of this name is here");
    } else {
        if (is_here(member))
            replace(coordinator, member, &join);
        group->admission =
            (struct admission){member, event->peer, join, event->key};
        coordinator->dirty |= DIRTY_MEMBERS;
    }
}

static void open_group(struct group *group, const struct msg_join *join)
{
    group->phase = GROUP_FORMING;
    group->manner = join->manner;
    group->wanted = founders_of(join);
    group->patience = join->patience;
}

/* The member is in the roster: a founder, or of the epoch that it begins. */
static void enlist(struct coordinator *coordinator, struct member *member)
{
    struct group *group = &coordinator->group;

    member->state = MEMBER_LISTED;
    member->since = group->phase == GROUP_FORMED ? group->epoch + 1 : 0;
    group_renew(coordinator);
    if (group->size >= group->wanted)
        group->phase = GROUP_FORMED;
}

static void send_joined(struct coordinator *coordinator,
                        const struct member *member)
{
    struct msg msg = {.kind = MSG_JOINED};

    msg.joined.protocol = member->protocol;
    msg.joined.run = coordinator->config.run;
    msg.joined.session = member->session;
    msg.joined.part_bytes = coordinator->config.segment_bytes;
    msg.joined.window = coordinator->config.window;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

static void set_name(struct member *member, const char *name)
{
    struct text text;

    text_init(&text, member->name, sizeof member->name);
    quote_visible(&text, name[0] ? name : "member");
}

/* What is known of a member, from its JOIN and from before. */
static void identify(struct coordinator *coordinator, struct member *member,
                     const struct admission *admission)
{
    const struct msg_join *join = &admission->join;
    uint64_t version = coordinator->checkpoint.version;

    if (member->state == MEMBER_NONE ||
        member->incarnation != join->incarnation)
        member->version = join->version;
    if (member->version > version)
        member->version = 0;
    member->high = join->node_high;
    member->low = join->node_low;
    member->incarnation = join->incarnation;
    member->protocol = protocol_common(join->protocol_max);
    member->key = admission->key;
    member->session = ++coordinator->group.next_session;
    member->control = admission->peer;
    member->heard = coordinator->now;
    set_name(member, join->name);
}

void group_admit(struct coordinator *coordinator)
{
    struct group *group = &coordinator->group;
    struct admission admission = group->admission;
    struct member *member = admission.member;
    bool again;

    group->admission.member = NULL;
    if (!member)
        return;
    again = member->state == MEMBER_AWAY;
    if (group->phase == GROUP_CLOSED)
        open_group(group, &admission.join);
    identify(coordinator, member, &admission);
    effects_note(coordinator->out, again ? NOTE_REJOINED : NOTE_JOINED,
                 member->name, "in the group for collectives (%s)",
                 manner_words[group->manner].text);
    send_joined(coordinator, member);
    if (again)
        member->state = MEMBER_LISTED;
    else if (group->manner == MANNER_PATIENT)
        enlist(coordinator, member);
    else
        member->state = MEMBER_ADMITTED;
}

void group_on_sit(struct coordinator *coordinator, struct member *nobody,
                  const struct event *event)
{
    (void)nobody;
    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];

        if (!is_here(member) || member->bulk != PEER_NONE ||
            member->session != event->msg->sit.session ||
            member->key != event->key)
            continue;
        member->bulk = event->peer;
        coordinator->dirty |= DIRTY_MAIL | DIRTY_DELIVERY;
        return;
    }
    effects_drop(coordinator->out, event->peer);
}

/* ---- who is in the group ---- */

static void send_roster(struct coordinator *coordinator,
                        const struct member *member, uint64_t number)
{
    struct msg msg = {.kind = MSG_ROSTER};

    msg.roster.number = number;
    msg.roster.epoch = coordinator->group.epoch;
    msg.roster.rank = group_rank(coordinator, member);
    msg.roster.size = coordinator->group.size;
    msg.roster.averages = coordinator->calls.averages;
    effects_send(coordinator->out, member->control, &msg, NULL);
}

/* A member that has missed what the others have done is told so, by a roster
 * that it is not on. */
void group_on_who(struct coordinator *coordinator, struct member *member,
                  const struct event *event)
{
    const struct msg_who *who = &event->msg->who;
    struct group *group = &coordinator->group;
    const struct member *master =
        group->phase == GROUP_FORMED && group->size ? group->roster[0] : NULL;
    bool behind = who->averages && who->averages < coordinator->calls.averages;

    member->confirming = who->number;
    if (!is_listed(member) && !behind) {
        enlist(coordinator, member);
        if (who->reports && master)
            send_roster(coordinator, master, 0);
    }
    coordinator->dirty |= DIRTY_DELIVERY;
}

void group_answer(struct coordinator *coordinator)
{
    bool formed = coordinator->group.phase == GROUP_FORMED;

    for (unsigned i = 0; i < COORDINATOR_MEMBERS; i++) {
        struct member *member = &coordinator->group.members[i];

        if (!member->confirming || (!formed && is_listed(member)))
            continue;
        send_roster(coordinator, member, member->confirming);
        member->confirming = 0;
    }
}
