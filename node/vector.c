#include "node/vector.h"

#include <string.h>

#include "core/schema.h"

float *span_at(const struct span *spans, size_t at, size_t *count)
{
    size_t left;

    while (at >= spans->count)
        at -= spans++->count;
    left = spans->count - at;
    if (*count > left)
        *count = left;
    return spans->values ? spans->values + at : NULL;
}

size_t fragment_elements(struct fragment fragment, size_t elements,
                         uint32_t chunk_elements)
{
    uint32_t chunks = chunks_of(elements, chunk_elements);
    uint32_t held = fragment_chunks(fragment, chunks);
    size_t last = chunk_length(elements, chunk_elements, chunks - 1);

    if (!held)
        return 0;
    return fragment_holds(fragment, chunks - 1)
               ? (size_t)(held - 1) * chunk_elements + last
               : (size_t)held * chunk_elements;
}

/* Elements [at, end), in as few pieces as they lie in: above some size memcpy
 * writes around the cache. */
static void copy(const struct span *spans, size_t at, size_t end, float *to)
{
    while (at < end) {
        size_t count = end - at;
        const float *from = span_at(spans, at, &count);

        memcpy(to, from, count * sizeof *to);
        to += count;
        at += count;
    }
}

void fragment_copy(struct fragment fragment, size_t elements,
                   uint32_t chunk_elements, const struct span *spans, float *to)
{
    uint32_t chunks = chunks_of(elements, chunk_elements);

    if (fragment.stride == 1) {
        copy(spans, 0, elements, to);
        return;
    }
    for (uint32_t i = fragment.first; i < chunks; i += fragment.stride) {
        size_t at = (size_t)i * chunk_elements;
        size_t end = at + chunk_length(elements, chunk_elements, i);

        copy(spans, at, end, to);
        to += end - at;
    }
}
