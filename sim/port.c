#include "sim/port.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No limit, as a rate: everything is through at once. */
#define UNLIMITED HUGE_VAL

struct load {
    void *item;
    double bytes;
    struct load *next;
};

struct class;

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
    size_t streams;     /* with those that do not */
    struct class *next; /* by cap, ascending */
};

struct port {
    double capacity;
    nanos now;
    uint64_t order;
    struct class *classes;
};

static double rate_of(uint64_t bytes_per_second)
{
    if (bytes_per_second == PORT_STOPPED)
        return 0;
    return bytes_per_second ? (double)bytes_per_second : UNLIMITED;
}

struct port *port_new(uint64_t capacity)
{
    struct port *port = calloc(1, sizeof *port);

    if (!port)
        abort();
    port->capacity = rate_of(capacity);
    return port;
}

static void class_destroy(struct class *class)
{
    assert(!class->count);
    free(class->heap);
    free(class);
}

void port_destroy(struct port **reference)
{
    struct port *port = *reference;

    *reference = NULL;
    while (port && port->classes) {
        struct class *class = port->classes;

        port->classes = class->next;
        class_destroy(class);
    }
    free(port);
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

static void rise(struct class *class, struct stream *stream)
{
    size_t place = stream->place;

    while (place && is_before(stream, class->heap[(place - 1) / 2])) {
        put(class, place, class->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(class, place, stream);
}

static void sink(struct class *class, struct stream *stream)
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

static void insert(struct class *class, struct stream *stream)
{
    if (class->count == class->capacity) {
        class->capacity = class->capacity ? 2 * class->capacity : 8;
        class->heap =
            realloc(class->heap, class->capacity * sizeof(struct stream *));
        if (!class->heap)
            abort();
    }
    stream->place = class->count++;
    rise(class, stream);
}

static void take_out(struct class *class, struct stream *stream)
{
    struct stream *last = class->heap[--class->count];

    if (last == stream)
        return;
    last->place = stream->place;
    rise(class, last);
    sink(class, last);
}

/* ---- rates ---- */

/* Counts what has been served up to now. */
static void advance(struct port *port, nanos now)
{
    double seconds = (double)(now - port->now) / (double)SECOND;

    assert(now >= port->now);
    for (struct class *class = port->classes; class; class = class->next)
        if (class->count && isfinite(class->rate))
            class->served += class->rate * seconds;
    port->now = now;
}

/* Gives the classes their rates, the smallest cap first: who cannot use the
 * equal share of what is left leaves the rest to the others. */
static void share_out(struct port *port)
{
    double left = port->capacity;
    size_t streams = 0;

    for (struct class *class = port->classes; class; class = class->next)
        streams += class->count;
    for (struct class *class = port->classes; class; class = class->next) {
        double share = streams ? left / (double)streams : left;

        class->rate = class->cap < share ? class->cap : share;
        if (isfinite(class->rate))
            left -= class->rate * (double)class->count;
        streams -= class->count;
    }
}

static struct class *class_of(struct port *port, double cap)
{
    struct class **link = &port->classes;
    struct class *class;

    while (*link && (*link)->cap < cap)
        link = &(*link)->next;
    class = *link;
    if (class && !(class->cap > cap))
        return class;
    class = calloc(1, sizeof *class);
    if (!class)
        abort();
    class->cap = cap;
    class->next = *link;
    *link = class;
    return class;
}

static void class_leave(struct port *port, struct class *left)
{
    struct class **link = &port->classes;

    if (--left->streams)
        return;
    while (*link != left)
        link = &(*link)->next;
    *link = left->next;
    class_destroy(left);
}

void port_limit(struct port *port, nanos now, uint64_t capacity)
{
    advance(port, now);
    port->capacity = rate_of(capacity);
    share_out(port);
}

/* ---- streams ---- */

struct stream *stream_open(struct port *port, uint64_t cap)
{
    struct stream *stream = calloc(1, sizeof *stream);

    if (!stream)
        abort();
    stream->class = class_of(port, rate_of(cap));
    stream->class->streams++;
    return stream;
}

/* What the stream sends first is through when it has been served that much. */
static void begin(struct stream *stream, double bytes)
{
    struct class *class = stream->class;

    /* A class that nobody waits in may count from nothing again, so that the
     * count stays exact over days. */
    if (!class->count)
        class->served = 0;
    stream->through = class->served + bytes;
    insert(class, stream);
}

static double stop(struct stream *stream)
{
    double left = stream->through - stream->class->served;

    take_out(stream->class, stream);
    return left > 0 ? left : 0;
}

void stream_limit(struct port *port, struct stream *stream, nanos now,
                  uint64_t cap)
{
    struct class *old = stream->class;
    double left = 0;

    advance(port, now);
    if (stream->first)
        left = stop(stream);
    stream->class = class_of(port, rate_of(cap));
    stream->class->streams++;
    if (stream->first)
        begin(stream, left);
    class_leave(port, old);
    share_out(port);
}

void stream_send(struct port *port, struct stream *stream, nanos now,
                 uint64_t bytes, void *item)
{
    struct load *load = malloc(sizeof *load);

    if (!load)
        abort();
    *load = (struct load){item, (double)bytes, NULL};
    if (stream->first) {
        stream->last->next = load;
        stream->last = load;
        return;
    }
    stream->first = stream->last = load;
    stream->order = port->order++;
    advance(port, now);
    begin(stream, load->bytes);
    share_out(port);
}

/* Takes the first load off; the next one, if any, follows at once. */
static void *next_load(struct port *port, struct stream *stream)
{
    struct load *load = stream->first;
    void *item = load->item;

    stream->first = load->next;
    free(load);
    if (stream->first) {
        stream->through += stream->first->bytes;
        sink(stream->class, stream);
    } else {
        (void)stop(stream);
        share_out(port);
    }
    return item;
}

void *stream_drop(struct port *port, struct stream *stream, nanos now)
{
    if (!stream->first)
        return NULL;
    advance(port, now);
    stream->through = stream->class->served; /* what is behind it begins anew */
    rise(stream->class, stream);
    return next_load(port, stream);
}

bool stream_is_empty(const struct stream *stream)
{
    return !stream->first;
}

void stream_close(struct port *port, struct stream **reference)
{
    struct stream *stream = *reference;

    *reference = NULL;
    if (!stream)
        return;
    assert(!stream->first);
    class_leave(port, stream->class);
    free(stream);
}

/* ---- time ---- */

/* When the first of the class is through, seen from port->now. */
static nanos class_next(const struct port *port, const struct class *class)
{
    double left, wait;

    if (!class->count)
        return NEVER;
    left = class->heap[0]->through - class->served;
    if (!(left > 0) || !isfinite(class->rate))
        return port->now;
    wait = ceil(left / class->rate * (double)SECOND);
    return wait < (double)(NEVER / 2) ? port->now + (nanos)wait : NEVER;
}

static struct class *first_class(const struct port *port, nanos *at)
{
    struct class *first = NULL;

    *at = NEVER;
    for (struct class *class = port->classes; class; class = class->next) {
        nanos next = class_next(port, class);

        if (next < *at) {
            *at = next;
            first = class;
        }
    }
    return first;
}

nanos port_next(const struct port *port)
{
    nanos at;

    (void)first_class(port, &at);
    return at;
}

void *port_take(struct port *port, nanos now)
{
    nanos at;
    struct class *class = first_class(port, &at);

    if (!class || at > now)
        return NULL;
    advance(port, now);
    return next_load(port, class->heap[0]);
}
