/* What is no ZeroMQ, or not as libzmq would speak it. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

static void bytes_that_are_no_zeromq_harm_nobody(void)
{
    static const char *const greetings[] = {
        "GET / HTTP/1.1\r\nHost: hub\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f",
        "",
    };
    struct pair pair;

    open_pair(&pair);
    for (unsigned i = 0; i < 100; i++) {
        const char *greeting =
            greetings[i % (sizeof greetings / sizeof *greetings)];
        int fd = plain_connection(pair.hub->config.port + i % 2u);

        CHECK(fd >= 0);
        (void)send(fd, greeting, strlen(greeting), MSG_NOSIGNAL);
        (void)close(fd);
    }
    CHECK_EQUAL(1, fake_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    close_pair(&pair);
}

/* The system may take minutes to tell a sender that nobody is there. */
static void send_with_patience(int fd)
{
    struct timeval limit = {.tv_sec = 2};

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* What is larger than may be is known by its first bytes. */
static void a_header_without_end_is_cut_before_it_is_read(void)
{
    static const unsigned char part_of_it[9 + FAKE_CHUNK] = {
        3, 0, 0, 0, 0, 0, FAKE_CHUNK >> 16};
    struct pair pair;
    int fd;

    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port + 1u);
    CHECK(fd >= 0);
    send_with_patience(fd);
    shake_hands(fd);
    for (unsigned i = 0; i < 16; i++)
        if (!send_all(fd, part_of_it, sizeof part_of_it))
            break;
    CHECK(fake_wait(pair.hub, &pair.hub->notes, 1));
    CHECK_CONTAINS("a header that is too large", pair.hub->note);
    CHECK_EQUAL(0, fake_count(pair.hub, EVENT_JOIN, CHANNEL_BULK));
    (void)close(fd);
    close_pair(&pair);
}

/* Two bytes on the wire each, and more to come. */
static void frames_of_nothing_are_cut_at_the_first(void)
{
    static unsigned char nothing[65536];
    struct pair pair;
    int fd;

    for (size_t i = 0; i < sizeof nothing; i += 2)
        nothing[i] = 1;
    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port);
    CHECK(fd >= 0);
    send_with_patience(fd);
    shake_hands(fd);
    for (unsigned i = 0; i < 512; i++) /* 32 MiB */
        if (!send_all(fd, nothing, sizeof nothing))
            break;
    CHECK(fake_wait(pair.hub, &pair.hub->notes, 1));
    CHECK_CONTAINS("a message without a header", pair.hub->note);
    (void)close(fd);
    close_pair(&pair);
}

static void a_handshake_that_drips_is_cut_in_time(void)
{
    static const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
    struct timeval wait = {.tv_usec = 400000};
    struct pair pair;
    char byte;
    unsigned sent = 0;
    int fd;

    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port);
    CHECK(fd >= 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    while (sent < sizeof greeting &&
           send(fd, greeting + sent, 1, MSG_NOSIGNAL) == 1) {
        ssize_t got = recv(fd, &byte, 1, 0);

        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        while (got > 0)
            got = recv(fd, &byte, 1, MSG_DONTWAIT);
        sent++;
    }
    CHECK(sent > 0);
    CHECK(sent < 40);
    (void)close(fd);
    close_pair(&pair);
}

enum { TINY = 40, TINY_BYTES = 3, PINGS = 64 };

/* Messages of a byte and a PING (ZMTP 3.1), again and again. */
static size_t flood_of_pings(unsigned char *out)
{
    static const unsigned char ping[] = {4, 7, 4, 'P', 'I', 'N', 'G', 0, 0};
    size_t size = 0;

    for (unsigned i = 0; i < PINGS; i++) {
        for (unsigned j = 0; j < TINY; j++) {
            out[size++] = 0;
            out[size++] = 1;
            out[size++] = 'x';
        }
        memcpy(out + size, ping, sizeof ping);
        size += sizeof ping;
    }
    return size;
}

static void shake_pour_and_reset(int fd, const char *type)
{
    static unsigned char flood[PINGS * (TINY * TINY_BYTES + 9)];
    const struct linger at_once = {.l_onoff = 1};

    shake_hands_as(fd, type);
    (void)send(fd, flood, flood_of_pings(flood), MSG_NOSIGNAL);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)usleep(2000);
    (void)close(fd);
}

static void pings_behind_many_messages_and_a_cut_harm_nobody(void)
{
    struct pair pair;

    open_pair(&pair);
    for (unsigned i = 0; i < 200; i++) {
        int fd = plain_connection(pair.hub->config.port + i % 2u);

        CHECK(fd >= 0);
        shake_pour_and_reset(fd, "DEALER");
    }
    close_pair(&pair);
}

/* A listener on the first of two ports, in place of a hub. */
static int listen_as_hub(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = -1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned i = 0; i < 200; i++) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        *port = fake_next_port();
        address.sin_port = htons(*port);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
            listen(fd, 10) == 0)
            return fd;
        (void)close(fd);
    }
    return -1;
}

static void a_hub_that_pings_behind_many_messages_harms_no_node(void)
{
    struct fake_machine *node = fake_new(false);
    int listener = listen_as_hub(&node->config.port);

    CHECK(listener >= 0);
    fake_start(node);
    for (unsigned i = 0; i < 6; i++) {
        int fd = accept(listener, NULL, NULL);

        if (CHECK(fd >= 0))
            shake_pour_and_reset(fd, "ROUTER");
    }
    fake_destroy(&node);
    (void)close(listener);
}

void add_net_guard_tests(CU_pSuite suite)
{
    TEST(bytes_that_are_no_zeromq_harm_nobody);
    TEST(a_header_without_end_is_cut_before_it_is_read);
    TEST(frames_of_nothing_are_cut_at_the_first);
    TEST(a_handshake_that_drips_is_cut_in_time);
    TEST(pings_behind_many_messages_and_a_cut_harm_nobody);
    TEST(a_hub_that_pings_behind_many_messages_harms_no_node);
}
