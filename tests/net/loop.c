#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/net/toys.h"

enum { MANY_THREADS = 8, POSTS = 500, JOBS = 300 };

/* A node that sends chunks while fewer than `window` are on their way, and
 * counts what comes back in a wrong order or with a wrong payload. */
static void push(struct toy *toy, struct effects *out)
{
    while (toy->sent < toy->wanted && toy->sent - toy->received < toy->window) {
        struct msg chunk = toy_chunk(toy->sent++);

        effects_send(out, PEER_BULK, &chunk, toy->payload);
    }
}

static void push_chunks(struct toy *toy, const struct event *event,
                        struct effects *out)
{
    if (event->kind == EVENT_MESSAGE) {
        if (event->channel != CHANNEL_BULK ||
            event->msg->chunk.chunk != toy->received ||
            event->payload->size != TOY_CHUNK ||
            memcmp(event->payload->bytes, toy->payload->bytes, TOY_CHUNK) != 0)
            toy->wrong++;
        toy->received++;
    }
    if (event->channel == CHANNEL_BULK)
        push(toy, out);
}

static void give_chunk(struct toy *toy)
{
    toy->payload = blob_new(toy->pool, TOY_CHUNK);
    for (size_t i = 0; i < TOY_CHUNK; i++)
        toy->payload->bytes[i] = (unsigned char)(i * 31 >> 3);
}

static void thousands_of_chunks_come_back_in_order_and_whole(void)
{
    struct toy *hub = toy_new(true), *node;

    hub->react = toy_echo;
    toy_start(hub);
    node = toy_node(hub);
    node->react = push_chunks;
    node->wanted = runs_slowly() ? 200 : 2000;
    node->window = 8;
    give_chunk(node);
    toy_start(node);
    CHECK(toy_wait_number(node, &node->received, node->wanted));
    CHECK_EQUAL(0, node->wrong);
    CHECK_EQUAL(0, hub->notes + node->notes);
    toy_destroy(&node);
    toy_destroy(&hub);
}

static void say_hello(struct toy *toy, const struct event *event,
                      struct effects *out)
{
    struct msg hello = {.kind = MSG_HELLO};
    struct msg chunk = toy_chunk(7);

    if (event->kind == EVENT_JOIN)
        effects_send(out, event->peer,
                     event->channel == CHANNEL_BULK ? &chunk : &hello,
                     toy->payload);
    else if (event->kind == EVENT_MESSAGE && event->payload->size == 5 &&
             memcmp(event->payload->bytes, "model", 5) == 0)
        toy->received++;
}

static void small_payloads_travel_on_both_channels(void)
{
    struct toy *hub = toy_new(true), *node;

    hub->react = toy_echo;
    toy_start(hub);
    node = toy_node(hub);
    node->react = say_hello;
    node->payload = blob_new(node->pool, 5);
    memcpy(node->payload->bytes, "model", 5);
    toy_start(node);
    CHECK(toy_wait_number(node, &node->received, 2));
    CHECK_EQUAL(1, toy_count(hub, EVENT_JOIN, CHANNEL_CONTROL));
    CHECK_EQUAL(1, toy_count(hub, EVENT_JOIN, CHANNEL_BULK));
    toy_destroy(&node);
    toy_destroy(&hub);
}

static void double_it(struct job *job)
{
    job->number[0] *= 2;
    job->out[0] = blob_new(job->pool, 64);
}

static const struct work doubling = {"double", double_it, NULL};

/* Issues JOBS jobs when the first event comes; each may come back once. */
static void work_hard(struct toy *toy, const struct event *event,
                      struct effects *out)
{
    struct job *job = event->job;

    if (event->kind == EVENT_DONE) {
        toy->wrong += job->number[0] != 2.0 * (double)job->id || !job->out[0];
        toy->received += job->id;
    }
    if (toy->flag)
        return;
    toy->flag = true;
    for (uint64_t i = 0; i < JOBS; i++) {
        job = job_new(&doubling, toy->pool, 1);
        job->id = i;
        job->number[0] = (double)i;
        effects_job(out, job);
    }
}

static void jobs_run_on_workers_and_come_back_once(void)
{
    struct toy *toy = toy_new(false);

    toy->config.port = port_of_nobody();
    toy->react = work_hard;
    toy->wake_every = MILLISECOND;
    toy_start(toy);
    CHECK(toy_wait(toy, &toy->counts[EVENT_DONE], JOBS));
    toy_stop(toy);
    CHECK_EQUAL(JOBS, toy->counts[EVENT_DONE]);
    CHECK_EQUAL((uint64_t)JOBS * (JOBS - 1) / 2, toy->received);
    CHECK_EQUAL(0, toy->wrong);
    toy_destroy(&toy);
}

static void jobs_under_way_at_the_end_are_not_lost_memory(void)
{
    struct toy *toy = toy_new(false);

    toy->config.port = port_of_nobody();
    toy->react = work_hard;
    toy->wake_every = MILLISECOND;
    toy_start(toy);
    CHECK(toy_wait(toy, &toy->counts[EVENT_WAKE], 1));
    toy_destroy(&toy); /* the pool checks that nothing is left */
}

struct poster {
    struct toy *toy;
    uint32_t thread;
};

static void *post_many(void *of)
{
    const struct poster *poster = of;

    for (uint64_t i = 0; i < POSTS; i++) {
        struct msg msg = {.kind = MSG_SNAPSHOT};

        msg.snapshot.exchange = i;
        msg.snapshot.last = poster->thread;
        (void)net_post(poster->toy->net, &msg,
                       blob_new(poster->toy->pool, 100));
    }
    return NULL;
}

/* Counts posts; `sent` holds a byte per thread: the low bits of its next. */
static void count_posts(struct toy *toy, const struct event *event,
                        struct effects *out)
{
    unsigned shift;
    struct msg answer = {.kind = MSG_FORGET};

    if (event->kind != EVENT_MESSAGE)
        return;
    shift = event->msg->snapshot.last * 8;
    toy->wrong +=
        event->peer != PEER_TRAINER || event->channel != CHANNEL_LOCAL ||
        !event->payload ||
        (toy->sent >> shift & 255) != (event->msg->snapshot.exchange & 255);
    toy->sent = (toy->sent & ~((uint64_t)255 << shift)) |
                ((event->msg->snapshot.exchange + 1) & 255) << shift;
    toy->received++;
    effects_send(out, PEER_TRAINER, &answer, NULL);
}

static void posts_of_many_threads_come_in_each_threads_order(void)
{
    struct toy *toy = toy_new(false);
    pthread_t threads[MANY_THREADS];
    struct poster posters[MANY_THREADS];
    unsigned started = 0;

    toy->config.port = port_of_nobody();
    toy->react = count_posts;
    toy_start(toy);
    for (unsigned i = 0; i < MANY_THREADS; i++) {
        posters[i] = (struct poster){toy, i};
        started +=
            pthread_create(&threads[i], NULL, post_many, &posters[i]) == 0;
    }
    CHECK_EQUAL(MANY_THREADS, started);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    CHECK(toy_wait_number(toy, &toy->received, (uint64_t)MANY_THREADS * POSTS));
    CHECK(toy_wait(toy, &toy->locals, MANY_THREADS * POSTS));
    CHECK_EQUAL(0, toy->wrong);
    toy_destroy(&toy);
}

static void send_to_nobody(struct toy *toy, const struct event *event,
                           struct effects *out)
{
    struct msg chunk = toy_chunk(0), ping = toy_ping(0);

    toy->wrong += event->kind != EVENT_WAKE;
    for (int i = 0; i < 100; i++) {
        effects_send(out, PEER_BULK, &chunk, toy->payload);
        effects_send(out, PEER_CONTROL, &ping, NULL);
    }
    effects_drop(out, PEER_BULK);
}

static void without_a_hub_nothing_blocks_and_nothing_piles_up(void)
{
    struct toy *toy = toy_new(false);

    toy->config.port = port_of_nobody();
    toy->react = send_to_nobody;
    toy->wake_every = 2 * MILLISECOND;
    give_chunk(toy);
    toy_start(toy);
    CHECK(toy_wait(toy, &toy->counts[EVENT_WAKE], 200));
    toy_stop(toy);
    CHECK_EQUAL(0, toy->wrong);
    CHECK_EQUAL(1, toy->payload->references);
    toy_destroy(&toy);
}

static void a_machine_is_woken_at_its_deadline_and_watched(void)
{
    struct toy *toy = toy_new(false);

    toy->config.port = port_of_nobody();
    toy->wake_every = 5 * MILLISECOND;
    toy_start(toy);
    CHECK(toy_wait(toy, &toy->watched, 20));
    toy_stop(toy);
    CHECK_EQUAL(toy->counts[EVENT_WAKE], toy->watched);
    toy_destroy(&toy);
}

static void signals_of_the_config_reach_the_owner(void)
{
    struct toy *toy = toy_new(false);
    sigset_t before;

    (void)sigaddset(&toy->config.signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &toy->config.signals, &before);
    toy->config.port = port_of_nobody();
    toy_start(toy);
    CHECK_EQUAL(0, kill(getpid(), SIGUSR1));
    CHECK(toy_wait(toy, &toy->signals, 1));
    toy_destroy(&toy);
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
    struct toy *toy = toy_new(false);
    pthread_t thread;
    sigset_t before;

    (void)sigaddset(&toy->config.signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &toy->config.signals, &before);
    toy->config.port = port_of_nobody();
    toy_start(toy);
    atomic_store(&awake, true);
    if (CHECK_EQUAL(0, pthread_create(&thread, NULL, block_nothing, NULL))) {
        CHECK_EQUAL(0, pthread_kill(thread, SIGUSR1));
        CHECK(toy_wait(toy, &toy->signals, 1));
        CHECK_EQUAL(0, kill(getpid(), SIGUSR1));
        CHECK(toy_wait(toy, &toy->signals, 2));
        atomic_store(&awake, false);
        (void)pthread_join(thread, NULL);
    }
    toy_destroy(&toy);
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
    struct toy *toy = toy_new(false);
    unsigned ticks = 0;
    struct net_owner owner = {.self = &ticks, .tick = end_at_once};
    struct net *net = NULL;

    toy->config.port = port_of_nobody();
    if (!CHECK_OK(net_open_node(&toy->config, toy->machine, toy->pool, &owner,
                                &net, NULL)))
        return;
    net_run(net);
    CHECK_EQUAL(1, ticks);
    net_close(&net);
    CHECK(!net);
    net_close(&net);
    toy_destroy(&toy);
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
