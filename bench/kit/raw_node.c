#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "bench/kit/raw.h"

static int try_to_connect(const struct post *post)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)post->port)};
    int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    (void)inet_pton(AF_INET, post->address, &address.sin_addr);
    (void)setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(handle, (struct sockaddr *)&address, sizeof address) == 0)
        return handle;
    (void)close(handle);
    return -1;
}

int raw_connect(const struct post *post, char kind)
{
    double until = seconds() + PROCESS_STAR_PATIENCE;
    int handle;

    while ((handle = try_to_connect(post)) < 0) {
        if (seconds() > until)
            give_up("there is no raw hub");
        sleep_until(seconds() + 0.01);
    }
    if (send(handle, &kind, 1, MSG_NOSIGNAL) != 1)
        give_up("the raw hub does not listen");
    return handle;
}

static size_t moved(ssize_t result)
{
    if (result == 0 || (result < 0 && errno != EAGAIN))
        give_up("the raw hub is gone");
    return result > 0 ? (size_t)result : 0;
}

/* What comes is never ahead of what has been sent, and takes its place. */
static void exchange(int handle, unsigned char *values, size_t bytes)
{
    size_t sent = 0, received = 0;

    while (received < bytes) {
        struct pollfd one = {handle, POLLIN, 0};

        if (sent < bytes)
            one.events |= POLLOUT;
        if (poll(&one, 1, -1) < 0)
            continue;
        if (one.revents & POLLOUT)
            sent += moved(send(handle, values + sent, bytes - sent,
                               MSG_DONTWAIT | MSG_NOSIGNAL));
        if (one.revents & ~POLLOUT)
            received += moved(recv(handle, values + received, bytes - received,
                                   MSG_DONTWAIT));
    }
}

void raw_node(const struct post *post)
{
    size_t elements = post->elements;
    float *values = pages(elements * sizeof *values);
    int handle = raw_connect(post, RAW_BULK);
    struct answer answer = {0};
    struct order order;

    while (next_order(post, &order)) {
        answer.begin = seconds();
        if (order.kind == ORDER_DRIFT)
            drift(values, elements, (float)(post->node + 1));
        if (order.kind == ORDER_ROUND)
            exchange(handle, (unsigned char *)values,
                     elements * sizeof *values);
        answer.end = seconds();
        answer.values[0] = values[0];
        answer.values[1] = values[elements / 2];
        answer.values[2] = values[elements - 1];
        answer_order(post, &answer);
    }
}
