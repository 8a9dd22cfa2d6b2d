/* What a node's recording says of it, with the real times of its trainer: when
 * it offered and how many iterations it had done, when it was blocked, when its
 * answers were there. */
#include <string.h>

#include "sim/trace/recorded.h"

/* The peers that every node's machine has (seam/machine.h). */
enum { TRAINER = 1, CONTROL, BULK };

enum status recorded_begin_node(struct recorded *of, const struct fields *title,
                                struct why *why)
{
    char name[TRACE_NAME_BYTES];
    unsigned node = 0;
    enum status status;

    if (!fields_name(title, name))
        return fields_lack(title, "name", why);
    of->of_node = true;
    of->messages = recorded_node_messages;
    status = recorded_node(of, name, &node, why);
    for (uint64_t peer = TRAINER; peer <= BULK && status == STATUS_OK; peer++)
        status = recorded_add_peer(of, peer, node, why);
    if (status == STATUS_OK)
        status = trace_track(of->trace, name, &of->nodes[node].track, why);
    return status;
}

static enum status take_welcome(struct recorded *of,
                                const struct fields *fields, struct why *why)
{
    uint64_t session;

    if (!fields_count(fields, "session", &session))
        return fields_lack(fields, "session", why);
    return recorded_join(of, of->nodes, session, fields->peer, why);
}

/* ---- the trainer ---- */

/* The trainer offers, or says that it has nothing to offer: exchange 0. */
static enum status take_snapshot(struct recorded *of,
                                 const struct fields *fields, struct why *why)
{
    uint64_t exchange, iteration;
    enum status status;

    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "iteration", &iteration))
        return fields_lack(fields, "exchange or iteration", why);
    if (!exchange)
        return STATUS_OK;
    status =
        recorded_happens(of, of->nodes, TRACED_OFFER, exchange, iteration, why);
    if (status == STATUS_OK)
        status = recorded_score(of, of->nodes, fields, why);
    return status;
}

/* The mean time of the iterations since its last word, without waiting. */
static enum status add_step(struct recorded *of, uint64_t iterations,
                            int64_t waited, struct why *why)
{
    const struct recorded_node *node = of->nodes;
    nanos time = of->now - node->at;

    if (waited < node->waited || waited - node->waited > time)
        return STATUS_OK;
    time -= waited - node->waited;
    if (!iterations || iterations > (uint64_t)time)
        return STATUS_OK;
    return recorded_value(of, node->track, QUANTITY_STEP, node->at,
                          time / (int64_t)iterations, why);
}

static enum status take_progress(struct recorded *of,
                                 const struct fields *fields, struct why *why)
{
    struct recorded_node *node = of->nodes;
    uint64_t iteration, blocked;
    int64_t waited;
    enum status status = STATUS_OK;

    if (!fields_count(fields, "iteration", &iteration) ||
        !fields_count(fields, "blocked", &blocked) ||
        !fields_rounded(fields, "waited", 0, &waited))
        return fields_lack(fields, "iteration, blocked or waited", why);
    if (node->pinged && iteration >= node->iteration)
        status = add_step(of, iteration - node->iteration, waited, why);
    if (status == STATUS_OK && (!node->pinged || iteration != node->iteration))
        status =
            recorded_happens(of, node, TRACED_ITERATION, iteration, 0, why);
    if (status == STATUS_OK && node->blocked && !blocked)
        status = recorded_wait(of, node, of->now - node->at, why);
    node->pinged = true;
    node->at = of->now;
    node->iteration = iteration;
    node->waited = waited;
    node->blocked = blocked != 0;
    return status;
}

/* An answer is given to the trainer once all parts of it are there. */
static enum status take_apply(struct recorded *of, const struct fields *fields,
                              struct why *why)
{
    struct recorded_node *node = of->nodes;
    uint64_t exchange, parts, anchor;

    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "parts", &parts) ||
        !fields_count(fields, "anchor", &anchor))
        return fields_lack(fields, "exchange, parts or anchor", why);
    if (anchor)
        return STATUS_OK;
    if (node->exchange != exchange)
        node->parts = 0;
    node->exchange = exchange;
    if (++node->parts < parts)
        return STATUS_OK;
    node->parts = 0;
    return recorded_happens(of, node, TRACED_RESULT, exchange, node->version,
                            why);
}

/* ---- the hub ---- */

static enum status take_chunk(struct recorded *of, const struct fields *fields,
                              struct why *why)
{
    uint64_t exchange, bytes;

    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_payload(fields, &bytes))
        return fields_lack(fields, "exchange or payload", why);
    return recorded_send(of, of->nodes, exchange, 0, bytes, why);
}

static enum status take_result(struct recorded *of, const struct fields *fields,
                               struct why *why)
{
    uint64_t exchange, bytes;

    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "version", &of->nodes->version) ||
        !fields_payload(fields, &bytes))
        return fields_lack(fields, "exchange, version or payload", why);
    return recorded_receive(of, of->nodes, exchange, bytes, why);
}

static enum status take_ping(struct recorded *of, const struct fields *fields,
                             struct why *why)
{
    int64_t round_trip;

    if (!fields_rounded(fields, "round_trip", 0, &round_trip))
        return fields_lack(fields, "round_trip", why);
    if (!round_trip)
        return STATUS_OK;
    return recorded_value(of, of->nodes->track, QUANTITY_DELAY, of->now,
                          round_trip / 2, why);
}

const struct recorded_message recorded_node_messages[] = {
    {"welcome", true, take_welcome},     {"local_offer", true, take_snapshot},
    {"local_ping", true, take_progress}, {"result", true, take_result},
    {"local_result", false, take_apply}, {"chunk", false, take_chunk},
    {"ping", false, take_ping},          {NULL, false, NULL}};
