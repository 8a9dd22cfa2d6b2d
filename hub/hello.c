/* HELLO and ATTACH: whether a node may come in, where its place is, what it is
 * called, what it does first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/quote.h"
#include "hub/state.h"

/* ---- what nodes are called ---- */

/* No two have one name, so that an order, a line of a log and a key's file mean
 * one node: whom others precede has some digits of its uuid behind it, the same
 * ones whenever it comes. A name that the operator knows a key by is that
 * key's, whoever else has taken it. */
enum { DIGITS = 4, DIGITS_MOST = 16 };

static void add_digits(struct hub *hub, struct member *member, const char *name)
{
    char own[NODE_NAME_BYTES];

    for (unsigned digits = DIGITS; digits <= DIGITS_MOST; digits += DIGITS) {
        (void)snprintf(own, sizeof own, "%.*s-%0*" PRIx64,
                       (int)(NODE_NAME_BYTES - 2 - digits), name, (int)digits,
                       member->uuid_high >> (64 - 4 * digits));
        member_rename(hub, member, own);
        if (!member_by_name(hub, member, own))
            return;
    }
}

/* Gives it this name, if nobody else has it, or else one like it. */
static void member_name(struct hub *hub, struct member *member,
                        const char *name)
{
    char plain[NODE_NAME_BYTES];
    struct member *other;
    struct text text;

    text_init(&text, plain, sizeof plain);
    quote_visible(&text, name[0] ? name : "node");
    other = member_by_name(hub, member, plain);
    if (other && !key_is_known(hub, member->key)) {
        add_digits(hub, member, plain);
        return;
    }
    member_rename(hub, member, plain);
    if (other)
        add_digits(hub, other, plain);
}

/* ---- who may come in ---- */

/* What a former process of the node did is no matter of the new one. */
static void member_forget_past(struct hub *hub, struct member *member)
{
    member->last_exchange = member->merged = member->forgotten = 0;
    member->took = 0;
    updates_forget(hub, member);
}

/* One who is gone and may be forgotten; who is in quarantine, which would end
 * it, only if there is nobody else. */
static struct member *member_to_forget(const struct hub *hub)
{
    struct member *held = NULL;

    EACH_MEMBER(hub, member) {
        if (member_is_here(member))
            continue;
        if (!quarantine_holds(member))
            return member;
        held = held ? held : member;
    }
    return held;
}

/* The member with this uuid, or a new place; once there are as many as there
 * may be, that of one who is gone; or NULL. */
static struct member *member_place(struct hub *hub,
                                   const struct msg_hello *hello)
{
    struct member *place = member_named(hub, hello->node_high, hello->node_low);

    if (place)
        return place;
    if ((unsigned)hub->roll.count < hub->config.most)
        return member_add(hub);
    place = member_to_forget(hub);
    if (place) {
        member_forget_past(hub, place);
        norm_history_forget(place);
        member_clear(hub, place);
        if (hub->run.pinned == place->place)
            hub->run.pinned = -1;
    }
    return place;
}

/* VERSION: it speaks another protocol; MALFORMED: its schema is not that of
 * which it tells the hash; else as centre_shape. */
static enum status look_at_hello(struct hub *hub, const struct msg_hello *hello,
                                 const struct blob *payload, struct why *why)
{
    const char *text = (const char *)payload->bytes;

    if (!protocol_fits(hello))
        return because(why, STATUS_VERSION,
                       "this hub speaks version %d of the protocol, the node "
                       "version %u: install the same release on both",
                       PROTOCOL_MAX, hello->protocol_max);
    if (hello->protocol_max < PROTOCOL_TOLD &&
        (hub->config.codec_up == CODEC_SPARSE ||
         hub->config.codec_down == CODEC_SPARSE))
        return because(why, STATUS_VERSION,
                       "the codec sparse is of version %d of the protocol, the "
                       "node speaks version %u: install the same release on "
                       "both",
                       PROTOCOL_TOLD, hello->protocol_max);
    if (hello->schema != schema_hash(text, payload->size))
        return because(why, STATUS_MALFORMED,
                       "the hash that HELLO tells is not that of its schema");
    return centre_shape(hub, text, payload->size, why);
}

/* Whether the node may come in; says goodbye if not, or hangs up if it may when
 * it comes again. */
static bool hello_fits(struct hub *hub, peer_id peer,
                       const struct msg_hello *hello, struct blob *payload)
{
    struct why why = {""};
    enum status status = look_at_hello(hub, hello, payload, &why);

    if (status == STATUS_AGAIN) {
        effects_drop(hub->out, peer);
    } else if (status != STATUS_OK) {
        effects_note(hub->out, NOTE_REFUSED, hello->name, "%s", why.text);
        bye_to(hub, peer,
               status == STATUS_VERSION ? FAREWELL_VERSION : FAREWELL_SCHEMA,
               why.text);
    }
    return status == STATUS_OK;
}

static bool is_of(const struct member *member, const struct msg_hello *hello)
{
    return member->uuid_high == hello->node_high &&
           member->uuid_low == hello->node_low;
}

/* What it says of itself until its first PING. What a process of a node counts
 * goes on over its sessions, and what people see of a node over its processes.
 */
static void stats_begin(struct member *member, const struct msg_hello *hello,
                        bool same)
{
    const struct msg_ping past = same ? member->stats : (struct msg_ping){0};

    member->stats = (struct msg_ping){.iteration = hello->iteration,
                                      .loss = NO_SCORE,
                                      .accuracy = -1,
                                      .activity = ACTIVITY_JOINING,
                                      .rate = past.rate,
                                      .sent = past.sent};
    member->rates_said = same ? member->rates_said : 0;
    counts_add(&member->stats, &past);
}

/* Takes the node in at `member`, which may hold its former life. */
static void member_enter(struct hub *hub, struct member *member,
                         const struct msg_hello *hello, struct peer *peer)
{
    bool again = member->state != MEMBER_NOBODY;
    bool same = again && member->incarnation == hello->incarnation;

    if (again && !same) {
        member_forget_past(hub, member);
        counts_add(&member->past, &member->stats);
    }
    member_name_is(hub, member, hello->node_high, hello->node_low);
    if (peer->key != KEY_NONE)
        member->key = peer->key;
    member->state = MEMBER_HERE;
    member->left = false;
    member->finished = member->takes = false;
    member->drained &= same;
    member->incarnation = hello->incarnation;
    member->protocol = protocol_common(hello->protocol_max);
    member->lineage = hello->lineage;
    member->base_version = hello->base_version;
    member->run = hello->run;
    member->keeps = hello->kept;
    member->asked = 0;
    member->claims = 0;
    member->keeps_life = hello->kept_life;
    member->keeps_chunk = hello->kept_chunk;
    member->doubt =
        (struct doubt){.asked = recover_doubts(hub, hello), .since = hub->now};
    member_session_is(hub, member, session_secret(hub));
    member_name(hub, member, hello->name);
    member->control = peer->id;
    member->bulk = PEER_NONE;
    member->bulk_lost = member->lost = 0;
    flow_limit(hub, member, hello->down);
    member->heard = hub->now;
    if (same && member->met)
        member_reaches(hub, member, hello->iteration);
    else if (same)
        member_begins_at(member, member->iteration, hello->iteration);
    member->iteration = hello->iteration;
    member->met = true;
    if (!member->last_exchange) {
        member->offered = hello->iteration;
        member->returned = 0;
    }
    stats_begin(member, hello, same);
    member->start = member_first_thing(hub, member);
    member_recount(hub, member);
    peer->state = PEER_MEMBER;
    peer->member = member->place;
    effects_note(hub->out, again ? NOTE_REJOINED : NOTE_JOINED, member->name,
                 "at iteration %llu, %s", (unsigned long long)hello->iteration,
                 start_words[member->start].doc);
}

/* The bulk connection must say ATTACH again, for the member's new session. */
static void bulk_becomes_stranger(struct hub *hub, struct member *member)
{
    struct peer *peer = peer_find(hub, member->bulk);

    if (peer) {
        peer->state = PEER_STRANGER_BULK;
        peer->member = -1;
        stranger_waits(hub, peer);
    }
}

/* Whether another process of this name is here to stay. Incarnations come
 * from the nodes' clocks, which may have been set back between two starts: so a
 * lower one is older only beside a process that is heard
 * (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct member *member, const struct msg_hello *hello)
{
    return member->state == MEMBER_HERE &&
           hello->incarnation < member->incarnation;
}

/* If not, it is told why. */
static bool may_enter(struct hub *hub, const struct member *member,
                      const struct msg_hello *hello, const struct peer *peer)
{
    bool same = hello->incarnation == member->incarnation;

    if (is_taken(member, hello))
        bye_to(hub, peer->id, FAREWELL_REPLACED,
               "a newer node of this name is here; give it another --name");
    else if (member->drained && same && !orders_awaits(hub, member))
        bye_to(hub, peer->id, FAREWELL_DONE,
               "drained by the hub's operator: start it again to come back");
    else
        return true;
    return false;
}

void hub_on_hello(struct hub *hub, const struct incoming *in)
{
    const struct msg_hello own = key_identify(hub, in->peer, &in->msg->hello);
    const struct msg_hello *hello = &own;
    struct member *member;

    if (!hello_fits(hub, in->peer->id, hello, in->payload))
        return;
    if (!recover_meets(hub, in->peer->id, hello))
        return;
    if (in->member && !is_of(in->member, hello)) {
        effects_drop(hub->out, in->peer->id);
        return;
    }
    member = member_place(hub, hello);
    if (!member) {
        bye_to(hub, in->peer->id, FAREWELL_FULL, "the hub has no room left");
        return;
    }
    if (!may_enter(hub, member, hello, in->peer))
        return;
    if (member_is_here(member) && member->control != in->peer->id) {
        if (hello->incarnation != member->incarnation) {
            bye_to(hub, member->control, FAREWELL_REPLACED,
                   "a newer node of this name has joined; give one of them "
                   "another --name");
            quarantine_flap(hub, member);
        }
        member_gone(hub, member, "replaced by a newer connection", false);
    } else if (member_is_here(member)) { /* over this connection, once more */
        bulk_becomes_stranger(hub, member);
        member_changes(hub, member, CHANGE_LOST);
    }
    member_enter(hub, member, hello, in->peer);
    member_changes(hub, member, CHANGE_ENTERED);
}

void hub_on_attach(struct hub *hub, const struct incoming *in)
{
    struct member *member = member_of_session(hub, in->msg->attach.session);

    if (!member || !member_is_here(member) || member->bulk != PEER_NONE ||
        !key_attaches(hub, in->peer, member)) {
        effects_drop(hub->out, in->peer->id);
        peer_remove(hub, in->peer);
        return;
    }
    member->bulk = in->peer->id;
    member->doubt.unattached = false;
    member_recount(hub, member);
    in->peer->state = PEER_MEMBER_BULK;
    in->peer->member = member->place;
    delivery_attach(hub, member);
    hub->dirty |= DIRTY_PHASE;
}
