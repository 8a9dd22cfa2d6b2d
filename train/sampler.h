/* Which sample comes next: shards and epochs.
 *
 * One permutation, fixed by the run's split seed, deals the samples to the
 * shards like cards: the sample at place p belongs to shard p % shards. So
 * shards are disjoint, cover everything, differ in size by at most one and are
 * alike in kind, however the file was sorted. A second one, new in each epoch,
 * shuffles the own shard: sampling without replacement. */
#ifndef TRAIN_SAMPLER_H
#define TRAIN_SAMPLER_H

#include "core/status.h"
#include "train/permutation.h"

struct sampler {
    struct permutation deal;  /* of all samples, equal for all nodes */
    struct permutation order; /* of the own shard in this epoch */
    uint64_t seed;            /* of the order */
    uint32_t shard, shards;
    uint64_t drawn; /* of this epoch */
    uint64_t epoch; /* counts on over changes of the shard */
};

/* `total` samples, at least 1, all of them in one shard. */
void sampler_init(struct sampler *sampler, uint64_t total, uint64_t split_seed,
                  uint64_t seed);
/* Starts a new epoch on another shard. STATUS_CONFIG, and nothing changes, if
 * there is no such shard or it would be empty. */
enum status sampler_set_shard(struct sampler *sampler, uint32_t shard,
                              uint32_t shards, struct why *why) MUST_CHECK;
/* Samples in the own shard. */
uint64_t sampler_count(const struct sampler *sampler);
/* The next sample, below total. */
uint64_t sampler_draw(struct sampler *sampler);

#endif
