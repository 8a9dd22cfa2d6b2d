#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/kit/kit.h"
#include "bench/kit/raw.h"

enum {
    CHUNK = 1 << 20,
    RING = 8 * CHUNK,
    STRETCH = CHUNK, /* received at a time; smaller ones cost more calls */
    PINGERS = 4,
    WORD = sizeof(float)
};

/* Positions count bytes since the beginning, over all rounds. */
struct source {
    int socket;
    uint64_t received, sent;
    unsigned char tail[WORD]; /* of a number that has not come as a whole */
    size_t tail_bytes;
};

struct raw {
    struct source sources[PROCESS_STAR_NODES];
    unsigned count;
    int pingers[PINGERS];
    unsigned pinger_count;
    int listener;
    float *ring, *stretch;
    uint64_t front; /* the most that a source has sent */
};

// ---- connections ----

static void listen_at(struct raw *raw, const struct post *post)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)post->port)};
    int one = 1;

    raw->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)inet_pton(AF_INET, post->address, &address.sin_addr);
    (void)setsockopt(raw->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(raw->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(raw->listener, PROCESS_STAR_NODES) != 0)
        give_up("the raw hub cannot listen");
}

static void accept_one(struct raw *raw)
{
    int handle = accept4(raw->listener, NULL, NULL, SOCK_CLOEXEC), one = 1;
    char kind;

    if (handle < 0 || recv(handle, &kind, 1, MSG_WAITALL) != 1)
        give_up("the raw hub cannot accept");
    (void)setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (kind == RAW_BULK && raw->count < PROCESS_STAR_NODES)
        raw->sources[raw->count++] = (struct source){.socket = handle};
    else if (kind == RAW_PING && raw->pinger_count < PINGERS)
        raw->pingers[raw->pinger_count++] = handle;
    else
        (void)close(handle);
}

static bool echo(int handle)
{
    char bytes[RAW_PING_BYTES];

    return recv(handle, bytes, sizeof bytes, MSG_WAITALL) == sizeof bytes &&
           send(handle, bytes, sizeof bytes, MSG_NOSIGNAL) == sizeof bytes;
}

// ---- sums ----

static uint64_t least_received(const struct raw *raw, const struct source *but)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < raw->count; i++)
        if (&raw->sources[i] != but && raw->sources[i].received < least)
            least = raw->sources[i].received;
    return least;
}

static uint64_t least_sent(const struct raw *raw)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < raw->count; i++)
        if (raw->sources[i].sent < least)
            least = raw->sources[i].sent;
    return least;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How much this source may send now: at most to the end of the ring, to what
 * all have been sent of the last time around, or to where it is in front. */
static size_t room(const struct raw *raw, const struct source *source)
{
    uint64_t end = source->received / RING * RING + RING;

    end = smaller(end, least_sent(raw) / WORD * WORD + RING);
    end = smaller(end, source->received + STRETCH);
    if (source->received < raw->front)
        end = smaller(end, raw->front);
    return (size_t)(end - source->received);
}

/* Adds `bytes` that came to the sum. What all others have sent before is then
 * complete, and divided. */
static void add(struct raw *raw, const struct source *source, size_t bytes)
{
    float *sum = raw->ring + source->received % RING / WORD;
    uint64_t others = least_received(raw, source);
    size_t count = bytes / WORD, done = 0, i = 0;
    float share = 1 / (float)raw->count;

    if (others > source->received)
        done = (size_t)smaller(others - source->received, bytes) / WORD;
    for (; i < done; i++)
        sum[i] = (sum[i] + raw->stretch[i]) * share;
    for (; i < count; i++)
        sum[i] += raw->stretch[i];
}

static void receive(struct raw *raw, struct source *source)
{
    bool in_front = source->received == raw->front;
    unsigned char *to =
        in_front ? (unsigned char *)raw->ring + source->received % RING
                 : (unsigned char *)raw->stretch;
    size_t bytes = room(raw, source), whole;
    ssize_t got;

    memcpy(to, source->tail, source->tail_bytes);
    got = recv(source->socket, to + source->tail_bytes,
               bytes - source->tail_bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        exit(0);
    if (got < 0)
        return;
    bytes = source->tail_bytes + (size_t)got;
    whole = bytes / WORD * WORD;
    source->tail_bytes = bytes - whole;
    memcpy(source->tail, to + whole, source->tail_bytes);
    if (!in_front)
        add(raw, source, whole);
    source->received += whole;
    if (in_front)
        raw->front = source->received;
}

// ---- means ----

static size_t ready(const struct raw *raw, const struct source *source)
{
    uint64_t end = least_received(raw, NULL) / CHUNK * CHUNK;

    end = smaller(end, source->sent / RING * RING + RING);
    return (size_t)(end - source->sent);
}

static void give(struct raw *raw, struct source *source)
{
    const unsigned char *from =
        (unsigned char *)raw->ring + source->sent % RING;
    ssize_t gone = send(source->socket, from, ready(raw, source),
                        MSG_DONTWAIT | MSG_NOSIGNAL);

    if (gone < 0 && errno != EAGAIN)
        exit(0);
    if (gone > 0)
        source->sent += (uint64_t)gone;
}

/* What may happen next: sources, pingers, the listener. */
static nfds_t list(const struct raw *raw, struct pollfd *polls)
{
    nfds_t count = 0;

    for (unsigned i = 0; i < raw->count; i++) {
        const struct source *source = &raw->sources[i];
        struct pollfd *one = &polls[count++];

        *one = (struct pollfd){source->socket, 0, 0};
        if (room(raw, source))
            one->events |= POLLIN;
        if (ready(raw, source))
            one->events |= POLLOUT;
    }
    for (unsigned i = 0; i < raw->pinger_count; i++)
        polls[count++] = (struct pollfd){raw->pingers[i], POLLIN, 0};
    polls[count++] = (struct pollfd){raw->listener, POLLIN, 0};
    return count;
}

static void serve(struct raw *raw)
{
    struct pollfd polls[PROCESS_STAR_NODES + PINGERS + 1];
    nfds_t count = list(raw, polls);
    const struct pollfd *ping = polls + raw->count;

    if (poll(polls, count, -1) < 0)
        return;
    for (unsigned i = 0; i < raw->pinger_count; i++)
        if (ping[i].revents && !echo(ping[i].fd))
            exit(0);
    for (unsigned i = 0; i < raw->count; i++) {
        if (polls[i].revents & POLLOUT)
            give(raw, &raw->sources[i]);
        if (polls[i].revents & ~POLLOUT && room(raw, &raw->sources[i]))
            receive(raw, &raw->sources[i]);
    }
    if (polls[count - 1].revents)
        accept_one(raw);
}

void raw_hub(const struct post *post)
{
    struct raw raw = {.ring = pages(RING), .stretch = pages(STRETCH)};

    listen_at(&raw, post);
    while (raw.count < post->nodes)
        accept_one(&raw);
    for (;;)
        serve(&raw);
}
