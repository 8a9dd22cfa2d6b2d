#include "sim/port_class.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void class_destroy(struct class *class)
{
    assert(!class->count);
    free(class->heap);
    free(class);
}

/* ---- lists of classes ---- */

size_t classes_place(const struct classes *classes, double cap)
{
    size_t first = 0, end = classes->count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (classes->list[middle]->cap < cap)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void classes_add(struct classes *classes, struct class *class)
{
    size_t place = classes_place(classes, class->cap);

    if (classes->count == classes->room) {
        classes->room = 2 * classes->room + 8;
        classes->list =
            realloc(classes->list, classes->room * sizeof(struct class *));
        if (!classes->list)
            abort();
    }
    memmove(classes->list + place + 1, classes->list + place,
            (classes->count++ - place) * sizeof(struct class *));
    classes->list[place] = class;
}

void classes_drop(struct classes *classes, const struct class *class)
{
    size_t place = classes_place(classes, class->cap);

    memmove(classes->list + place, classes->list + place + 1,
            (--classes->count - place) * sizeof(struct class *));
}

/* ---- a heap of streams by when they are through ---- */

static bool is_before(const struct stream *one, const struct stream *other)
{
    if (one->through < other->through || one->through > other->through)
        return one->through < other->through;
    return one->order < other->order;
}

static void put(struct class *class, size_t place, struct stream *stream)
{
    class->heap[place] = stream;
    stream->place = place;
}

void class_rise(struct class *class, struct stream *stream)
{
    size_t place = stream->place;

    while (place && is_before(stream, class->heap[(place - 1) / 2])) {
        put(class, place, class->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(class, place, stream);
}

void class_sink(struct class *class, struct stream *stream)
{
    size_t place = stream->place;

    for (;;) {
        size_t child = 2 * place + 1;

        if (child + 1 < class->count &&
            is_before(class->heap[child + 1], class->heap[child]))
            child++;
        if (child >= class->count || !is_before(class->heap[child], stream))
            break;
        put(class, place, class->heap[child]);
        place = child;
    }
    put(class, place, stream);
}

void class_insert(struct class *class, struct stream *stream)
{
    if (class->count == class->capacity) {
        class->capacity = class->capacity ? 2 * class->capacity : 8;
        class->heap =
            realloc(class->heap, class->capacity * sizeof(struct stream *));
        if (!class->heap)
            abort();
    }
    stream->place = class->count++;
    class_rise(class, stream);
}

void class_remove(struct class *class, struct stream *stream)
{
    struct stream *last = class->heap[--class->count];

    if (last == stream)
        return;
    last->place = stream->place;
    class_rise(class, last);
    class_sink(class, last);
}
