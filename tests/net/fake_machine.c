#include "tests/net/fake_machine.h"

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

uint16_t fake_next_port(void)
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

static void write_log(struct fake_machine *fake, const struct event *event)
{
    struct fake_entry *entry = &fake->log[fake->logged];

    if (event->kind == EVENT_WAKE || fake->logged == FAKE_LOG)
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
    fake->logged++;
}

static void fake_step(void *self, const struct event *event,
                      struct effects *out)
{
    struct fake_machine *fake = self;

    (void)pthread_mutex_lock(&fake->lock);
    fake->counts[event->kind]++;
    write_log(fake, event);
    if (event->kind == EVENT_WAKE)
        fake->wake_at = event->now + fake->wake_every;
    if (fake->react && !(event->msg && event->msg->kind == MSG_ARRIVING))
        fake->react(fake, event, out);
    (void)pthread_cond_broadcast(&fake->changed);
    (void)pthread_mutex_unlock(&fake->lock);
}

static nanos fake_deadline(const void *self)
{
    const struct fake_machine *fake = self;

    return fake->wake_every ? fake->wake_at : NEVER;
}

static void count(struct fake_machine *fake, unsigned *counter)
{
    (void)pthread_mutex_lock(&fake->lock);
    ++*counter;
    (void)pthread_cond_broadcast(&fake->changed);
    (void)pthread_mutex_unlock(&fake->lock);
}

static void on_local(void *self, const struct msg *msg, struct blob *payload)
{
    struct fake_machine *fake = self;

    (void)msg;
    (void)payload;
    count(fake, &fake->locals);
}

static void on_note(void *self, nanos now, const struct note *note)
{
    struct fake_machine *fake = self;

    (void)now;
    (void)pthread_mutex_lock(&fake->lock);
    (void)snprintf(fake->note, sizeof fake->note, "%s", note->text);
    (void)snprintf(fake->address, sizeof fake->address, "%s", note->address);
    (void)pthread_mutex_unlock(&fake->lock);
    count(fake, &fake->notes);
}

static void on_watch(void *self, const struct event *event,
                     const struct effects *effects)
{
    struct fake_machine *fake = self;

    (void)event;
    (void)effects;
    count(fake, &fake->watched);
}

static bool on_tick(void *self, nanos now)
{
    struct fake_machine *fake = self;
    void (*act)(struct fake_machine *);

    (void)now;
    (void)pthread_mutex_lock(&fake->lock);
    act = fake->at_tick;
    (void)pthread_mutex_unlock(&fake->lock);
    if (!act)
        return true;
    act(fake);
    (void)pthread_mutex_lock(&fake->lock);
    fake->at_tick = NULL;
    (void)pthread_cond_broadcast(&fake->changed);
    (void)pthread_mutex_unlock(&fake->lock);
    return true;
}

static bool tick_has_come(struct fake_machine *fake, const void *asked)
{
    (void)asked;
    return !fake->at_tick;
}

static void on_signal(void *self, int number)
{
    struct fake_machine *fake = self;

    (void)number;
    count(fake, &fake->signals);
}

struct fake_machine *fake_new(bool binds)
{
    struct fake_machine *fake = calloc(1, sizeof *fake);
    pthread_condattr_t monotonic;

    if (!fake)
        abort();
    fake->binds = binds;
    fake->pool = pool_new();
    fake->machine = (struct machine){fake, "fake", fake_step, fake_deadline};
    fake->config.chunk_bytes = FAKE_CHUNK;
    fake->config.window = 8;
    fake->config.workers = 2;
    (void)sigemptyset(&fake->config.signals);
    (void)snprintf(fake->config.host, sizeof fake->config.host, "127.0.0.1");
    (void)pthread_mutex_init(&fake->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&fake->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return fake;
}

struct fake_machine *fake_node(const struct fake_machine *hub)
{
    struct fake_machine *fake = fake_new(false);

    fake->config.port = hub->config.port;
    return fake;
}

static void *run(void *of)
{
    struct fake_machine *fake = of;

    net_run(fake->net);
    return NULL;
}

static enum status open_fake(struct fake_machine *fake, struct why *why)
{
    struct net_owner owner = {.self = fake,
                              .local = on_local,
                              .note = on_note,
                              .watch = on_watch,
                              .tick = on_tick,
                              .signal = on_signal};

    if (!fake->binds)
        return net_open_node(&fake->config, fake->machine, fake->pool, &owner,
                             &fake->net, why);
    return net_open_hub(&fake->config, fake->machine, fake->pool, &owner,
                        &fake->net, why);
}

static void allow(struct fake_machine *fake)
{
    net_allow(fake->net, fake->allowed, fake->allowed_count,
              fake->enrols ? &fake->enrolment : NULL);
}

void fake_start(struct fake_machine *fake)
{
    bool chosen = fake->config.port != 0;
    enum status status = STATUS_UNAVAILABLE;
    struct why why;

    fake->wake_at = net_now() + fake->wake_every;
    for (int tries = 0; status != STATUS_OK && tries < 200; tries++) {
        if (!chosen)
            fake->config.port = fake_next_port();
        else if (tries)
            (void)usleep(50000); /* the port of a hub that has just ended */
        status = open_fake(fake, &why);
    }
    if (status == STATUS_OK && fake->allowed_count)
        allow(fake);
    if (status != STATUS_OK ||
        pthread_create(&fake->thread, NULL, run, fake) != 0) {
        (void)fprintf(stderr, "A fake machine cannot start: %s\n", why.text);
        exit(1);
    }
}

void fake_stop(struct fake_machine *fake)
{
    if (!fake->net)
        return;
    net_stop(fake->net);
    (void)pthread_join(fake->thread, NULL);
    net_close(&fake->net);
}

void fake_destroy(struct fake_machine **reference)
{
    struct fake_machine *fake = *reference;

    *reference = NULL;
    fake_stop(fake);
    blob_unref(&fake->payload);
    pool_destroy(&fake->pool);
    (void)pthread_cond_destroy(&fake->changed);
    (void)pthread_mutex_destroy(&fake->lock);
    free(fake);
}

/* Waits until `reached` holds of the machine and what is asked; lock held. */
static bool wait_until(struct fake_machine *fake,
                       bool (*reached)(struct fake_machine *, const void *),
                       const void *asked)
{
    struct timespec deadline;
    bool done;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += PATIENCE_SECONDS;
    (void)pthread_mutex_lock(&fake->lock);
    while (!(done = reached(fake, asked)) && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&fake->changed, &fake->lock, &deadline);
    (void)pthread_mutex_unlock(&fake->lock);
    return done;
}

void fake_at_tick(struct fake_machine *fake,
                  void (*act)(struct fake_machine *fake))
{
    (void)pthread_mutex_lock(&fake->lock);
    fake->at_tick = act;
    (void)pthread_mutex_unlock(&fake->lock);
    CHECK(wait_until(fake, tick_has_come, NULL));
}

struct goal_number {
    const unsigned *counter;
    const uint64_t *number;
    uint64_t at_least;
};

static bool number_reached(struct fake_machine *fake, const void *asked)
{
    const struct goal_number *goal = asked;
    uint64_t now = goal->counter ? *goal->counter : *goal->number;

    (void)fake;
    return now >= goal->at_least;
}

bool fake_wait(struct fake_machine *fake, const unsigned *counter,
               unsigned at_least)
{
    struct goal_number goal = {counter, NULL, at_least};

    return wait_until(fake, number_reached, &goal);
}

bool fake_wait_number(struct fake_machine *fake, const uint64_t *number,
                      uint64_t at_least)
{
    struct goal_number goal = {NULL, number, at_least};

    return wait_until(fake, number_reached, &goal);
}

struct goal_event {
    enum event_kind kind;
    enum channel channel;
    unsigned nth;
};

static unsigned count_events(const struct fake_machine *fake,
                             const struct goal_event *goal)
{
    unsigned found = 0;

    for (unsigned i = 0; i < fake->logged; i++)
        found += fake->log[i].kind == goal->kind &&
                 fake->log[i].channel == goal->channel;
    return found;
}

static bool event_reached(struct fake_machine *fake, const void *asked)
{
    const struct goal_event *goal = asked;

    return count_events(fake, goal) >= goal->nth;
}

bool fake_wait_event(struct fake_machine *fake, enum event_kind kind,
                     enum channel channel, unsigned nth)
{
    struct goal_event goal = {kind, channel, nth};

    return wait_until(fake, event_reached, &goal);
}

unsigned fake_count(struct fake_machine *fake, enum event_kind kind,
                    enum channel channel)
{
    struct goal_event goal = {kind, channel, 0};
    unsigned found;

    (void)pthread_mutex_lock(&fake->lock);
    found = count_events(fake, &goal);
    (void)pthread_mutex_unlock(&fake->lock);
    return found;
}

void fake_echo(struct fake_machine *fake, const struct event *event,
               struct effects *out)
{
    (void)fake;
    if (event->kind == EVENT_MESSAGE)
        effects_send(out, event->peer, event->msg, event->payload);
}

void fake_rest(void)
{
    const struct timespec moment = {0, MILLISECOND};

    (void)nanosleep(&moment, NULL);
}

struct msg fake_ping(uint64_t number)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.sent = (int64_t)number;
    return msg;
}

struct msg fake_chunk(uint64_t number)
{
    struct msg msg = {.kind = MSG_CHUNK};

    msg.chunk.chunk = (uint32_t)number;
    return msg;
}
