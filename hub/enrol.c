/* Who may come in: ENROL, and whose key a node's connections have to bear.
 *
 * A connection that may only enrol says ENROL once; the operator decides. With
 * keys a node is its key: whatever it says of itself, it is one node, with the
 * name that the operator knows the key by, and no other may attach to its
 * session. A driver without keys proves nothing, and then nothing is asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "core/siphash.h"
#include "hub/state.h"

/* ---- names ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* A name that can be a file's, whatever the node says. */
static void clean(const char *name, char out[NODE_NAME_BYTES])
{
    (void)snprintf(out, NODE_NAME_BYTES, "%.*s", NODE_NAME_BYTES - 1,
                   name[0] ? name : "node");
    for (char *c = out; *c; c++)
        if (!is_plain(*c))
            *c = '_';
    if (strchr("._-", out[0]))
        out[0] = 'x';
}

/* ---- enrolment ---- */

static void refuse(struct hub *hub, struct peer *peer, enum farewell farewell,
                   const char *text)
{
    bye_to(hub, peer->id, farewell, text);
    effects_drop(hub->out, peer->id);
    peer_remove(hub, peer);
}

void hub_on_enrol(struct hub *hub, const struct incoming *in)
{
    struct msg ask = {.kind = MSG_LOCAL_ENROL};
    struct enrolling *place;

    if (hub->roll.enrolling_count == MAX_ENROLLING) {
        refuse(hub, in->peer, FAREWELL_FULL,
               "many nodes enrol at this moment: try again");
        return;
    }
    place = &hub->roll.enrolling[hub->roll.enrolling_count++];
    place->peer = in->peer->id;
    place->ticket = ++hub->roll.last_ticket;
    clean(in->msg->enrol.name, place->name);
    in->peer->state = PEER_ENROLLING;
    ask.local_enrol.ticket = place->ticket;
    ask.local_enrol.key0 = in->msg->enrol.key0;
    ask.local_enrol.key1 = in->msg->enrol.key1;
    ask.local_enrol.key2 = in->msg->enrol.key2;
    ask.local_enrol.key3 = in->msg->enrol.key3;
    memcpy(ask.local_enrol.name, place->name, sizeof place->name);
    effects_send(hub->out, PEER_OPERATOR, &ask, NULL);
}

static void forget(struct hub *hub, struct enrolling *place)
{
    *place = hub->roll.enrolling[--hub->roll.enrolling_count];
}

void enrol_leaves(struct hub *hub, peer_id peer)
{
    for (unsigned i = 0; i < hub->roll.enrolling_count; i++)
        if (hub->roll.enrolling[i].peer == peer) {
            forget(hub, &hub->roll.enrolling[i]);
            return;
        }
}

static void answer(struct hub *hub, struct peer *peer, const char *name,
                   const struct msg_local_enrolled *admitted)
{
    struct msg msg = {.kind = MSG_ENROLLED};
    bool for_good =
        admitted->status == STATUS_REFUSED || admitted->status == STATUS_USAGE;

    if (admitted->status != STATUS_OK) {
        effects_note(hub->out, NOTE_REFUSED, name, "not enrolled: %s",
                     admitted->text);
        refuse(hub, peer, for_good ? FAREWELL_KEY : FAREWELL_FULL,
               admitted->text);
        return;
    }
    effects_note(hub->out, NOTE_ENROLLED, name, "may come in from now on");
    msg.enrolled.run = hub->config.run;
    effects_send(hub->out, peer->id, &msg, NULL);
    effects_drop(hub->out, peer->id);
    peer_remove(hub, peer);
}

void hub_on_admitted(struct hub *hub, const struct incoming *in)
{
    for (unsigned i = 0; i < hub->roll.enrolling_count; i++) {
        struct enrolling place = hub->roll.enrolling[i];
        struct peer *peer = peer_find(hub, place.peer);

        if (place.ticket != in->msg->local_enrolled.ticket)
            continue;
        forget(hub, &hub->roll.enrolling[i]);
        if (peer)
            answer(hub, peer, place.name, &in->msg->local_enrolled);
        return;
    }
}

/* ---- whose a node is ---- */

/* What the operator knows a key by. */
struct known {
    uint64_t key;
    char name[NODE_NAME_BYTES];
};

void hub_on_known(struct hub *hub, const struct incoming *in)
{
    struct known *known = index_find(&hub->roll.known, in->msg->known.key, 0);

    if (!known) {
        known = need_memory(1, sizeof *known);
        known->key = in->msg->known.key;
        index_put(&hub->roll.known, known->key, 0, known);
    }
    (void)snprintf(known->name, sizeof known->name, "%.*s", NODE_NAME_BYTES - 1,
                   in->msg->known.name);
}

static void key_unknown(struct hub *hub, uint64_t key)
{
    struct known *known = index_find(&hub->roll.known, key, 0);

    index_remove(&hub->roll.known, key, 0);
    free(known);
}

void known_free(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->roll.known.room; i++)
        free(hub->roll.known.slots[i].value);
    index_free(&hub->roll.known);
}

struct msg_hello key_identify(const struct hub *hub, const struct peer *peer,
                              const struct msg_hello *hello)
{
    const struct known *known = index_find(&hub->roll.known, peer->key, 0);
    struct msg_hello own = *hello;

    if (peer->key == KEY_NONE)
        return own;
    own.node_high = peer->key;
    own.node_low = 0;
    if (known)
        (void)snprintf(own.name, sizeof own.name, "%s", known->name);
    return own;
}

bool key_is_known(const struct hub *hub, uint64_t key)
{
    return key != KEY_NONE && index_find(&hub->roll.known, key, 0);
}

bool key_attaches(struct hub *hub, const struct peer *bulk,
                  const struct member *member)
{
    const struct peer *control = peer_find(hub, member->control);

    return control && control->key == bulk->key;
}

void hub_on_revoked(struct hub *hub, const struct incoming *in)
{
    key_unknown(hub, in->msg->revoked.key);
    EACH_MEMBER(hub, member) {
        if (member->key != in->msg->revoked.key)
            continue;
        member->key = KEY_NONE;
        if (!member_is_here(member))
            continue;
        bye_to(hub, member->control, FAREWELL_KEY,
               "this node's key has been revoked by the hub's operator");
        member_gone(hub, member, "its key has been revoked", false);
    }
}

uint64_t session_secret(struct hub *hub)
{
    const uint64_t words[] = {hub->config.run, (uint64_t)hub->started_at,
                              hub->roll.next_session++};

    return siphash(hub->config.secret, words, sizeof words / sizeof *words);
}
