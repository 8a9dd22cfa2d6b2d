/* An offer whose time is up: the deadline cut. What matters most is sent first;
 * what has not been sent when the trainer says so stays here, and what is here
 * of the result at i+d is all that is applied of it.
 *
 * What had been sent is merged or not, as the hub's verdict says. A result that
 * is void changes nothing; the next one of that chunk carries it. An offer of
 * which nothing could be sent yet is closed behind its first chunk, so that
 * each brings something, however short the time. */
#include <stdlib.h>

#include "core/need.h"
#include "node/state.h"

enum { MOST_RUNS = 64 };

struct rank {
    double squares;
    uint32_t chunk;
};

static int by_size(const void *one, const void *other)
{
    const struct rank *a = one, *b = other;

    if (a->squares < b->squares || a->squares > b->squares)
        return a->squares > b->squares ? -1 : 1;
    return a->chunk < b->chunk ? -1 : 1;
}

void flight_order(struct node *node, struct flight *flight)
{
    struct rank *ranks;
    uint32_t count = 0;

    if (node->welcome.miss != MISS_CUT || flight->order ||
        flight->snapshot.kind != EXCHANGE_DELTA)
        return;
    ranks = need_memory(flight->parts, sizeof *ranks);
    flight->order = need_memory(flight->parts, sizeof *flight->order);
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride)
        ranks[count++] = (struct rank){flight->chunks[i].squares, i};
    qsort(ranks, count, sizeof *ranks, by_size);
    for (uint32_t i = 0; i < count; i++)
        flight->order[i] = ranks[i].chunk;
    free(ranks);
}

/* Says to the hub what will not come, run by run. Control takes few messages
 * at a time: the last one may name some that are on their way, which are then
 * left out, too. */
static void say_closed(struct node *node, const struct flight *flight)
{
    struct msg msg = {.kind = MSG_CLOSE};
    unsigned runs = 0;

    msg.close.exchange = flight->snapshot.exchange;
    for (uint32_t i = flight->part.first; i < node->chunks;
         i += flight->part.stride) {
        const struct flight_chunk *place = &flight->chunks[i];
        bool closed = place->judged && place->verdict == VERDICT_EXPIRED;

        if (closed && !msg.close.chunks)
            msg.close.first = i;
        if (closed)
            msg.close.chunks = i - msg.close.first + 1;
        if (closed || !msg.close.chunks || runs == MOST_RUNS)
            continue;
        node_to_hub(node, &msg, NULL);
        msg.close.chunks = 0;
        runs++;
    }
    if (msg.close.chunks)
        node_to_hub(node, &msg, NULL);
}

void flight_close(struct node *node, struct flight *flight)
{
    if (!flight->closing || !flight->to_send ||
        flight->to_send == flight->parts)
        return;
    for (; flight->to_send < flight->parts; flight->to_send++)
        flight_judge(node, flight, flight_next_chunk(flight), VERDICT_EXPIRED,
                     1);
    say_closed(node, flight);
}

/* The hub may have let in as of this session what was offered in one before,
 * which the node has taken back when that broke. */
void flight_none(struct node *node, uint64_t exchange)
{
    struct msg msg = {.kind = MSG_CLOSE};

    msg.close.exchange = exchange;
    msg.close.chunks = node->chunks;
    node_to_hub(node, &msg, NULL);
}

void flight_waive(struct node *node, const struct flight *flight)
{
    struct msg msg = {.kind = MSG_WAIVE};

    msg.waive.exchange = flight->snapshot.exchange;
    if (flight->stage == FLIGHT_OFFERED || flight->stage == FLIGHT_GRANTED)
        node_to_hub(node, &msg, NULL);
}

void node_on_cut(struct node *node, const struct msg *msg,
                 struct blob *payload)
{
    struct flight *flight = flight_find(node, msg->cut.exchange);

    (void)payload;
    if (!flight || flight->snapshot.kind != EXCHANGE_DELTA ||
        flight->snapshot.last || flight->complete || flight->skipped)
        return;
    flight->closing = true;
    flight->cut = msg->cut.final;
    flight_close(node, flight);
    if (!flight->cut)
        return;
    flight_waive(node, flight);
    if (flight->arrived)
        result_hand_over(node, flight);
    else
        flight_forget(node, flight);
    results_advance(node);
}
