#include "trace/recorded.h"

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
                              bool control, struct why *why)
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
    *peer = (struct recorded_peer){id, node, control};
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

enum status recorded_happens(struct recorded *of, struct recorded_node *node,
                             enum traced_kind kind, uint64_t first,
                             uint64_t second, struct why *why)
{
    const struct traced event = {.time = of->now, .until = of->now,
                                 .kind = kind, .track = node->track,
                                 .numbers = {first, second}};

    return trace_add_event(of->trace, &event, why);
}

enum status recorded_join(struct recorded *of, struct recorded_node *node,
                          uint64_t session, struct why *why)
{
    enum status status = trace_track(of->trace, node->name, &node->track, why);

    if (status != STATUS_OK || (node->here && node->session == session))
        return status;
    node->session = session;
    node->here = true;
    node->pinged = false;
    return recorded_happens(of, node, TRACED_JOIN, 0, 0, why);
}

/* Adds a value, unless it holds already or the series is beyond its time. */
static enum status add_value(struct recorded *of, struct recorded_node *node,
                             enum quantity quantity, nanos time, int64_t value,
                             struct why *why)
{
    const struct trace_series *series = &node->track->series[quantity];
    const struct series_point *last =
        series->count ? &series->points[series->count - 1] : NULL;

    if (last && (last->time >= time || last->value == value))
        return STATUS_OK;
    return trace_add_value(of->trace, node->track, quantity, time, value, why);
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
        .time = batch->first, .until = until, .kind = kind,
        .track = node->track,
        .numbers = {batch->exchange, batch->chunks, batch->bytes}};

    return trace_add_event(of->trace, &event, why);
}

/* The first chunk began before it was seen: the others count. */
static enum status close_upload(struct recorded *of, struct recorded_node *node,
                                struct why *why)
{
    struct batch *batch = &node->up;
    int64_t rate = rate_of((double)(batch->bytes - batch->first_bytes),
                           batch->last - batch->first);
    enum status status;

    if (!batch->open)
        return STATUS_OK;
    batch->open = false;
    status = add_batch(of, node, TRACED_UPLOAD, batch, batch->last, why);
    if (status != STATUS_OK || !rate)
        return status;
    return add_value(of, node, QUANTITY_UP, batch->first, rate, why);
}

/* What the node has had is known by its credit; the first one says when the
 * others began. */
static enum status close_download(struct recorded *of,
                                  struct recorded_node *node, struct why *why)
{
    struct batch *batch = &node->down;
    nanos until = batch->credited ? batch->credit_last : batch->last;
    struct traced result = {.time = until, .until = until,
                            .kind = TRACED_RESULT, .track = node->track,
                            .numbers = {batch->exchange, batch->version}};
    int64_t rate;
    enum status status;

    if (!batch->open)
        return STATUS_OK;
    batch->open = false;
    status = add_batch(of, node, TRACED_DOWNLOAD, batch, until, why);
    if (status == STATUS_OK && batch->credited >= batch->bytes)
        status = trace_add_event(of->trace, &result, why);
    if (status != STATUS_OK || batch->credited > batch->bytes)
        return status;
    rate = rate_of((double)(batch->credited - batch->first_credit),
                   batch->credit_last - batch->credit);
    if (!rate)
        return STATUS_OK;
    return add_value(of, node, QUANTITY_DOWN, batch->first, rate, why);
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
    return (struct batch){.open = true, .exchange = exchange,
                          .first_bytes = bytes, .first = of->now};
}

enum status recorded_upload(struct recorded *of, struct recorded_node *node,
                            uint64_t exchange, uint64_t bytes, struct why *why)
{
    enum status status = STATUS_OK;

    if (node->up.open && node->up.exchange != exchange)
        status = close_upload(of, node, why);
    if (!node->up.open)
        node->up = open_batch(of, exchange, bytes);
    grow(&node->up, bytes, of->now);
    return status;
}

enum status recorded_download(struct recorded *of, struct recorded_node *node,
                              uint64_t exchange, uint64_t version,
                              uint64_t bytes, struct why *why)
{
    enum status status = STATUS_OK;

    if (node->down.open && node->down.exchange != exchange)
        status = close_download(of, node, why);
    if (!node->down.open)
        node->down = open_batch(of, exchange, bytes);
    node->down.version = version;
    grow(&node->down, bytes, of->now);
    return status;
}

void recorded_credit(struct recorded *of, struct recorded_node *node,
                     uint64_t exchange, uint64_t bytes)
{
    struct batch *batch = &node->down;

    if (!batch->open || batch->exchange != exchange || !bytes)
        return;
    if (!batch->credited) {
        batch->first_credit = bytes;
        batch->credit = of->now;
    }
    batch->credited += bytes;
    batch->credit_last = of->now;
}

/* ---- pings ---- */

/* A wait is told once it is over, in the PING that comes next. */
static enum status add_wait(struct recorded *of, struct recorded_node *node,
                            int64_t waited, struct why *why)
{
    const struct traced event = {
        .time = waited < of->now - node->wait_end ? of->now - waited
                                                  : node->wait_end,
        .until = of->now, .kind = TRACED_WAIT, .track = node->track};

    node->wait_end = of->now;
    return trace_add_event(of->trace, &event, why);
}

enum status recorded_ping(struct recorded *of, struct recorded_node *node,
                          const struct recorded_ping *ping, struct why *why)
{
    enum status status = recorded_happens(of, node, TRACED_ITERATION,
                                          ping->iteration, 0, why);

    if (status == STATUS_OK && ping->round_trip > 0)
        status = add_value(of, node, QUANTITY_DELAY, of->now,
                           ping->round_trip / 2, why);
    if (status == STATUS_OK && ping->rate > 0)
        status = add_value(of, node, QUANTITY_STEP,
                           node->pinged ? node->at : of->now,
                           PART_WHOLE * SECOND / ping->rate, why);
    if (status == STATUS_OK && node->pinged && ping->waited > node->waited)
        status = add_wait(of, node, ping->waited - node->waited, why);
    node->pinged = true;
    node->at = of->now;
    node->waited = ping->waited;
    return status;
}

enum status recorded_close(struct recorded *of, struct recorded_node *node,
                           struct why *why)
{
    enum status status = close_upload(of, node, why);

    node->pinged = false;
    return status == STATUS_OK ? close_download(of, node, why) : status;
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
