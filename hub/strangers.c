/* Connections come and go, and are nobody's at first. A first word makes a
 * connection one that the hub knows, whatever it says; but who has not become a
 * node's or a group's within half a minute is cut, or one host with a key could
 * hold so many that nobody else has room. They stand in a line, the oldest
 * first, so that looking costs nothing however many there are. */
#include <stdio.h>

#include "hub/state.h"

/* So long from its first word, or since it has been nobody's again. A node says
 * HELLO and ATTACH first of all. */
#define STRANGER_MOST (30 * SECOND)

enum { CUT_AT_ONCE = 256 /* per look: each is an event for the driver */ };

static bool is_nobodys(const struct hub *hub, const struct peer *peer)
{
    return peer->state == PEER_STRANGER || peer->state == PEER_STRANGER_BULK ||
           peer->state == PEER_ENROLLER || peer->state == PEER_ENROLLER_BULK ||
           (peer->state == PEER_GROUP &&
            !coordinator_knows(hub->coordinator, peer->id));
}

/* Who has become a node's is looked at once and no more; a member of the
 * group may cease to be one, and is looked at again. */
void strangers_tick(struct hub *hub)
{
    struct peer *peer;
    unsigned cut = 0;

    while (cut < CUT_AT_ONCE && (peer = hub->roll.strangers) != NULL &&
           hub->now - peer->since >= STRANGER_MOST) {
        stranger_leaves(hub, peer);
        if (is_nobodys(hub, peer)) {
            effects_drop(hub->out, peer->id);
            peer_remove(hub, peer);
            cut++;
        } else if (peer->state == PEER_GROUP) {
            stranger_waits(hub, peer);
        }
    }
    if (cut)
        effects_note(hub->out, NOTE_REFUSED, "",
                     "%u cut that in 30 s had become neither a node's "
                     "connection nor the group's",
                     cut);
}

void hub_on_bye(struct hub *hub, const struct incoming *in)
{
    member_gone(hub, in->member, farewell_words[in->msg->bye.farewell].doc,
                true);
}

void peer_joins(struct hub *hub, const struct event *event)
{
    bool bulk = event->channel == CHANNEL_BULK;
    struct peer *peer = peer_add(hub, event->peer);

    if (peer) {
        peer->key = event->key;
        if (event->key == KEY_ENROLS)
            peer->state = bulk ? PEER_ENROLLER_BULK : PEER_ENROLLER;
        else
            peer->state = bulk ? PEER_STRANGER_BULK : PEER_STRANGER;
        return;
    }
    effects_note(hub->out, NOTE_REFUSED, "",
                 "too many connections (%u); one was cut",
                 hub->roll.peers.count);
    effects_drop(hub->out, event->peer);
}

/* After the run has ended nodes leave as they should: no news. A lost bulk
 * connection alone may be the first sign of a goodbye, which comes on the
 * other one: it is looked at again after MOURNING. */
void peer_leaves(struct hub *hub, peer_id id)
{
    struct peer *peer = peer_find(hub, id);
    int place;

    enrol_leaves(hub, id);
    probe_leaves(hub, id);
    if (!peer)
        return;
    place = peer->member;
    peer_remove(hub, peer);
    if (place < 0 || hub->run.phase >= PHASE_ENDED)
        return;
    if (peer->state == PEER_MEMBER_BULK) {
        hub->roll.members[place]->bulk = PEER_NONE;
        hub->roll.members[place]->bulk_lost = hub->now;
        member_recount(hub, hub->roll.members[place]);
    } else {
        member_gone(hub, hub->roll.members[place], "connection lost", false);
    }
}

/* Somebody has been given a wrong number, which is no attack. */
void hub_on_misled(struct hub *hub, const struct incoming *in)
{
    char first[32] = "its first one", text[MSG_TEXT_BYTES];

    if (hub->config.port)
        (void)snprintf(first, sizeof first, ":%u, its first", hub->config.port);
    (void)snprintf(text, sizeof text, "that is the hub's second port: give %s",
                   first);
    effects_note(hub->out, NOTE_REFUSED,
                 in->msg->kind == MSG_HELLO ? in->msg->hello.name : "",
                 "came to the hub's second port: it is to be given %s", first);
    bye_to(hub, in->peer->id, FAREWELL_PORT, text);
    effects_drop(hub->out, in->peer->id);
    peer_remove(hub, in->peer);
}
