#include "tests/net/toys.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"

enum { PATIENCE_SECONDS = 60, FIRST_PORT = 20000, PORTS = 12000 };

uint16_t toy_next_port(void)
{
    static unsigned next; /* tests run on one thread */

    if (!next)
        next = (unsigned)getpid() * 64u;
    next += 2;
    return (uint16_t)(FIRST_PORT + next % PORTS);
}

uint16_t port_of_nobody(void)
{
    static struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;

    if (!address.sin_port) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(bind(fd, (struct sockaddr *)&address, size) == 0);
        CHECK(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    }
    return ntohs(address.sin_port);
}

static uint64_t number_of(const struct msg *msg)
{
    if (msg->kind == MSG_CHUNK)
        return msg->chunk.chunk;
    return msg->kind == MSG_PING ? (uint64_t)msg->ping.sent : 0;
}

static void write_log(struct toy *toy, const struct event *event)
{
    struct toy_entry *entry = &toy->log[toy->logged];

    if (event->kind == EVENT_WAKE || toy->logged == TOY_LOG)
        return;
    entry->kind = event->kind;
    entry->peer = event->peer;
    entry->channel = event->channel;
    if (event->msg) {
        entry->msg = event->msg->kind;
        entry->number = number_of(event->msg);
    } else {
        entry->number = event->key;
    }
    toy->logged++;
}

static void toy_step(void *self, const struct event *event, struct effects *out)
{
    struct toy *toy = self;

    (void)pthread_mutex_lock(&toy->lock);
    toy->counts[event->kind]++;
    write_log(toy, event);
    if (event->kind == EVENT_WAKE)
        toy->wake_at = event->now + toy->wake_every;
    if (toy->react && !(event->msg && event->msg->kind == MSG_ARRIVING))
        toy->react(toy, event, out);
    (void)pthread_cond_broadcast(&toy->changed);
    (void)pthread_mutex_unlock(&toy->lock);
}

static nanos toy_deadline(const void *self)
{
    const struct toy *toy = self;

    return toy->wake_every ? toy->wake_at : NEVER;
}

static void count(struct toy *toy, unsigned *counter)
{
    (void)pthread_mutex_lock(&toy->lock);
    ++*counter;
    (void)pthread_cond_broadcast(&toy->changed);
    (void)pthread_mutex_unlock(&toy->lock);
}

static void on_local(void *self, const struct msg *msg, struct blob *payload)
{
    struct toy *toy = self;

    (void)msg;
    (void)payload;
    count(toy, &toy->locals);
}

static void on_note(void *self, nanos now, const struct note *note)
{
    struct toy *toy = self;

    (void)now;
    (void)pthread_mutex_lock(&toy->lock);
    (void)snprintf(toy->note, sizeof toy->note, "%s", note->text);
    (void)snprintf(toy->address, sizeof toy->address, "%s", note->address);
    (void)pthread_mutex_unlock(&toy->lock);
    count(toy, &toy->notes);
}

static void on_watch(void *self, const struct event *event,
                     const struct effects *effects)
{
    struct toy *toy = self;

    (void)event;
    (void)effects;
    count(toy, &toy->watched);
}

static bool on_tick(void *self, nanos now)
{
    struct toy *toy = self;
    void (*act)(struct toy *);

    (void)now;
    (void)pthread_mutex_lock(&toy->lock);
    act = toy->at_tick;
    (void)pthread_mutex_unlock(&toy->lock);
    if (!act)
        return true;
    act(toy);
    (void)pthread_mutex_lock(&toy->lock);
    toy->at_tick = NULL;
    (void)pthread_cond_broadcast(&toy->changed);
    (void)pthread_mutex_unlock(&toy->lock);
    return true;
}

static bool tick_has_come(struct toy *toy, const void *asked)
{
    (void)asked;
    return !toy->at_tick;
}

static void on_signal(void *self, int number)
{
    struct toy *toy = self;

    (void)number;
    count(toy, &toy->signals);
}

struct toy *toy_new(bool binds)
{
    struct toy *toy = calloc(1, sizeof *toy);
    pthread_condattr_t monotonic;

    if (!toy)
        abort();
    toy->binds = binds;
    toy->pool = pool_new();
    toy->machine = (struct machine){toy, "toy", toy_step, toy_deadline};
    toy->config.chunk_bytes = TOY_CHUNK;
    toy->config.window = 8;
    toy->config.workers = 2;
    (void)sigemptyset(&toy->config.signals);
    (void)snprintf(toy->config.host, sizeof toy->config.host, "127.0.0.1");
    (void)pthread_mutex_init(&toy->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&toy->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return toy;
}

struct toy *toy_node(const struct toy *hub)
{
    struct toy *toy = toy_new(false);

    toy->config.port = hub->config.port;
    return toy;
}

static void *run(void *of)
{
    struct toy *toy = of;

    net_run(toy->net);
    return NULL;
}

static enum status open_toy(struct toy *toy, struct why *why)
{
    struct net_owner owner = {.self = toy,
                              .local = on_local,
                              .note = on_note,
                              .watch = on_watch,
                              .tick = on_tick,
                              .signal = on_signal};

    if (!toy->binds)
        return net_open_node(&toy->config, toy->machine, toy->pool, &owner,
                             &toy->net, why);
    return net_open_hub(&toy->config, toy->machine, toy->pool, &owner,
                        &toy->net, why);
}

static void allow(struct toy *toy)
{
    net_allow(toy->net, toy->allowed, toy->allowed_count,
              toy->enrols ? &toy->enrolment : NULL);
}

void toy_start(struct toy *toy)
{
    bool chosen = toy->config.port != 0;
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    toy->wake_at = net_now() + toy->wake_every;
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        if (!chosen)
            toy->config.port = toy_next_port();
        else if (tries)
            (void)usleep(50000); /* the port of a hub that has just ended */
        status = open_toy(toy, &why);
    }
    if (status == STATUS_OK && toy->allowed_count)
        allow(toy);
    if (status != STATUS_OK ||
        pthread_create(&toy->thread, NULL, run, toy) != 0) {
        (void)fprintf(stderr, "A toy cannot start: %s\n", why.text);
        exit(1);
    }
}

void toy_stop(struct toy *toy)
{
    if (!toy->net)
        return;
    net_stop(toy->net);
    (void)pthread_join(toy->thread, NULL);
    net_close(&toy->net);
}

void toy_destroy(struct toy **reference)
{
    struct toy *toy = *reference;

    *reference = NULL;
    toy_stop(toy);
    blob_unref(&toy->payload);
    pool_destroy(&toy->pool);
    (void)pthread_cond_destroy(&toy->changed);
    (void)pthread_mutex_destroy(&toy->lock);
    free(toy);
}

/* Waits until `reached` holds of the toy and what is asked; lock held. */
static bool wait_until(struct toy *toy,
                       bool (*reached)(struct toy *, const void *),
                       const void *asked)
{
    struct timespec deadline;
    bool done;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += PATIENCE_SECONDS;
    (void)pthread_mutex_lock(&toy->lock);
    while (!(done = reached(toy, asked)) && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&toy->changed, &toy->lock, &deadline);
    (void)pthread_mutex_unlock(&toy->lock);
    return done;
}

void toy_at_tick(struct toy *toy, void (*act)(struct toy *toy))
{
    (void)pthread_mutex_lock(&toy->lock);
    toy->at_tick = act;
    (void)pthread_mutex_unlock(&toy->lock);
    CHECK(wait_until(toy, tick_has_come, NULL));
}

struct goal_number {
    const unsigned *counter;
    const uint64_t *number;
    uint64_t at_least;
};

static bool number_reached(struct toy *toy, const void *asked)
{
    const struct goal_number *goal = asked;
    uint64_t now = goal->counter ? *goal->counter : *goal->number;

    (void)toy;
    return now >= goal->at_least;
}

bool toy_wait(struct toy *toy, const unsigned *counter, unsigned at_least)
{
    struct goal_number goal = {counter, NULL, at_least};

    return wait_until(toy, number_reached, &goal);
}

bool toy_wait_number(struct toy *toy, const uint64_t *number, uint64_t at_least)
{
    struct goal_number goal = {NULL, number, at_least};

    return wait_until(toy, number_reached, &goal);
}

struct goal_event {
    enum event_kind kind;
    enum channel channel;
    unsigned nth;
};

static unsigned count_events(const struct toy *toy,
                             const struct goal_event *goal)
{
    unsigned found = 0;

    for (unsigned i = 0; i < toy->logged; i++)
        found += toy->log[i].kind == goal->kind &&
                 toy->log[i].channel == goal->channel;
    return found;
}

static bool event_reached(struct toy *toy, const void *asked)
{
    const struct goal_event *goal = asked;

    return count_events(toy, goal) >= goal->nth;
}

bool toy_wait_event(struct toy *toy, enum event_kind kind, enum channel channel,
                    unsigned nth)
{
    struct goal_event goal = {kind, channel, nth};

    return wait_until(toy, event_reached, &goal);
}

unsigned toy_count(struct toy *toy, enum event_kind kind, enum channel channel)
{
    struct goal_event goal = {kind, channel, 0};
    unsigned found;

    (void)pthread_mutex_lock(&toy->lock);
    found = count_events(toy, &goal);
    (void)pthread_mutex_unlock(&toy->lock);
    return found;
}

void toy_echo(struct toy *toy, const struct event *event, struct effects *out)
{
    (void)toy;
    if (event->kind == EVENT_MESSAGE)
        effects_send(out, event->peer, event->msg, event->payload);
}

struct msg toy_ping(uint64_t number)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.sent = (int64_t)number;
    return msg;
}

struct msg toy_chunk(uint64_t number)
{
    struct msg msg = {.kind = MSG_CHUNK};

    msg.chunk.chunk = (uint32_t)number;
    return msg;
}
