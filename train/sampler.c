#include "train/sampler.h"

#include <inttypes.h>

#include "core/prng.h"

uint64_t sampler_count(const struct sampler *sampler)
{
    return (sampler->total - sampler->shard - 1) / sampler->shards + 1;
}

/* The windows of a text that are of the shards before. */
static uint64_t windows_before(const struct sampler *sampler)
{
    uint64_t rest = sampler->total % sampler->shards;

    return sampler->total / sampler->shards * sampler->shard +
           (sampler->shard < rest ? sampler->shard : rest);
}

static void start_epoch(struct sampler *sampler)
{
    uint64_t seed = prng_mix(sampler->seed ^ prng_mix(sampler->shard));

    seed = prng_mix(seed ^ sampler->epoch);
    permutation_init(&sampler->order, sampler_count(sampler), seed);
    if (sampler->stride)
        sampler->begin = windows_before(sampler) * sampler->stride +
                         prng_mix(seed) % sampler->stride;
    sampler->drawn = 0;
}

void sampler_init(struct sampler *sampler, uint64_t total, uint64_t split_seed,
                  uint64_t seed)
{
    *sampler = (struct sampler){.total = total, .seed = seed, .shards = 1};
    permutation_init(&sampler->deal, total, split_seed);
    start_epoch(sampler);
}

void sampler_init_text(struct sampler *sampler, uint64_t total, uint64_t stride,
                       uint64_t seed)
{
    *sampler = (struct sampler){
        .total = total, .stride = stride, .seed = seed, .shards = 1};
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
    if (shard >= sampler->total)
        return because(why, STATUS_CONFIG,
                       "shard %" PRIu32 " of %" PRIu32 " would be empty, as "
                       "there are %" PRIu64 " training samples; use fewer "
                       "shards or more data",
                       shard, shards, sampler->total);
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
    if (sampler->stride)
        return sampler->begin + place * sampler->stride;
    return permutation_at(&sampler->deal,
                          place * sampler->shards + sampler->shard);
}
