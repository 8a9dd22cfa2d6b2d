#include "sim/study/process_pool.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAY_EVERY = 5 /* seconds */ };

struct worker {
    pid_t process; /* 0: none */
    int pipe;
    unsigned job;
};

struct shift {
    const struct process_pool *pool;
    char *results;
    unsigned workers, next, done;
    struct worker list[PROCESS_POOL_WORKERS];
    double began, said;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = 1;
    (void)signal(number, SIG_DFL);
}

double process_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(const struct process_pool *pool, unsigned job, int pipe)
{
    char result[PROCESS_POOL_RESULT_BYTES] = {0};
    ssize_t size = (ssize_t)pool->size;

    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    pool->run(pool->of, job, result);
    _exit(write(pipe, result, pool->size) == size ? 0 : 1);
}

static void begin(struct shift *shift, struct worker *worker)
{
    int ends[2];

    if (pipe(ends) != 0)
        abort();
    (void)fflush(NULL);
    worker->job = shift->next++;
    worker->pipe = ends[0];
    worker->process = fork();
    if (worker->process < 0)
        abort();
    if (worker->process == 0)
        work(shift->pool, worker->job, ends[1]);
    (void)close(ends[1]);
}

static void end(struct shift *shift, struct worker *worker)
{
    const struct process_pool *pool = shift->pool;
    char *result = shift->results + (size_t)worker->job * pool->size;
    ssize_t size = (ssize_t)pool->size;
    bool whole = read(worker->pipe, result, pool->size) == size;

    if (!whole)
        memset(result, 0, pool->size);
    (void)close(worker->pipe);
    (void)waitpid(worker->process, NULL, 0);
    worker->process = 0;
    shift->done++;
    if (pool->done)
        pool->done(pool->of, worker->job, whole ? result : NULL);
}

static void say(struct shift *shift)
{
    const struct process_pool *pool = shift->pool;
    double now = process_seconds(), spent = now - shift->began;

    if (!pool->noun || now - shift->said < SAY_EVERY || !shift->done)
        return;
    shift->said = now;
    (void)fprintf(stderr, "%u of %u %s in %.0f s, about %.0f s to go\n",
                  shift->done, pool->count, pool->noun, spent,
                  spent / shift->done * (pool->count - shift->done));
}

/* Waits until some worker is done, or it is time to say something. */
static void wait_for_one(struct shift *shift)
{
    struct pollfd polls[PROCESS_POOL_WORKERS];

    for (unsigned i = 0; i < shift->workers; i++)
        polls[i] = (struct pollfd){
            shift->list[i].process ? shift->list[i].pipe : -1, POLLIN, 0};
    if (poll(polls, shift->workers, SAY_EVERY * 1000) <= 0)
        return;
    for (unsigned i = 0; i < shift->workers; i++)
        if (polls[i].revents)
            end(shift, &shift->list[i]);
}

static void end_all(const struct shift *shift)
{
    for (unsigned i = 0; i < shift->workers; i++)
        if (shift->list[i].process)
            (void)kill(shift->list[i].process, SIGTERM);
}

static unsigned worker_count(const struct process_pool *pool)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned workers = pool->workers;

    if (!workers)
        workers = cores > 0 ? (unsigned)cores : 1;
    return workers < PROCESS_POOL_WORKERS ? workers : PROCESS_POOL_WORKERS;
}

bool process_pool_run(const struct process_pool *pool, void *results)
{
    struct shift shift = {.pool = pool,
                          .results = results,
                          .workers = worker_count(pool),
                          .began = process_seconds()};
    void (*on_int)(int), (*on_term)(int);

    assert(pool->size <= PROCESS_POOL_RESULT_BYTES);
    interrupted = 0;
    on_int = signal(SIGINT, interrupt);
    on_term = signal(SIGTERM, interrupt);
    shift.said = shift.began;
    memset(results, 0, pool->count * pool->size);
    while (shift.done < (interrupted ? shift.next : pool->count)) {
        for (unsigned i = 0; i < shift.workers && !interrupted; i++)
            if (!shift.list[i].process && shift.next < pool->count)
                begin(&shift, &shift.list[i]);
        if (interrupted && pool->together)
            end_all(&shift);
        wait_for_one(&shift);
        say(&shift);
    }
    (void)signal(SIGINT, on_int);
    (void)signal(SIGTERM, on_term);
    return shift.done == pool->count && !interrupted;
}
