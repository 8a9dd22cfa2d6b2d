/* The inside of a port, for port.c (sending and rates): streams of one cap, and
 * the lists of such classes. */
#ifndef SIM_PORT_CLASS_H
#define SIM_PORT_CLASS_H

#include <stddef.h>
#include <stdint.h>

struct class;

struct load {
    void *item;
    double bytes;
    struct load *next;
};

struct stream {
    struct class *class;
    struct load *first, *last; /* that wait; `first` is being sent */
    double through; /* count of its class at which `first` is through */
    uint64_t order; /* since when it has something to send: for ties */
    size_t place;   /* in its class's heap */
};

/* Streams of one cap. */
struct class
{
    double cap, rate; /* bytes per second of each stream */
    double served;    /* bytes, of each stream that sends, up to port->now */
    struct stream **heap; /* those that send, by `through` */
    size_t count, capacity;
    size_t streams; /* with those that do not */
};

/* By cap, ascending. */
struct classes {
    struct class **list;
    size_t count, room;
};

/* Nobody sends any more. */
void class_destroy(struct class *class);
/* The heap of a class: a stream begins to send, or ends; its `through` is less
 * than before, or more. */
void class_insert(struct class *class, struct stream *stream);
void class_remove(struct class *class, struct stream *stream);
void class_rise(struct class *class, struct stream *stream);
void class_sink(struct class *class, struct stream *stream);

/* The place of the first class whose cap is not below this one. */
size_t classes_place(const struct classes *classes, double cap);
void classes_add(struct classes *classes, struct class *class);
void classes_drop(struct classes *classes, const struct class *class);

#endif
