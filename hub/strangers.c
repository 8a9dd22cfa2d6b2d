/* Connections that are nobody's. A first word makes a connection one that the
 * hub knows, whatever it says; but who has not become a node's or a group's
 * within half a minute is cut, or one host with a key could hold so many that
 * nobody else has room. They stand in a line, the oldest first, so that looking
 * costs nothing however many there are. */
#include <stdio.h>

#include "hub/state.h"

/* So long from its first word, or since it has been nobody's again. A node says
 * HELLO and ATTACH first of all. */
#define STRANGER_MOST (30 * SECOND)

enum { CUT_AT_ONCE = 256 /* per look: each is an event for the driver */ };

void stranger_leaves(struct hub *hub, struct peer *peer)
{
    if (!peer->waits)
        return;
    if (peer->former)
        peer->former->next = peer->next;
    else
        hub->strangers = peer->next;
    if (peer->next)
        peer->next->former = peer->former;
    else
        hub->last_stranger = peer->former;
    peer->next = peer->former = NULL;
    peer->waits = false;
}

void stranger_waits(struct hub *hub, struct peer *peer)
{
    stranger_leaves(hub, peer);
    peer->waits = true;
    peer->since = hub->now;
    peer->former = hub->last_stranger;
    if (peer->former)
        peer->former->next = peer;
    else
        hub->strangers = peer;
    hub->last_stranger = peer;
}

static bool is_nobodys(const struct hub *hub, const struct peer *peer)
{
    return peer->state == PEER_STRANGER ||
           peer->state == PEER_STRANGER_BULK ||
           peer->state == PEER_ENROLLER ||
           (peer->state == PEER_GROUP &&
            !coordinator_knows(hub->coordinator, peer->id));
}

/* Who has become a node's is looked at once and no more; a member of the
 * group may cease to be one, and is looked at again. */
void strangers_tick(struct hub *hub)
{
    struct peer *peer;
    unsigned cut = 0;

    while (cut < CUT_AT_ONCE && (peer = hub->strangers) != NULL &&
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

/* Somebody has been given a wrong number, which is no attack. */
void hub_on_misled(struct hub *hub, struct peer *peer, const struct msg *msg,
                   struct blob *payload)
{
    char first[32] = "its first one", text[MSG_TEXT_BYTES];

    (void)payload;
    if (hub->config.port)
        (void)snprintf(first, sizeof first, ":%u, its first",
                       hub->config.port);
    (void)snprintf(text, sizeof text,
                   "that is the hub's second port: give %s", first);
    effects_note(hub->out, NOTE_REFUSED,
                 msg->kind == MSG_HELLO ? msg->hello.name : "",
                 "came to the hub's second port: it is to be given %s", first);
    bye_to(hub, peer->id, FAREWELL_PORT, text);
    effects_drop(hub->out, peer->id);
    peer_remove(hub, peer);
}
