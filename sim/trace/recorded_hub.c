/* What a hub's recording says of each node: who joined when, offers, chunks
 * each way, answers, and what PING says. Results are seen when the node gives
 * credit for them. Rates are those that chunks have reached, which are at most
 * those of the link. */
#include <string.h>

#include "sim/trace/recorded.h"

static enum status take_hello(struct recorded *of, const struct fields *fields,
                              struct why *why)
{
    char name[TRACE_NAME_BYTES];
    unsigned node = 0;
    enum status status;

    if (!fields_name(fields, name))
        return fields_lack(fields, "name", why);
    status = recorded_node(of, name, &node, why);
    if (status == STATUS_OK)
        status = recorded_add_peer(of, fields->peer, node, why);
    return status;
}

static enum status take_welcome(struct recorded *of,
                                const struct fields *fields, struct why *why)
{
    const struct recorded_peer *peer = recorded_peer(of, fields->peer);
    uint64_t session;

    if (!peer)
        return STATUS_OK;
    if (!fields_count(fields, "session", &session))
        return fields_lack(fields, "session", why);
    return recorded_join(of, &of->nodes[peer->node], session, fields->peer,
                         why);
}

static enum status take_attach(struct recorded *of, const struct fields *fields,
                               struct why *why)
{
    uint64_t session;

    if (!fields_count(fields, "session", &session))
        return fields_lack(fields, "session", why);
    for (unsigned i = 0; i < of->node_count; i++)
        if (of->nodes[i].here && of->nodes[i].session == session)
            return recorded_add_peer(of, fields->peer, i, why);
    return STATUS_OK;
}

static enum status take_offer(struct recorded *of, const struct fields *fields,
                              struct why *why)
{
    struct recorded_node *node = recorded_node_of(of, fields->peer);
    uint64_t exchange, iteration;
    enum status status;

    if (!node)
        return STATUS_OK;
    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "iteration", &iteration))
        return fields_lack(fields, "exchange or iteration", why);
    status = recorded_happens(of, node, TRACED_OFFER, exchange, iteration, why);
    if (status == STATUS_OK)
        status = recorded_score(of, node, fields, why);
    return status;
}

static enum status take_chunk(struct recorded *of, const struct fields *fields,
                              struct why *why)
{
    struct recorded_node *node = recorded_node_of(of, fields->peer);
    uint64_t exchange, bytes;

    if (!node)
        return STATUS_OK;
    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_payload(fields, &bytes))
        return fields_lack(fields, "exchange or payload", why);
    return recorded_receive(of, node, exchange, bytes, why);
}

static enum status take_result(struct recorded *of, const struct fields *fields,
                               struct why *why)
{
    struct recorded_node *node = recorded_node_of(of, fields->peer);
    uint64_t exchange, version, bytes;

    if (!node)
        return STATUS_OK;
    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "version", &version) ||
        !fields_payload(fields, &bytes))
        return fields_lack(fields, "exchange, version or payload", why);
    return recorded_send(of, node, exchange, version, bytes, why);
}

static enum status take_credit(struct recorded *of, const struct fields *fields,
                               struct why *why)
{
    struct recorded_node *node = recorded_node_of(of, fields->peer);
    uint64_t exchange, bytes;

    if (!node)
        return STATUS_OK;
    if (!fields_count(fields, "exchange", &exchange) ||
        !fields_count(fields, "more", &bytes))
        return fields_lack(fields, "exchange or more", why);
    if (bytes <= (uint64_t)1 << 40)
        recorded_credit(of, node, exchange, bytes);
    return STATUS_OK;
}

static enum status take_ping(struct recorded *of, const struct fields *fields,
                             struct why *why)
{
    struct recorded_node *node = recorded_node_of(of, fields->peer);
    struct recorded_ping ping;

    if (!node)
        return STATUS_OK;
    if (!fields_rounded(fields, "round_trip", 0, &ping.round_trip) ||
        !fields_rounded(fields, "waited", 0, &ping.waited) ||
        !fields_rounded(fields, "rate", 9, &ping.rate) ||
        !fields_count(fields, "iteration", &ping.iteration))
        return fields_lack(fields, "round_trip, waited, rate or iteration",
                           why);
    return recorded_ping(of, node, &ping, why);
}

const struct recorded_message recorded_hub_messages[] = {
    {"hello", true, take_hello},
    {"attach", true, take_attach},
    {"offer", true, take_offer},
    {"chunk", true, take_chunk},
    {"credit", true, take_credit},
    {"ping", true, take_ping},
    {"welcome", false, take_welcome},
    {"result", false, take_result},
    {NULL, false, NULL}};
