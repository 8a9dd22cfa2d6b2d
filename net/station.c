/* The thread; see net/station.h. */
#include "net/station.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "net/cores.h"
#include "net/station_inside.h"

#define GUARD_INTERVAL (100 * MILLISECOND)
#define ENDING_INTERVAL (5 * MILLISECOND)

enum {
    EVENTS = 64,
    FIRST_NUMBER = 4, /* those below are taken: seam/machine.h */
    NOTICES_BYTES = 64 << 20,
    CONTROL_CREDIT_BYTES = 1 << 20, /* of a connection in the notices */
    BULK_CREDIT_BYTES = 2 << 20
};

static void send_on(struct link *link)
{
    if (!link->broken && !link_flush(link, link->station->pool)) {
        link->broken = true;
        link_discard(link);
    }
}

static void ready(struct link *link, uint32_t events)
{
    bool failed = events & (EPOLLERR | EPOLLHUP);

    if (link->stage == LINK_DEAD)
        return;
    if (link->stage == LINK_CONNECTING) {
        dial_connected(link);
        return;
    }
    if (link->stage == LINK_ENDING && failed) {
        station_end(link, false);
        return;
    }
    if (events & EPOLLOUT)
        send_on(link);
    if (link->paused && failed)
        link->broken = true;
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        link_read(link);
    if (link->stage != LINK_DEAD)
        send_on(link);
    station_watch(link);
}

static void serve_strangers(struct station *station)
{
    struct epoll_event events[EVENTS];
    nanos before = gate_clock();
    int count = epoll_wait(station->strangers, events, EVENTS, 0);

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &station->listener)
            gate_accept(station);
        else
            ready(events[i].data.ptr, events[i].events);
    }
    gate_charge(station, before);
}

/* Those that have waited for room, in the order they came. */
static void make_use_of_room(struct station *station)
{
    struct link *link = station->waiting;

    if (!station->room_freed || !link)
        return;
    station->room_freed = false;
    station->waiting = NULL;
    station->waiting_end = &station->waiting;
    while (link) {
        struct link *next = link->next_waiting;

        link->next_waiting = NULL;
        if (link->stage != LINK_DEAD && link->stage != LINK_ENDING) {
            link_go_on(link);
            station_watch(link);
        }
        link = next;
    }
}

static void guard_ending(struct station *station)
{
    for (struct link *link = station->oldest; station->ending && link;
         link = link->next)
        if (link->stage == LINK_ENDING &&
            (station->now >= link->ends_at || link->broken ||
             (!link_has_to_send(link) && tcp_is_flushed(link->fd))))
            station_end(link, false);
}

static void unlink_waiting(struct station *station, struct link *link)
{
    struct link **place = &station->waiting;

    while (*place && *place != link)
        place = &(*place)->next_waiting;
    if (!*place)
        return;
    *place = link->next_waiting;
    if (!*place)
        station->waiting_end = place;
}

static void link_free(struct station *station, struct link *link)
{
    if (link->previous)
        link->previous->next = link->next;
    else
        station->oldest = link->next;
    if (link->next)
        link->next->previous = link->previous;
    else
        station->newest = link->previous;
    if (link->waits)
        unlink_waiting(station, link);
    meter_end(&station->notices, link->meter);
    zmtp_free(&link->zmtp);
    free(link->stash);
    free(link);
    station->count--;
}

static void reap(struct station *station)
{
    while (station->dead) {
        struct link *link = station->dead;

        station->dead = link->next_dead;
        link_free(station, link);
    }
}

/* Milliseconds until something is due; -1: nothing is. */
static int patience(const struct station *station)
{
    nanos due = NEVER, now = net_now();

    if (station->plan.binds ||
        (station->dialled && station->dialled->stage != LINK_KNOWN))
        due = station->next_guard;
    if (!station->plan.binds && !station->held && !station->dialled)
        due = time_earlier(due, station->dial_at);
    if (station->ending)
        due = time_earlier(due, now + ENDING_INTERVAL);
    if (station->room_freed && station->waiting)
        due = now;
    due = time_earlier(due, station->stop_at);
    if (due == NEVER)
        return -1;
    return due <= now ? 0 : (int)((due - now + MILLISECOND - 1) / MILLISECOND);
}

static void look_after(struct station *station)
{
    guard_ending(station);
    if (station->now < station->next_guard)
        return;
    station->next_guard = station->now + GUARD_INTERVAL;
    if (station->plan.binds)
        gate_guard(station);
    else
        dial_guard(station);
}

static void turn(struct station *station)
{
    struct epoll_event events[EVENTS];
    bool rung = false, strangers = false;
    int count = epoll_wait(station->set, events, EVENTS, patience(station));

    station->now = net_now();
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &station->bell)
            rung = true;
        else if (events[i].data.ptr == &station->strangers)
            strangers = true;
        else
            ready(events[i].data.ptr, events[i].events);
    }
    if (rung)
        orders_obey(station);
    if (strangers)
        serve_strangers(station);
    make_use_of_room(station);
    look_after(station);
    if (!station->plan.binds)
        dial(station);
    reap(station);
}

static bool is_over(const struct station *station)
{
    return station->stop_at != NEVER &&
           (!station->oldest || station->now >= station->stop_at);
}

static void *run(void *of)
{
    struct station *station = of;

    if (station->plan.channel == CHANNEL_CONTROL)
        cores_prompt();
    while (!is_over(station))
        turn(station);
    for (struct link *link = station->oldest; link; link = link->next)
        station_end(link, false);
    reap(station);
    return NULL;
}

static bool add_to(int set, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

static enum status no_thread(struct why *why)
{
    return because(why, STATUS_UNAVAILABLE,
                   "the system gives no descriptors or threads for a network "
                   "loop: %s",
                   strerror(errno));
}

static enum status make_sets(struct station *station, struct why *why)
{
    station->set = epoll_create1(EPOLL_CLOEXEC);
    station->strangers = epoll_create1(EPOLL_CLOEXEC);
    if (station->set < 0 || station->strangers < 0 ||
        !add_to(station->set, station->bell.fd, &station->bell) ||
        !add_to(station->set, station->strangers, &station->strangers))
        return no_thread(why);
    if (!station->plan.binds)
        return STATUS_OK;
    station->listening = true;
    return add_to(station->strangers, station->listener, &station->listener)
               ? STATUS_OK
               : no_thread(why);
}

static enum status start(struct station *station, struct why *why)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&station->thread, NULL, run, station);
    station->runs = errno == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return station->runs ? STATUS_OK : no_thread(why);
}

static void plan_links(struct station *station)
{
    const struct net_keys *keys = station->plan.keys;

    station->zmtp =
        (struct zmtp_plan){.server = station->plan.binds,
                           .keys = keys ? &station->keys : NULL,
                           .payload_bytes = station->plan.payload_bytes,
                           .admit = gate_admit,
                           .self = station};
    if (!keys)
        return;
    memcpy(station->keys.shown, keys->own.shown.bytes, KEY_BYTES);
    memcpy(station->keys.secret, keys->own.secret.bytes, KEY_BYTES);
    memcpy(station->keys.server, keys->hub.bytes, KEY_BYTES);
}

static struct station *station_new(const struct channel_plan *plan,
                                   struct pool *pool,
                                   struct admission *admission)
{
    struct station *station = calloc(1, sizeof *station);
    struct order *last = calloc(1, sizeof *last);

    if (!station || !last) {
        free(station);
        free(last);
        return NULL;
    }
    station->last = last;
    station->plan = *plan;
    station->pool = pool;
    station->admission = admission;
    station->bell.fd = station->set = station->strangers = -1;
    station->listener = -1;
    station->stop_at = NEVER;
    station->held = plan->held;
    randombytes_buf(&station->spread, sizeof station->spread);
    station->now = station->refilled_at = net_now();
    station->next_number =
        FIRST_NUMBER + (plan->channel == CHANNEL_BULK ? 1 : 0);
    station->stranger_time = STRANGERS_BURST;
    station->orders_end = &station->orders;
    station->waiting_end = &station->waiting;
    (void)pthread_mutex_init(&station->lock, NULL);
    hosts_init(&station->hosts);
    plan_links(station);
    return station;
}

enum status station_open(const struct channel_plan *plan, struct pool *pool,
                         struct admission *admission, const struct bell *bell,
                         struct station **out, struct why *why)
{
    struct station *station = station_new(plan, pool, admission);
    enum status status;

    if (!station)
        return because(why, STATUS_NO_MEMORY, "no memory for a network loop");
    notices_init(&station->notices, NOTICES_BYTES,
                 plan->channel == CHANNEL_BULK ? (size_t)BULK_CREDIT_BYTES
                                               : (size_t)CONTROL_CREDIT_BYTES,
                 bell, &station->bell);
    status = bell_init(&station->bell, why);
    if (status == STATUS_OK && sodium_init() < 0)
        status = because(why, STATUS_UNAVAILABLE,
                         "the system gives no random numbers");
    if (status == STATUS_OK && plan->binds)
        status = tcp_listen(&plan->address, &station->listener, why);
    if (status == STATUS_OK)
        status = make_sets(station, why);
    if (status == STATUS_OK)
        status = start(station, why);
    *out = station;
    if (status != STATUS_OK)
        station_close(out);
    return status;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void station_close(struct station **reference)
{
    struct station *station = *reference;

    *reference = NULL;
    if (!station)
        return;
    if (station->runs) {
        station_stop(station);
        (void)pthread_join(station->thread, NULL);
    }
    free(station->last);
    orders_discard(station);
    notices_free(&station->notices);
    hosts_free(&station->hosts);
    index_free(&station->numbers);
    close_fd(station->listener);
    close_fd(station->set);
    close_fd(station->strangers);
    bell_free(&station->bell);
    (void)pthread_mutex_destroy(&station->lock);
    explicit_bzero(&station->keys, sizeof station->keys);
    free(station);
}
