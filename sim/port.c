#include "sim/port.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/port_class.h"

/* No limit, as a rate: everything is through at once. */
#define UNLIMITED HUGE_VAL

struct port {
    double capacity;
    nanos now;
    uint64_t order;
    struct classes all, busy; /* busy: of streams that send */
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

void port_destroy(struct port **reference)
{
    struct port *port = *reference;

    *reference = NULL;
    if (!port)
        return;
    while (port->all.count)
        class_destroy(port->all.list[--port->all.count]);
    free(port->all.list);
    free(port->busy.list);
    free(port);
}

/* ---- rates ---- */

/* Counts what has been served up to now. */
static void advance(struct port *port, nanos now)
{
    double seconds = (double)(now - port->now) / (double)SECOND;

    assert(now >= port->now);
    for (size_t i = 0; i < port->busy.count; i++)
        if (isfinite(port->busy.list[i]->rate))
            port->busy.list[i]->served += port->busy.list[i]->rate * seconds;
    port->now = now;
}

/* Gives the classes their rates, the smallest cap first: who cannot use the
 * equal share of what is left leaves the rest to the others. */
static void share_out(struct port *port)
{
    double left = port->capacity;
    size_t streams = 0;

    for (size_t i = 0; i < port->busy.count; i++)
        streams += port->busy.list[i]->count;
    for (size_t i = 0; i < port->busy.count; i++) {
        struct class *class = port->busy.list[i];
        double share = left / (double)streams;

        class->rate = class->cap < share ? class->cap : share;
        if (isfinite(class->rate))
            left -= class->rate * (double)class->count;
        streams -= class->count;
    }
}

static struct class *class_of(struct port *port, double cap)
{
    size_t place = classes_place(&port->all, cap);
    struct class *class;

    if (place < port->all.count && !(port->all.list[place]->cap > cap))
        return port->all.list[place];
    class = calloc(1, sizeof *class);
    if (!class)
        abort();
    class->cap = cap;
    classes_add(&port->all, class);
    return class;
}

static void class_leave(struct port *port, struct class *left)
{
    if (--left->streams)
        return;
    classes_drop(&port->all, left);
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
static void begin(struct port *port, struct stream *stream, double bytes)
{
    struct class *class = stream->class;

    /* A class that nobody waits in may count from nothing again, so that the
     * count stays exact over days. */
    if (!class->count) {
        class->served = 0;
        classes_add(&port->busy, class);
    }
    stream->through = class->served + bytes;
    class_insert(class, stream);
}

static double stop(struct port *port, struct stream *stream)
{
    double left = stream->through - stream->class->served;

    class_remove(stream->class, stream);
    if (!stream->class->count)
        classes_drop(&port->busy, stream->class);
    return left > 0 ? left : 0;
}

void stream_limit(struct port *port, struct stream *stream, nanos now,
                  uint64_t cap)
{
    struct class *old = stream->class;
    double left = 0;

    advance(port, now);
    if (stream->first)
        left = stop(port, stream);
    stream->class = class_of(port, rate_of(cap));
    stream->class->streams++;
    if (stream->first)
        begin(port, stream, left);
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
    begin(port, stream, load->bytes);
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
        class_sink(stream->class, stream);
    } else {
        (void)stop(port, stream);
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
    class_rise(stream->class, stream);
    return next_load(port, stream);
}

bool stream_is_empty(const struct stream *stream)
{
    return !stream->first;
}

const void *stream_head(const struct stream *stream)
{
    return stream->first ? stream->first->item : NULL;
}

uint64_t stream_sent(struct port *port, const struct stream *stream, nanos now)
{
    double left;

    advance(port, now);
    left = stream->through - stream->class->served;
    return left > 0 && left < stream->first->bytes
               ? (uint64_t)(stream->first->bytes - left)
               : 0;
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
    double left = class->heap[0]->through - class->served, wait;

    if (!(left > 0) || !isfinite(class->rate))
        return port->now;
    wait = ceil(left / class->rate * (double)SECOND);
    return wait < (double)(NEVER / 2) ? port->now + (nanos)wait : NEVER;
}

static struct class *first_class(const struct port *port, nanos *at)
{
    struct class *first = NULL;

    *at = NEVER;
    for (size_t i = 0; i < port->busy.count; i++) {
        nanos next = class_next(port, port->busy.list[i]);

        if (next < *at) {
            *at = next;
            first = port->busy.list[i];
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

void *port_pop(struct port *port, nanos now)
{
    nanos at;
    struct class *class = first_class(port, &at);

    if (!class || at > now)
        return NULL;
    advance(port, now);
    return next_load(port, class->heap[0]);
}
