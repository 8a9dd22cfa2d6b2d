/* What is owed of gradients, e: what a codec has left out, or nobody has
 * merged.
 *
 * One that a break has taken is offered again, with the next one. One that
 * comes too late, or is not wanted, is dropped, as it is of a step that others
 * have made without it; what it carries of those before is not. */
#include "node/state.h"

void gradient_judged(struct node *node, const struct flight *flight,
                     uint32_t chunk, enum verdict verdict)
{
    const struct flight_chunk *place = &flight->chunks[chunk];
    struct sum *residual = &node->residual[chunk];
    bool again = verdict == VERDICT_LOST || verdict == VERDICT_CORRUPT;

    if (flight->snapshot.kind != EXCHANGE_GRADIENT || flight->obsolete ||
        !place->encoded || verdict == VERDICT_MERGED ||
        (!again && !place->taken))
        return;
    sum_add(residual, place->encoded, 1, flight->codec);
    if (!again)
        sum_add(residual, place->taken, -1, CODEC_RAW);
}

double node_owes(const struct node *node, uint64_t element)
{
    uint32_t length = node->chunk_elements;
    uint32_t chunk = length ? (uint32_t)(element / length) : 0;
    size_t at = length ? (size_t)(element % length) : 0;
    struct extent extent;
    double owed;

    if (!node->residual)
        return 0;
    extent = node_extent(node, chunk);
    owed = sum_at(&node->residual[chunk], &extent, at);
    for (const struct flight *flight = node->flights; flight;
         flight = flight->next) {
        struct input given = {flight->chunks[chunk].encoded, 1, flight->codec};
        struct sum sum = {.count = 1, .term = &given};

        if (given.blob && flight->snapshot.kind == EXCHANGE_GRADIENT)
            owed += sum_at(&sum, &extent, at);
    }
    return owed;
}
