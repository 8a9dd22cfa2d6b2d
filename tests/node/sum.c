#include "node/sum.h"

#include "tests/check.h"
#include "tests/hand.h"

static void adding_up(struct job *job)
{
    double into[4];

    job_sum(job, 0, job->inputs, 0, 4, into);
    job->number[0] = into[0];
}

static const struct work work_adding_up = {"adding up", adding_up, NULL};

/* The first of the four values of `factor` times the sum. */
static double value_of(const struct sum *sum, double factor, struct pool *pool)
{
    struct job *job = job_new(&work_adding_up, pool, sum->count);
    double value;

    CHECK_EQUAL(sum->count, sum_into(sum, factor, job, 0));
    job->extent.elements = 4;
    job_run(job);
    value = job->number[0];
    job_destroy(&job);
    return value;
}

static void a_sum_is_what_was_added(void)
{
    struct pool *pool = pool_new();
    struct blob *one = hand_floats(pool, 4, 1), *two = hand_floats(pool, 4, 2);
    struct sum sum = {0}, copy = {0};

    CHECK_NEAR(0, value_of(&sum, 1, pool), 0);
    sum_set(&sum, two);
    sum_add(&sum, one, -1, CODEC_RAW);
    CHECK_NEAR(1, value_of(&sum, 1, pool), 0);
    CHECK_NEAR(-1, value_of(&sum, -1, pool), 0);
    sum_copy(&copy, &sum);
    sum_set(&sum, one);
    CHECK_NEAR(1, value_of(&copy, 1, pool), 0);
    sum_set(&sum, two);
    CHECK_NEAR(1, value_of(&copy, 1, pool), 0);
    sum_set(&sum, one);
    CHECK_NEAR(1, value_of(&sum, 1, pool), 0);
    sum_free(&copy);
    sum_free(&sum);
    blob_unref(&two);
    blob_unref(&one);
    pool_destroy(&pool);
}

static void sums_meet_in_a_blob_of_both(void)
{
    struct pool *pool = pool_new();
    struct blob *one = hand_floats(pool, 4, 1), *two = hand_floats(pool, 4, 2);
    struct sum sum = {0}, other = {0};

    CHECK(!sums_meet(&sum, &other));
    sum_set(&sum, one);
    sum_set(&other, two);
    CHECK(!sums_meet(&sum, &other));
    sum_add(&other, one, -3, CODEC_RAW);
    CHECK(sums_meet(&sum, &other));
    sum_join(&other, &sum, 3);
    CHECK(!sums_meet(&sum, &other));
    CHECK_NEAR(2, value_of(&other, 1, pool), 0);
    sum_free(&other);
    sum_free(&sum);
    blob_unref(&two);
    blob_unref(&one);
    pool_destroy(&pool);
}

static void terms_of_one_blob_become_one_or_none(void)
{
    struct pool *pool = pool_new();
    struct blob *one = hand_floats(pool, 4, 1), *two = hand_floats(pool, 4, 2);
    struct blob *six = hand_floats(pool, 4, 6);
    struct sum sum = {0};

    sum_set(&sum, one);
    sum_add(&sum, two, 1, CODEC_RAW);
    sum_add(&sum, six, 0.5, CODEC_RAW);
    sum_add(&sum, two, 2, CODEC_RAW);
    CHECK_EQUAL(3, sum.count);
    CHECK_NEAR(10, value_of(&sum, 1, pool), 0);
    sum_add(&sum, one, -1, CODEC_RAW);
    sum_add(&sum, two, -3, CODEC_RAW);
    CHECK_EQUAL(1, sum.count);
    CHECK_NEAR(3, value_of(&sum, 1, pool), 0);
    sum_free(&sum);
    blob_unref(&six);
    blob_unref(&two);
    blob_unref(&one);
    pool_destroy(&pool);
}

static void a_sum_keeps_its_blobs_alive(void)
{
    struct pool *pool = pool_new();
    struct blob *one = hand_floats(pool, 4, 1);
    struct sum sum = {0};

    sum_set(&sum, one);
    sum_set(&sum, sum.term[0].blob);
    blob_unref(&one);
    CHECK_NEAR(1, value_of(&sum, 1, pool), 0);
    sum_free(&sum);
    pool_destroy(&pool);
}

void add_node_sum_tests(CU_pSuite suite)
{
    TEST(a_sum_is_what_was_added);
    TEST(sums_meet_in_a_blob_of_both);
    TEST(terms_of_one_blob_become_one_or_none);
    TEST(a_sum_keeps_its_blobs_alive);
}
