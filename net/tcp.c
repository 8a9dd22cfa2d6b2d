#include "net/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    BACKLOG = 4096,
    KEEPALIVE_IDLE = 15, /* seconds */
    KEEPALIVE_INTERVAL = 5,
    KEEPALIVE_COUNT = 4,
    UNSENT_MILLISECONDS = 20000
};

static void set(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void tune(int fd)
{
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNSENT_MILLISECONDS);
}

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* All addresses of a host, or the resolver's error. */
static int resolve(const struct address *address, struct addrinfo **out)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    char port[8];

    (void)snprintf(port, sizeof port, "%u", address->port);
    *out = NULL;
    return getaddrinfo(address->place, port, &hints, out);
}

int tcp_look_up(const struct address *address, struct tcp_places *out)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct addrinfo *all;
    int error = resolve(address, &all);

    out->count = 0;
    if (error)
        return error;
    for (unsigned i = 0; i < 2; i++)
        for (struct addrinfo *each = all; each; each = each->ai_next)
            if (each->ai_family == families[i] &&
                out->count < TCP_PLACES_MOST) {
                struct tcp_place *place = &out->list[out->count++];

                memcpy(&place->address, each->ai_addr, each->ai_addrlen);
                place->size = each->ai_addrlen;
            }
    freeaddrinfo(all);
    return out->count ? 0 : EAI_NONAME;
}

void tcp_print_place(const struct tcp_place *place,
                     char text[ENDPOINT_HOST_BYTES])
{
    if (getnameinfo((const struct sockaddr *)&place->address, place->size, text,
                    ENDPOINT_HOST_BYTES, NULL, 0, NI_NUMERICHOST) != 0)
        text[0] = '\0';
}

static enum status listen_failed(const struct address *address, struct why *why)
{
    if (errno == EADDRINUSE)
        return because(why, STATUS_UNAVAILABLE,
                       "port %u on %.100s is in use; stop the other program "
                       "or choose another with --listen",
                       address->port, address->host);
    if (errno == EADDRNOTAVAIL || errno == ENODEV)
        return because(why, STATUS_UNAVAILABLE,
                       "%.100s is not an address of this machine; choose "
                       "another with --listen",
                       address->host);
    if (errno == EACCES)
        return because(why, STATUS_UNAVAILABLE,
                       "port %u on %.100s needs privileges; choose one above "
                       "1023 with --listen",
                       address->port, address->host);
    return because(why, STATUS_UNAVAILABLE, "cannot listen on %.100s: %s",
                   address->host, strerror(errno));
}

enum status tcp_listen(const struct address *address, int *out, struct why *why)
{
    struct tcp_places places;
    const struct tcp_place *place = places.list;
    int fd, error = tcp_look_up(address, &places);

    if (error)
        return because(why, STATUS_UNAVAILABLE, "cannot listen on %.100s: %s",
                       address->host, gai_strerror(error));
    fd = new_socket(place->address.ss_family);
    if (fd < 0)
        return because(why, STATUS_UNAVAILABLE,
                       "the system gives no socket: %s", strerror(errno));
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(fd, (const struct sockaddr *)&place->address, place->size) != 0 ||
        listen(fd, BACKLOG) != 0) {
        enum status status = listen_failed(address, why);

        (void)close(fd);
        return status;
    }
    *out = fd;
    return STATUS_OK;
}

int tcp_accept(int listener, struct origin *from)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    int fd = accept4(listener, (struct sockaddr *)&address, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return -1;
    tune(fd);
    *from = origin_from(&address);
    return fd;
}

int tcp_connect(const struct tcp_place *place, unsigned segment)
{
    int fd = new_socket(place->address.ss_family);

    if (fd < 0)
        return -1;
    tune(fd);
    if (segment)
        set(fd, IPPROTO_TCP, TCP_MAXSEG, (int)segment);
    if (connect(fd, (const struct sockaddr *)&place->address, place->size) ==
            0 ||
        errno == EINPROGRESS)
        return fd;
    int error = errno;

    (void)close(fd);
    errno = error;
    return -1;
}

int tcp_outcome(int fd)
{
    struct sockaddr_storage here, there;
    socklen_t size = sizeof(int), ours = sizeof here, theirs = sizeof there;
    int error = 0;

    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return errno;
    if (error)
        return error;
    if (getpeername(fd, (struct sockaddr *)&there, &theirs) != 0)
        return errno;
    if (getsockname(fd, (struct sockaddr *)&here, &ours) != 0)
        return errno;
    return ours == theirs && memcmp(&here, &there, ours) == 0 ? ECONNREFUSED
                                                              : 0;
}

void tcp_calm(int fd, uint64_t rate, unsigned window)
{
    (void)setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
    /* One that was set grows no more; without it Linux forgets the clamp. */
    set(fd, SOL_SOCKET, SO_RCVBUF, 2 * (int)window);
    set(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, (int)window);
}

bool tcp_is_flushed(int fd)
{
    int unsent = 0;

    return ioctl(fd, SIOCOUTQ, &unsent) != 0 || unsent == 0;
}
