/* Which sample comes next: shards and epochs.
 *
 * One permutation, fixed by the run's split seed, deals the samples to the
 * shards like cards: the sample at place p belongs to shard p % shards. So
 * shards are disjoint, cover everything, differ in size by at most one and are
 * alike in kind, however the file was sorted. A second one, new in each epoch,
 * shuffles the own shard: sampling without replacement.
 *
 * A text is not dealt: its samples are windows of `stride` places, end to end,
 * and a shard is a stretch of them. Each epoch begins at another of the first
 * `stride` places, so that windows are seldom the same. */
#ifndef TRAIN_SAMPLER_H
#define TRAIN_SAMPLER_H

#include "core/status.h"
#include "train/permutation.h"

struct sampler {
    uint64_t total;           /* samples */
    uint64_t stride;          /* of a text's windows; 0: samples are dealt */
    struct permutation deal;  /* of all samples, equal for all nodes */
    struct permutation order; /* of the own shard in this epoch */
    uint64_t seed;            /* of the order */
    uint32_t shard, shards;
    uint64_t begin; /* of a text: where the epoch's first window is */
    uint64_t drawn; /* of this epoch */
    uint64_t epoch; /* counts on over changes of the shard */
};

/* `total` samples, at least 1, all of them in one shard. */
void sampler_init(struct sampler *sampler, uint64_t total, uint64_t split_seed,
                  uint64_t seed);
/* The windows of a text of total * stride + stride - 1 places, at least. */
void sampler_init_text(struct sampler *sampler, uint64_t total, uint64_t stride,
                       uint64_t seed);
/* Starts a new epoch on another shard. STATUS_CONFIG, and nothing changes, if
 * there is no such shard or it would be empty. */
enum status sampler_set_shard(struct sampler *sampler, uint32_t shard,
                              uint32_t shards, struct why *why) MUST_CHECK;
/* Samples in the own shard. */
uint64_t sampler_count(const struct sampler *sampler);
/* The next sample, below total; of a text: where its window begins. */
uint64_t sampler_draw(struct sampler *sampler);

#endif
