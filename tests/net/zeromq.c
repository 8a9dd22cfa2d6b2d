/* What we know of libzmq, as it would hurt the hub: each fact has its test, or
 * is tested where the code stands that is about it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "net/frames.h"
#include "net/sockets.h"
#include "tests/check.h"
#include "tests/net/strangers.h"

static const struct net_config config = {.chunk_bytes = TOY_CHUNK,
                                         .window = 8};

/* Opens one of our four sockets, on a port that is free. */
static void *open_ours(void *context, enum channel channel, bool binds,
                       struct sockets *out)
{
    struct address address;
    enum status status;
    struct why why;

    for (int tries = 0; tries < 200; tries++) {
        struct socket_plan plan;

        status = binds ? address_to_bind("127.0.0.1", toy_next_port(),
                                         &address, &why)
                       : address_to_reach("127.0.0.1", toy_next_port(),
                                          &address, &why);
        plan = socket_plan(&config, channel, binds, &address, NULL);
        if (status == STATUS_OK)
            status = sockets_open(context, &plan, out, &why);
        if (status == STATUS_OK)
            return out->socket;
    }
    CHECK(false);
    return NULL;
}

static int64_t setting(void *socket, int option)
{
    int64_t value = 0;
    int narrow;
    size_t size = sizeof narrow;

    if (zmq_getsockopt(socket, option, &narrow, &size) == 0)
        return narrow;
    size = sizeof value;
    CHECK_EQUAL(0, zmq_getsockopt(socket, option, &value, &size));
    return value;
}

/* Calls `look` with each of our sockets. */
static void each_socket(void (*look)(void *socket, enum channel channel,
                                     bool binds))
{
    for (int i = 0; i < 4; i++) {
        enum channel channel = i % 2 ? CHANNEL_BULK : CHANNEL_CONTROL;
        void *context = context_new(i < 2);
        struct sockets sockets = {NULL, NULL};
        void *socket = open_ours(context, channel, i < 2, &sockets);

        if (socket)
            look(socket, channel, i < 2);
        sockets_close(&sockets);
        (void)zmq_ctx_term(context);
    }
}

/* Z1, Z16 */
static void has_no_heartbeat_and_no_name(void *socket, enum channel channel,
                                         bool binds)
{
    char name[256];
    size_t size = sizeof name;

    (void)channel;
    (void)binds;
    CHECK_EQUAL(0, setting(socket, ZMQ_HEARTBEAT_IVL));
    CHECK_EQUAL(0, setting(socket, ZMQ_HEARTBEAT_TTL));
    CHECK_EQUAL(0, zmq_getsockopt(socket, ZMQ_ROUTING_ID, name, &size));
    CHECK_EQUAL(0, size);
}

static void z1_z16_no_socket_has_a_heartbeat_or_a_fixed_name(void)
{
    each_socket(has_no_heartbeat_and_no_name);
}

/* Z4, Z9, Z13 */
static void is_bounded(void *socket, enum channel channel, bool binds)
{
    int64_t payload =
        channel == CHANNEL_BULK ? TOY_CHUNK : (int64_t)CONTROL_BYTES;

    CHECK_EQUAL(payload + FRAME_SPARE_BYTES,
                setting(socket, ZMQ_MAXMSGSIZE));
    CHECK_EQUAL(1, setting(socket, ZMQ_TCP_KEEPALIVE));
    CHECK_EQUAL(15, setting(socket, ZMQ_TCP_KEEPALIVE_IDLE));
    CHECK_EQUAL(5, setting(socket, ZMQ_TCP_KEEPALIVE_INTVL));
    CHECK_EQUAL(4, setting(socket, ZMQ_TCP_KEEPALIVE_CNT));
    CHECK_EQUAL(20000, setting(socket, ZMQ_TCP_MAXRT));
    CHECK_EQUAL(5000, setting(socket, ZMQ_HANDSHAKE_IVL));
    CHECK_EQUAL(0, setting(socket, ZMQ_SNDTIMEO));
    CHECK_EQUAL(0, setting(socket, ZMQ_RCVTIMEO));
    CHECK_EQUAL(2000, setting(socket, ZMQ_LINGER));
    CHECK_EQUAL(0, setting(socket, ZMQ_RCVHWM));
    CHECK(setting(socket, ZMQ_SNDHWM) > 0);
    if (!binds) {
        CHECK_EQUAL(1, setting(socket, ZMQ_IMMEDIATE));
        CHECK_EQUAL(250, setting(socket, ZMQ_RECONNECT_IVL));
        CHECK_EQUAL(1000, setting(socket, ZMQ_RECONNECT_IVL_MAX));
    }
}

static void z4_z9_z13_all_sockets_are_bounded_in_size_and_time(void)
{
    each_socket(is_bounded);
}

/* The routing id of a new peer, once it has said something. */
static routing_id meet_one(void *router, void *theirs, const char *place)
{
    void *dealer = zmq_socket(theirs, ZMQ_DEALER);
    struct arrival arrival = {.routing = 0};
    zmq_pollitem_t item = {.socket = router, .events = ZMQ_POLLIN};
    int linger = 0;

    (void)zmq_setsockopt(dealer, ZMQ_LINGER, &linger, sizeof linger);
    (void)zmq_connect(dealer, place);
    (void)zmq_send(dealer, "x", 1, 0);
    CHECK_EQUAL(1, zmq_poll(&item, 1, 20000));
    if (CHECK(frames_receive(router, true, false, &arrival)))
        frames_release(&arrival);
    (void)zmq_close(dealer);
    return arrival.routing;
}

/* Those that a new hub gives to its first peers. */
static void routing_ids(routing_id *out, unsigned count)
{
    void *context = context_new(true), *theirs = zmq_ctx_new(), *router;
    struct sockets sockets = {NULL, NULL};
    char place[128];
    size_t size = sizeof place;

    router = open_ours(context, CHANNEL_CONTROL, true, &sockets);
    (void)zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, place, &size);
    for (unsigned i = 0; i < count; i++)
        out[i] = meet_one(router, theirs, place);
    (void)zmq_ctx_term(theirs);
    sockets_close(&sockets);
    (void)zmq_ctx_term(context);
}

static void z2_routing_ids_cannot_be_guessed(void)
{
    routing_id one, other;

    routing_ids(&one, 1);
    routing_ids(&other, 1);
    CHECK(one != other);
    CHECK(one + 1 != other);
    CHECK(one != 0x6b8b4567 && one != 0x67458b6b);
}

/* Which of two that had one descriptor is there now is told by that. */
static void routing_ids_are_counted_up(void)
{
    routing_id ids[3];

    routing_ids(ids, 3);
    CHECK_EQUAL((routing_id)(ids[0] + 1), ids[1]);
    CHECK_EQUAL((routing_id)(ids[0] + 2), ids[2]);
}

static void z12_no_default_port_is_one_that_the_system_gives_away(void)
{
    CHECK(DEFAULT_PORT + 1 < 32768);
}

static void z14_a_message_for_nobody_is_an_error(void)
{
    void *context = context_new(true);
    struct sockets sockets = {NULL, NULL};
    void *router = open_ours(context, CHANNEL_BULK, true, &sockets);
    routing_id nobody = 12345;

    CHECK_STATUS(STATUS_UNAVAILABLE,
                 frames_send(router, &nobody, "x", 1, NULL));
    sockets_close(&sockets);
    (void)zmq_ctx_term(context);
}

static void z18_opening_installs_no_handler_and_reads_no_variable(void)
{
    struct sigaction before[NSIG], after;
    struct pair pair;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &before[i]);
    CHECK_EQUAL(0, setenv("ZSYS_LINGER", "7", 1));
    CHECK_EQUAL(0, setenv("ZSYS_MAX_SOCKETS", "3", 1));
    CHECK_EQUAL(0, setenv("ZSYS_SNDHWM", "1", 1));
    open_pair(&pair);
    each_socket(is_bounded);
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &after) == 0)
            CHECK(before[i].sa_handler == after.sa_handler);
    CHECK_EQUAL(0, unsetenv("ZSYS_LINGER"));
    CHECK_EQUAL(0, unsetenv("ZSYS_MAX_SOCKETS"));
    CHECK_EQUAL(0, unsetenv("ZSYS_SNDHWM"));
    close_pair(&pair);
}

static void z21_a_context_has_room_for_more_sockets_than_by_default(void)
{
    void *context = context_new(true);

    CHECK_EQUAL(4096, zmq_ctx_get(context, ZMQ_MAX_SOCKETS));
    CHECK_EQUAL(2, zmq_ctx_get(context, ZMQ_IO_THREADS));
    (void)zmq_ctx_term(context);
}

void add_net_zeromq_tests(CU_pSuite suite)
{
    TEST(z1_z16_no_socket_has_a_heartbeat_or_a_fixed_name);
    TEST(z2_routing_ids_cannot_be_guessed);
    TEST(routing_ids_are_counted_up);
    TEST(z4_z9_z13_all_sockets_are_bounded_in_size_and_time);
    TEST(z12_no_default_port_is_one_that_the_system_gives_away);
    TEST(z14_a_message_for_nobody_is_an_error);
    TEST(z18_opening_installs_no_handler_and_reads_no_variable);
    TEST(z21_a_context_has_room_for_more_sockets_than_by_default);
}
