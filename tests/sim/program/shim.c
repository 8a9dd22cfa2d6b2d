/* The shim on this machine's loopback, between a node and a hub that are
 * sockets of the test. What takes time is only held against what it must take
 * at least. */
#include "sim/shim/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/prng.h"
#include "net/bell.h"
#include "net/net.h"
#include "sim/shim/socket.h"
#include "tests/check.h"
#include "tests/net/strangers.h"

/* A shim at work, and the two ends of a connection through it. */
struct rig {
    struct trace *trace;
    struct bell stop;
    struct shim *shim;
    pthread_t thread;
    struct shim_config config;
    int listeners[2]; /* the hub's */
    int node, hub;
};

static void *run(void *of)
{
    struct rig *rig = of;

    shim_run(rig->shim);
    return NULL;
}

static struct endpoint local(unsigned port)
{
    return (struct endpoint){"127.0.0.1", (uint16_t)port};
}

/* Nobody waits for ever. */
static void limit(int fd)
{
    struct timeval most = {.tv_sec = 30};

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

static int hub_listens(unsigned port)
{
    struct sockaddr_in place = {.sin_family = AF_INET,
                                .sin_port = htons((in_port_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&place, sizeof place) == 0 &&
        listen(fd, 8) == 0) {
        limit(fd);
        return fd;
    }
    (void)close(fd);
    return -1;
}

static void close_any(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

/* The hub's two ports; whatever is free. */
static bool open_hub(struct rig *rig)
{
    for (int tries = 0; tries < 100; tries++) {
        unsigned port = fake_next_port();

        rig->config.hub = local(port);
        rig->listeners[0] = hub_listens(port);
        rig->listeners[1] = hub_listens(port + 1);
        if (rig->listeners[0] >= 0 && rig->listeners[1] >= 0)
            return true;
        close_any(rig->listeners[0]);
        close_any(rig->listeners[1]);
    }
    return false;
}

/* A link like `link`, with a trace of these lines unless they are NULL. */
static bool open_rig(struct rig *rig, struct shim_link link, const char *lines)
{
    char text[300];
    enum status status = STATUS_UNAVAILABLE;

    *rig = (struct rig){.node = -1, .hub = -1};
    rig->config.link = link;
    rig->config.link.message = 1 << 20;
    if (lines) {
        (void)snprintf(text, sizeof text, "%s\nspan 1000s\n%send\n",
                       TRACE_FORMAT, lines);
        CHECK_OK(trace_parse(text, strlen(text), &rig->trace, NULL));
        rig->config.link.trace = rig->trace;
    }
    if (!CHECK(open_hub(rig)) || !CHECK_OK(bell_init(&rig->stop, NULL)))
        return false;
    rig->config.stop = rig->stop.fd;
    for (int i = 0; i < 100 && status != STATUS_OK; i++) {
        rig->config.listen = local(fake_next_port());
        status = shim_open(&rig->config, &rig->shim, NULL);
    }
    return CHECK_OK(status) &&
           CHECK(pthread_create(&rig->thread, NULL, run, rig) == 0);
}

/* Connects node and hub; `bulk`: by the ports behind the first. */
static bool meet_hub(struct rig *rig, bool bulk)
{
    rig->node = plain_connection(rig->config.listen.port + bulk);
    rig->hub = accept(rig->listeners[bulk], NULL, NULL);
    limit(rig->node);
    limit(rig->hub);
    return CHECK(rig->node >= 0 && rig->hub >= 0);
}

/* Ends the shim and gives its figures. */
static struct shim_figures close_rig(struct rig *rig)
{
    struct shim_figures figures;

    bell_ring(&rig->stop);
    (void)pthread_join(rig->thread, NULL);
    figures = shim_figures(rig->shim);
    shim_close(&rig->shim);
    bell_free(&rig->stop);
    trace_destroy(&rig->trace);
    close_any(rig->node);
    close_any(rig->hub);
    close_any(rig->listeners[0]);
    close_any(rig->listeners[1]);
    return figures;
}

static bool say(int fd, const char *words)
{
    ssize_t length = (ssize_t)strlen(words);

    return send(fd, words, (size_t)length, MSG_NOSIGNAL) == length;
}

static bool hear(int fd, const char *words)
{
    char bytes[100];
    size_t length = strlen(words);

    return recv(fd, bytes, length, MSG_WAITALL) == (ssize_t)length &&
           memcmp(bytes, words, length) == 0;
}

static bool is_at_end(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) == 0;
}

static bool is_reset(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
}

/* ---- how long it takes ---- */

static void a_round_trip_takes_two_delays(void)
{
    struct rig rig;
    nanos begin;

    if (!open_rig(&rig, (struct shim_link){.latency = 20 * MILLISECOND},
                  NULL) ||
        !meet_hub(&rig, false))
        return;
    CHECK(say(rig.node, "a") && hear(rig.hub, "a"));
    begin = net_now();
    CHECK(say(rig.node, "ping") && hear(rig.hub, "ping"));
    CHECK(net_now() - begin >= 20 * MILLISECOND);
    CHECK(say(rig.hub, "pong") && hear(rig.node, "pong"));
    CHECK(net_now() - begin >= 40 * MILLISECOND);
    (void)close_rig(&rig);
}

/* A megabyte, of a thread's own. */
enum { MEGABYTE = 1000000 };

struct flood {
    int fd;
    bool done;
};

static unsigned char byte_at(size_t place)
{
    return (unsigned char)prng_mix(place);
}

static void *send_flood(void *of)
{
    struct flood *flood = of;
    unsigned char *bytes = malloc(MEGABYTE);
    size_t sent = 0;

    for (size_t i = 0; bytes && i < MEGABYTE; i++)
        bytes[i] = byte_at(i);
    while (bytes && sent < MEGABYTE) {
        /* Now and then a little one. */
        size_t next = sent % 3 == 0 ? 77 : 30000;
        ssize_t some =
            send(flood->fd, bytes + sent,
                 next < MEGABYTE - sent ? next : MEGABYTE - sent, MSG_NOSIGNAL);

        if (some <= 0)
            break;
        sent += (size_t)some;
    }
    free(bytes);
    flood->done = sent == MEGABYTE;
    return NULL;
}

/* Reads a flood; whether it is all there, in order. */
static bool hear_flood(int fd)
{
    static unsigned char bytes[1 << 16];
    size_t got = 0, wrong = 0;

    while (got < MEGABYTE) {
        ssize_t some = recv(fd, bytes, sizeof bytes, 0);

        if (some <= 0)
            return false;
        for (ssize_t i = 0; i < some; i++)
            wrong += bytes[i] != byte_at(got + (size_t)i);
        got += (size_t)some;
    }
    return wrong == 0 && got == MEGABYTE;
}

/* Sends a megabyte from one end to the other; returns how long it took. */
static nanos flood(int from, int to)
{
    struct flood flood = {.fd = from};
    nanos begin = net_now();
    pthread_t thread;

    if (!CHECK(pthread_create(&thread, NULL, send_flood, &flood) == 0))
        return 0;
    CHECK(hear_flood(to));
    (void)pthread_join(thread, NULL);
    CHECK(flood.done);
    return net_now() - begin;
}

static void each_way_has_its_rate(void)
{
    struct rig rig;
    struct shim_figures figures;

    if (!open_rig(&rig, (struct shim_link){0},
                  "0s * up 2MB\n0s * down 5MB\n") ||
        !meet_hub(&rig, true))
        return;
    CHECK(flood(rig.node, rig.hub) >= SECOND / 2);
    CHECK(flood(rig.hub, rig.node) >= SECOND / 5);
    figures = close_rig(&rig);
    CHECK_EQUAL(1, figures.connections);
    CHECK_EQUAL(MEGABYTE, figures.up);
    CHECK_EQUAL(MEGABYTE, figures.down);
}

/* The trace begins when the node connects. */
static void a_cut_holds_bytes_back_and_loses_none(void)
{
    struct rig rig;
    nanos begin;

    if (!open_rig(&rig, (struct shim_link){.jitter = 3 * MILLISECOND},
                  "0s * up 20MB\n20ms * up 0\n200ms * up 20MB\n"
                  "210ms * loss 1\n400ms * loss 0\n"))
        return;
    begin = net_now();
    if (meet_hub(&rig, false)) {
        (void)flood(rig.node, rig.hub);
        CHECK(net_now() - begin >= 400 * MILLISECOND);
    }
    (void)close_rig(&rig);
}

/* ---- how it ends ---- */

static void what_is_sent_before_the_end_comes_before_it(void)
{
    struct rig rig;

    if (!open_rig(&rig, (struct shim_link){.latency = MILLISECOND}, NULL) ||
        !meet_hub(&rig, false))
        return;
    CHECK(say(rig.node, "last words") && shutdown(rig.node, SHUT_WR) == 0);
    CHECK(hear(rig.hub, "last words") && is_at_end(rig.hub));
    CHECK(say(rig.hub, "goodbye") && shutdown(rig.hub, SHUT_WR) == 0);
    CHECK(hear(rig.node, "goodbye") && is_at_end(rig.node));
    (void)close_rig(&rig);
}

static void a_reset_passes_through_either_way(void)
{
    struct rig rig;

    if (!open_rig(&rig, (struct shim_link){.latency = MILLISECOND}, NULL) ||
        !meet_hub(&rig, false))
        return;
    shim_reset(rig.node);
    CHECK(is_reset(rig.hub));
    (void)close(rig.hub);
    if (meet_hub(&rig, false)) {
        shim_reset(rig.hub);
        rig.hub = -1;
        CHECK(is_reset(rig.node));
    }
    CHECK_EQUAL(2, close_rig(&rig).connections);
}

static void without_a_hub_the_node_is_sent_away(void)
{
    struct rig rig;

    if (!open_rig(&rig, (struct shim_link){.latency = MILLISECOND}, NULL))
        return;
    (void)close(rig.listeners[0]);
    rig.listeners[0] = -1;
    rig.node = plain_connection(rig.config.listen.port);
    limit(rig.node);
    CHECK(is_reset(rig.node));
    (void)close_rig(&rig);
}

static void connections_that_are_left_are_reset(void)
{
    struct rig rig;

    if (!open_rig(&rig, (struct shim_link){0}, NULL) || !meet_hub(&rig, false))
        return;
    CHECK(say(rig.node, "a") && hear(rig.hub, "a"));
    bell_ring(&rig.stop);
    (void)pthread_join(rig.thread, NULL);
    shim_close(&rig.shim);
    CHECK(is_reset(rig.node) && is_reset(rig.hub));
    if (CHECK_OK(shim_open(&rig.config, &rig.shim, NULL)) &&
        CHECK(pthread_create(&rig.thread, NULL, run, &rig) == 0))
        (void)close_rig(&rig);
}

static void an_address_that_does_not_do_is_named(void)
{
    struct rig rig;
    struct shim *second = NULL;
    struct why why = {""};

    if (!open_rig(&rig, (struct shim_link){0}, NULL))
        return;
    CHECK_STATUS(STATUS_UNAVAILABLE, shim_open(&rig.config, &second, &why));
    CHECK_CONTAINS("take another --listen", why.text);
    rig.config.hub = (struct endpoint){"nobody.invalid", 7541};
    CHECK_STATUS(STATUS_UNAVAILABLE, shim_open(&rig.config, &second, &why));
    CHECK_CONTAINS("\"nobody.invalid\" is not known", why.text);
    (void)close_rig(&rig);
}

void add_sim_program_shim_tests(CU_pSuite suite)
{
    TEST(a_round_trip_takes_two_delays);
    TEST(each_way_has_its_rate);
    TEST(a_cut_holds_bytes_back_and_loses_none);
    TEST(what_is_sent_before_the_end_comes_before_it);
    TEST(a_reset_passes_through_either_way);
    TEST(without_a_hub_the_node_is_sent_away);
    TEST(connections_that_are_left_are_reset);
    TEST(an_address_that_does_not_do_is_named);
}
