#include "tests/net/strangers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/check.h"

static void connect_to(struct stranger *stranger,
                       const struct fake_machine *hub, enum channel channel)
{
    char address[64];

    (void)snprintf(address, sizeof address, "tcp://127.0.0.1:%u",
                   hub->config.port + (channel == CHANNEL_BULK ? 1u : 0u));
    (void)zmq_connect(stranger->socket, address);
}

static void make(struct stranger *stranger, const char *name)
{
    int linger = 0, limit = 1;

    stranger->context = zmq_ctx_new();
    stranger->socket = zmq_socket(stranger->context, ZMQ_DEALER);
    (void)zmq_setsockopt(stranger->socket, ZMQ_LINGER, &linger, sizeof linger);
    (void)zmq_setsockopt(stranger->socket, ZMQ_RCVHWM, &limit, sizeof limit);
    if (name)
        (void)zmq_setsockopt(stranger->socket, ZMQ_ROUTING_ID, name,
                             strlen(name));
    (void)zmq_socket_monitor(stranger->socket, "inproc://m",
                             ZMQ_EVENT_DISCONNECTED |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
    stranger->monitor = zmq_socket(stranger->context, ZMQ_PAIR);
    (void)zmq_setsockopt(stranger->monitor, ZMQ_LINGER, &linger, sizeof linger);
    (void)zmq_connect(stranger->monitor, "inproc://m");
}

void meet(struct stranger *stranger, const struct fake_machine *hub,
          enum channel channel, const char *name)
{
    make(stranger, name);
    connect_to(stranger, hub, channel);
}

static void use_keys(void *socket, const struct key_pair *own,
                     const struct key *hub)
{
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, hub->bytes, KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->shown.bytes,
                         KEY_BYTES);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret.bytes,
                         KEY_BYTES);
}

void meet_later(struct stranger *stranger)
{
    make(stranger, NULL);
}

void meet_now(struct stranger *stranger, const struct fake_machine *hub,
              enum channel channel)
{
    connect_to(stranger, hub, channel);
}

void meet_as(struct stranger *stranger, const struct fake_machine *hub,
             enum channel channel, const struct key_pair *own)
{
    make(stranger, NULL);
    use_keys(stranger->socket, own, &hub->config.keys.own.shown);
    connect_to(stranger, hub, channel);
}

void part(struct stranger *stranger)
{
    (void)zmq_close(stranger->socket);
    (void)zmq_close(stranger->monitor);
    (void)zmq_ctx_term(stranger->context);
}

bool is_cut(struct stranger *stranger)
{
    zmq_pollitem_t item = {stranger->monitor, 0, ZMQ_POLLIN, 0};

    return zmq_poll(&item, 1, 20000) == 1;
}

int plain_connection(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

void ping_on(struct fake_machine *fake, const struct event *event,
             struct effects *out)
{
    struct msg ping = fake_ping(fake->received);

    if (event->kind == EVENT_MESSAGE)
        fake->received++;
    if (event->kind == EVENT_WAKE)
        effects_send(out, PEER_CONTROL, &ping, NULL);
}

static void start_pair(struct pair *pair)
{
    pair->hub->react = fake_echo;
    fake_start(pair->hub);
    pair->node->config.port = pair->hub->config.port;
    pair->node->react = ping_on;
    pair->node->wake_every = 10 * MILLISECOND;
    fake_start(pair->node);
    CHECK(fake_wait_number(pair->node, &pair->node->received, 1));
}

void open_pair(struct pair *pair)
{
    pair->hub = fake_new(true);
    pair->node = fake_new(false);
    start_pair(pair);
}

void open_keyed_pair(struct pair *pair)
{
    struct net_keys *hub, *node;

    pair->hub = fake_new(true);
    pair->node = fake_new(false);
    hub = &pair->hub->config.keys;
    node = &pair->node->config.keys;
    CHECK_OK(key_pair_make(&hub->own, NULL));
    CHECK_OK(key_pair_make(&node->own, NULL));
    hub->on = node->on = true;
    node->hub = hub->own.shown;
    pair->hub->allowed[0] = node->own.shown;
    pair->hub->allowed_count = 1;
    start_pair(pair);
}

void close_pair(struct pair *pair)
{
    uint64_t before;

    (void)pthread_mutex_lock(&pair->node->lock);
    before = pair->node->received;
    (void)pthread_mutex_unlock(&pair->node->lock);
    CHECK(fake_wait_number(pair->node, &pair->node->received, before + 10));
    CHECK_EQUAL(0, fake_count(pair->node, EVENT_LEAVE, CHANNEL_CONTROL));
    fake_destroy(&pair->node);
    fake_destroy(&pair->hub);
}

/* What a DEALER or a ROUTER says first (ZMTP 3.0, without keys). */
void shake_hands_as(int fd, const char *type)
{
    char ready[31] = "\4\x1c\5READY\xbSocket-Type\0\0\0\6";
    unsigned char greeting[64] = {0xff, 0,    0, 0, 0,   0,   0,   0,
                                  1,    0x7f, 3, 0, 'N', 'U', 'L', 'L'};

    (void)send(fd, greeting, sizeof greeting, MSG_NOSIGNAL);
    memcpy(ready + 24, type, 6);
    (void)send(fd, ready, 30, MSG_NOSIGNAL);
}

void shake_hands(int fd)
{
    shake_hands_as(fd, "DEALER");
}

bool send_all(int fd, const unsigned char *bytes, size_t size)
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
