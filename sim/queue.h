/* The events to come, in the order of time: a heap.
 *
 * Two things at the same time happen in the order in which they were put in,
 * so that a run depends on nothing but its seed. Items are the world's; the
 * queue only orders them. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

struct queue_entry {
    nanos at;
    uint64_t order; /* of putting in */
    void *item;
};

/* Zeroed at first. */
struct queue {
    struct queue_entry *heap;
    size_t count, capacity;
    uint64_t order;
};

void queue_put(struct queue *queue, nanos at, void *item);
/* Whether a comes first. */
static inline bool queue_before(const struct queue_entry *a,
                                const struct queue_entry *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

/* A place among what is put in, for something that is kept elsewhere. */
uint64_t queue_order(struct queue *queue);
/* The time of the first item, NEVER when there is none. */
nanos queue_next(const struct queue *queue);
/* Takes the first item out; NULL when there is none. */
void *queue_pop(struct queue *queue, nanos *at);
/* Frees the queue; its items must have been taken. */
void queue_free(struct queue *queue);

#endif
