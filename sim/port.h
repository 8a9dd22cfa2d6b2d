/* A port of the star's switch, at the level of streams: what many connections
 * send through it at a time, and when each message is through.
 *
 * Rates are max-min fair, as many TCP connections come to share a link: each
 * stream gets min(its own cap, s), with the largest share s for which the sum
 * does not exceed the port's capacity (Bertsekas and Gallager, Data Networks,
 * 6.5.2). Streams of one cap have one rate, so they form a class that counts
 * the bytes which each of them has been served; a message is through at a
 * fixed such count, however the rate changes meanwhile (the virtual time of
 * fair queueing, Demers, Keshav and Shenker 1989). So sending costs O(log n)
 * in the streams and O(c) in the classes, that is different caps, that send.
 *
 * Pure: times come in, and what is through comes out. */
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

struct port;
struct stream;

/* As a rate: nothing is sent until it changes. */
#define PORT_STOPPED UINT64_MAX

/* Bytes per second; 0: no limit. */
struct port *port_new(uint64_t capacity);
/* Changes the capacity from now on. */
void port_limit(struct port *port, nanos now, uint64_t capacity);
/* Frees its streams, too; they must be empty. */
void port_destroy(struct port **port);

/* A stream of at most `cap` bytes per second; 0: no limit of its own. */
struct stream *stream_open(struct port *port, uint64_t cap);
/* Changes the cap from now on. */
void stream_limit(struct port *port, struct stream *stream, nanos now,
                  uint64_t cap);
/* Sends a message behind those that the stream has; `item` is the caller's. */
void stream_send(struct port *port, struct stream *stream, nanos now,
                 uint64_t bytes, void *item);
/* Takes the oldest message out that is not through; NULL when there is none.
 * What has been sent of it was sent for nothing. */
void *stream_drop(struct port *port, struct stream *stream, nanos now);
/* Whether it has nothing to send. */
bool stream_is_empty(const struct stream *stream);
/* What it sends now, NULL: nothing; and how many bytes of that are through. */
const void *stream_head(const struct stream *stream);
uint64_t stream_sent(struct port *port, const struct stream *stream, nanos now);
/* Forgets an empty stream. */
void stream_close(struct port *port, struct stream **stream);

/* When the next message is through; NEVER: there is none. */
nanos port_next(const struct port *port);
/* Takes the message that is through at `now`, which is not after port_next;
 * NULL when there is none. */
void *port_pop(struct port *port, nanos now);

#endif
