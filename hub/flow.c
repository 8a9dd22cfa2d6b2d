/* Uploads on credit.
 *
 * Credit is in bytes of payload. Whoever has some left, however little, may
 * send one more payload; what that takes beyond is owed. So no window is too
 * small for a payload, and none can make both sides wait for each other: when
 * nothing is on its way the whole window is left. A window of one payload's
 * size lets one at a time through. The hub gives credit back for what it is
 * done with, to the byte. */
#include "hub/state.h"

uint64_t flow_window(const struct hub *hub)
{
    return hub->config.window;
}

uint32_t flow_window_chunks(const struct hub *hub)
{
    uint64_t chunk = (uint64_t)hub->config.chunk_elements * sizeof(float);
    uint64_t chunks = flow_window(hub) / chunk;

    return chunks < 1                   ? 1
           : chunks < SCHEMA_MAX_CHUNKS ? (uint32_t)chunks
                                        : (uint32_t)SCHEMA_MAX_CHUNKS;
}

/* What the loan may come to. No codec makes a chunk longer than its values
 * are, or the last one is sent on what is left. */
static int64_t most(const struct hub *hub, const struct loan *loan)
{
    uint64_t chunk = (uint64_t)hub->config.chunk_elements * sizeof(float);

    return (int64_t)(loan->whole ? hub->chunks * chunk : flow_window(hub));
}

void flow_open(struct hub *hub, struct member *member, uint64_t exchange,
               struct loan *loan, bool whole)
{
    struct msg msg = {.kind = MSG_GRANT};

    loan->whole = whole;
    loan->out = most(hub, loan);
    msg.grant.exchange = exchange;
    msg.grant.credit = (uint64_t)loan->out;
    member_send(hub, member, &msg);
}

void flow_return(struct hub *hub, struct member *member, uint64_t exchange,
                 struct loan *loan, uint64_t bytes)
{
    struct msg msg = {.kind = MSG_CREDIT};

    loan->out -= (int64_t)bytes;
    if (loan->whole || loan->out >= most(hub, loan))
        return;
    msg.credit.exchange = exchange;
    msg.credit.more = (uint64_t)(most(hub, loan) - loan->out);
    loan->out += (int64_t)msg.credit.more;
    member_send(hub, member, &msg);
}
