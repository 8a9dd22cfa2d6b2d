#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
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

/* What is known of an exchange of `bytes`. */
struct flow {
    int handle;
    size_t bytes, sent, received;
};

/* Waits until something may go or come. */
static short wait_for(const struct flow *flow)
{
    struct pollfd one = {flow->handle, POLLIN, 0};

    if (flow->sent < flow->bytes)
        one.events |= POLLOUT;
    return poll(&one, 1, -1) < 0 ? 0 : one.revents;
}

static void send_some(struct flow *flow, const unsigned char *from, size_t most)
{
    flow->sent +=
        moved(send(flow->handle, from, most, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static size_t receive_some(struct flow *flow, void *to, size_t most)
{
    size_t got = moved(recv(flow->handle, to, most, MSG_DONTWAIT));

    flow->received += got;
    return got;
}

/* What comes is never ahead of what has been sent, and takes its place. */
static void exchange(int handle, unsigned char *values, size_t bytes)
{
    struct flow flow = {handle, bytes, 0, 0};

    while (flow.received < bytes) {
        short may = wait_for(&flow);

        if (may & POLLOUT)
            send_some(&flow, values + flow.sent, bytes - flow.sent);
        if (may & ~POLLOUT)
            (void)receive_some(&flow, values + flow.received,
                               bytes - flow.received);
    }
}

/* One that must train meanwhile: x, what the hub has of it (r), what is given
 * of it (x - r), and a stretch of the mean that has come. */
struct passes {
    float *x, *r, *given, *mean;
    size_t subtracted, added; /* elements */
};

enum { STRETCH = 1 << 18 }; /* elements, of 1 MiB */

static void subtract(struct passes *p, size_t until)
{
    float *restrict given = p->given;
    const float *restrict r = p->r;

    for (size_t i = p->subtracted; i < until; i++)
        given[i] -= r[i];
    if (p->subtracted < until)
        p->subtracted = until;
}

static void add(struct passes *p, size_t count)
{
    float *restrict x = p->x + p->added, *restrict r = p->r + p->added;
    const float *restrict given = p->given + p->added, *restrict mean = p->mean;

    for (size_t i = 0; i < count; i++) {
        x[i] += mean[i] - given[i];
        r[i] += mean[i];
    }
    p->added += count;
}

/* Copies, then subtracts what is to be sent next and adds what has come. */
static void exchange_passing(int handle, struct passes *p, size_t elements)
{
    struct flow flow = {handle, elements * sizeof(float), 0, 0};
    size_t tail = 0; /* bytes of `mean` that are there */

    memcpy(p->given, p->x, flow.bytes);
    p->subtracted = p->added = 0;
    while (flow.received < flow.bytes) {
        short may = wait_for(&flow);
        size_t next = flow.sent / sizeof(float) + STRETCH, whole;

        if (may & POLLOUT) {
            subtract(p, next < elements ? next : elements);
            send_some(&flow, (unsigned char *)p->given + flow.sent,
                      p->subtracted * sizeof(float) - flow.sent);
        }
        if (!(may & ~POLLOUT))
            continue;
        tail += receive_some(&flow, (unsigned char *)p->mean + tail,
                             STRETCH * sizeof(float) - tail);
        whole = tail / sizeof(float);
        add(p, whole);
        tail -= whole * sizeof(float);
        memcpy(p->mean, p->mean + whole, tail);
    }
}

static void serve(const struct post *post, struct passes *p)
{
    size_t elements = post->elements;
    float *values = pages(elements * sizeof *values);
    int handle = raw_connect(post, RAW_BULK);
    struct answer answer = {0};
    struct order order;

    if (p)
        p->x = values;
    while (next_order(post, &order)) {
        answer.begin = seconds();
        if (order.kind == ORDER_DRIFT)
            drift(values, elements, (float)(post->node + 1));
        if (order.kind == ORDER_ROUND && p)
            exchange_passing(handle, p, elements);
        if (order.kind == ORDER_ROUND && !p)
            exchange(handle, (unsigned char *)values,
                     elements * sizeof *values);
        answer.end = seconds();
        answer.values[0] = values[0];
        answer.values[1] = values[elements / 2];
        answer.values[2] = values[elements - 1];
        answer_order(post, &answer);
    }
}

void raw_node(const struct post *post)
{
    serve(post, NULL);
}

void raw_passing_node(const struct post *post)
{
    struct passes passes = {
        .r = pages(post->elements * sizeof(float)),
        .given = pages(post->elements * sizeof(float)),
        .mean = pages(STRETCH * sizeof(float)),
    };

    serve(post, &passes);
}
