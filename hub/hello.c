/* HELLO: whether a node may come in, where its place is, what it does first. */
#include "hub/state.h"

/* What a former process of the node did is no matter of the new one. */
static void member_forget_past(struct hub *hub, struct member *member)
{
    member->last_exchange = member->merged = member->settled = 0;
    member->took = 0;
    contributions_forget(hub, member);
}

/* One who is gone and may be forgotten; who is in quarantine, which would end
 * it, only if there is nobody else. */
static struct member *member_to_forget(const struct hub *hub)
{
    struct member *held = NULL;

    for (int i = 0; i < hub->member_count; i++) {
        struct member *member = hub->members[i];

        if (member->present)
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
    struct member *place =
        member_named(hub, hello->node_high, hello->node_low);

    if (place)
        return place;
    if ((unsigned)hub->member_count < hub->config.most)
        return member_add(hub);
    place = member_to_forget(hub);
    if (place) {
        member_forget_past(hub, place);
        member_clear(hub, place);
        if (hub->pinned == place->place)
            hub->pinned = -1;
    }
    return place;
}

/* What a node that has just come must do first. One whose parameters are not
 * finite any more names no lineage: it needs others. */
enum start member_first_thing(const struct hub *hub,
                              const struct member *member)
{
    bool same = member->run == hub->config.run && member->run != 0;

    if (hub->recovery.on)
        return START_HOLD;
    if (member->doubt.asked)
        return START_GIVE;
    if (hub->contest)
        return member->lineage ? START_GO : START_HOLD;
    if (!hub->founded)
        return START_HOLD;
    if (centre_is_apart(hub))
        return member->lineage ? START_GO : START_TAKE;
    if (member->lineage != hub->lineage)
        return START_TAKE;
    if (same && members_may_lag(hub, member->base_version))
        return START_GO;
    return hub->version == 0 ? START_GO : START_TAKE;
}

/* VERSION: it speaks another protocol; MALFORMED: its schema is not that of
 * which it tells the hash; else as centre_shape. */
static enum status look_at_hello(struct hub *hub,
                                 const struct msg_hello *hello,
                                 const struct blob *payload, struct why *why)
{
    const char *text = (const char *)payload->bytes;

    if (!protocol_fits(hello))
        return because(why, STATUS_VERSION,
                       "this hub speaks version %d of the protocol, the node "
                       "version %u: install the same release on both",
                       PROTOCOL_MAX, hello->protocol_max);
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

/* Takes the node in at `member`, which may hold its former life. */
static void member_enter(struct hub *hub, struct member *member,
                         const struct msg_hello *hello, struct peer *peer)
{
    bool again = member->used;
    bool same = again && member->incarnation == hello->incarnation;

    if (again && !same)
        member_forget_past(hub, member);
    member_name_is(hub, member, hello->node_high, hello->node_low);
    if (peer->key != KEY_NONE)
        member->key = peer->key;
    member->present = true;
    member->silent = member->finished = member->takes = false;
    member->drained &= same;
    member->incarnation = hello->incarnation;
    member->lineage = hello->lineage;
    member->base_version = hello->base_version;
    member->run = hello->run;
    member->keeps = hello->kept;
    member->asked = 0;
    member->claims = 0;
    member->keeps_life = hello->kept_life;
    member->keeps_chunk = hello->kept_chunk;
    member->doubt = (struct doubt){.asked = recover_doubts(hub, hello),
                                   .since = hub->now};
    member_session_is(hub, member, session_secret(hub));
    member_name(hub, member, hello->name);
    member->control = peer->id;
    member->bulk = PEER_NONE;
    member->bulk_lost = member->lost = 0;
    flow_limit(hub, member, hello->down);
    member->heard = hub->now;
    member->iteration = hello->iteration;
    member->stats = (struct msg_ping){.iteration = hello->iteration,
                                      .loss = NO_SCORE,
                                      .accuracy = -1,
                                      .activity = ACTIVITY_JOINING};
    member->start = member_first_thing(hub, member);
    member_recount(hub, member);
    peer->state = PEER_MEMBER;
    peer->member = member->place;
    effects_note(hub->out, again ? NOTE_REJOINED : NOTE_JOINED, member->name,
                 "at iteration %llu, %s",
                 (unsigned long long)hello->iteration,
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

/* HELLO once more, over the same connection. */
static void member_begins_anew(struct hub *hub, struct member *member)
{
    bulk_becomes_stranger(hub, member);
    member_forget(hub, member);
}

/* Whether another process of this name is here to stay. Incarnations come
 * from the nodes' clocks, which may have been set back between two starts: so a
 * lower one is older only beside a process that is heard
 * (docs/decisions/who-is-newer.md). */
static bool is_taken(const struct member *member,
                     const struct msg_hello *hello)
{
    return member->present && !member->silent &&
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

/* For its last offer, which it may not have heard of, or not made. */
static void call_again(struct hub *hub, struct member *member)
{
    if (hub->ending)
        finish_call(hub, member);
    else if (member->drained && !hub->recovery.on)
        orders_call(hub, member);
}

void hub_on_hello(struct hub *hub, struct peer *peer, const struct msg *msg,
                  struct blob *payload)
{
    const struct msg_hello own = key_identify(hub, peer, &msg->hello);
    const struct msg_hello *hello = &own;
    struct member *member;

    if (!hello_fits(hub, peer->id, hello, payload))
        return;
    if (!recover_meets(hub, peer->id, hello))
        return;
    if (peer->member >= 0 && !is_of(hub->members[peer->member], hello)) {
        effects_drop(hub->out, peer->id);
        return;
    }
    member = member_place(hub, hello);
    if (!member) {
        bye_to(hub, peer->id, FAREWELL_FULL, "the hub has no room left");
        return;
    }
    if (!may_enter(hub, member, hello, peer))
        return;
    if (member->present && member->control != peer->id) {
        if (hello->incarnation != member->incarnation) {
            bye_to(hub, member->control, FAREWELL_REPLACED,
                   "a newer node of this name has joined");
            quarantine_flap(hub, member);
        }
        member_gone(hub, member, "replaced by a newer connection", false);
    } else if (member->present) {
        member_begins_anew(hub, member);
    }
    member_enter(hub, member, hello, peer);
    if (!hub->recovery.on) /* else it is not known what the centre has */
        rounds_recall(hub, member);
    member_welcome(hub, member);
    call_again(hub, member);
    view_push(hub);
}
