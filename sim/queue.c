#include "sim/queue.h"

#include <assert.h>
#include <stdlib.h>

static bool before(const struct queue_entry *a, const struct queue_entry *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap(struct queue_entry *a, struct queue_entry *b)
{
    struct queue_entry kept = *a;

    *a = *b;
    *b = kept;
}

void queue_put(struct queue *queue, nanos at, void *item)
{
    struct queue_entry *heap;
    size_t i = queue->count;

    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 64;
        queue->heap =
            realloc(queue->heap, queue->capacity * sizeof *queue->heap);
        if (!queue->heap)
            abort();
    }
    heap = queue->heap;
    heap[queue->count++] = (struct queue_entry){at, queue->order++, item};
    while (i > 0 && before(&heap[i], &heap[(i - 1) / 2])) {
        swap(&heap[i], &heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

nanos queue_next(const struct queue *queue)
{
    return queue->count ? queue->heap[0].at : NEVER;
}

void *queue_take(struct queue *queue, nanos *at)
{
    struct queue_entry *heap = queue->heap;
    struct queue_entry first;
    size_t i = 0;

    if (queue->count == 0)
        return NULL;
    first = heap[0];
    heap[0] = heap[--queue->count];
    for (size_t child = 1; child < queue->count; child = 2 * i + 1) {
        if (child + 1 < queue->count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &heap[i]))
            break;
        swap(&heap[child], &heap[i]);
        i = child;
    }
    *at = first.at;
    return first.item;
}

void queue_free(struct queue *queue)
{
    assert(queue->count == 0);
    free(queue->heap);
    *queue = (struct queue){0};
}
