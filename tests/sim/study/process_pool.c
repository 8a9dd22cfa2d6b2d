#include "sim/study/process_pool.h"

#include <signal.h>
#include <unistd.h>

#include "tests/check.h"

/* Job 0 is ended by Ctrl-C, which its parent hears as well; both were begun. */
static void run(void *of, unsigned number, void *result)
{
    const bool *breaks = of;

    if (*breaks && number == 0) {
        (void)kill(getppid(), SIGINT);
        (void)raise(SIGINT);
    }
    *(int *)result = 7;
}

static bool play(bool breaks, bool together, int results[2])
{
    const struct process_pool pool = {.count = 2,
                                      .workers = 2,
                                      .size = sizeof *results,
                                      .of = &breaks,
                                      .run = run,
                                      .together = together};

    return process_pool_run(&pool, results);
}

static void who_interrupts_the_last_jobs_is_heard(void)
{
    int results[2];

    CHECK(!play(true, false, results));
    CHECK_EQUAL(0, results[0]);
    CHECK_EQUAL(7, results[1]);
    CHECK(!play(true, true, results));
    CHECK(play(false, false, results));
    CHECK_EQUAL(7, results[0]);
    CHECK_EQUAL(7, results[1]);
}

void add_sim_study_process_pool_tests(CU_pSuite suite)
{
    TEST(who_interrupts_the_last_jobs_is_heard);
}
