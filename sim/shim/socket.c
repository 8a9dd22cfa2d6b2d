#include "sim/shim/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Linux gives twice that. Enough for a gigabit, where the shim may be late by
 * a millisecond. */
enum { BUFFER_BYTES = 128 * 1024, BACKLOG = 64 };

enum status shim_resolve(const struct endpoint *endpoint,
                         struct shim_address *out, struct why *why)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL, *chosen;
    char port[8];
    int error;

    (void)snprintf(port, sizeof port, "%u", endpoint->port);
    error = getaddrinfo(endpoint->host, port, &hints, &found);
    if (error || !found)
        return because(why, STATUS_UNAVAILABLE,
                       "the host \"%.100s\" is not "
                       "known (%s); check its spelling, or give its address",
                       endpoint->host, gai_strerror(error));
    chosen = found;
    for (struct addrinfo *each = found; each; each = each->ai_next)
        if (each->ai_family == AF_INET && chosen->ai_family != AF_INET)
            chosen = each;
    memcpy(&out->place, chosen->ai_addr, chosen->ai_addrlen);
    out->size = chosen->ai_addrlen;
    out->endpoint = *endpoint;
    freeaddrinfo(found);
    return STATUS_OK;
}

/* The address, so many ports behind it. */
static struct sockaddr_storage place_of(const struct shim_address *address,
                                        unsigned behind)
{
    struct sockaddr_storage place = address->place;
    in_port_t port = htons((in_port_t)(address->endpoint.port + behind));

    if (place.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&place)->sin6_port = port;
    else
        ((struct sockaddr_in *)&place)->sin_port = port;
    return place;
}

static int new_socket(const struct shim_address *address)
{
    int fd = socket(address->place.ss_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int bytes = BUFFER_BYTES, on = 1;

    if (fd < 0)
        return -1;
    /* A socket that does not take these only makes the shim less exact. */
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

enum status shim_listen(const struct shim_address *address, unsigned behind,
                        int *out, struct why *why)
{
    struct sockaddr_storage place = place_of(address, behind);
    int fd = new_socket(address), on = 1;

    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (struct sockaddr *)&place, address->size) == 0 &&
        listen(fd, BACKLOG) == 0) {
        *out = fd;
        return STATUS_OK;
    }
    (void)because(why, STATUS_UNAVAILABLE,
                  "cannot listen on %s%.100s%s:%u: %s; "
                  "take another --listen, whose port and the one behind it "
                  "are free",
                  endpoint_opens(address->endpoint.host),
                  address->endpoint.host,
                  endpoint_closes(address->endpoint.host),
                  address->endpoint.port + behind, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return STATUS_UNAVAILABLE;
}

int shim_accept(int listener)
{
    /* Of the listener, it has the buffers and the rest. */
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int shim_connect(const struct shim_address *address, unsigned behind)
{
    struct sockaddr_storage place = place_of(address, behind);
    int fd = new_socket(address);

    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&place, address->size) == 0 ||
        errno == EINPROGRESS)
        return fd;
    (void)close(fd);
    return -1;
}

void shim_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(fd);
}
