#include "net/workers.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/need.h"
#include "net/net.h"

/* A ring of jobs that doubles when it is full. */
struct queue {
    struct job **slots;
    unsigned first, count, capacity;
};

struct workers {
    pthread_mutex_t lock; /* of all below but the threads */
    pthread_cond_t work;  /* there is a job, or it ends */
    bool ending;
    struct queue todo, done;
    nanos moved; /* when a job last began, or the first had to wait */
    const struct bell *bell;
    unsigned count;
    pthread_t threads[];
};

static void queue_grow(struct queue *queue)
{
    unsigned capacity = queue->capacity ? 2 * queue->capacity : 64;
    struct job **slots = need_memory(capacity, sizeof(struct job *));

    for (unsigned i = 0; i < queue->count; i++)
        slots[i] = queue->slots[(queue->first + i) % queue->capacity];
    free(queue->slots);
    queue->slots = slots;
    queue->first = 0;
    queue->capacity = capacity;
}

static void queue_push(struct queue *queue, struct job *job)
{
    if (queue->count == queue->capacity)
        queue_grow(queue);
    queue->slots[(queue->first + queue->count++) % queue->capacity] = job;
}

static struct job *queue_pull(struct queue *queue)
{
    struct job *job;

    if (!queue->count)
        return NULL;
    job = queue->slots[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return job;
}

static void queue_free(struct queue *queue)
{
    struct job *job;

    while ((job = queue_pull(queue)) != NULL)
        job_destroy(&job);
    free(queue->slots);
}

/* Waits for a job; NULL when it ends. Called with the lock held. */
static struct job *next_job(struct workers *workers)
{
    while (!workers->ending && !workers->todo.count)
        (void)pthread_cond_wait(&workers->work, &workers->lock);
    workers->moved = net_now();
    return workers->ending ? NULL : queue_pull(&workers->todo);
}

static void *worker(void *of)
{
    struct workers *workers = of;
    struct job *job;

    (void)pthread_mutex_lock(&workers->lock);
    while ((job = next_job(workers)) != NULL) {
        (void)pthread_mutex_unlock(&workers->lock);
        job_run(job);
        (void)pthread_mutex_lock(&workers->lock);
        queue_push(&workers->done, job);
        if (workers->done.count == 1) /* else it has been rung already */
            bell_ring(workers->bell);
    }
    (void)pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Starts as many as it can get, up to `threads`. */
static int start_threads(struct workers *workers, unsigned threads)
{
    sigset_t all, before;
    int error = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!error && workers->count < threads) {
        error = pthread_create(&workers->threads[workers->count], NULL, worker,
                               workers);
        workers->count += !error;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

enum status workers_new(unsigned threads, const struct bell *bell,
                        struct workers **out, struct why *why)
{
    struct workers *workers;
    int error;

    assert(threads >= 1);
    workers = calloc(1, sizeof *workers + threads * sizeof(pthread_t));
    if (!workers)
        return because(why, STATUS_NO_MEMORY, "no memory for threads");
    (void)pthread_mutex_init(&workers->lock, NULL);
    (void)pthread_cond_init(&workers->work, NULL);
    workers->bell = bell;
    error = start_threads(workers, threads);
    if (error) {
        workers_destroy(&workers);
        return because(why, STATUS_UNAVAILABLE,
                       "the system gives no %u threads: %s", threads,
                       strerror(error));
    }
    *out = workers;
    return STATUS_OK;
}

void workers_destroy(struct workers **reference)
{
    struct workers *workers = *reference;

    *reference = NULL;
    if (!workers)
        return;
    (void)pthread_mutex_lock(&workers->lock);
    workers->ending = true;
    (void)pthread_cond_broadcast(&workers->work);
    (void)pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        (void)pthread_join(workers->threads[i], NULL);
    queue_free(&workers->todo);
    queue_free(&workers->done);
    (void)pthread_cond_destroy(&workers->work);
    (void)pthread_mutex_destroy(&workers->lock);
    free(workers);
}

void workers_give(struct workers *workers, struct job *job)
{
    (void)pthread_mutex_lock(&workers->lock);
    if (!workers->todo.count)
        workers->moved = net_now();
    queue_push(&workers->todo, job);
    (void)pthread_cond_signal(&workers->work);
    (void)pthread_mutex_unlock(&workers->lock);
}

nanos workers_stalled(struct workers *workers, nanos now)
{
    nanos stalled;

    (void)pthread_mutex_lock(&workers->lock);
    stalled = workers->todo.count ? now - workers->moved : 0;
    (void)pthread_mutex_unlock(&workers->lock);
    return stalled > 0 ? stalled : 0;
}

struct job *workers_pop(struct workers *workers)
{
    struct job *job;

    (void)pthread_mutex_lock(&workers->lock);
    job = queue_pull(&workers->done);
    (void)pthread_mutex_unlock(&workers->lock);
    return job;
}
