/* What a fake node has heard. */
#include <math.h>

#include "tests/hub/hub_fixture.h"

static peer_id peer_for(const struct fake_node *node, enum msg_kind kind)
{
    return msg_info(kind)->channel == CHANNEL_BULK ? node->bulk : node->control;
}

const struct msg *fake_node_heard(const struct hub_fixture *f,
                                  const struct fake_node *node,
                                  enum msg_kind kind)
{
    const struct hand_sent *sent =
        hand_last(&f->hand, peer_for(node, kind), kind);

    return sent ? &sent->msg : NULL;
}

enum farewell fake_node_farewell(const struct hub_fixture *f,
                                 const struct fake_node *node)
{
    const struct msg *bye = fake_node_heard(f, node, MSG_BYE);

    return bye ? bye->bye.farewell : FAREWELL_COUNT;
}

unsigned fake_node_heard_count(const struct hub_fixture *f,
                               const struct fake_node *node, enum msg_kind kind)
{
    return hand_count(&f->hand, peer_for(node, kind), kind);
}

static const struct hand_sent *find_result(const struct hub_fixture *f,
                                           const struct fake_node *node,
                                           uint64_t exchange, uint32_t chunk)
{
    for (unsigned i = f->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &f->hand.sent[i - 1];

        if (sent->peer == node->bulk && sent->msg.kind == MSG_RESULT &&
            sent->msg.result.exchange == exchange &&
            sent->msg.result.chunk == chunk)
            return sent;
    }
    return NULL;
}

double fake_node_result(const struct hub_fixture *f,
                        const struct fake_node *node, uint64_t exchange,
                        uint32_t chunk)
{
    const struct hand_sent *sent = find_result(f, node, exchange, chunk);

    return sent ? hand_float(sent->payload, 0) : (double)NAN;
}

enum verdict fake_node_verdict(const struct hub_fixture *f,
                               const struct fake_node *node, uint64_t exchange,
                               uint32_t chunk)
{
    const struct hand_sent *result = find_result(f, node, exchange, chunk);

    if (result)
        return result->msg.result.verdict;
    for (unsigned i = f->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &f->hand.sent[i - 1];
        const struct msg_verdict *verdict = &sent->msg.verdict;

        if (sent->peer == node->control && sent->msg.kind == MSG_VERDICT &&
            verdict->exchange == exchange && chunk >= verdict->first &&
            chunk - verdict->first < verdict->chunks)
            return verdict->verdict;
    }
    return VERDICT_COUNT;
}
