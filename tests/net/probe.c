/* What a port wants of those who come, and a node that asks because it is
 * hung up on. */
#include "net/probe.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

enum { VERSION_BYTES = 11 };

/* Somebody who listens and greets as he likes, one visitor after the other. */
struct host {
    int listener;
    unsigned port;
    pthread_t thread;
    char says[64]; /* the greeting */
};

static const char greeting[64] = {(char)0xff, [8] = 1, 0x7f,
                                  3,          0,       'C',
                                  'U',        'R',     'V',
                                  'E'};

/* Greets to the end only who says no more than its version: a visitor who has
 * named its mechanism is hung up on, as by a libzmq that was quicker. */
static void receive(const struct host *host, int fd)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    char said[64];

    (void)send(fd, host->says, VERSION_BYTES - 1, MSG_NOSIGNAL);
    if (recv(fd, said, VERSION_BYTES, MSG_WAITALL) != VERSION_BYTES)
        return;
    (void)send(fd, host->says + VERSION_BYTES - 1, 1, MSG_NOSIGNAL);
    if (poll(&more, 1, 500) != 0)
        return;
    (void)send(fd, host->says + VERSION_BYTES,
               sizeof host->says - VERSION_BYTES, MSG_NOSIGNAL);
    while (recv(fd, said, sizeof said, 0) > 0)
        continue;
}

static void *serve(void *of)
{
    const struct host *host = of;
    int fd;

    while ((fd = accept(host->listener, NULL, NULL)) >= 0) {
        receive(host, fd);
        (void)close(fd);
    }
    return NULL;
}

static void host_start(struct host *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    host->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(host->listener, (struct sockaddr *)&address, size) == 0);
    CHECK(listen(host->listener, 16) == 0);
    CHECK(getsockname(host->listener, (struct sockaddr *)&address, &size) ==
          0);
    host->port = ntohs(address.sin_port);
    CHECK(pthread_create(&host->thread, NULL, serve, host) == 0);
}

static void host_stop(struct host *host)
{
    (void)shutdown(host->listener, SHUT_RDWR);
    (void)pthread_join(host->thread, NULL);
    (void)close(host->listener);
}

/* What whoever listens there answers; asked again while it says NONE before
 * the patience is over, as it might not listen yet. */
static enum answer ask_port(unsigned port)
{
    void *context = zmq_ctx_new();
    struct probe probe;
    struct address address;
    enum answer answer = ANSWER_NOT_YET;

    CHECK_OK(address_to_reach("127.0.0.1", port, &address, NULL));
    probe_begin(&probe, context, &address, 0);
    for (int i = 0; i < 3000 && answer == ANSWER_NOT_YET; i++) {
        answer = probe_look(&probe, 0);
        (void)usleep(10000);
    }
    CHECK(!probe.socket || answer == ANSWER_NOT_YET);
    probe_end(&probe);
    (void)zmq_ctx_term(context);
    return answer;
}

static void a_hub_says_whether_it_wants_keys(void)
{
    struct pair pair;

    open_keyed_pair(&pair);
    CHECK_EQUAL(ANSWER_KEYS, ask_port(pair.hub->config.port));
    CHECK_EQUAL(ANSWER_KEYS, ask_port(pair.hub->config.port + 1));
    close_pair(&pair);
    open_pair(&pair);
    CHECK_EQUAL(ANSWER_PLAIN, ask_port(pair.hub->config.port));
    close_pair(&pair);
}

static void what_is_no_greeting_is_no_answer(void)
{
    struct host host = {.says = "HTTP/1.1 400 Bad Request\r\nContent-Length: "
                                "0\r\n\r\n"};

    host_start(&host);
    CHECK_EQUAL(ANSWER_NONE, ask_port(host.port));
    host_stop(&host);
}

static void whom_nobody_answers_asks_for_5_s(void)
{
    void *context = zmq_ctx_new();
    struct probe probe;
    struct address address;

    CHECK_OK(address_to_reach("127.0.0.1", port_of_nobody(), &address, NULL));
    probe_begin(&probe, context, &address, SECOND);
    CHECK_EQUAL(ANSWER_NOT_YET, probe_look(&probe, 6 * SECOND - 1));
    CHECK_EQUAL(ANSWER_NONE, probe_look(&probe, 6 * SECOND));
    CHECK(!probe.socket);
    (void)zmq_ctx_term(context);
}

static void a_node_that_is_hung_up_on_asks_and_is_told(void)
{
    struct host host;
    struct toy *node = toy_new(false);

    memcpy(host.says, greeting, sizeof greeting);
    host_start(&host);
    node->config.port = (uint16_t)host.port;
    toy_start(node);
    CHECK(toy_wait(node, &node->counts[EVENT_LEAVE], 1));
    toy_stop(node);
    CHECK_EQUAL(EVENT_MESSAGE, node->log[1].kind);
    CHECK_EQUAL(MSG_BYE, node->log[1].msg);
    toy_destroy(&node);
    host_stop(&host);
}

void add_net_probe_tests(CU_pSuite suite)
{
    TEST(a_hub_says_whether_it_wants_keys);
    TEST(what_is_no_greeting_is_no_answer);
    TEST(whom_nobody_answers_asks_for_5_s);
    TEST(a_node_that_is_hung_up_on_asks_and_is_told);
}
