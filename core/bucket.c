#include "core/bucket.h"

#define FASTEST ((uint64_t)1000000000000)
#define DEEPEST ((int64_t)1 << 32)

enum { LATENESS = 100 /* a share of a second */ };

static int64_t tokens_of(uint64_t bytes)
{
    return SECOND * (bytes < (uint64_t)DEEPEST ? (int64_t)bytes : DEEPEST);
}

void bucket_init(struct bucket *bucket, uint64_t rate, uint64_t largest,
                 nanos now)
{
    if (largest > (uint64_t)DEEPEST)
        largest = (uint64_t)DEEPEST;
    bucket->rate = rate < FASTEST ? rate : FASTEST;
    bucket->depth = tokens_of(largest + bucket->rate / LATENESS);
    bucket->level = bucket->depth;
    bucket->at = now;
}

/* The tokens in it at `now`. */
static int64_t level_at(const struct bucket *bucket, nanos now)
{
    int64_t rate = (int64_t)bucket->rate;
    nanos span = now - bucket->at;

    if (span <= 0)
        return bucket->level;
    return span <= (bucket->depth - bucket->level) / rate
               ? bucket->level + span * rate
               : bucket->depth;
}

/* The tokens that must be in it. */
static int64_t need_of(const struct bucket *bucket, uint64_t bytes)
{
    int64_t tokens = tokens_of(bytes);

    return tokens < bucket->depth ? tokens : bucket->depth;
}

void bucket_owe(struct bucket *bucket, uint64_t bytes, nanos now)
{
    if (!bucket->rate)
        return;
    bucket->level = level_at(bucket, now) - tokens_of(bytes);
    if (now > bucket->at)
        bucket->at = now;
}

bool bucket_spend(struct bucket *bucket, uint64_t bytes, nanos now)
{
    if (!bucket->rate)
        return true;
    if (level_at(bucket, now) < need_of(bucket, bytes))
        return false;
    bucket_owe(bucket, bytes, now);
    return true;
}

nanos bucket_when(const struct bucket *bucket, uint64_t bytes, nanos now)
{
    int64_t rate = (int64_t)bucket->rate, missing;

    if (!rate)
        return now;
    missing = need_of(bucket, bytes) - level_at(bucket, now);
    if (missing <= 0)
        return now;
    return (now > bucket->at ? now : bucket->at) + (missing + rate - 1) / rate;
}
