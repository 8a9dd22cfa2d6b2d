#include "bench/convergence/crew.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 64, SAY_EVERY = 10 /* seconds */ };

struct worker {
    pid_t process; /* 0: none */
    int pipe;
    unsigned task;
};

struct crew {
    const struct task *tasks;
    struct outcome *outcomes;
    unsigned count, workers, next, done;
    struct worker list[MOST_WORKERS];
    double cost[WORKLOADS]; /* of what is done, in seconds */
    unsigned finished[WORKLOADS];
    double began, said;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void task_run(const struct task *task, struct outcome *out)
{
    double began = seconds();

    memset(out, 0, sizeof *out);
    if (task->arm->kind == STAR)
        star_run(task, out);
    else
        alone_run(task, out);
    out->cost = seconds() - began;
}

/* The child: an outcome is smaller than what a pipe takes at once. */
static void work(const struct task *task, int pipe)
{
    struct outcome outcome;

    (void)signal(SIGTERM, SIG_DFL);
    task_run(task, &outcome);
    _exit(write(pipe, &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
}

static void begin(struct crew *crew, struct worker *worker)
{
    int ends[2];

    if (pipe(ends) != 0)
        abort();
    (void)fflush(NULL);
    worker->task = crew->next++;
    worker->pipe = ends[0];
    worker->process = fork();
    if (worker->process < 0)
        abort();
    if (worker->process == 0)
        work(&crew->tasks[worker->task], ends[1]);
    (void)close(ends[1]);
}

static void end(struct crew *crew, struct worker *worker)
{
    struct outcome *outcome = &crew->outcomes[worker->task];
    enum workload_id workload = crew->tasks[worker->task].arm->workload;

    if (read(worker->pipe, outcome, sizeof *outcome) != sizeof *outcome) {
        memset(outcome, 0, sizeof *outcome);
        (void)snprintf(outcome->trouble, sizeof outcome->trouble,
                       "its process died");
    }
    (void)close(worker->pipe);
    (void)waitpid(worker->process, NULL, 0);
    worker->process = 0;
    crew->done++;
    crew->cost[workload] += outcome->cost;
    crew->finished[workload]++;
}

/* What is left, at the mean cost of what is done. */
static double left(const struct crew *crew)
{
    double sum = 0;

    for (unsigned w = 0; w < WORKLOADS; w++) {
        unsigned all = 0;

        for (unsigned i = 0; i < crew->count; i++)
            all += crew->tasks[i].arm->workload == w;
        if (crew->finished[w])
            sum +=
                crew->cost[w] / crew->finished[w] * (all - crew->finished[w]);
    }
    return sum / crew->workers;
}

static void say(struct crew *crew)
{
    double now = seconds();

    if (now - crew->said < SAY_EVERY && crew->done < crew->count)
        return;
    crew->said = now;
    (void)fprintf(stderr, "%u of %u runs in %.0f s, %.0f s to go\n", crew->done,
                  crew->count, now - crew->began, left(crew));
}

/* Waits until some worker is done. */
static void wait_for_one(struct crew *crew)
{
    struct pollfd polls[MOST_WORKERS];

    for (unsigned i = 0; i < crew->workers; i++)
        polls[i] = (struct pollfd){
            crew->list[i].process ? crew->list[i].pipe : -1, POLLIN, 0};
    if (poll(polls, crew->workers, -1) < 0)
        return;
    for (unsigned i = 0; i < crew->workers; i++)
        if (polls[i].revents)
            end(crew, &crew->list[i]);
}

void crew_run(const struct task *tasks, unsigned count, unsigned workers,
              struct outcome *outcomes)
{
    struct crew crew = {.tasks = tasks,
                        .outcomes = outcomes,
                        .count = count,
                        .workers =
                            workers < MOST_WORKERS ? workers : MOST_WORKERS,
                        .began = seconds()};

    crew.said = crew.began;
    (void)signal(SIGTERM, interrupt);
    while (crew.done < (interrupted ? crew.next : count)) {
        for (unsigned i = 0; i < crew.workers && !interrupted; i++)
            if (!crew.list[i].process && crew.next < count)
                begin(&crew, &crew.list[i]);
        wait_for_one(&crew);
        say(&crew);
    }
}
