/* What is no ZeroMQ, or not as libzmq speaks it. */
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
    CHECK_EQUAL(1, toy_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    close_pair(&pair);
}

/* What a DEALER says first (ZMTP 3.0, without keys). */
static void shake_hands(int fd)
{
    static const char ready[] = "\4\x1c\5READY\xbSocket-Type\0\0\0\6DEALER";
    unsigned char greeting[64] = {0xff, 0,    0, 0, 0,   0,   0,   0,
                                  1,    0x7f, 3, 0, 'N', 'U', 'L', 'L'};

    (void)send(fd, greeting, sizeof greeting, MSG_NOSIGNAL);
    (void)send(fd, ready, sizeof ready - 1, MSG_NOSIGNAL);
}

static bool send_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* The system may take minutes to tell a sender that nobody is there. */
static void send_with_patience(int fd)
{
    struct timeval limit = {.tv_sec = 2};

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* libzmq itself would hold such a message back, so it is written by hand. */
static void a_message_without_end_is_cut_before_it_fills_the_memory(void)
{
    static const unsigned char part_of_it[9 + TOY_CHUNK] = {
        3, 0, 0, 0, 0, 0, TOY_CHUNK >> 16};
    struct pair pair;
    unsigned sent = 0;
    int fd;

    open_pair(&pair);
    fd = plain_connection(pair.hub->config.port + 1u);
    CHECK(fd >= 0);
    send_with_patience(fd);
    shake_hands(fd);
    while (sent < 4000 && send_all(fd, part_of_it, sizeof part_of_it)) {
        (void)usleep(1000);
        sent++;
    }
    CHECK(sent > 16);
    CHECK(sent < 1000);
    CHECK(toy_wait(pair.hub, &pair.hub->notes, 1));
    CHECK_CONTAINS("without end", pair.hub->note);
    CHECK_EQUAL(0, toy_count(pair.hub, EVENT_JOIN, CHANNEL_BULK));
    (void)close(fd);
    close_pair(&pair);
}

void add_net_guard_tests(CU_pSuite suite)
{
    TEST(bytes_that_are_no_zeromq_harm_nobody);
    TEST(a_message_without_end_is_cut_before_it_fills_the_memory);
}
