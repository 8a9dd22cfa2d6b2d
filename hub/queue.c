/* Which round merges a chunk next. Each chunk has its own queue of rounds, so
 * that it takes no longer with a thousand rounds under way than with one. */
#include "hub/state.h"

/* A round may merge the chunk: it stands behind older ones. */
static void enqueue(struct hub *hub, struct round *round, uint32_t chunk)
{
    struct round **link = &hub->centre.chunk[chunk].ready;

    while (*link && (*link)->number < round->number)
        link = &(*link)->chunks[chunk].next;
    round->chunks[chunk].next = *link;
    *link = round;
    bitset_set(&hub->centre.ready, (int)chunk, true);
    hub->dirty |= DIRTY_CENTRE;
}

static bool is_awaited(const struct contribution *contribution,
                       uint32_t chunk)
{
    enum chunk_state state = contribution->chunks[chunk].state;

    return state == CHUNK_EXPECTED || state == CHUNK_CHECKING;
}

void round_gather(struct hub *hub, struct round *round)
{
    EACH_OFFER(round, one)
        for (uint32_t j = 0; j < hub->centre.count; j++)
            round->chunks[j].awaited += is_awaited(one, j);
    for (uint32_t j = 0; j < hub->centre.count; j++)
        if (!round->chunks[j].awaited)
            enqueue(hub, round, j);
    round->state = ROUND_SETTLED;
}

void chunk_here(struct hub *hub, struct contribution *contribution,
                uint32_t chunk)
{
    struct round *round = contribution->round;

    if (round && round->state == ROUND_SETTLED &&
        !--round->chunks[chunk].awaited)
        enqueue(hub, round, chunk);
}

struct round *chunk_next(struct hub *hub, uint32_t chunk)
{
    struct round *round = hub->centre.chunk[chunk].ready;

    if (!round)
        return NULL;
    hub->centre.chunk[chunk].ready = round->chunks[chunk].next;
    return round;
}

void chunk_done(struct hub *hub, struct round *round, uint32_t chunk)
{
    struct round **link = &hub->rounds.over;

    round->chunks[chunk].done = true;
    hub->rounds.merging += !round->merged++;
    if (round->merged < hub->centre.count)
        return;
    while (*link && (*link)->number < round->number)
        link = &(*link)->next_over;
    round->next_over = *link;
    *link = round;
    hub->dirty |= DIRTY_CENTRE;
}
