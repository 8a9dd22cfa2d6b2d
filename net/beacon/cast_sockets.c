#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/beacon/cast.h"
#include "net/net.h"

struct announcer {
    int fds[CAST_NETWORKS]; /* one per network, bound to its address */
    struct sockaddr_in to[CAST_NETWORKS];
    unsigned count;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock: */
    uint8_t bytes[BEACON_BYTES];
    bool says, is_new, ends;
};

static int on = 1;

/* ---- announcing ---- */

static struct sockaddr_in in_ipv4(const struct sockaddr *address)
{
    struct sockaddr_in out;

    memcpy(&out, address, sizeof out);
    return out;
}

static bool has_broadcast(const struct ifaddrs *network)
{
    return network->ifa_addr && network->ifa_netmask &&
           network->ifa_addr->sa_family == AF_INET &&
           (network->ifa_flags & IFF_UP) &&
           (network->ifa_flags & IFF_BROADCAST) &&
           !(network->ifa_flags & IFF_LOOPBACK);
}

static bool is_at(const struct ifaddrs *network, const char *host)
{
    struct sockaddr_in own = in_ipv4(network->ifa_addr);
    char text[INET_ADDRSTRLEN] = "";

    (void)inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, text) == 0;
}

static void add_network(struct announcer *announcer,
                        const struct ifaddrs *network)
{
    struct sockaddr_in own = in_ipv4(network->ifa_addr);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return;
    if (setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)&own, sizeof own) != 0) {
        (void)close(fd);
        return;
    }
    /* Not what the network says is its broadcast, which it need not say. */
    own.sin_addr.s_addr |= ~in_ipv4(network->ifa_netmask).sin_addr.s_addr;
    own.sin_port = htons(BEACON_PORT);
    announcer->fds[announcer->count] = fd;
    announcer->to[announcer->count++] = own;
}

static void say_once(const struct announcer *announcer)
{
    for (unsigned i = 0; i < announcer->count; i++)
        (void)sendto(announcer->fds[i], announcer->bytes, BEACON_BYTES,
                     MSG_NOSIGNAL, (const struct sockaddr *)&announcer->to[i],
                     sizeof announcer->to[i]);
}

static void *announce_until_hushed(void *of)
{
    struct announcer *announcer = of;
    struct timespec next;

    (void)clock_gettime(CLOCK_MONOTONIC, &next);
    (void)pthread_mutex_lock(&announcer->lock);
    while (!announcer->ends) {
        if (announcer->says)
            say_once(announcer);
        (void)clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += CAST_INTERVAL * (long)MILLISECOND;
        next.tv_sec += next.tv_nsec / (long)SECOND;
        next.tv_nsec %= (long)SECOND;
        announcer->is_new = false;
        while (!announcer->is_new && !announcer->ends &&
               pthread_cond_timedwait(&announcer->changed, &announcer->lock,
                                      &next) != ETIMEDOUT)
            ;
    }
    (void)pthread_mutex_unlock(&announcer->lock);
    return NULL;
}

/* Signals are the program's. */
static bool begin_thread(struct announcer *announcer)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    bool begun;

    (void)pthread_mutex_init(&announcer->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&announcer->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    begun = pthread_create(&announcer->thread, NULL, announce_until_hushed,
                           announcer) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static void announcer_free(struct announcer *announcer)
{
    for (unsigned i = 0; i < announcer->count; i++)
        (void)close(announcer->fds[i]);
    free(announcer);
}

static void *announce(const char *host)
{
    struct announcer *announcer = calloc(1, sizeof *announcer);
    struct ifaddrs *networks = NULL;

    if (!announcer)
        return NULL;
    (void)getifaddrs(&networks);
    for (struct ifaddrs *each = networks;
         each && announcer->count < CAST_NETWORKS; each = each->ifa_next)
        if (has_broadcast(each) && is_at(each, host))
            add_network(announcer, each);
    freeifaddrs(networks);
    if (announcer->count && begin_thread(announcer))
        return announcer;
    announcer_free(announcer);
    return NULL;
}

/* `bytes` NULL: it ends. */
static void change(struct announcer *announcer, const uint8_t *bytes)
{
    (void)pthread_mutex_lock(&announcer->lock);
    if (bytes)
        memcpy(announcer->bytes, bytes, BEACON_BYTES);
    announcer->says = announcer->is_new = true;
    announcer->ends = !bytes;
    (void)pthread_cond_signal(&announcer->changed);
    (void)pthread_mutex_unlock(&announcer->lock);
}

static void say(void *of, const uint8_t bytes[BEACON_BYTES])
{
    change(of, bytes);
}

static void hush(void *of)
{
    struct announcer *announcer = of;

    change(announcer, NULL);
    (void)pthread_join(announcer->thread, NULL);
    (void)pthread_cond_destroy(&announcer->changed);
    (void)pthread_mutex_destroy(&announcer->lock);
    announcer_free(announcer);
}

/* ---- listening: the listener is the address of a descriptor ---- */

static void leave(void *listener)
{
    (void)close(*(int *)listener);
    free(listener);
}

/* Others on this PC may listen, too: with either option, as they have it. */
static void *listen_to_all(const char mark[MARK_BYTES])
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_port = htons(BEACON_PORT)};
    int *fd = malloc(sizeof *fd);

    (void)mark;
    if (!fd)
        return NULL;
    *fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0) {
        free(fd);
        return NULL;
    }
    (void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(*fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (bind(*fd, (const struct sockaddr *)&any, sizeof any) == 0)
        return fd;
    leave(fd);
    return NULL;
}

static size_t hear(void *listener, int left, uint8_t out[BEACON_BYTES],
                   char host[ENDPOINT_HOST_BYTES])
{
    nanos until = net_now() + left * MILLISECOND;
    struct pollfd poll_fd = {.fd = *(int *)listener, .events = POLLIN};

    for (nanos now; (now = net_now()) < until;) {
        struct sockaddr_in from = {.sin_family = AF_INET};
        socklen_t from_size = sizeof from;
        ssize_t size;

        if (poll(&poll_fd, 1, (int)((until - now) / MILLISECOND) + 1) <= 0)
            continue;
        size = recvfrom(poll_fd.fd, out, BEACON_BYTES, MSG_TRUNC,
                        (struct sockaddr *)&from, &from_size);
        if (size > 0 && size <= BEACON_BYTES &&
            inet_ntop(AF_INET, &from.sin_addr, host, ENDPOINT_HOST_BYTES))
            return (size_t)size;
    }
    return 0;
}

const struct cast cast_sockets = {announce,      say,  hush,
                                  listen_to_all, hear, leave};
