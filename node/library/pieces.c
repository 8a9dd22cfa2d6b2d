/* Parameters in pieces, copied and moved without a call for each. */
#include <starswitch_pieces.h>
#include <stdlib.h>
#include <string.h>

#include "node/library/inside.h"

void star_gather(const float *const *pieces, const uint64_t *lengths,
                 size_t count, float *values)
{
    for (size_t i = 0; i < count; i++) {
        if (pieces[i])
            memcpy(values, pieces[i], (size_t)lengths[i] * sizeof *values);
        values += lengths[i];
    }
}

static void move(float *piece, size_t length, float keep, float scale,
                 const float *values)
{
    if (keep == 0)
        for (size_t i = 0; i < length; i++)
            piece[i] = scale * values[i];
    else if (keep == 1)
        for (size_t i = 0; i < length; i++)
            piece[i] += scale * values[i];
    else
        for (size_t i = 0; i < length; i++)
            piece[i] = keep * piece[i] + scale * values[i];
}

void star_scatter(double keep, double scale, const float *values,
                  float *const *pieces, const uint64_t *lengths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)lengths[i];

        if (pieces[i])
            move(pieces[i], length, (float)keep, (float)scale, values);
        values += length;
    }
}

/* Adds elements [at, end) of the tensors. */
static struct span *add_tensors(const struct star_link *link,
                                struct span *spans, size_t at, size_t end)
{
    while (at < end) {
        size_t count = end - at;
        float *values = span_at(link->values, at, &count);

        *spans++ = (struct span){values, count};
        at += count;
    }
    return spans;
}

/* The flat vector as it lies in pieces, and behind them in tensors. False: the
 * pieces are longer than it. */
static bool describe(const struct star_link *link, const float *const *pieces,
                     const uint64_t *lengths, size_t count, struct span *spans)
{
    size_t elements = (size_t)link->schema->elements, at = 0;

    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)lengths[i];

        if (lengths[i] > elements - at)
            return false;
        if (!pieces[i])
            spans = add_tensors(link, spans, at, at + length);
        else if (length)
            *spans++ = (struct span){(float *)pieces[i], length};
        at += length;
    }
    (void)add_tensors(link, spans, at, elements);
    return true;
}

enum star_status star_offer_pieces(struct star_link *link, uint64_t iteration,
                                   const float *const *pieces,
                                   const uint64_t *lengths, size_t count)
{
    enum star_status status = STAR_BAD_ARGUMENT;
    struct span *spans;

    if (!link)
        return STAR_OK;
    spans = calloc(2 * count + link->count, sizeof *spans);
    if (!spans)
        return STAR_NO_MEMORY;
    if (describe(link, pieces, lengths, count, spans))
        status = link_give(link, iteration, spans);
    free(spans);
    return status;
}
