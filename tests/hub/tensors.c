/* Merges by rules that look at tensors as a whole. */
#include "hub/tensors.h"

#include <math.h>
#include <string.h>

#include "core/need.h"
#include "tests/check.h"

/* A model of 16 elements: w 0..7, wte 8..11, a mean 12..13, v 14..15. */
static struct schema *make_schema(void)
{
    const uint64_t w[] = {4, 2}, wte[] = {2, 2};
    struct tensor mean = {
        .name = "bn.mean", .rank = 1, .shape = {2}, .kind = TENSOR_AVERAGED};
    struct schema *schema = schema_new();

    CHECK_OK(schema_add(schema, "w", 2, w, NULL));
    CHECK_OK(schema_add(schema, "wte", 2, wte, NULL));
    CHECK_OK(schema_add_tensor(schema, &mean, NULL));
    CHECK_OK(schema_add(schema, "v", 1, mean.shape, NULL));
    return schema;
}

struct piece {
    size_t first, count;
};

/* This piece of the centre 0 once these updates, of equal weight, are merged by
 * the policy; `momentum`: its slot before, or NULL. */
static void merged_after(const struct policy *policy, const float *momentum,
                         struct piece piece, float updates[][16],
                         unsigned number, float *out)
{
    const size_t first = piece.first, count = piece.count;
    struct schema *schema = make_schema();
    struct exempt *exempt = exempt_new(schema);
    struct pool *pool = pool_new();
    struct chunk_merge *merge =
        job_make(&work_merge, sizeof *merge + number * sizeof(double), pool,
                 MERGE_FROM + number);
    struct job *job = &merge->job;

    job->context = policy;
    job->extent = (struct extent){exempt, first, count, 1};
    merge->schema = schema;
    merge->live = number;
    merge->divisor = number;
    for (unsigned i = 0; i < number; i++) {
        struct blob *blob = blob_new(pool, count * sizeof(float));

        memcpy(blob->bytes, updates[i] + first, count * sizeof(float));
        job->in[MERGE_FROM + i] = (struct input){blob, 1, CODEC_RAW};
        merge->means[i] = 1. / number;
    }
    job->in[MERGE_THETA].blob = blob_new(pool, count * sizeof(float));
    memset(job->in[MERGE_THETA].blob->bytes, 0, count * sizeof(float));
    if (momentum) {
        job->in[MERGE_SLOTS].blob = blob_new(pool, count * sizeof(float));
        memcpy(job->in[MERGE_SLOTS].blob->bytes, momentum + first,
               count * sizeof(float));
    }
    merge_chunk(job);
    CHECK_OK(job->status);
    memcpy(out, job->out[0]->bytes, count * sizeof(float));
    job_destroy(&job);
    exempt_destroy(&exempt);
    schema_destroy(&schema);
    pool_destroy(&pool);
}

static void merged(const struct policy *policy, size_t first, size_t count,
                   float updates[][16], unsigned number, float *out)
{
    merged_after(policy, NULL, (struct piece){first, count}, updates, number,
                 out);
}

static float turned[2][16] = {{3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 8, 1, 0},
                              {0, 0, 0, 0, 0, 0, 0, 5, 0, 1, 0, 0, 8, 4, 0, 1}};

static void each_tensor_has_its_own_direction_and_length(void)
{
    struct policy policy = preset_find("mean")->policy;
    float out[16];

    policy.reduce = &reduce_rda;
    merged(&policy, 0, 16, turned, 2, out);
    CHECK_NEAR(4 / sqrt(2), (double)out[0], 1e-6);
    CHECK_NEAR(4 / sqrt(2), (double)out[7], 1e-6);
    CHECK_NEAR(1 / sqrt(2), (double)out[14], 1e-6);
    CHECK_NEAR(1 / sqrt(2), (double)out[15], 1e-6);
}

static void embeddings_and_statistics_are_averaged(void)
{
    struct policy policy = preset_find("mean")->policy;
    float out[16];

    policy.reduce = &reduce_rda;
    merged(&policy, 0, 16, turned, 2, out);
    CHECK_NEAR(0.5, (double)out[8], 1e-6);
    CHECK_NEAR(0.5, (double)out[9], 1e-6);
    CHECK_NEAR(6, (double)out[12], 1e-6);
    CHECK_NEAR(6, (double)out[13], 1e-6);
}

static void a_chunk_has_its_part_of_a_tensor(void)
{
    struct policy policy = preset_find("mean")->policy;
    float out[16];

    policy.reduce = &reduce_rda;
    merged(&policy, 4, 8, turned, 2, out);
    CHECK_NEAR(0, (double)out[0], 0);
    CHECK_NEAR(5, (double)out[3], 1e-6); /* the other one has nothing here */
    CHECK_NEAR(0.5, (double)out[4], 1e-6);
}

static void equal_updates_are_as_their_mean(void)
{
    struct policy policy = preset_find("mean")->policy;
    float equal[3][16], out[16];

    policy.reduce = &reduce_rda;
    for (unsigned i = 0; i < 3; i++)
        memcpy(equal[i], turned[0], sizeof equal[i]);
    merged(&policy, 0, 16, equal, 3, out);
    for (unsigned i = 0; i < 16; i++)
        CHECK_NEAR((double)equal[0][i], (double)out[i], 1e-6);
}

/* With momentum that is about to end, so that the step is the update. */
static void momentum_corrects_each_tensor_by_itself(void)
{
    static const float momentum[16] = {-1, 0, 0, 0, 0, 0,  0, 0,
                                       1,  0, 0, 0, 9, -9, 1, 0};
    float updates[1][16] = {{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 7, 0, 1}};
    struct policy policy = preset_find("mean")->policy;
    float out[16];

    policy.merge = &merge_heloco;
    policy.numbers.outer_momentum = 1e-30;
    merged_after(&policy, momentum, (struct piece){0, 16}, updates, 1, out);
    CHECK_NEAR(1, (double)out[0], 1e-6);   /* with it: stays */
    CHECK_NEAR(0.5, (double)out[8], 1e-6); /* against it: half is taken away */
    CHECK_NEAR(5, (double)out[12], 0);     /* statistics */
    CHECK_NEAR(7, (double)out[13], 0);
    CHECK_NEAR(-1 / sqrt(2), (double)out[14], 1e-6); /* across: it turns */
    CHECK_NEAR(1 / sqrt(2), (double)out[15], 1e-6);
    merged_after(&policy, NULL, (struct piece){0, 16}, updates, 1, out);
    CHECK_NEAR(1, (double)out[8], 0);
}

void add_hub_tensors_tests(CU_pSuite suite)
{
    TEST(each_tensor_has_its_own_direction_and_length);
    TEST(embeddings_and_statistics_are_averaged);
    TEST(a_chunk_has_its_part_of_a_tensor);
    TEST(equal_updates_are_as_their_mean);
    TEST(momentum_corrects_each_tensor_by_itself);
}
