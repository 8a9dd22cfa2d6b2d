#include "hub/probe.h"

#include <string.h>

#include "core/prng.h"
#include "hub/state.h"

enum { PIECE = 64 * 1024, ASKED_MOST = 64 /* times, by one connection */ };

#define GRANT_MOST ((uint64_t)8 << 20)  /* bytes each way, of one ticket */
#define BURST_MOST ((uint64_t)32 << 20) /* both ways, of several at once */
#define RATE_MOST ((uint64_t)1 << 20)   /* a second, both ways, over time */
#define TICKET_TIME (10 * SECOND)
/* Of the rates that --up and --down allow, what a test may take: an eighth of a
 * second's. */
#define SHARE_OF_RATE 8

void probes_free(struct hub *hub)
{
    blob_unref(&hub->probes.filling);
}

void hub_on_clock(struct hub *hub, const struct incoming *in)
{
    hub->probes.wall = in->msg->local_clock.wall;
    hub->probes.wall_at = hub->now;
}

static bool is_in_use(const struct hub *hub, peer_id peer)
{
    const struct probes *probes = &hub->probes;

    return probes->given && probes->peer != peer && hub->now < probes->until;
}

void probe_leaves(struct hub *hub, peer_id peer)
{
    if (hub->probes.peer != peer)
        return;
    hub->probes.given = 0;
    hub->probes.peer = PEER_NONE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t grant_of(const struct hub *hub, uint64_t asked)
{
    uint64_t bytes = least(asked, GRANT_MOST);

    if (hub->config.up)
        bytes = least(bytes, hub->config.up / SHARE_OF_RATE);
    if (hub->config.down)
        bytes = least(bytes, hub->config.down / SHARE_OF_RATE);
    return bytes;
}

/* Random bytes, so that nothing on the way makes them fewer. */
static bool make_filling(struct hub *hub)
{
    struct blob *filling = hub->probes.filling;
    struct prng prng;

    if (filling)
        return true;
    filling = blob_new(hub->pool, PIECE);
    if (!filling)
        return false;
    prng_seed(&prng, 1);
    for (size_t i = 0; i < PIECE; i += sizeof(uint64_t)) {
        uint64_t word = prng_next(&prng);

        memcpy(filling->bytes + i, &word, sizeof word);
    }
    hub->probes.filling = filling;
    return true;
}

/* Gives a ticket, or says when there may be one. */
static void grant(struct hub *hub, const struct peer *peer,
                  const struct msg_probe *probe, struct msg_probed *out)
{
    struct probes *probes = &hub->probes;
    uint64_t bytes = grant_of(hub, probe->bytes);

    if (!bytes || peer->state == PEER_ENROLLER)
        return;
    if (!probes->begun)
        bucket_init(&probes->bucket, RATE_MOST, BURST_MOST, hub->now);
    probes->begun = true;
    if (is_in_use(hub, peer->id)) {
        out->wait = probes->until - hub->now;
        return;
    }
    if (!make_filling(hub) ||
        !bucket_spend(&probes->bucket, 2 * bytes, hub->now)) {
        nanos when = bucket_when(&probes->bucket, 2 * bytes, hub->now);

        out->wait = when > hub->now ? when - hub->now : SECOND;
        return;
    }
    probes->given = ++probes->last;
    probes->peer = peer->id;
    probes->key = peer->key;
    probes->until = hub->now + TICKET_TIME;
    probes->protocol = probe->protocol_max;
    probes->bytes = bytes;
    probes->came = 0;
    out->ticket = probes->given;
    out->bytes = bytes;
}

static void cut(struct hub *hub, struct peer *peer, const char *words)
{
    effects_note(hub->out, NOTE_OFFENCE, "", "%s", words);
    effects_drop(hub->out, peer->id);
    peer_remove(hub, peer);
}

void hub_on_probe(struct hub *hub, const struct incoming *in)
{
    const struct msg_probe *probe = &in->msg->probe;
    const struct probes *probes = &hub->probes;
    struct msg msg = {.kind = MSG_PROBED};

    if (++in->peer->probes > ASKED_MOST) {
        cut(hub, in->peer, "asks how its link is again and again");
        return;
    }
    msg.probed.sent = probe->sent;
    msg.probed.protocol_min = PROTOCOL_MIN;
    msg.probed.protocol_max = PROTOCOL_MAX;
    if (probes->wall_at)
        msg.probed.clock = probes->wall + (hub->now - probes->wall_at);
    if (hub->centre.schema && in->peer->state != PEER_ENROLLER)
        msg.probed.elements = hub->centre.schema->elements;
    grant(hub, in->peer, probe, &msg.probed);
    effects_send(hub->out, in->peer->id, &msg, NULL);
}

static void answer(struct hub *hub, const struct peer *peer,
                   const struct msg_fill *last)
{
    struct probes *probes = &hub->probes;
    struct msg msg = {.kind = MSG_FILLED, .filled.ticket = probes->given};
    struct blob *piece = blob_slice(probes->filling, 0, 1);
    uint64_t left = probes->bytes;

    if (probes->protocol >= PROTOCOL_TOLD) {
        msg.filled.sent = last->sent;
        msg.filled.resent = last->resent;
    }
    effects_send(hub->out, peer->id, &msg, piece);
    blob_unref(&piece);
    for (; left >= PIECE; left -= PIECE)
        effects_send(hub->out, peer->id, &msg, probes->filling);
    if (left) {
        piece = blob_slice(probes->filling, 0, left);
        effects_send(hub->out, peer->id, &msg, piece);
        blob_unref(&piece);
    }
    probes->given = 0;
}

/* Of a ticket that is over nothing is answered: the link was slow. */
void hub_on_fill(struct hub *hub, const struct incoming *in)
{
    struct probes *probes = &hub->probes;
    uint64_t size = in->payload->size;

    if (in->msg->fill.ticket != probes->given || hub->now >= probes->until ||
        in->peer->key != probes->key) {
        if (!in->msg->fill.ticket || in->msg->fill.ticket > probes->last)
            cut(hub, in->peer, "sends what no ticket is for");
        return;
    }
    if (!size || size > PIECE || probes->came + size > probes->bytes) {
        probes->given = 0;
        cut(hub, in->peer, "sends more than its ticket is for");
        return;
    }
    probes->came += size;
    if (probes->came == probes->bytes)
        answer(hub, in->peer, &in->msg->fill);
}
