/* That what we speak is what libzmq speaks: its sockets are the other end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

enum { PINGS = 100, CHUNK_BYTES = 300000 };

static struct msg read_header(void *socket)
{
    struct msg msg = {.kind = MSG_KINDS};
    unsigned char bytes[MSG_MAX_BYTES];
    int size = zmq_recv(socket, bytes, sizeof bytes, 0);

    if (size < 0 || msg_decode(bytes, (size_t)size, &msg) != STATUS_OK)
        msg.kind = MSG_KINDS;
    return msg;
}

static bool has_more(void *socket)
{
    int more = 0;
    size_t size = sizeof more;

    return zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) == 0 && more;
}

static void send_ping(void *socket, uint64_t number)
{
    struct msg ping = fake_ping(number);
    unsigned char bytes[MSG_MAX_BYTES];

    (void)zmq_send(socket, bytes, msg_encode(&ping, bytes), 0);
}

static void send_chunk(void *socket, uint64_t number,
                       const unsigned char *payload)
{
    struct msg chunk = fake_chunk(number);
    unsigned char bytes[MSG_MAX_BYTES];

    (void)zmq_send(socket, bytes, msg_encode(&chunk, bytes), ZMQ_SNDMORE);
    (void)zmq_send(socket, payload, CHUNK_BYTES, 0);
}

static void patience(void *socket)
{
    int limit = 20000;

    (void)zmq_setsockopt(socket, ZMQ_RCVTIMEO, &limit, sizeof limit);
}

static void pings_come_back(void *socket)
{
    patience(socket);
    for (uint64_t i = 0; i < PINGS; i++)
        send_ping(socket, i);
    for (uint64_t i = 0; i < PINGS; i++) {
        struct msg msg = read_header(socket);

        CHECK_EQUAL(MSG_PING, msg.kind);
        CHECK_EQUAL((int64_t)i, msg.ping.sent);
        CHECK(!has_more(socket));
    }
}

static void chunks_come_back(void *socket)
{
    static unsigned char sent[CHUNK_BYTES], got[CHUNK_BYTES];

    patience(socket);
    for (size_t i = 0; i < CHUNK_BYTES; i++)
        sent[i] = (unsigned char)(i * 7 + i / 251);
    for (uint64_t i = 0; i < 8; i++)
        send_chunk(socket, i, sent);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQUAL(MSG_CHUNK, read_header(socket).kind);
        if (!CHECK(has_more(socket)))
            return;
        CHECK_EQUAL(CHUNK_BYTES, zmq_recv(socket, got, CHUNK_BYTES, 0));
        CHECK(memcmp(sent, got, CHUNK_BYTES) == 0);
    }
}

static void a_dealer_of_libzmq_talks_to_our_hub(void)
{
    struct pair pair;
    struct stranger control, bulk;

    open_pair(&pair);
    meet(&control, pair.hub, CHANNEL_CONTROL, "a name");
    meet(&bulk, pair.hub, CHANNEL_BULK, NULL);
    pings_come_back(control.socket);
    chunks_come_back(bulk.socket);
    part(&control);
    part(&bulk);
    close_pair(&pair);
}

static void the_same_with_keys(void)
{
    struct pair pair;
    struct stranger control, bulk;
    struct key_pair own;

    open_keyed_pair(&pair);
    own = pair.node->config.keys.own;
    meet_as(&control, pair.hub, CHANNEL_CONTROL, &own);
    meet_as(&bulk, pair.hub, CHANNEL_BULK, &own);
    pings_come_back(control.socket);
    chunks_come_back(bulk.socket);
    part(&control);
    part(&bulk);
    close_pair(&pair);
}

/* A ROUTER of libzmq, which sends back what it gets. */
struct router {
    void *context, *socket;
};

static void *bound_router(struct router *router, struct fake_machine *node,
                          bool keyed)
{
    const struct net_keys *keys = &node->config.keys;
    int linger = 0, yes = 1;
    char address[64];

    router->context = zmq_ctx_new();
    router->socket = zmq_socket(router->context, ZMQ_ROUTER);
    (void)zmq_setsockopt(router->socket, ZMQ_LINGER, &linger, sizeof linger);
    if (keyed) {
        (void)zmq_setsockopt(router->socket, ZMQ_CURVE_SERVER, &yes,
                             sizeof yes);
        (void)zmq_setsockopt(router->socket, ZMQ_CURVE_SECRETKEY,
                             keys->own.secret.bytes, KEY_BYTES);
    }
    do {
        node->config.port = fake_next_port();
        (void)snprintf(address, sizeof address, "tcp://127.0.0.1:%u",
                       node->config.port);
    } while (zmq_bind(router->socket, address) != 0);
    patience(router->socket);
    return router->socket;
}

static void send_back(void *socket)
{
    zmq_msg_t part;

    (void)zmq_msg_init(&part);
    do {
        if (zmq_msg_recv(&part, socket, 0) < 0)
            break;
        (void)zmq_msg_send(&part, socket, has_more(socket) ? ZMQ_SNDMORE : 0);
    } while (has_more(socket));
    (void)zmq_msg_close(&part);
}

static void talk_to_router(bool keyed)
{
    struct fake_machine *node = fake_new(false);
    struct net_keys *keys = &node->config.keys;
    struct router router;

    if (keyed) {
        CHECK_OK(key_pair_make(&keys->own, NULL));
        keys->hub = keys->own.shown; /* both have the same: that is no matter */
        keys->on = true;
    }
    (void)bound_router(&router, node, keyed);
    node->react = ping_on;
    node->wake_every = 10 * MILLISECOND;
    fake_start(node);
    for (unsigned i = 0; i < 20; i++)
        send_back(router.socket);
    CHECK(fake_wait_number(node, &node->received, 10));
    fake_destroy(&node);
    (void)zmq_close(router.socket);
    (void)zmq_ctx_term(router.context);
}

static void our_node_talks_to_a_router_of_libzmq(void)
{
    talk_to_router(false);
}

static void and_with_keys(void)
{
    talk_to_router(true);
}

/* A heartbeat asks for PONG, and hangs up where there is none. */
static void the_heartbeat_of_libzmq_is_answered(void)
{
    struct pair pair;
    struct stranger stranger;
    zmq_pollitem_t item;
    int every = 50, limit = 2000;
    const long long_enough = 4000;

    open_pair(&pair);
    meet_later(&stranger);
    (void)zmq_setsockopt(stranger.socket, ZMQ_HEARTBEAT_IVL, &every,
                         sizeof every);
    (void)zmq_setsockopt(stranger.socket, ZMQ_HEARTBEAT_TIMEOUT, &limit,
                         sizeof limit);
    meet_now(&stranger, pair.hub, CHANNEL_CONTROL);
    send_ping(stranger.socket, 1);
    item = (zmq_pollitem_t){stranger.monitor, 0, ZMQ_POLLIN, 0};
    CHECK_EQUAL(0, zmq_poll(&item, 1, long_enough)); /* it has not hung up */
    part(&stranger);
    close_pair(&pair);
}

static void z12_no_default_port_is_one_that_the_system_gives_away(void)
{
    CHECK(DEFAULT_PORT + 1 < 32768);
}

static void opening_installs_no_handler(void)
{
    struct sigaction before[NSIG], after;
    struct pair pair;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &before[i]);
    open_pair(&pair);
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &after) == 0)
            CHECK(before[i].sa_handler == after.sa_handler);
    close_pair(&pair);
}

void add_net_zeromq_tests(CU_pSuite suite)
{
    TEST(a_dealer_of_libzmq_talks_to_our_hub);
    TEST(the_same_with_keys);
    TEST(our_node_talks_to_a_router_of_libzmq);
    TEST(and_with_keys);
    TEST(the_heartbeat_of_libzmq_is_answered);
    TEST(z12_no_default_port_is_one_that_the_system_gives_away);
    TEST(opening_installs_no_handler);
}
