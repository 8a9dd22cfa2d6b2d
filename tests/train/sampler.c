#include "train/sampler.h"

#include <string.h>

#include "tests/check.h"

enum { TOTAL = 103 };

static struct why why;

static void a_permutation_reaches_every_place_once(void)
{
    for (uint64_t count = 1; count <= 300; count++) {
        unsigned char seen[300] = {0};
        struct permutation permutation;
        uint64_t reached = 0;

        permutation_init(&permutation, count, count * 3);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = permutation_at(&permutation, i);

            reached += at < count && !seen[at];
            seen[at < count ? at : 0] = 1;
        }
        CHECK_EQUAL(count, reached);
    }
}

static void seeds_give_different_permutations(void)
{
    struct permutation a, b;
    unsigned same = 0;

    permutation_init(&a, 1000, 1);
    permutation_init(&b, 1000, 2);
    for (uint64_t i = 0; i < 1000; i++)
        same += permutation_at(&a, i) == permutation_at(&b, i);
    CHECK(same < 10);
}

static void an_epoch_draws_every_sample_once_and_the_next_in_other_order(void)
{
    struct sampler sampler;
    unsigned same = 0;
    uint64_t first[TOTAL];
    unsigned count[TOTAL] = {0};

    sampler_init(&sampler, TOTAL, 1, 2);
    for (unsigned i = 0; i < TOTAL; i++)
        count[first[i] = sampler_draw(&sampler)]++;
    for (unsigned i = 0; i < TOTAL; i++) {
        CHECK_EQUAL(1, count[i]);
        same += first[i] == sampler_draw(&sampler);
    }
    CHECK(same < TOTAL / 4);
}

/* Draws one epoch of a shard into the marks; the seeds of nodes differ. */
static void mark_shard(uint32_t shard, uint32_t shards, unsigned marks[TOTAL])
{
    struct sampler sampler;

    sampler_init(&sampler, TOTAL, 5, 100 + shard);
    CHECK_OK(sampler_set_shard(&sampler, shard, shards, &why));
    for (uint64_t i = sampler_count(&sampler); i > 0; i--)
        marks[sampler_draw(&sampler)]++;
}

static void shards_are_disjoint_and_cover_everything(void)
{
    for (uint32_t shards = 1; shards <= TOTAL; shards += 6) {
        unsigned marks[TOTAL] = {0};

        for (uint32_t shard = 0; shard < shards; shard++)
            mark_shard(shard, shards, marks);
        for (unsigned i = 0; i < TOTAL; i++)
            CHECK_EQUAL(1, marks[i]);
    }
}

/* 103 windows of 10 places among 4: 26, 26, 26 and 25. */
static void shards_of_a_text_are_stretches(void)
{
    static const uint64_t begins[] = {0, 260, 520, 780, 1030};
    struct sampler sampler;

    sampler_init_text(&sampler, TOTAL, 10, 7);
    for (uint32_t shard = 0; shard < 4; shard++) {
        uint64_t first = begins[shard], marks[26] = {0}, count, begin = 0;

        CHECK_OK(sampler_set_shard(&sampler, shard, 4, &why));
        count = sampler_count(&sampler);
        CHECK_EQUAL((begins[shard + 1] - first) / 10, count);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = sampler_draw(&sampler) - first;

            if (i == 0)
                begin = at % 10;
            CHECK_EQUAL(begin, at % 10);
            if (CHECK(at / 10 < count))
                marks[at / 10]++;
        }
        for (uint64_t i = 0; i < count; i++)
            CHECK_EQUAL(1, marks[i]);
    }
}

static void epochs_of_a_text_begin_at_all_of_its_first_places(void)
{
    struct sampler sampler;
    unsigned seen[4] = {0};

    sampler_init_text(&sampler, 2, 4, 1);
    for (int epoch = 0; epoch < 40; epoch++) {
        uint64_t first = sampler_draw(&sampler);
        uint64_t other = sampler_draw(&sampler);

        CHECK(first + 4 == other || other + 4 == first);
        seen[first % 4]++;
    }
    for (int i = 0; i < 4; i++)
        CHECK(seen[i] > 0);
}

static void a_shard_that_cannot_be_is_refused_and_nothing_changes(void)
{
    struct sampler sampler, before;

    sampler_init(&sampler, 3, 0, 0);
    before = sampler;
    CHECK_STATUS(STATUS_CONFIG, sampler_set_shard(&sampler, 2, 2, &why));
    CHECK_STATUS(STATUS_CONFIG, sampler_set_shard(&sampler, 0, 0, &why));
    CHECK_STATUS(STATUS_CONFIG, sampler_set_shard(&sampler, 3, 4, &why));
    CHECK_CONTAINS("3 training samples", why.text);
    CHECK_EQUAL(before.shards, sampler.shards);
    CHECK_EQUAL(before.epoch, sampler.epoch);
}

void add_train_sampler_tests(CU_pSuite suite)
{
    TEST(a_permutation_reaches_every_place_once);
    TEST(seeds_give_different_permutations);
    TEST(an_epoch_draws_every_sample_once_and_the_next_in_other_order);
    TEST(shards_are_disjoint_and_cover_everything);
    TEST(shards_of_a_text_are_stretches);
    TEST(epochs_of_a_text_begin_at_all_of_its_first_places);
    TEST(a_shard_that_cannot_be_is_refused_and_nothing_changes);
}
