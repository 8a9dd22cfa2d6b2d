#include "net/name.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

struct question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    char *host;
    bool over;
    unsigned holders; /* the last one frees it */
    int error;
};

static void let_go(struct question *question)
{
    bool last;

    (void)pthread_mutex_lock(&question->lock);
    last = --question->holders == 0;
    (void)pthread_mutex_unlock(&question->lock);
    if (!last)
        return;
    (void)pthread_mutex_destroy(&question->lock);
    (void)pthread_cond_destroy(&question->answered);
    free(question->host);
    free(question);
}

static int ask(const char *host, int flags)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, NULL, &hints, &found);

    if (!error)
        freeaddrinfo(found);
    return error;
}

static void *run(void *self)
{
    struct question *question = self;
    int error = ask(question->host, 0);

    (void)pthread_mutex_lock(&question->lock);
    question->error = error;
    question->over = true;
    (void)pthread_cond_signal(&question->answered);
    (void)pthread_mutex_unlock(&question->lock);
    let_go(question);
    return NULL;
}

/* NULL: there is no memory. */
static struct question *question_new(const char *host)
{
    struct question *question = calloc(1, sizeof *question);
    pthread_condattr_t monotonic;

    if (!question)
        return NULL;
    question->host = strdup(host);
    question->holders = 2;
    (void)pthread_mutex_init(&question->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&question->answered, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return question;
}

static int wait_for(struct question *question, nanos patience)
{
    struct timespec until;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(patience / SECOND);
    (void)pthread_mutex_lock(&question->lock);
    while (!question->over && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&question->answered, &question->lock,
                                       &until);
    error = question->over ? question->error : EAI_INPROGRESS;
    (void)pthread_mutex_unlock(&question->lock);
    return error;
}

int name_ask(const char *host, nanos patience)
{
    struct question *question;
    pthread_t thread;
    int error;

    if (ask(host, AI_NUMERICHOST) == 0)
        return 0;
    question = question_new(host);
    if (!question || !question->host ||
        pthread_create(&thread, NULL, run, question) != 0) {
        if (question)
            question->holders = 1;
        if (question)
            let_go(question);
        return ask(host, 0);
    }
    (void)pthread_detach(thread);
    error = wait_for(question, patience);
    let_go(question);
    return error;
}
