#include "sim/queue.h"

#include <assert.h>
#include <stdlib.h>

/* Of a place in the heap: fewer levels, and they lie side by side. */
enum { CHILDREN = 4 };

uint64_t queue_order(struct queue *queue)
{
    return queue->order++;
}

void queue_put(struct queue *queue, nanos at, void *item)
{
    const struct queue_entry entry = {at, queue_order(queue), item};
    struct queue_entry *heap;
    size_t i = queue->count, parent;

    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 64;
        queue->heap =
            realloc(queue->heap, queue->capacity * sizeof *queue->heap);
        if (!queue->heap)
            abort();
    }
    heap = queue->heap;
    queue->count++;
    for (; i > 0; i = parent) {
        parent = (i - 1) / CHILDREN;
        if (!queue_before(&entry, &heap[parent]))
            break;
        heap[i] = heap[parent];
    }
    heap[i] = entry;
}

nanos queue_next(const struct queue *queue)
{
    return queue->count ? queue->heap[0].at : NEVER;
}

/* The first of the children of a place; count: it has none. */
static size_t first_child(const struct queue *queue, size_t place)
{
    size_t first = CHILDREN * place + 1, best = first;

    if (first >= queue->count)
        return queue->count;
    for (size_t i = first + 1; i < queue->count && i < first + CHILDREN; i++)
        if (queue_before(&queue->heap[i], &queue->heap[best]))
            best = i;
    return best;
}

void *queue_pop(struct queue *queue, nanos *at)
{
    struct queue_entry *heap = queue->heap;
    struct queue_entry first, last;
    size_t i = 0, child;

    if (queue->count == 0)
        return NULL;
    first = heap[0];
    last = heap[--queue->count];
    for (; (child = first_child(queue, i)) < queue->count; i = child) {
        if (!queue_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    *at = first.at;
    return first.item;
}

void queue_free(struct queue *queue)
{
    assert(queue->count == 0);
    free(queue->heap);
    *queue = (struct queue){0};
}
