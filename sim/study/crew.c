#include "sim/study/crew.h"

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
    const struct crew *crew;
    char *results;
    unsigned workers, next, done;
    struct worker list[CREW_WORKERS];
    double began, said;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = 1;
    (void)signal(number, SIG_DFL);
}

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(const struct crew *crew, unsigned job, int pipe)
{
    char result[CREW_RESULT_BYTES] = {0};
    ssize_t size = (ssize_t)crew->size;

    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    crew->run(crew->of, job, result);
    _exit(write(pipe, result, crew->size) == size ? 0 : 1);
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
        work(shift->crew, worker->job, ends[1]);
    (void)close(ends[1]);
}

static void end(struct shift *shift, struct worker *worker)
{
    const struct crew *crew = shift->crew;
    char *result = shift->results + (size_t)worker->job * crew->size;
    ssize_t size = (ssize_t)crew->size;
    bool whole = read(worker->pipe, result, crew->size) == size;

    if (!whole)
        memset(result, 0, crew->size);
    (void)close(worker->pipe);
    (void)waitpid(worker->process, NULL, 0);
    worker->process = 0;
    shift->done++;
    if (crew->done)
        crew->done(crew->of, worker->job, whole ? result : NULL);
}

static void say(struct shift *shift)
{
    const struct crew *crew = shift->crew;
    double now = seconds(), spent = now - shift->began;

    if (!crew->noun || now - shift->said < SAY_EVERY || !shift->done)
        return;
    shift->said = now;
    (void)fprintf(stderr, "%u of %u %s in %.0f s, about %.0f s to go\n",
                  shift->done, crew->count, crew->noun, spent,
                  spent / shift->done * (crew->count - shift->done));
}

/* Waits until some worker is done, or it is time to say something. */
static void wait_for_one(struct shift *shift)
{
    struct pollfd polls[CREW_WORKERS];

    for (unsigned i = 0; i < shift->workers; i++)
        polls[i] = (struct pollfd){
            shift->list[i].process ? shift->list[i].pipe : -1, POLLIN, 0};
    if (poll(polls, shift->workers, SAY_EVERY * 1000) <= 0)
        return;
    for (unsigned i = 0; i < shift->workers; i++)
        if (polls[i].revents)
            end(shift, &shift->list[i]);
}

static unsigned worker_count(const struct crew *crew)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned workers = crew->workers;

    if (!workers)
        workers = cores > 0 ? (unsigned)cores : 1;
    return workers < CREW_WORKERS ? workers : CREW_WORKERS;
}

bool crew_run(const struct crew *crew, void *results)
{
    struct shift shift = {.crew = crew,
                          .results = results,
                          .workers = worker_count(crew),
                          .began = seconds()};
    void (*on_int)(int) = signal(SIGINT, interrupt);
    void (*on_term)(int) = signal(SIGTERM, interrupt);

    assert(crew->size <= CREW_RESULT_BYTES);
    interrupted = 0;
    shift.said = shift.began;
    memset(results, 0, crew->count * crew->size);
    while (shift.done < (interrupted ? shift.next : crew->count)) {
        for (unsigned i = 0; i < shift.workers && !interrupted; i++)
            if (!shift.list[i].process && shift.next < crew->count)
                begin(&shift, &shift.list[i]);
        wait_for_one(&shift);
        say(&shift);
    }
    (void)signal(SIGINT, on_int);
    (void)signal(SIGTERM, on_term);
    return shift.done == crew->count;
}
