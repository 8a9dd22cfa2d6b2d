/* A delay line: rate, delay and loss of a link, one way.
 *
 * Bytes come in at a time and can be taken out again at a later one, in their
 * order and none missing. Between the two they wait for the link, which sends
 * them at its rate, and then travel for the delay, the jitter and what lost
 * packets cost; all as the trace has it at that time, else as the options say.
 * The numbers are those of sim/world.h, with these differences, as a stream of
 * bytes has no messages:
 *
 * - The link sends pieces: packets of 1,448 bytes, or as many as it sends in
 *   0.1 ms. A piece can be taken out when its last byte is through.
 * - What follows without a pause counts as messages of `message` bytes. Each
 *   has one jitter, and is late by the worst of the packets it has lost so far.
 *
 * A line that is cut (a rate of 0 either way, or a loss of 1) sends nothing;
 * what waits goes on when that ends. Little waits for the link; whoever puts
 * bytes in has to hold the rest, as a sender under TCP.
 *
 *     shim_line_pass(line, now);             it is now
 *     count = shim_line_room(line, parts);   readv into parts
 *     shim_line_put(line, now, bytes);       so many have come
 *     count = shim_line_arrived(line, parts);
 *     shim_line_consume(line, bytes);           so many of these were taken
 *     shim_line_next(line);                  when to look again
 *
 * Pure; times come in, and never go back. */
#ifndef SIM_SHIM_LINE_H
#define SIM_SHIM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/time.h"
#include "sim/shim/link.h"

/* What may wait for the link: so many bytes, and what it carries in this time,
 * so that whoever is late by that loses nothing. */
enum { SHIM_WAITING_BYTES = 256 * 1024 };
#define SHIM_WAITING_TIME (10 * MILLISECOND)

/* How a line comes to its end. */
enum shim_end { SHIM_OPEN, SHIM_ENDED, SHIM_BROKEN };

struct shim_line;

/* A line whose first bytes are sent a round trip after `now`, when the two
 * sides have shaken hands. Towards the hub it has the trace's `up`, else its
 * `down`. NULL: no memory. */
struct shim_line *shim_line_new(const struct shim_link *link, bool to_hub,
                                uint64_t seed, nanos now);
void shim_line_destroy(struct shim_line **line);

/* Lets the link work up to `now`. */
void shim_line_pass(struct shim_line *line, nanos now);

/* Where the next bytes may be put: in so many parts of memory, none if more
 * than half of what may wait does. Valid until the next call. */
unsigned shim_line_room(const struct shim_line *line, struct iovec parts[2]);
/* That many bytes, > 0, have been put there. */
void shim_line_put(struct shim_line *line, nanos now, size_t bytes);
/* Nothing more will be put in. */
void shim_line_end(struct shim_line *line, nanos now, enum shim_end how);

/* The bytes at the other side, in so many parts of memory. */
unsigned shim_line_arrived(const struct shim_line *line, struct iovec parts[2]);
void shim_line_consume(struct shim_line *line, size_t bytes);
/* How the line has ended, once all that was put in has been taken out. */
enum shim_end shim_line_ended(const struct shim_line *line);

/* When more may have arrived, or more room may be there: after the last `now`.
 * NEVER: not before something is put in or taken. */
nanos shim_line_next(struct shim_line *line);

#endif
