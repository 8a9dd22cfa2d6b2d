/* The arithmetic of collectives, against the slow obvious version. */
#include "collectives/work.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "core/need.h"
#include "core/prng.h"
#include "tests/check.h"

enum { INPUTS = 5, ELEMENTS = 5000 };

static void nothing(struct job *job)
{
    (void)job;
}

static const struct work reducing = {"reduce", nothing, NULL};

/* Reduces `inputs` blobs of `bytes` bytes, each filled by `fill`. */
static struct job *reduced(struct pool *pool, enum scalar scalar,
                           enum reduction reduction, size_t bytes)
{
    struct job *job = job_new(&reducing, pool, INPUTS);
    struct prng prng;

    prng_seed(&prng, 17);
    for (unsigned i = 0; i < INPUTS; i++) {
        job->in[i].blob = blob_new(pool, bytes);
        for (size_t j = 0; j < bytes; j++)
            job->in[i].blob->bytes[j] = (unsigned char)prng_next(&prng);
    }
    for (unsigned i = 0; i < INPUTS; i++)
        for (size_t j = 0; scalar == SCALAR_F32 && j < bytes / 4; j++)
            blob_floats(job->in[i].blob)[j] = (float)prng_normal(&prng);
    reduce_inputs(job, scalar, reduction);
    return job;
}

/* For each type, the value of element `at` of blob `blob` as that type, and
 * what the reduction of all inputs must be. */
#define EXPECT(name, type, unsigned_type)                                      \
    static type value_##name(const struct blob *blob, size_t at)               \
    {                                                                          \
        type value;                                                            \
                                                                               \
        memcpy(&value, blob->bytes + at * sizeof value, sizeof value);         \
        return value;                                                          \
    }                                                                          \
    static bool is_right_##name(const struct job *job, size_t at,              \
                                enum reduction reduction)                      \
    {                                                                          \
        type sum = value_##name(job->in[0].blob, at);                          \
                                                                               \
        for (unsigned i = 1; i < INPUTS; i++) {                                \
            type one = value_##name(job->in[i].blob, at);                      \
                                                                               \
            if (reduction == REDUCTION_SUM)                                    \
                sum = (type)((unsigned_type)sum + (unsigned_type)one);         \
            else if (reduction == REDUCTION_BITOR)                             \
                sum = (type)((unsigned_type)sum | (unsigned_type)one);         \
            else if (reduction == REDUCTION_MAX ? one > sum : one < sum)       \
                sum = one;                                                     \
        }                                                                      \
        return sum == value_##name(job->out[0], at);                           \
    }

EXPECT(i8, int8_t, uint8_t)
EXPECT(u8, uint8_t, uint8_t)
EXPECT(i32, int32_t, uint32_t)
EXPECT(u32, uint32_t, uint32_t)
EXPECT(i64, int64_t, uint64_t)
EXPECT(u64, uint64_t, uint64_t)

static bool (*const is_right[])(const struct job *job, size_t at,
                                enum reduction reduction) = {
    [SCALAR_I8] = is_right_i8,   [SCALAR_U8] = is_right_u8,
    [SCALAR_I32] = is_right_i32, [SCALAR_U32] = is_right_u32,
    [SCALAR_I64] = is_right_i64, [SCALAR_U64] = is_right_u64,
};

static void rb_12_max_min_sum_and_bitor_of_all_integers(void)
{
    const enum reduction reductions[] = {REDUCTION_SUM, REDUCTION_MAX,
                                         REDUCTION_MIN, REDUCTION_BITOR};
    struct pool *pool = pool_new();

    for (enum scalar scalar = SCALAR_I8; scalar <= SCALAR_U64; scalar++)
        for (unsigned k = 0; k < 4; k++) {
            size_t bytes = ELEMENTS * (size_t)scalar_bytes(scalar);
            struct job *job = reduced(pool, scalar, reductions[k], bytes);
            unsigned wrong = 0;

            for (size_t i = 0; i < ELEMENTS; i++)
                wrong += !is_right[scalar](job, i, reductions[k]);
            CHECK_EQUAL(0, wrong);
            CHECK(reduction_fits(reductions[k], scalar));
            job_destroy(&job);
        }
    CHECK(!reduction_fits(REDUCTION_MEAN, SCALAR_I32));
    pool_destroy(&pool);
}

static float float_of(const struct blob *blob, size_t at)
{
    float value;

    memcpy(&value, blob->bytes + at * sizeof value, sizeof value);
    return value;
}

static float expected(const struct job *job, size_t at,
                      enum reduction reduction)
{
    double sum = (double)float_of(job->in[0].blob, at);

    for (unsigned i = 1; i < INPUTS; i++) {
        double one = (double)float_of(job->in[i].blob, at);

        if (reduction == REDUCTION_SUM || reduction == REDUCTION_MEAN)
            sum += one;
        else
            sum = reduction == REDUCTION_MAX ? fmax(sum, one) : fmin(sum, one);
    }
    return (float)(reduction == REDUCTION_MEAN ? sum / INPUTS : sum);
}

static void rb_12_max_min_sum_and_mean_of_floats(void)
{
    const enum reduction reductions[] = {REDUCTION_SUM, REDUCTION_MEAN,
                                         REDUCTION_MAX, REDUCTION_MIN};
    struct pool *pool = pool_new();

    for (unsigned k = 0; k < 4; k++) {
        struct job *job =
            reduced(pool, SCALAR_F32, reductions[k], ELEMENTS * sizeof(float));
        unsigned wrong = 0;

        for (size_t i = 0; i < ELEMENTS; i++)
            wrong +=
                float_of(job->out[0], i) != expected(job, i, reductions[k]);
        CHECK_EQUAL(0, wrong);
        job_destroy(&job);
    }
    CHECK(!reduction_fits(REDUCTION_BITOR, SCALAR_F32));
    pool_destroy(&pool);
}

/* In float the small ones would be lost, whatever the order. */
static void rb_12_floats_are_added_in_double(void)
{
    struct pool *pool = pool_new();
    struct job *job = job_new(&reducing, pool, 3);
    const float values[] = {1e8f, 1, -1e8f};

    for (unsigned i = 0; i < 3; i++) {
        job->in[i].blob = blob_new(pool, sizeof(float));
        *blob_floats(job->in[i].blob) = values[i];
    }
    reduce_inputs(job, SCALAR_F32, REDUCTION_SUM);
    CHECK_NEAR(1, (double)float_of(job->out[0], 0), 0);
    job_destroy(&job);
    pool_destroy(&pool);
}

static void what_cannot_be_reduced_is_malformed(void)
{
    struct pool *pool = pool_new();
    struct job *job = reduced(pool, SCALAR_F64, REDUCTION_SUM, 12);

    CHECK_STATUS(STATUS_MALFORMED, job->status);
    CHECK(job->out[0] == NULL);
    job_destroy(&job);
    pool_destroy(&pool);
}

static jmp_buf missing;

static void miss(void)
{
    longjmp(missing, 1);
}

/* One that failed would keep its receiver from all other messages. */
static void a_copy_waits_for_memory(void)
{
    struct pool *pool = pool_new();
    struct job *job = job_new(&reducing, pool, 1);
    struct blob giant = {.size = (size_t)2 << 40, .references = 2};

    job->in[0].blob = &giant;
    need_when_missing(miss);
    if (setjmp(missing) == 0) {
        copy_input(job);
        CHECK(false);
    }
    need_when_missing(NULL);
    job_destroy(&job);
    pool_destroy(&pool);
}

void add_collectives_work_tests(CU_pSuite suite)
{
    TEST(rb_12_max_min_sum_and_bitor_of_all_integers);
    TEST(rb_12_max_min_sum_and_mean_of_floats);
    TEST(rb_12_floats_are_added_in_double);
    TEST(a_copy_waits_for_memory);
    TEST(what_cannot_be_reduced_is_malformed);
}
