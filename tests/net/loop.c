#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/net/fake_machine.h"

enum { MANY_THREADS = 8, POSTS = 500, JOBS = 300 };

/* A node that sends chunks while fewer than `window` are on their way, and
 * counts what comes back in a wrong order or with a wrong payload. */
static void push(struct fake_machine *fake, struct effects *out)
{
    while (fake->sent < fake->wanted &&
           fake->sent - fake->received < fake->window) {
        struct msg chunk = fake_chunk(fake->sent++);

        effects_send(out, PEER_BULK, &chunk, fake->payload);
    }
}

static void push_chunks(struct fake_machine *fake, const struct event *event,
                        struct effects *out)
{
    if (event->kind == EVENT_MESSAGE) {
        if (event->channel != CHANNEL_BULK ||
            event->msg->chunk.chunk != fake->received ||
            event->payload->size != FAKE_CHUNK ||
            memcmp(event->payload->bytes, fake->payload->bytes, FAKE_CHUNK) !=
                0)
            fake->wrong++;
        fake->received++;
    }
    if (event->channel == CHANNEL_BULK)
        push(fake, out);
}

static void give_chunk(struct fake_machine *fake)
{
    fake->payload = blob_new(fake->pool, FAKE_CHUNK);
    for (size_t i = 0; i < FAKE_CHUNK; i++)
        fake->payload->bytes[i] = (unsigned char)(i * 31 >> 3);
}

static void thousands_of_chunks_come_back_in_order_and_whole(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->react = fake_echo;
    fake_start(hub);
    node = fake_node(hub);
    node->react = push_chunks;
    node->wanted = runs_slowly() ? 200 : 2000;
    node->window = 8;
    give_chunk(node);
    fake_start(node);
    CHECK(fake_wait_number(node, &node->received, node->wanted));
    CHECK_EQUAL(0, node->wrong);
    CHECK_EQUAL(0, hub->notes + node->notes);
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void say_hello(struct fake_machine *fake, const struct event *event,
                      struct effects *out)
{
    struct msg hello = {.kind = MSG_HELLO};
    struct msg chunk = fake_chunk(7);

    if (event->kind == EVENT_JOIN)
        effects_send(out, event->peer,
                     event->channel == CHANNEL_BULK ? &chunk : &hello,
                     fake->payload);
    else if (event->kind == EVENT_MESSAGE && event->payload->size == 5 &&
             memcmp(event->payload->bytes, "model", 5) == 0)
        fake->received++;
}

static void small_payloads_travel_on_both_channels(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->react = fake_echo;
    fake_start(hub);
    node = fake_node(hub);
    node->react = say_hello;
    node->payload = blob_new(node->pool, 5);
    memcpy(node->payload->bytes, "model", 5);
    fake_start(node);
    CHECK(fake_wait_number(node, &node->received, 2));
    CHECK_EQUAL(1, fake_count(hub, EVENT_JOIN, CHANNEL_CONTROL));
    CHECK_EQUAL(1, fake_count(hub, EVENT_JOIN, CHANNEL_BULK));
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void double_it(struct job *job)
{
    job->number[0] *= 2;
    job->out[0] = blob_new(job->pool, 64);
}

static const struct work doubling = {"double", double_it, NULL};

/* Issues JOBS jobs when the first event comes; each may come back once. */
static void work_hard(struct fake_machine *fake, const struct event *event,
                      struct effects *out)
{
    struct job *job = event->job;

    if (event->kind == EVENT_DONE) {
        fake->wrong += job->number[0] != 2.0 * (double)job->id || !job->out[0];
        fake->received += job->id;
    }
    if (fake->flag)
        return;
    fake->flag = true;
    for (uint64_t i = 0; i < JOBS; i++) {
        job = job_new(&doubling, fake->pool, 1);
        job->id = i;
        job->number[0] = (double)i;
        effects_job(out, job);
    }
}

static void jobs_run_on_workers_and_come_back_once(void)
{
    struct fake_machine *fake = fake_new(false);

    fake->config.port = port_of_nobody();
    fake->react = work_hard;
    fake->wake_every = MILLISECOND;
    fake_start(fake);
    CHECK(fake_wait(fake, &fake->counts[EVENT_DONE], JOBS));
    fake_stop(fake);
    CHECK_EQUAL(JOBS, fake->counts[EVENT_DONE]);
    CHECK_EQUAL((uint64_t)JOBS * (JOBS - 1) / 2, fake->received);
    CHECK_EQUAL(0, fake->wrong);
    fake_destroy(&fake);
}

static void jobs_under_way_at_the_end_are_not_lost_memory(void)
{
    struct fake_machine *fake = fake_new(false);

    fake->config.port = port_of_nobody();
    fake->react = work_hard;
    fake->wake_every = MILLISECOND;
    fake_start(fake);
    CHECK(fake_wait(fake, &fake->counts[EVENT_WAKE], 1));
    fake_destroy(&fake); /* the pool checks that nothing is left */
}

struct poster {
    struct fake_machine *fake;
    uint32_t thread;
};

static void *post_many(void *of)
{
    const struct poster *poster = of;

    for (uint64_t i = 0; i < POSTS; i++) {
        struct msg msg = {.kind = MSG_LOCAL_OFFER};

        msg.local_offer.exchange = i;
        msg.local_offer.last = poster->thread;
        (void)net_post(poster->fake->net, &msg,
                       blob_new(poster->fake->pool, 100));
    }
    return NULL;
}

/* Counts posts; `sent` holds a byte per thread: the low bits of its next. */
static void count_posts(struct fake_machine *fake, const struct event *event,
                        struct effects *out)
{
    unsigned shift;
    struct msg answer = {.kind = MSG_LOCAL_VERDICT};

    if (event->kind != EVENT_MESSAGE)
        return;
    shift = event->msg->local_offer.last * 8;
    fake->wrong +=
        event->peer != PEER_TRAINER || event->channel != CHANNEL_LOCAL ||
        !event->payload ||
        (fake->sent >> shift & 255) != (event->msg->local_offer.exchange & 255);
    fake->sent = (fake->sent & ~((uint64_t)255 << shift)) |
                 ((event->msg->local_offer.exchange + 1) & 255) << shift;
    fake->received++;
    effects_send(out, PEER_TRAINER, &answer, NULL);
}

static void posts_of_many_threads_come_in_each_threads_order(void)
{
    struct fake_machine *fake = fake_new(false);
    pthread_t threads[MANY_THREADS];
    struct poster posters[MANY_THREADS];
    unsigned started = 0;

    fake->config.port = port_of_nobody();
    fake->react = count_posts;
    fake_start(fake);
    for (unsigned i = 0; i < MANY_THREADS; i++) {
        posters[i] = (struct poster){fake, i};
        started +=
            pthread_create(&threads[i], NULL, post_many, &posters[i]) == 0;
    }
    CHECK_EQUAL(MANY_THREADS, started);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    CHECK(fake_wait_number(fake, &fake->received,
                           (uint64_t)MANY_THREADS * POSTS));
    CHECK(fake_wait(fake, &fake->locals, MANY_THREADS * POSTS));
    CHECK_EQUAL(0, fake->wrong);
    fake_destroy(&fake);
}

static void send_to_nobody(struct fake_machine *fake, const struct event *event,
                           struct effects *out)
{
    struct msg chunk = fake_chunk(0), ping = fake_ping(0);

    fake->wrong += event->kind != EVENT_WAKE;
    for (int i = 0; i < 100; i++) {
        effects_send(out, PEER_BULK, &chunk, fake->payload);
        effects_send(out, PEER_CONTROL, &ping, NULL);
    }
    effects_drop(out, PEER_BULK);
}

static void without_a_hub_nothing_blocks_and_nothing_piles_up(void)
{
    struct fake_machine *fake = fake_new(false);

    fake->config.port = port_of_nobody();
    fake->react = send_to_nobody;
    fake->wake_every = 2 * MILLISECOND;
    give_chunk(fake);
    fake_start(fake);
    CHECK(fake_wait(fake, &fake->counts[EVENT_WAKE], 200));
    fake_stop(fake);
    CHECK_EQUAL(0, fake->wrong);
    CHECK_EQUAL(1, fake->payload->references);
    fake_destroy(&fake);
}

static void a_machine_is_woken_at_its_deadline_and_watched(void)
{
    struct fake_machine *fake = fake_new(false);

    fake->config.port = port_of_nobody();
    fake->wake_every = 5 * MILLISECOND;
    fake_start(fake);
    CHECK(fake_wait(fake, &fake->watched, 20));
    fake_stop(fake);
    CHECK_EQUAL(fake->counts[EVENT_WAKE], fake->watched);
    fake_destroy(&fake);
}

static void signals_of_the_config_reach_the_owner(void)
{
    struct fake_machine *fake = fake_new(false);
    sigset_t before;

    (void)sigaddset(&fake->config.signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &fake->config.signals, &before);
    fake->config.port = port_of_nobody();
    fake_start(fake);
    CHECK_EQUAL(0, kill(getpid(), SIGUSR1));
    CHECK(fake_wait(fake, &fake->signals, 1));
    fake_destroy(&fake);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static atomic_bool awake;

/* As the threads of a library that was there before main(). */
static void *block_nothing(void *of)
{
    sigset_t none;

    (void)of;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    while (atomic_load(&awake))
        (void)poll(NULL, 0, 1);
    return NULL;
}

static void a_thread_that_blocks_no_signal_passes_it_on(void)
{
    struct fake_machine *fake = fake_new(false);
    pthread_t thread;
    sigset_t before;

    (void)sigaddset(&fake->config.signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &fake->config.signals, &before);
    fake->config.port = port_of_nobody();
    fake_start(fake);
    atomic_store(&awake, true);
    if (CHECK_EQUAL(0, pthread_create(&thread, NULL, block_nothing, NULL))) {
        CHECK_EQUAL(0, pthread_kill(thread, SIGUSR1));
        CHECK(fake_wait(fake, &fake->signals, 1));
        CHECK_EQUAL(0, kill(getpid(), SIGUSR1));
        CHECK(fake_wait(fake, &fake->signals, 2));
        atomic_store(&awake, false);
        (void)pthread_join(thread, NULL);
    }
    fake_destroy(&fake);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool end_at_once(void *self, nanos now)
{
    (void)now;
    ++*(unsigned *)self;
    return false;
}

static void the_loop_ends_when_its_owner_says_so(void)
{
    struct fake_machine *fake = fake_new(false);
    unsigned ticks = 0;
    struct net_owner owner = {.self = &ticks, .tick = end_at_once};
    struct net *net = NULL;

    fake->config.port = port_of_nobody();
    if (!CHECK_OK(net_open_node(&fake->config, fake->machine, fake->pool,
                                &owner, &net, NULL)))
        return;
    net_run(net);
    CHECK_EQUAL(1, ticks);
    net_close(&net);
    CHECK(!net);
    net_close(&net);
    fake_destroy(&fake);
}

void add_net_loop_tests(CU_pSuite suite)
{
    TEST(thousands_of_chunks_come_back_in_order_and_whole);
    TEST(small_payloads_travel_on_both_channels);
    TEST(jobs_run_on_workers_and_come_back_once);
    TEST(jobs_under_way_at_the_end_are_not_lost_memory);
    TEST(posts_of_many_threads_come_in_each_threads_order);
    TEST(without_a_hub_nothing_blocks_and_nothing_piles_up);
    TEST(a_machine_is_woken_at_its_deadline_and_watched);
    TEST(signals_of_the_config_reach_the_owner);
    TEST(a_thread_that_blocks_no_signal_passes_it_on);
    TEST(the_loop_ends_when_its_owner_says_so);
}
