#include "sim/shim/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/prng.h"
#include "net/net.h"
#include "sim/shim/socket.h"
#include "sim/shim/way.h"

enum { LISTENERS = 2, EVENTS = 32 }; /* control and bulk */

enum { UP, DOWN, WAYS };

struct pass {
    struct source node, hub;
    struct way ways[WAYS];
    bool broken, blind;
};

struct shim {
    struct shim_config config;
    struct shim_address listen, hub;
    struct source listeners[LISTENERS], timer, stop;
    int epoll;
    struct pass *passes[SHIM_CONNECTIONS];
    unsigned count;
    nanos begun;    /* the clock at time 0 */
    nanos deadline; /* that the timer is set to; NEVER: none */
    struct shim_figures figures;
};

/* ---- open and close ---- */

static bool watch(struct shim *shim, struct source *source, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET, .data.ptr = source};

    return epoll_ctl(shim->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

static enum status no_descriptor(struct why *why)
{
    return because(why, STATUS_UNAVAILABLE,
                   "the system gives no descriptor to wait with: %s",
                   strerror(errno));
}

static enum status open_all(struct shim *shim, struct why *why)
{
    const struct shim_config *config = &shim->config;
    enum status status = shim_resolve(&config->hub, &shim->hub, why);

    if (status == STATUS_OK)
        status = shim_resolve(&config->listen, &shim->listen, why);
    for (unsigned i = 0; i < LISTENERS && status == STATUS_OK; i++)
        status = shim_listen(&shim->listen, i, &shim->listeners[i].fd, why);
    if (status != STATUS_OK)
        return status;
    shim->epoll = epoll_create1(EPOLL_CLOEXEC);
    shim->timer.fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (shim->epoll < 0 || shim->timer.fd < 0 ||
        !watch(shim, &shim->timer, EPOLLIN) ||
        !watch(shim, &shim->stop, EPOLLIN))
        return no_descriptor(why);
    for (unsigned i = 0; i < LISTENERS; i++)
        if (!watch(shim, &shim->listeners[i], EPOLLIN))
            return no_descriptor(why);
    return STATUS_OK;
}

enum status shim_open(const struct shim_config *config, struct shim **out,
                      struct why *why)
{
    struct shim *shim = calloc(1, sizeof *shim);
    enum status status;

    if (!shim)
        return because(why, STATUS_NO_MEMORY, "no memory for the shim");
    shim->config = *config;
    shim->stop.fd = config->stop;
    shim->epoll = shim->timer.fd = -1;
    for (unsigned i = 0; i < LISTENERS; i++)
        shim->listeners[i].fd = -1;
    shim->deadline = NEVER;
    status = open_all(shim, why);
    if (status == STATUS_OK)
        *out = shim;
    else
        shim_close(&shim);
    return status;
}

static void pass_close(struct pass *pass, void (*close_it)(int fd))
{
    for (int i = 0; i < WAYS; i++)
        way_free(&pass->ways[i]);
    if (pass->node.fd >= 0)
        close_it(pass->node.fd);
    if (pass->hub.fd >= 0)
        close_it(pass->hub.fd);
    free(pass);
}

static void close_quietly(int fd)
{
    (void)close(fd);
}

void shim_close(struct shim **reference)
{
    struct shim *shim = *reference;

    *reference = NULL;
    if (!shim)
        return;
    while (shim->count)
        pass_close(shim->passes[--shim->count], shim_reset);
    for (unsigned i = 0; i < LISTENERS; i++)
        if (shim->listeners[i].fd >= 0)
            (void)close(shim->listeners[i].fd);
    if (shim->timer.fd >= 0)
        (void)close(shim->timer.fd);
    if (shim->epoll >= 0)
        (void)close(shim->epoll);
    free(shim);
}

struct shim_figures shim_figures(const struct shim *shim)
{
    return shim->figures;
}

/* ---- connections ---- */

static nanos now_of(const struct shim *shim)
{
    return net_now() - shim->begun;
}

/* NULL: there are none, or no memory. */
static struct shim_fault *fault_new(struct shim *shim, unsigned behind,
                                    uint64_t seed)
{
    if (!shim_faults_any(&shim->config.faults))
        return NULL;
    return shim_fault_new(&shim->config.faults, behind != 0, seed,
                          &shim->figures.faults);
}

/* A pass for a node's connection, which it takes over; NULL: there is no
 * memory, or no hub. */
static struct pass *pass_new(struct shim *shim, int node, unsigned behind)
{
    struct pass *pass = calloc(1, sizeof *pass);
    const struct shim_config *config = &shim->config;
    uint64_t number = shim->figures.connections;
    nanos now = now_of(shim);

    if (!pass) {
        shim_reset(node);
        return NULL;
    }
    pass->node.fd = node;
    pass->hub.fd = shim_connect(&shim->hub, behind);
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t seed = config->seed ^ prng_mix(number * WAYS + i);

        pass->ways[i].line =
            shim_line_new(&config->link, i == UP, prng_mix(seed), now);
        pass->ways[i].fault = fault_new(shim, behind, prng_mix(seed + 1));
        pass->ways[i].from = i == UP ? &pass->node : &pass->hub;
        pass->ways[i].to = i == UP ? &pass->hub : &pass->node;
        pass->ways[i].bytes = i == UP ? &shim->figures.up : &shim->figures.down;
    }
    if (pass->hub.fd >= 0 && pass->ways[UP].line && pass->ways[DOWN].line &&
        watch(shim, &pass->node, EPOLLIN | EPOLLOUT | EPOLLRDHUP) &&
        watch(shim, &pass->hub, EPOLLIN | EPOLLOUT | EPOLLRDHUP))
        return pass;
    pass_close(pass, shim_reset);
    return NULL;
}

/* Takes in who has come for control or bulk data. */
static void admit(struct shim *shim, unsigned behind)
{
    struct source *listener = &shim->listeners[behind];

    while (listener->readable) {
        int node = shim_accept(listener->fd);
        struct pass *pass;

        /* Without descriptors: again when something else has happened. */
        if (node < 0 && (errno == EMFILE || errno == ENFILE))
            return;
        if (node < 0) {
            listener->readable = errno != EAGAIN && errno != EWOULDBLOCK;
            continue;
        }
        if (shim->count == SHIM_CONNECTIONS) {
            shim_reset(node);
            continue;
        }
        if (shim->figures.connections++ == 0)
            shim->begun = net_now();
        pass = pass_new(shim, node, behind);
        if (pass)
            shim->passes[shim->count++] = pass;
    }
}

/* ---- bytes ---- */

/* True: there may be more to do at once. */
static bool serve(struct pass *pass, nanos now)
{
    bool more = false;

    for (int i = 0; i < WAYS; i++) {
        struct way *way = &pass->ways[i];

        shim_line_pass(way->line, now);
        more |= way_fill(way, now);
        more |= way_give(way, &pass->ways[WAYS - 1 - i], now);
        pass->broken |= way_pass_end(way);
    }
    return more;
}

/* Counts a connection once that turns out to be encrypted. */
static void note_blind(struct shim *shim, struct pass *pass)
{
    const struct shim_fault *fault = pass->ways[UP].fault;

    if (pass->blind || !fault || !shim_fault_blind(fault))
        return;
    pass->blind = true;
    shim->figures.blind++;
}

static bool serve_all(struct shim *shim)
{
    nanos now = now_of(shim);
    bool more = false;

    for (unsigned i = 0; i < shim->count; i++) {
        struct pass *pass = shim->passes[i];

        more |= serve(pass, now);
        note_blind(shim, pass);
        if (!pass->broken &&
            !(pass->ways[UP].closed && pass->ways[DOWN].closed))
            continue;
        pass_close(pass, pass->broken ? shim_reset : close_quietly);
        shim->passes[i--] = shim->passes[--shim->count];
    }
    return more;
}

/* ---- waiting ---- */

/* Sets the timer to when a line has something to do. */
static void set_timer(struct shim *shim)
{
    struct itimerspec at = {.it_interval = {0, 0}};
    nanos next = NEVER;

    for (unsigned i = 0; i < shim->count; i++)
        for (int k = 0; k < WAYS; k++) {
            nanos own = way_next(&shim->passes[i]->ways[k]);

            next = own < next ? own : next;
        }
    if (next == shim->deadline)
        return;
    shim->deadline = next;
    if (next < NEVER - shim->begun) {
        at.it_value.tv_sec = (next + shim->begun) / SECOND;
        at.it_value.tv_nsec = (next + shim->begun) % SECOND;
    }
    (void)timerfd_settime(shim->timer.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void wait_for_events(struct shim *shim, bool at_once)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(shim->epoll, events, EVENTS, at_once ? 0 : -1);
    nanos now = now_of(shim);

    assert(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; i++) {
        struct source *source = events[i].data.ptr;
        uint32_t told = events[i].events;

        if (told & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            source->readable = true;
        if (told & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            source->writable = true;
    }
    if (!at_once && now - shim->deadline > shim->figures.late)
        shim->figures.late = now - shim->deadline;
}

void shim_run(struct shim *shim)
{
    bool more = false;

    while (!shim->stop.readable) {
        if (!more)
            set_timer(shim);
        wait_for_events(shim, more);
        for (unsigned i = 0; i < LISTENERS; i++)
            admit(shim, i);
        more = serve_all(shim);
    }
}
