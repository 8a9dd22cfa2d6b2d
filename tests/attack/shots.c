/* What a stranger can do. */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/attack/volley.h"

#define PATIENCE_US 200000

/* ---- sockets ---- */

static void limit_time(int fd)
{
    struct timeval limit = {.tv_usec = PATIENCE_US};

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

int reach(struct attack *attack)
{
    struct sockaddr_in from = {.sin_family = AF_INET}, to = attack->place;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    limit_time(fd);
    from.sin_addr.s_addr =
        htonl(INADDR_LOOPBACK + (uint32_t)below(attack, ADDRESSES));
    if (attack->local)
        (void)bind(fd, (struct sockaddr *)&from, sizeof from);
    to.sin_port = htons((uint16_t)(ntohs(to.sin_port) + below(attack, 2)));
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
        attack->connections++;
        return fd;
    }
    (void)close(fd);
    return -1;
}

/* Of what was sent the other end's system has not taken so much. */
static size_t left_over(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

static void count(struct attack *attack, const struct volley *volley,
                  size_t taken)
{
    for (unsigned i = 1; i <= volley->frames; i++)
        attack->delivered +=
            (i < volley->frames ? volley->begins[i] : volley->size) <= taken;
}

bool fire(struct attack *attack, int fd, const struct volley *volley)
{
    size_t sent = 0, left;
    ssize_t now = 1;

    while (now > 0 && sent < volley->size) {
        now = send(fd, volley->bytes + sent, volley->size - sent, MSG_NOSIGNAL);
        sent += now > 0 ? (size_t)now : 0;
    }
    left = left_over(fd);
    count(attack, volley, sent > left ? sent - left : 0);
    return now > 0;
}

static void drain(int fd)
{
    char bytes[4096];

    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

void let_go(struct attack *attack)
{
    while (attack->held_count)
        (void)close(attack->held[--attack->held_count]);
}

/* Left as it is, in the place of one that was before. */
static void hold(struct attack *attack, int fd)
{
    unsigned place = attack->held_count;

    if (place < attack->hold) {
        attack->held_count++;
    } else {
        place = (unsigned)below(attack, attack->held_count);
        (void)close(attack->held[place]);
    }
    attack->held[place] = fd;
}

/* A close, a reset, or half of it, at once or a little later. */
static void end(struct attack *attack, int fd)
{
    const struct linger at_once = {.l_onoff = 1};

    if (one_in(attack, 3))
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    else if (one_in(attack, 3))
        (void)shutdown(fd, one_in(attack, 2) ? SHUT_WR : SHUT_RD);
    if (one_in(attack, 4))
        drain(fd);
    if (attack->hold && one_in(attack, 8))
        hold(attack, fd);
    else
        (void)close(fd);
}

/* ---- shots ---- */

static void noise(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};

    attack->frames++;
    volley.frames = 1;
    put_random(attack, &volley, 1 + below(attack, 400));
    (void)fire(attack, fd, &volley);
}

static void bad_handshake(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};

    put_handshake(attack, &volley);
    put_some_frame(attack, &volley);
    for (unsigned i = 0; i < 1 + below(attack, 4); i++)
        volley.bytes[below(attack, volley.size)] =
            (unsigned char)below(attack, 256);
    volley.size = 1 + below(attack, volley.size);
    (void)fire(attack, fd, &volley);
}

static void frames(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};
    unsigned count = 1 + (unsigned)below(attack, 60);

    put_handshake(attack, &volley);
    for (unsigned i = 0; i < count; i++)
        put_some_frame(attack, &volley);
    (void)fire(attack, fd, &volley);
}

/* Tiny messages and a PING, in one segment, again and again, then a cut. */
static void pings_behind_messages(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};

    put_handshake(attack, &volley);
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 40; j++)
            put_frame(attack, &volley, 0, "x", 1);
        put_frame(attack, &volley, FLAG_COMMAND, "\4PING\0\0", 7);
    }
    (void)fire(attack, fd, &volley);
}

static void pings(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};

    put_handshake(attack, &volley);
    for (unsigned i = 0; i < 200; i++)
        put_frame(attack, &volley, FLAG_COMMAND, "\4PING\0\0abcdefgh", 15);
    (void)fire(attack, fd, &volley);
}

/* A name that a ROUTER of libzmq might give away next. */
static void claim_name(struct attack *attack, int fd, uint32_t number)
{
    struct volley volley = {.size = 0};
    unsigned char name[5] = {0};

    memcpy(name + 1, &number, sizeof number);
    put_greeting(attack, &volley);
    put_ready(attack, &volley, name, sizeof name);
    if (one_in(attack, 2))
        put_frame(attack, &volley, 0, "x", 1);
    (void)fire(attack, fd, &volley);
}

static void claim(struct attack *attack, int fd)
{
    claim_name(attack, fd, (uint32_t)prng_next(&attack->prng));
}

void claim_next(struct attack *attack, int fd)
{
    uint64_t number = attack->claimed++ * ((uint64_t)1 << 32) / attack->claims;

    limit_time(fd);
    claim_name(attack, fd, (uint32_t)number);
    hold(attack, fd);
}

static void frames_of_nothing(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};

    put_handshake(attack, &volley);
    if (one_in(attack, 2)) {
        unsigned char header[MSG_MAX_BYTES];

        put_frame(attack, &volley, FLAG_MORE, header,
                  some_header(attack, header));
    }
    for (unsigned i = 0; i < 200; i++)
        put_frame(attack, &volley, FLAG_MORE, "", 0);
    (void)fire(attack, fd, &volley);
}

/* A chunk of which a part comes, and then nothing. */
static void unfinished(struct attack *attack, int fd)
{
    struct volley volley = {.size = 0};
    struct msg attach = {.kind = MSG_ATTACH}, chunk = {.kind = MSG_CHUNK};
    unsigned char header[MSG_MAX_BYTES];

    put_handshake(attack, &volley);
    if (one_in(attack, 2))
        put_frame(attack, &volley, 0, header, msg_encode(&attach, header));
    put_frame(attack, &volley, FLAG_MORE, header, msg_encode(&chunk, header));
    put_head(attack, &volley, FLAG_LONG, below(attack, (1 << 20) + 2));
    put_random(attack, &volley, below(attack, 2000));
    (void)fire(attack, fd, &volley);
    if (attack->hold)
        hold(attack, dup(fd));
}

typedef void shot(struct attack *attack, int fd);

void shoot(struct attack *attack, int fd)
{
    static shot *const shots[] = {noise,  bad_handshake,         frames,
                                  frames, pings_behind_messages, pings,
                                  claim,  frames_of_nothing,     unfinished};
    const size_t count = sizeof shots / sizeof *shots;

    limit_time(fd);
    if (attack->keyed && one_in(attack, 2))
        boxes(attack, fd);
    else
        shots[below(attack, count)](attack, fd);
    end(attack, fd);
}
