/* Why a node does not reach its hub. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/net/fake_machine.h"

static struct net_trouble trouble;

static void read_trouble(struct fake_machine *node)
{
    trouble = *net_trouble(node->net);
}

static bool is_hindered(struct fake_machine *node, enum net_hindrance by)
{
    for (int i = 0; i < 300; i++) {
        fake_at_tick(node, read_trouble);
        if (trouble.hindrance == by)
            return true;
    }
    return false;
}

static void a_hub_that_is_not_there_is_told_from_others(void)
{
    struct fake_machine *node = fake_new(false);
    char text[NOTE_BYTES];

    node->config.port = port_of_nobody();
    fake_start(node);
    CHECK(is_hindered(node, HINDRANCE_REFUSED));
    CHECK(trouble.times >= 1);
    CHECK_EQUAL(node->config.port, trouble.port);
    CHECK_TEXT("127.0.0.1", trouble.host);
    CHECK_CONTAINS("refused", trouble.system);
    net_trouble_print(&trouble, false, text, sizeof text);
    CHECK_CONTAINS("is not there: nothing listens on that port", text);
    net_trouble_print(&trouble, true, text, sizeof text);
    CHECK_CONTAINS("port; is the hub started", text);
    fake_destroy(&node);
}

/* Somebody who listens, says this to each visitor, and hangs up or does not. */
struct host {
    int listener;
    const char *says;
    size_t size;
    bool hangs_up;
    pthread_t thread;
};

static void *serve(void *of)
{
    const struct host *host = of;
    char word[64];
    int fd;

    while ((fd = accept(host->listener, NULL, NULL)) >= 0) {
        (void)send(fd, host->says, host->size, MSG_NOSIGNAL);
        while (!host->hangs_up && recv(fd, word, sizeof word, 0) > 0)
            continue;
        (void)close(fd);
    }
    return NULL;
}

static void open_host(struct host *host, struct fake_machine *node)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    do {
        host->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        node->config.port = fake_next_port();
        address.sin_port = htons(node->config.port);
    } while (bind(host->listener, (struct sockaddr *)&address,
                  sizeof address) != 0 &&
             close(host->listener) == 0);
    CHECK_EQUAL(0, listen(host->listener, 10));
    CHECK_EQUAL(0, pthread_create(&host->thread, NULL, serve, host));
}

static void close_host(struct host *host)
{
    (void)shutdown(host->listener, SHUT_RDWR);
    (void)pthread_join(host->thread, NULL);
    (void)close(host->listener);
}

static void meets(const char *says, size_t size, bool hangs_up,
                  enum net_hindrance by)
{
    struct host host = {.says = says, .size = size, .hangs_up = hangs_up};
    struct fake_machine *node = fake_new(false);

    open_host(&host, node);
    fake_start(node);
    CHECK(is_hindered(node, by));
    CHECK_EQUAL(0, fake_count(node, EVENT_JOIN, CHANNEL_BULK));
    fake_destroy(&node);
    close_host(&host);
}

static void what_is_no_hub_is_told_from_one_that_hangs_up(void)
{
    static const char http[] = "HTTP/1.0 400 Bad Request\r\n\r\n";
    static const char keyed[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE";

    meets(http, sizeof http - 1, true, HINDRANCE_NO_HUB);
    meets("", 0, true, HINDRANCE_HUNG_UP);
    meets(keyed, sizeof keyed, false, HINDRANCE_WANTS_KEY);
}

static void one_that_says_nothing_is_left_after_5_s(void)
{
    meets("", 0, false, HINDRANCE_SILENT);
}

static void one_that_is_reached_hinders_nobody(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->config.port = fake_next_port();
    node = fake_node(hub);
    fake_start(node);
    CHECK(is_hindered(node, HINDRANCE_REFUSED));
    fake_start(hub);
    CHECK(is_hindered(node, HINDRANCE_NONE));
    fake_destroy(&node);
    fake_destroy(&hub);
}

void add_net_dial_tests(CU_pSuite suite)
{
    TEST(a_hub_that_is_not_there_is_told_from_others);
    TEST(what_is_no_hub_is_told_from_one_that_hangs_up);
    TEST(one_that_says_nothing_is_left_after_5_s);
    TEST(one_that_is_reached_hinders_nobody);
}
