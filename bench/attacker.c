/* Holds many connections to a hub that are no nodes: bench/hostile.sh.
 *
 * A quarter of each: silent; random bytes once a second; a ZMTP greeting, then
 * silence; the same greeting, a byte a second. What the hub cuts is opened
 * again, at most `rate` times a second. Connections come from `sources`
 * addresses of loopback, so that it is no matter of one address only. Ends
 * after `seconds`; prints how many there were and how many were cut. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "core/prng.h"

static struct {
    unsigned port, connections, seconds, rate, sources;
} settings = {7541, 10000, 20, 2000, 40};

static const char question[] =
    "Opens connections to a hub on 127.0.0.1 and says nothing sensible there.";

/* ZMTP 3.1: signature, version, mechanism CURVE, not a server, filler. */
static const unsigned char greeting[64] = {
    0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1, 'C', 'U', 'R', 'V', 'E'};

enum manner { SILENT, GARBAGE, GREETS, SLOW, MANNERS };
enum { EVENTS = 1024 };

struct intruder {
    int fd; /* -1: to be opened */
    bool there;
    unsigned said; /* bytes of the greeting */
};

struct attack {
    struct intruder *list;
    struct prng prng;
    int epoll;
    unsigned open, most; /* connected now, and at most */
    uint64_t opened, cut;
};

static enum manner manner_of(unsigned place)
{
    return (enum manner)(place % MANNERS);
}

static void intruder_close(struct attack *attack, struct intruder *one)
{
    (void)close(one->fd); /* leaves the epoll set, too */
    attack->open -= one->there;
    *one = (struct intruder){.fd = -1};
}

static void intruder_open(struct attack *attack, unsigned place)
{
    struct intruder *one = &attack->list[place];
    struct sockaddr_in from = {.sin_family = AF_INET}, to = from;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.u32 = place};

    from.sin_addr.s_addr =
        htonl(0x7f000002U + place / MANNERS % settings.sources);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* bulk is the port behind the one for control */
    to.sin_port = htons((uint16_t)(settings.port + place / MANNERS % 2));
    one->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (one->fd < 0)
        give_up("no socket: %s", strerror(errno));
    if (bind(one->fd, (const struct sockaddr *)&from, sizeof from) != 0 ||
        (connect(one->fd, (const struct sockaddr *)&to, sizeof to) != 0 &&
         errno != EINPROGRESS) ||
        epoll_ctl(attack->epoll, EPOLL_CTL_ADD, one->fd, &event) != 0)
        intruder_close(attack, one);
}

static void say(struct attack *attack, unsigned place)
{
    struct intruder *one = &attack->list[place];
    uint64_t noise[8];
    const unsigned char *bytes = greeting;
    size_t size = 0;

    switch (manner_of(place)) {
    case GARBAGE:
        for (unsigned i = 0; i < sizeof noise / sizeof *noise; i++)
            noise[i] = prng_next(&attack->prng);
        bytes = (const unsigned char *)noise;
        size = sizeof noise;
        break;
    case GREETS:
        size = sizeof greeting - one->said;
        break;
    case SLOW:
        bytes = greeting + one->said;
        size = one->said < sizeof greeting;
        break;
    case SILENT:
    case MANNERS:
    default:
        break;
    }
    one->said += (unsigned)size;
    if (size && send(one->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        errno != EAGAIN) {
        attack->cut++;
        intruder_close(attack, one);
    }
}

static void happened(struct attack *attack, const struct epoll_event *event)
{
    struct intruder *one = &attack->list[event->data.u32];
    char bytes[256];
    ssize_t got;

    if (one->fd < 0)
        return;
    if (event->events & (EPOLLHUP | EPOLLERR)) {
        attack->cut += one->there;
        intruder_close(attack, one);
        return;
    }
    if (!one->there) {
        one->there = true;
        attack->opened++;
        if (++attack->open > attack->most)
            attack->most = attack->open;
    }
    while ((got = recv(one->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        continue;
    if (got == 0) {
        attack->cut++;
        intruder_close(attack, one);
    }
}

/* Opens what is missing, at most `most`. */
static void refill(struct attack *attack, unsigned most)
{
    for (unsigned i = 0; i < settings.connections && most; i++)
        if (attack->list[i].fd < 0) {
            intruder_open(attack, i);
            most--;
        }
}

static void live(struct attack *attack)
{
    struct epoll_event events[EVENTS];
    double end = seconds() + settings.seconds, next_word = seconds();

    while (seconds() < end) {
        int count = EVENTS;

        refill(attack, settings.rate / 10);
        sleep_until(seconds() + 0.1);
        while (count == EVENTS) {
            count = epoll_wait(attack->epoll, events, EVENTS, 0);
            for (int i = 0; i < count; i++)
                happened(attack, &events[i]);
        }
        if (seconds() < next_word)
            continue;
        next_word += 1;
        for (unsigned i = 0; i < settings.connections; i++)
            if (attack->list[i].there)
                say(attack, i);
    }
}

static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        give_up("no limit of descriptors: %s", strerror(errno));
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_max < settings.connections + 64)
        give_up("this system gives a process too few descriptors: %llu",
                (unsigned long long)limit.rlim_max);
}

int main(int argc, char **argv)
{
    const struct setting options[] = {
        {"port", SETTING_COUNT, &settings.port, "of the hub, for control"},
        {"connections", SETTING_COUNT, &settings.connections, "at a time"},
        {"seconds", SETTING_COUNT, &settings.seconds, "until it ends"},
        {"rate", SETTING_COUNT, &settings.rate, "opened a second at most"},
        {"sources", SETTING_COUNT, &settings.sources,
         "addresses that they come from"}};
    struct attack attack = {.epoll = epoll_create1(EPOLL_CLOEXEC)};

    (void)settings_read(argc, argv, question, options,
                        sizeof options / sizeof *options);
    raise_limit();
    prng_seed(&attack.prng, 1);
    attack.list = calloc(settings.connections, sizeof *attack.list);
    if (!attack.list || attack.epoll < 0)
        give_up("no memory");
    for (unsigned i = 0; i < settings.connections; i++)
        attack.list[i].fd = -1;
    live(&attack);
    (void)printf("{\"bench\":\"attacker\",\"connections\":%u,\"opened\":%llu,"
                 "\"cut\":%llu,\"most\":%u}\n",
                 settings.connections, (unsigned long long)attack.opened,
                 (unsigned long long)attack.cut, attack.most);
    free(attack.list);
    (void)close(attack.epoll);
    return 0;
}
