#include "sim/study/process_pool.h"

#include <signal.h>
#include <unistd.h>

#include "tests/check.h"

struct jobs {
    bool break_off;
    int begun[2]; /* a pipe, by which job 1 says that it has begun */
};

/* Job 0 is ended by Ctrl-C, which its parent hears as well; both were begun. */
static void run(void *of, unsigned number, void *result)
{
    const struct jobs *jobs = of;
    char byte = 0;

    if (number == 1) {
        (void)!write(jobs->begun[1], &byte, 1);
    } else if (jobs->break_off) {
        (void)!read(jobs->begun[0], &byte, 1);
        (void)kill(getppid(), SIGINT);
        (void)raise(SIGINT);
    }
    *(int *)result = 7;
}

static bool play(bool break_off, bool together, int results[2])
{
    struct jobs jobs = {.break_off = break_off};
    const struct process_pool pool = {.count = 2,
                                      .workers = 2,
                                      .size = sizeof *results,
                                      .of = &jobs,
                                      .run = run,
                                      .together = together};
    bool done;

    CHECK_EQUAL(0, pipe(jobs.begun));
    done = process_pool_run(&pool, results);
    (void)close(jobs.begun[0]);
    (void)close(jobs.begun[1]);
    return done;
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
