#include "net/workers.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/mailbox.h"
#include "net/net.h"
#include "tests/check.h"

enum { MANY = 500 };

static atomic_int gate; /* jobs that may pass */

static void note_the_thread(struct job *job)
{
    job->out[0] = blob_new(job->pool, sizeof(pthread_t));
    job->number[0] =
        pthread_equal(pthread_self(), *(const pthread_t *)job->context);
}

static void wait_at_the_gate(struct job *job)
{
    (void)job;
    while (!atomic_load(&gate))
        (void)poll(NULL, 0, 1);
}

static const struct work noting = {"note", note_the_thread, NULL};
static const struct work waiting = {"wait", wait_at_the_gate, NULL};

static struct job *next_done(struct workers *workers, const struct bell *bell)
{
    struct pollfd item = {bell->fd, POLLIN, 0};
    struct job *job = workers_pop(workers);

    while (!job && poll(&item, 1, 20000) == 1) {
        bell_hush(bell);
        job = workers_pop(workers);
    }
    return job;
}

static void every_job_comes_back_from_another_thread(void)
{
    struct pool *pool = pool_new();
    struct workers *workers = NULL;
    struct bell bell;
    pthread_t here = pthread_self();
    uint64_t sum = 0;

    if (!CHECK_OK(bell_init(&bell, NULL)) ||
        !CHECK_OK(workers_new(3, &bell, &workers, NULL)))
        return;
    for (uint64_t i = 0; i < MANY; i++) {
        struct job *job = job_new(&noting, pool, 0);

        job->id = i;
        job->context = &here;
        workers_give(workers, job);
    }
    for (int i = 0; i < MANY; i++) {
        struct job *job = next_done(workers, &bell);

        if (!CHECK(job != NULL))
            break;
        CHECK_EQUAL(0, job->number[0]);
        sum += job->id;
        job_destroy(&job);
    }
    CHECK_EQUAL(MANY * (MANY - 1) / 2, sum);
    CHECK(!workers_pop(workers));
    workers_destroy(&workers);
    bell_free(&bell);
    pool_destroy(&pool);
}

static void jobs_that_wait_behind_others_are_destroyed_at_the_end(void)
{
    struct pool *pool = pool_new();
    struct workers *workers = NULL;
    struct bell bell;

    atomic_store(&gate, 0);
    if (!CHECK_OK(bell_init(&bell, NULL)) ||
        !CHECK_OK(workers_new(1, &bell, &workers, NULL)))
        return;
    for (int i = 0; i < 100; i++) {
        struct job *job = job_new(&waiting, pool, 1);

        job->in[0].blob = blob_new(pool, 1000);
        workers_give(workers, job);
    }
    atomic_store(&gate, 1);
    workers_destroy(&workers);
    CHECK(!workers);
    workers_destroy(&workers);
    bell_free(&bell);
    pool_destroy(&pool);
}

static void jobs_that_nobody_begins_are_noticed(void)
{
    struct pool *pool = pool_new();
    struct workers *workers = NULL;
    struct bell bell;

    atomic_store(&gate, 0);
    if (!CHECK_OK(bell_init(&bell, NULL)) ||
        !CHECK_OK(workers_new(1, &bell, &workers, NULL)))
        return;
    CHECK_EQUAL(0, workers_stalled(workers, net_now() + SECOND));
    for (int i = 0; i < 2; i++)
        workers_give(workers, job_new(&waiting, pool, 0));
    CHECK(workers_stalled(workers, net_now() + 100 * SECOND) > 50 * SECOND);
    atomic_store(&gate, 1);
    for (int i = 0; i < 2; i++) {
        struct job *job = next_done(workers, &bell);

        CHECK(job != NULL);
        job_destroy(&job);
    }
    CHECK_EQUAL(0, workers_stalled(workers, net_now() + 100 * SECOND));
    workers_destroy(&workers);
    bell_free(&bell);
    pool_destroy(&pool);
}

static void letters_come_in_the_order_they_were_posted(void)
{
    struct pool *pool = pool_new();
    struct mailbox mailbox;
    struct bell bell;
    struct msg msg = {.kind = MSG_APPLIED};
    struct letter *letter;
    uint64_t expected = 0;

    if (!CHECK_OK(bell_init(&bell, NULL)))
        return;
    CHECK(mailbox_init(&mailbox, &bell));
    CHECK(!mailbox_drain(&mailbox));
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < MANY; i++) {
            msg.applied.exchange = i;
            mailbox_post(&mailbox, &msg, i % 2 ? blob_new(pool, 10) : NULL);
        }
    letter = mailbox_drain(&mailbox);
    while (letter) {
        struct letter *next = letter->next;

        CHECK_EQUAL(expected++ % MANY, letter->msg.applied.exchange);
        letter_destroy(&letter);
        letter = next;
    }
    CHECK_EQUAL(2 * MANY, expected);
    mailbox_post(&mailbox, &msg, blob_new(pool, 10));
    mailbox_free(&mailbox);
    bell_free(&bell);
    pool_destroy(&pool);
}

void add_net_workers_tests(CU_pSuite suite)
{
    TEST(every_job_comes_back_from_another_thread);
    TEST(jobs_that_wait_behind_others_are_destroyed_at_the_end);
    TEST(jobs_that_nobody_begins_are_noticed);
    TEST(letters_come_in_the_order_they_were_posted);
}
