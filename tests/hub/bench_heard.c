/* What a guest of the bench has heard. */
#include <math.h>

#include "tests/hub/bench.h"

static peer_id peer_for(const struct guest *guest, enum msg_kind kind)
{
    return msg_info(kind)->channel == CHANNEL_BULK ? guest->bulk
                                                   : guest->control;
}

const struct msg *guest_heard(const struct bench *bench,
                              const struct guest *guest, enum msg_kind kind)
{
    const struct hand_sent *sent =
        hand_last(&bench->hand, peer_for(guest, kind), kind);

    return sent ? &sent->msg : NULL;
}

enum farewell guest_farewell(const struct bench *bench,
                             const struct guest *guest)
{
    const struct msg *bye = guest_heard(bench, guest, MSG_BYE);

    return bye ? bye->bye.farewell : FAREWELL_COUNT;
}

unsigned guest_heard_count(const struct bench *bench, const struct guest *guest,
                           enum msg_kind kind)
{
    return hand_count(&bench->hand, peer_for(guest, kind), kind);
}

static const struct hand_sent *find_result(const struct bench *bench,
                                           const struct guest *guest,
                                           uint64_t exchange, uint32_t chunk)
{
    for (unsigned i = bench->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &bench->hand.sent[i - 1];

        if (sent->peer == guest->bulk && sent->msg.kind == MSG_RESULT &&
            sent->msg.result.exchange == exchange &&
            sent->msg.result.chunk == chunk)
            return sent;
    }
    return NULL;
}

double guest_result(const struct bench *bench, const struct guest *guest,
                    uint64_t exchange, uint32_t chunk)
{
    const struct hand_sent *sent = find_result(bench, guest, exchange, chunk);

    return sent ? hand_float(sent->payload, 0) : (double)NAN;
}

enum verdict guest_verdict(const struct bench *bench, const struct guest *guest,
                           uint64_t exchange, uint32_t chunk)
{
    const struct hand_sent *result = find_result(bench, guest, exchange, chunk);

    if (result)
        return result->msg.result.verdict;
    for (unsigned i = bench->hand.sent_count; i > 0; i--) {
        const struct hand_sent *sent = &bench->hand.sent[i - 1];
        const struct msg_verdict *verdict = &sent->msg.verdict;

        if (sent->peer == guest->control && sent->msg.kind == MSG_VERDICT &&
            verdict->exchange == exchange && chunk >= verdict->first &&
            chunk - verdict->first < verdict->chunks)
            return verdict->verdict;
    }
    return VERDICT_COUNT;
}
