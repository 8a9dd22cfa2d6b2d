#include "hub/program/admit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* A ring: [taken, done) is done, [done, given) is to be done. */
struct clerk {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char folder[FILE_PATH_BYTES];
    struct clerk_task tasks[CLERK_MOST];
    unsigned taken, done, given;
    bool closing;
};

static void *work(void *self)
{
    struct clerk *clerk = self;

    (void)pthread_mutex_lock(&clerk->lock);
    for (;;) {
        struct clerk_task *task = &clerk->tasks[clerk->done % CLERK_MOST];

        if (clerk->done == clerk->given && clerk->closing)
            break;
        if (clerk->done == clerk->given) {
            (void)pthread_cond_wait(&clerk->changed, &clerk->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&clerk->lock);
        task->status = ring_write(clerk->folder, &task->entry, &task->why);
        (void)pthread_mutex_lock(&clerk->lock);
        clerk->done++;
    }
    (void)pthread_mutex_unlock(&clerk->lock);
    return NULL;
}

enum status clerk_open(const char *folder, struct clerk **out, struct why *why)
{
    struct clerk *clerk = calloc(1, sizeof *clerk);
    sigset_t all, before;
    int failed;

    if (!clerk)
        return because(why, STATUS_NO_MEMORY, "no memory for keys");
    (void)snprintf(clerk->folder, sizeof clerk->folder, "%s", folder);
    (void)pthread_mutex_init(&clerk->lock, NULL);
    (void)pthread_cond_init(&clerk->changed, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&clerk->thread, NULL, work, clerk);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) {
        *out = clerk;
        return STATUS_OK;
    }
    (void)pthread_cond_destroy(&clerk->changed);
    (void)pthread_mutex_destroy(&clerk->lock);
    free(clerk);
    return because(why, STATUS_UNAVAILABLE,
                   "no thread can be made that writes down who enrols");
}

void clerk_close(struct clerk **reference)
{
    struct clerk *clerk = *reference;

    *reference = NULL;
    if (!clerk)
        return;
    (void)pthread_mutex_lock(&clerk->lock);
    clerk->closing = true;
    (void)pthread_cond_signal(&clerk->changed);
    (void)pthread_mutex_unlock(&clerk->lock);
    (void)pthread_join(clerk->thread, NULL);
    (void)pthread_cond_destroy(&clerk->changed);
    (void)pthread_mutex_destroy(&clerk->lock);
    free(clerk);
}

bool clerk_give(struct clerk *clerk, const struct clerk_task *task)
{
    bool has_room;

    (void)pthread_mutex_lock(&clerk->lock);
    has_room = clerk->given - clerk->taken < CLERK_MOST;
    if (has_room)
        clerk->tasks[clerk->given++ % CLERK_MOST] = *task;
    (void)pthread_cond_signal(&clerk->changed);
    (void)pthread_mutex_unlock(&clerk->lock);
    return has_room;
}

bool clerk_pop(struct clerk *clerk, struct clerk_task *out)
{
    bool is_done;

    (void)pthread_mutex_lock(&clerk->lock);
    is_done = clerk->taken != clerk->done;
    if (is_done)
        *out = clerk->tasks[clerk->taken++ % CLERK_MOST];
    (void)pthread_mutex_unlock(&clerk->lock);
    return is_done;
}
