#include "sim/trace/recorded.h"

#include <string.h>

/* ---- peers ---- */

static unsigned peer_place(const struct recorded *of, uint64_t id)
{
    unsigned low = 0, high = of->peer_count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (of->peers[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct recorded_peer *recorded_peer(const struct recorded *of, uint64_t id)
{
    unsigned place = peer_place(of, id);

    return place < of->peer_count && of->peers[place].id == id
               ? &of->peers[place]
               : NULL;
}

enum status recorded_add_peer(struct recorded *of, uint64_t id, unsigned node,
                              struct why *why)
{
    struct recorded_peer *peer = recorded_peer(of, id);
    unsigned place = peer_place(of, id);

    if (!peer && of->peer_count == RECORDED_PEERS)
        return because(why, STATUS_CONFIG, "more than %d connections at a time",
                       RECORDED_PEERS);
    if (!peer) {
        peer = &of->peers[place];
        memmove(peer + 1, peer, (of->peer_count - place) * sizeof *peer);
        of->peer_count++;
    }
    *peer = (struct recorded_peer){id, node};
    return STATUS_OK;
}

void recorded_forget_peer(struct recorded *of, uint64_t id)
{
    struct recorded_peer *peer = recorded_peer(of, id);

    if (!peer)
        return;
    of->peer_count--;
    memmove(peer, peer + 1,
            (size_t)(of->peers + of->peer_count - peer) * sizeof *peer);
}

/* ---- nodes ---- */

enum status recorded_node(struct recorded *of, const char *name, unsigned *out,
                          struct why *why)
{
    for (unsigned i = 0; i < of->node_count; i++)
        if (strcmp(of->nodes[i].name, name) == 0) {
            *out = i;
            return STATUS_OK;
        }
    if (of->node_count == RECORDED_NODES)
        return because(why, STATUS_CONFIG, "more than %d nodes",
                       RECORDED_NODES);
    of->nodes[of->node_count] = (struct recorded_node){.track = NULL};
    memcpy(of->nodes[of->node_count].name, name, strlen(name));
    *out = of->node_count++;
    return STATUS_OK;
}

struct recorded_node *recorded_node_of(const struct recorded *of, uint64_t id)
{
    const struct recorded_peer *peer = recorded_peer(of, id);

    return peer && of->nodes[peer->node].track ? &of->nodes[peer->node] : NULL;
}

enum status recorded_happens(struct recorded *of, struct recorded_node *node,
                             enum traced_kind kind, uint64_t first,
                             uint64_t second, struct why *why)
{
    const struct traced event = {.time = of->now,
                                 .until = of->now,
                                 .kind = kind,
                                 .track = node->track,
                                 .numbers = {first, second}};

    return trace_add_event(of->trace, &event, why);
}

enum status recorded_join(struct recorded *of, struct recorded_node *node,
                          uint64_t session, uint64_t control, struct why *why)
{
    enum status status = trace_track(of->trace, node->name, &node->track, why);

    node->control = control;
    if (status != STATUS_OK || (node->here && node->session == session))
        return status;
    node->session = session;
    node->here = true;
    node->pinged &= of->of_node;
    return recorded_happens(of, node, TRACED_JOIN, 0, 0, why);
}

enum status recorded_value(struct recorded *of, struct trace_track *track,
                           enum quantity quantity, nanos time, int64_t value,
                           struct why *why)
{
    const struct trace_series *series = &track->series[quantity];
    const struct series_point *last =
        series->count ? &series->points[series->count - 1] : NULL;

    if (last && (last->time >= time || last->value == value))
        return STATUS_OK;
    if (quantity == QUANTITY_STEP && value < TRACE_LEAST_STEP)
        return STATUS_OK; /* a node may say what it likes */
    return trace_add_value(of->trace, track, quantity, time, value, why);
}

/* ---- chunks ---- */

/* `bytes` within `time` as a rate that the link has reached; 0: unknown. */
static int64_t rate_of(double bytes, nanos time)
{
    double rate = time > 0 ? bytes * (double)SECOND / (double)time : 0;

    return rate < (double)(INT64_MAX / 2) ? (int64_t)rate : 0;
}

static enum status add_batch(struct recorded *of, struct recorded_node *node,
                             enum traced_kind kind, const struct batch *batch,
                             nanos until, struct why *why)
{
    const struct traced event = {
        .time = batch->first,
        .until = until,
        .kind = kind,
        .track = node->track,
        .numbers = {batch->exchange, batch->chunks, batch->bytes}};

    return trace_add_event(of->trace, &event, why);
}

/* The first chunk began before it was seen: the others count. */
static enum status close_received(struct recorded *of,
                                  struct recorded_node *node, struct why *why)
{
    struct batch *batch = &node->received;
    int64_t rate = rate_of((double)(batch->bytes - batch->first_bytes),
                           batch->last - batch->first);
    enum status status;

    if (!batch->open)
        return STATUS_OK;
    batch->open = false;
    status = add_batch(of, node, of->of_node ? TRACED_DOWNLOAD : TRACED_UPLOAD,
                       batch, batch->last, why);
    if (status != STATUS_OK || !rate)
        return status;
    return recorded_value(of, node->track,
                          of->of_node ? QUANTITY_DOWN : QUANTITY_UP,
                          batch->first, rate, why);
}

/* A node hands its chunks to the system at once: how fast they are is seen at
 * the hub only. */
static enum status close_sent_up(struct recorded *of,
                                 struct recorded_node *node, struct why *why)
{
    return add_batch(of, node, TRACED_UPLOAD, &node->sent, node->sent.last,
                     why);
}

/* What the node has had is known by its credit; the first one says when the
 * others began. */
static enum status close_sent_down(struct recorded *of,
                                   struct recorded_node *node, struct why *why)
{
    const struct batch *batch = &node->sent;
    nanos until = batch->credited ? batch->credit_last : batch->last;
    struct traced result = {.time = until,
                            .until = until,
                            .kind = TRACED_RESULT,
                            .track = node->track,
                            .numbers = {batch->exchange, batch->version}};
    enum status status =
        add_batch(of, node, TRACED_DOWNLOAD, batch, until, why);
    int64_t rate;

    if (status == STATUS_OK && batch->credited >= batch->bytes)
        status = trace_add_event(of->trace, &result, why);
    if (status != STATUS_OK || batch->credited > batch->bytes)
        return status;
    rate = rate_of((double)(batch->credited - batch->first_credit),
                   batch->credit_last - batch->credit);
    if (!rate)
        return STATUS_OK;
    return recorded_value(of, node->track, QUANTITY_DOWN, batch->first, rate,
                          why);
}

static enum status close_sent(struct recorded *of, struct recorded_node *node,
                              struct why *why)
{
    if (!node->sent.open)
        return STATUS_OK;
    node->sent.open = false;
    return of->of_node ? close_sent_up(of, node, why)
                       : close_sent_down(of, node, why);
}

static void grow(struct batch *batch, uint64_t bytes, nanos now)
{
    batch->chunks++;
    batch->bytes += bytes;
    batch->last = now;
}

static struct batch open_batch(const struct recorded *of, uint64_t exchange,
                               uint64_t bytes)
{
    return (struct batch){.open = true,
                          .exchange = exchange,
                          .first_bytes = bytes,
                          .first = of->now};
}

enum status recorded_receive(struct recorded *of, struct recorded_node *node,
                             uint64_t exchange, uint64_t bytes, struct why *why)
{
    enum status status = STATUS_OK;

    if (node->received.open && node->received.exchange != exchange)
        status = close_received(of, node, why);
    if (!node->received.open)
        node->received = open_batch(of, exchange, bytes);
    grow(&node->received, bytes, of->now);
    return status;
}

enum status recorded_send(struct recorded *of, struct recorded_node *node,
                          uint64_t exchange, uint64_t version, uint64_t bytes,
                          struct why *why)
{
    enum status status = STATUS_OK;

    if (node->sent.open && node->sent.exchange != exchange)
        status = close_sent(of, node, why);
    if (!node->sent.open)
        node->sent = open_batch(of, exchange, bytes);
    node->sent.version = version;
    grow(&node->sent, bytes, of->now);
    return status;
}

void recorded_credit(struct recorded *of, struct recorded_node *node,
                     uint64_t exchange, uint64_t bytes)
{
    struct batch *batch = &node->sent;

    if (!batch->open || batch->exchange != exchange || !bytes)
        return;
    if (!batch->credited) {
        batch->first_credit = bytes;
        batch->credit = of->now;
    }
    batch->credited += bytes;
    batch->credit_last = of->now;
}

/* ---- what nodes say ---- */

enum status recorded_score(struct recorded *of, struct recorded_node *node,
                           const struct fields *fields, struct why *why)
{
    int64_t score;

    if (!fields_rounded(fields, "score", 9, &score))
        return STATUS_OK; /* it has none, or is negative */
    return recorded_value(of, node->track, QUANTITY_SCORE, of->now, score, why);
}

enum status recorded_wait(struct recorded *of, struct recorded_node *node,
                          int64_t waited, struct why *why)
{
    const struct traced event = {.time = waited < of->now - node->wait_end
                                             ? of->now - waited
                                             : node->wait_end,
                                 .until = of->now,
                                 .kind = TRACED_WAIT,
                                 .track = node->track};

    node->wait_end = of->now;
    return trace_add_event(of->trace, &event, why);
}

enum status recorded_ping(struct recorded *of, struct recorded_node *node,
                          const struct recorded_ping *ping, struct why *why)
{
    enum status status =
        recorded_happens(of, node, TRACED_ITERATION, ping->iteration, 0, why);

    if (status == STATUS_OK && ping->round_trip > 0)
        status = recorded_value(of, node->track, QUANTITY_DELAY, of->now,
                                ping->round_trip / 2, why);
    if (status == STATUS_OK && ping->rate > 0)
        status = recorded_value(of, node->track, QUANTITY_STEP,
                                node->pinged ? node->at : of->now,
                                PART_WHOLE * SECOND / ping->rate, why);
    if (status == STATUS_OK && node->pinged && ping->waited > node->waited)
        /* a wait is told once it is over, in the PING that comes next */
        status = recorded_wait(of, node, ping->waited - node->waited, why);
    node->pinged = true;
    node->at = of->now;
    node->waited = ping->waited;
    return status;
}

enum status recorded_close(struct recorded *of, struct recorded_node *node,
                           struct why *why)
{
    enum status status = close_received(of, node, why);

    node->pinged &= of->of_node;
    return status == STATUS_OK ? close_sent(of, node, why) : status;
}

enum status recorded_leave(struct recorded *of, struct recorded_node *node,
                           struct why *why)
{
    enum status status = recorded_close(of, node, why);

    if (status == STATUS_OK && node->here)
        status = recorded_happens(of, node, TRACED_LEAVE, 0, 0, why);
    node->here = false;
    return status;
}
