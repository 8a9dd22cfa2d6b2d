/* A token bucket: the bytes that may be sent so that a rate is kept.
 *
 * Tokens are bytes. They come at the rate and are kept up to a depth, so in
 * any span t at most rate * t + depth bytes are taken. The depth is one
 * largest chunk, so that any chunk can be taken, and 10 ms of the rate, so
 * that whoever looks that late loses nothing: with chunks of at most 2 % of a
 * second that is at most 103 % of the rate in any second. Time is an argument;
 * the arithmetic is exact, in bytes times nanoseconds. */
#ifndef CORE_BUCKET_H
#define CORE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"

struct bucket {
    uint64_t rate; /* bytes per second; 0: no limit */
    int64_t depth; /* the same unit as level */
    int64_t level; /* billionths of a byte that may be taken */
    nanos at;      /* when that was so */
};

/* A full bucket; `largest` is what is taken at a time, at most. The rate is cut
 * to 1 TB/s, the depth to 4 GiB. */
void bucket_init(struct bucket *bucket, uint64_t rate, uint64_t largest,
                 nanos now);
/* Takes the bytes if they are there; more than the depth: when it is full, and
 * the rest is owed. False: nothing is taken. */
bool bucket_spend(struct bucket *bucket, uint64_t bytes, nanos now);
/* Spends them at once: the next sender waits for those that are missing. */
void bucket_owe(struct bucket *bucket, uint64_t bytes, nanos now);
/* When bucket_spend would succeed, if nobody takes any before; `now`, if it
 * would at once. */
nanos bucket_when(const struct bucket *bucket, uint64_t bytes, nanos now);

#endif
