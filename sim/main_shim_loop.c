#include "sim/main_shim_loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/prng.h"
#include "net/net.h"
#include "sim/main_shim_socket.h"

enum { LISTENERS = 2, EVENTS = 32 }; /* control and bulk */

/* A descriptor, and what is known of it: epoll tells it once. */
struct source {
    int fd;
    bool readable, writable;
};

/* One direction of a connection. */
struct way {
    struct shim_line *line;
    struct source *from, *to;
    uint64_t *bytes; /* the figure that counts them */
    bool ended;      /* nothing more is taken from `from` */
    bool closed;     /* nothing more is given to `to` */
};

enum { UP, DOWN, WAYS };

struct pass {
    struct source node, hub;
    struct way ways[WAYS];
    bool broken;
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
        shim_line_destroy(&pass->ways[i].line);
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

static bool is_not_now(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void end_way(struct way *way, nanos now, enum shim_end how)
{
    way->ended = true;
    shim_line_end(way->line, now, how);
}

/* Puts what has come into the line; true: there may be more. */
static bool take_in(struct way *way, nanos now)
{
    struct iovec parts[2];
    unsigned count;
    ssize_t got;

    if (way->ended || !way->from->readable)
        return false;
    count = shim_line_room(way->line, parts);
    if (!count)
        return false;
    got = readv(way->from->fd, parts, (int)count);
    if (got > 0)
        shim_line_put(way->line, now, (size_t)got);
    else if (got == 0)
        end_way(way, now, SHIM_ENDED);
    else if (is_not_now())
        way->from->readable = errno == EINTR;
    else
        end_way(way, now, SHIM_BROKEN);
    return got >= 0 || way->ended;
}

/* Gives away what has arrived; true: there may be more to do. */
static bool give_out(struct way *way, struct way *back, nanos now)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    ssize_t given;

    if (way->closed || !way->to->writable)
        return false;
    message.msg_iovlen = shim_line_arrived(way->line, parts);
    if (!message.msg_iovlen)
        return false;
    given = sendmsg(way->to->fd, &message, MSG_NOSIGNAL);
    if (given >= 0) {
        shim_line_take(way->line, (size_t)given);
        *way->bytes += (size_t)given;
    } else if (is_not_now()) {
        way->to->writable = errno == EINTR;
    } else {
        way->closed = true;
        if (!back->ended)
            end_way(back, now, SHIM_BROKEN);
    }
    return given >= 0 || way->closed;
}

/* Passes the end of a stream on. */
static void pass_end(struct pass *pass, struct way *way)
{
    enum shim_end end = shim_line_ended(way->line);

    if (way->closed || end == SHIM_OPEN)
        return;
    if (end == SHIM_BROKEN) {
        pass->broken = true;
    } else if (way->to->writable) {
        (void)shutdown(way->to->fd, SHUT_WR);
        way->closed = true;
    }
}

/* True: there may be more to do at once. */
static bool serve(struct pass *pass, nanos now)
{
    bool more = false;

    for (int i = 0; i < WAYS; i++) {
        struct way *way = &pass->ways[i];

        shim_line_pass(way->line, now);
        more |= take_in(way, now);
        more |= give_out(way, &pass->ways[WAYS - 1 - i], now);
        pass_end(pass, way);
    }
    return more;
}

static bool serve_all(struct shim *shim)
{
    nanos now = now_of(shim);
    bool more = false;

    for (unsigned i = 0; i < shim->count; i++) {
        struct pass *pass = shim->passes[i];

        more |= serve(pass, now);
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
            nanos own = shim_line_next(shim->passes[i]->ways[k].line);

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
