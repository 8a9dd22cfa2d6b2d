#include "node/work.h"

#include <math.h>

#include "tests/check.h"
#include "tests/hand.h"

enum { LENGTH = 5000 }; /* more than a tile */

/* A job on one blob of `value` and one of 1 with weight -1; run. */
static struct job *run(const struct work *work, struct pool *pool, double value,
                       uint64_t checksum)
{
    struct job *job = job_new(work, pool, 2);

    job->in[0] = (struct input){hand_floats(pool, LENGTH, value), 1, CODEC_RAW};
    job->in[1] = (struct input){hand_floats(pool, LENGTH, 1), -1, CODEC_RAW};
    job->extent.elements = LENGTH;
    if (work == &work_correct)
        job->tag[2] = checksum ? checksum : job->in[0].blob->checksum;
    job_run(job);
    return job;
}

static void a_delta_is_the_sum_with_its_squares_and_seal(void)
{
    struct pool *pool = pool_new();
    struct job *job = run(&work_delta, pool, 3, 0);

    CHECK_STATUS(STATUS_OK, job->status);
    CHECK_NEAR(2, hand_float(job->out[0], LENGTH - 1), 0);
    CHECK_NEAR(4.0 * LENGTH, job->number[0], 0);
    CHECK(job->out[0]->checksum != 0);
    job_destroy(&job);
    pool_destroy(&pool);
}

static void a_delta_that_is_not_finite_is_refused(void)
{
    struct pool *pool = pool_new();
    const double values[] = {(double)NAN, (double)INFINITY, 1e300};

    for (unsigned i = 0; i < 3; i++) {
        struct job *job = run(&work_delta, pool, values[i], 0);

        CHECK_STATUS(STATUS_CONFIG, job->status);
        job_destroy(&job);
    }
    pool_destroy(&pool);
}

static void a_correction_checks_what_came(void)
{
    struct pool *pool = pool_new();
    struct job *good = run(&work_correct, pool, 3, 0);
    struct job *damaged = run(&work_correct, pool, 3, 12345);
    struct job *infinite = run(&work_correct, pool, (double)INFINITY, 0);

    CHECK_STATUS(STATUS_OK, good->status);
    CHECK_NEAR(2, hand_float(good->out[0], 0), 0);
    CHECK_STATUS(STATUS_MALFORMED, damaged->status);
    CHECK_STATUS(STATUS_MALFORMED, infinite->status);
    job_destroy(&infinite);
    job_destroy(&damaged);
    job_destroy(&good);
    pool_destroy(&pool);
}

void add_node_work_tests(CU_pSuite suite)
{
    TEST(a_delta_is_the_sum_with_its_squares_and_seal);
    TEST(a_delta_that_is_not_finite_is_refused);
    TEST(a_correction_checks_what_came);
}
