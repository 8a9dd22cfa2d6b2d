/* The practical limit: a hub over plain TCP that does nothing but sum.
 *
 * Every node streams its vector to the hub, which adds as bytes come and sends
 * a chunk of 1 MiB of the mean back to all as soon as all have sent it. The
 * nodes take it in place of what they sent. One thread each, non-blocking
 * sockets and poll, the kernel's own buffer sizes; the sums are a ring of a few
 * chunks that stays in the cache. The first node to bring a part receives it
 * straight into the sum, the last one's addition divides, so nothing is touched
 * twice. There is no naming, checking, scoring, or anybody who may be late.
 *
 * A connection begins with one byte: RAW_BULK, or RAW_PING, on which every
 * message of RAW_PING_BYTES is sent back at once. */
#ifndef BENCH_KIT_RAW_H
#define BENCH_KIT_RAW_H

#include "bench/kit/process_star.h"

enum { RAW_BULK = 'b', RAW_PING = 'p', RAW_PING_BYTES = 64 };

void raw_hub(const struct post *post);
void raw_node(const struct post *post);
/* One that does what a node must that trains meanwhile: it copies its
 * parameters, sends the copy less what the hub has, and adds what comes; a pass
 * each, the latter two chunk by chunk. */
void raw_passing_node(const struct post *post);

/* A connection to the hub, which may still be starting. */
int raw_connect(const struct post *post, char kind);

#endif
