#include "train/sampler.h"

#include <inttypes.h>

#include "core/prng.h"

uint64_t sampler_count(const struct sampler *sampler)
{
    uint64_t total = sampler->deal.count;

    return (total - sampler->shard - 1) / sampler->shards + 1;
}

static void start_epoch(struct sampler *sampler)
{
    uint64_t seed = prng_mix(sampler->seed ^ prng_mix(sampler->shard));

    permutation_init(&sampler->order, sampler_count(sampler),
                     prng_mix(seed ^ sampler->epoch));
    sampler->drawn = 0;
}

void sampler_init(struct sampler *sampler, uint64_t total, uint64_t split_seed,
                  uint64_t seed)
{
    permutation_init(&sampler->deal, total, split_seed);
    sampler->seed = seed;
    sampler->shard = 0;
    sampler->shards = 1;
    sampler->epoch = 0;
    start_epoch(sampler);
}

enum status sampler_set_shard(struct sampler *sampler, uint32_t shard,
                              uint32_t shards, struct why *why)
{
    if (shard >= shards)
        return because(why, STATUS_CONFIG,
                       "shard %" PRIu32 " of %" PRIu32 " does not exist; "
                       "shards count from 0 to one less than their number",
                       shard, shards);
    if (shard >= sampler->deal.count)
        return because(why, STATUS_CONFIG,
                       "shard %" PRIu32 " of %" PRIu32 " would be empty, as "
                       "there are %" PRIu64 " training samples; use fewer "
                       "shards or more data",
                       shard, shards, sampler->deal.count);
    sampler->shard = shard;
    sampler->shards = shards;
    sampler->epoch++;
    start_epoch(sampler);
    return STATUS_OK;
}

uint64_t sampler_draw(struct sampler *sampler)
{
    uint64_t place;

    if (sampler->drawn == sampler->order.count) {
        sampler->epoch++;
        start_epoch(sampler);
    }
    place = permutation_at(&sampler->order, sampler->drawn++);
    return permutation_at(&sampler->deal,
                          place * sampler->shards + sampler->shard);
}
