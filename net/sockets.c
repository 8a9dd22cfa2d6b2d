#include "net/sockets.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

#include "codec/manifest.h"
#include "net/zap.h"

enum {
    SECONDS_MS = 1000, /* one second, in libzmq's unit */
    CONTROL_LIMIT = 64,
    MAX_SOCKETS = 4096,
    /* In headers a DRAFT option, in libraries not: without it a handler that
     * is not there lets everybody in. */
    ENFORCE_DOMAIN = 93
};

struct setting {
    int option, value;
};

static const struct setting both[] = {
    /* With a limit libzmq stops reading there; a PING behind it and a cut then
     * end the process. How much may wait is for guard.c. */
    {ZMQ_RCVHWM, 0},
    {ZMQ_LINGER, 2 * SECONDS_MS}, /* a last BYE gets out; never for ever */
    {ZMQ_SNDTIMEO, 0},            /* a send never waits */
    {ZMQ_RCVTIMEO, 0},            /* nor a receive */
    {ZMQ_HANDSHAKE_IVL, 5 * SECONDS_MS},
    {ZMQ_TCP_KEEPALIVE, 1}, /* an idle half-open connection: 35 s */
    {ZMQ_TCP_KEEPALIVE_IDLE, 15},
    {ZMQ_TCP_KEEPALIVE_INTVL, 5},
    {ZMQ_TCP_KEEPALIVE_CNT, 4},
    {ZMQ_TCP_MAXRT, 20 * SECONDS_MS}, /* one that is being sent on */
};

static const struct setting bound[] = {
    {ZMQ_ROUTER_MANDATORY, 1}, /* a peer that is gone is an error, not a hole */
    {ZMQ_ROUTER_HANDOVER, 0},  /* nobody can take a routing id over */
    {ZMQ_BACKLOG, 4096},
};

static const struct setting connected[] = {
    {ZMQ_IMMEDIATE, 1}, /* nothing queues up for a hub that is not there */
    {ZMQ_RECONNECT_IVL, RECONNECT_MILLISECONDS},
    {ZMQ_RECONNECT_IVL_MAX, SECONDS_MS}, /* a hub is back soon noticed */
    {ZMQ_CONNECT_TIMEOUT, 5 * SECONDS_MS},
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

struct socket_plan socket_plan(const struct net_config *config,
                               enum channel channel, bool binds,
                               const struct address *control,
                               const struct net_keys *keys)
{
    size_t chunk =
        config->chunk_bytes ? config->chunk_bytes : DEFAULT_CHUNK_BYTES;
    size_t bulk_bytes =
        chunk > MANIFEST_ROOM_BYTES ? chunk : MANIFEST_ROOM_BYTES;
    unsigned window = config->window ? config->window : DEFAULT_WINDOW;
    bool bulk = channel == CHANNEL_BULK;

    return (struct socket_plan){
        .channel = channel,
        .binds = binds,
        .address = bulk ? address_behind(control) : *control,
        .payload_bytes = bulk ? bulk_bytes : (size_t)CONTROL_BYTES,
        /* libzmq hears only once per half of the limit what the peer has
         * taken, so that a limit of the window alone would stop us within our
         * credit. */
        .send_limit = bulk ? (int)(2 * window + 8) : CONTROL_LIMIT,
        .keys = keys,
        .held = !binds && config->held};
}

void *context_new(bool binds)
{
    unsigned seed = 0;
    void *context;

    if (binds) {
        if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
            seed = (unsigned)net_now();
        srandom(seed);
    }
    context = zmq_ctx_new();
    if (!context)
        return NULL;
    /* One I/O thread per socket: what the monitor tells of a connection is
     * then before the connection's messages. */
    (void)zmq_ctx_set(context, ZMQ_IO_THREADS, 2);
    (void)zmq_ctx_set(context, ZMQ_MAX_SOCKETS, MAX_SOCKETS);
    return context;
}

static void set(void *socket, int option, const void *value, size_t size)
{
    int result = zmq_setsockopt(socket, option, value, size);

    assert(result == 0);
}

static void set_rows(void *socket, const struct setting *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set(socket, rows[i].option, &rows[i].value, sizeof rows[i].value);
}

static void set_plan(void *socket, const struct socket_plan *plan)
{
    int64_t largest = (int64_t)plan->payload_bytes + FRAME_SPARE_BYTES;
    uint64_t thread = plan->channel == CHANNEL_BULK ? 2 : 1;

    set_rows(socket, both, COUNT(both));
    if (plan->binds)
        set_rows(socket, bound, COUNT(bound));
    else
        set_rows(socket, connected, COUNT(connected));
    set(socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    set(socket, ZMQ_AFFINITY, &thread, sizeof thread);
    set(socket, ZMQ_SNDHWM, &plan->send_limit, sizeof plan->send_limit);
}

bool socket_use_keys(void *socket, const struct net_keys *keys, bool binds)
{
    static const int yes = 1;
    const struct {
        int option;
        const void *value;
        size_t size;
    } server[] = {{ZMQ_CURVE_SERVER, &yes, sizeof yes},
                  {ZMQ_CURVE_SECRETKEY, keys->own.secret.bytes, KEY_BYTES},
                  {ZMQ_ZAP_DOMAIN, ZAP_DOMAIN, sizeof ZAP_DOMAIN - 1},
                  {ENFORCE_DOMAIN, &yes, sizeof yes}},
      client[] = {{ZMQ_CURVE_SERVERKEY, keys->hub.bytes, KEY_BYTES},
                  {ZMQ_CURVE_PUBLICKEY, keys->own.shown.bytes, KEY_BYTES},
                  {ZMQ_CURVE_SECRETKEY, keys->own.secret.bytes, KEY_BYTES}},
      *rows = binds ? server : client;
    size_t count = binds ? COUNT(server) : COUNT(client);

    for (size_t i = 0; i < count; i++)
        if (zmq_setsockopt(socket, rows[i].option, rows[i].value,
                           rows[i].size) != 0)
            return false;
    return true;
}

/* Connects a PAIR to what libzmq tells of `socket`. It has no limit, as an
 * I/O thread would wait at it; the loop empties it every turn. */
static void *monitor_open(void *context, void *socket)
{
    const struct setting rows[] = {{ZMQ_RCVHWM, 0}, {ZMQ_LINGER, 0}};
    int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED |
                 ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                 ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_DISCONNECTED;
    char address[64];
    void *monitor;

    (void)snprintf(address, sizeof address, "inproc://monitor-%p", socket);
    if (zmq_socket_monitor(socket, address, events) != 0)
        return NULL;
    monitor = zmq_socket(context, ZMQ_PAIR);
    if (!monitor)
        return NULL;
    set_rows(monitor, rows, COUNT(rows));
    if (zmq_connect(monitor, address) == 0)
        return monitor;
    (void)zmq_close(monitor);
    return NULL;
}

static enum status bind_failed(const struct address *address, struct why *why)
{
    if (errno == EADDRINUSE)
        return because(why, STATUS_UNAVAILABLE,
                       "port %u on %.100s is in use; stop the other program "
                       "or choose another with --listen",
                       address->port, address->host);
    if (errno == EADDRNOTAVAIL || errno == ENODEV)
        return because(why, STATUS_UNAVAILABLE,
                       "%.100s is not an address of this machine; choose "
                       "another with --listen",
                       address->host);
    if (errno == EACCES)
        return because(why, STATUS_UNAVAILABLE,
                       "port %u on %.100s needs privileges; choose one above "
                       "1023 with --listen",
                       address->port, address->host);
    return because(why, STATUS_UNAVAILABLE, "cannot listen on %.100s: %s",
                   address->host, zmq_strerror(errno));
}

static enum status reach_out(const struct socket_plan *plan, void *socket,
                             struct why *why)
{
    const struct address *address = &plan->address;
    int ipv6 = address->ipv6;

    if (plan->keys && !socket_use_keys(socket, plan->keys, plan->binds))
        return because(why, STATUS_CONFIG,
                       "this system's libzmq does not take keys (%s); install "
                       "one that has CURVE",
                       zmq_strerror(errno));
    set(socket, ZMQ_IPV6, &ipv6, sizeof ipv6);
    if (plan->binds)
        return zmq_bind(socket, address->text) == 0 ? STATUS_OK
                                                    : bind_failed(address, why);
    if (zmq_connect(socket, address->text) == 0)
        return STATUS_OK;
    return because(why, STATUS_UNAVAILABLE, "cannot connect to %.100s: %s",
                   address->host, zmq_strerror(errno));
}

enum status sockets_open(void *context, const struct socket_plan *plan,
                         struct sockets *out, struct why *why)
{
    struct sockets sockets = {NULL, NULL};
    enum status status;

    sockets.socket = zmq_socket(context, plan->binds ? ZMQ_ROUTER : ZMQ_DEALER);
    if (sockets.socket) {
        set_plan(sockets.socket, plan);
        sockets.monitor = monitor_open(context, sockets.socket);
    }
    if (sockets.monitor)
        status = reach_out(plan, sockets.socket, why);
    else
        status = because(why, STATUS_UNAVAILABLE,
                         "the system gives no socket: %s", zmq_strerror(errno));
    if (status == STATUS_OK)
        *out = sockets;
    else
        sockets_close(&sockets);
    return status;
}

void sockets_close(struct sockets *sockets)
{
    if (sockets->socket)
        (void)zmq_socket_monitor(sockets->socket, NULL, 0);
    if (sockets->monitor)
        (void)zmq_close(sockets->monitor);
    if (sockets->socket)
        (void)zmq_close(sockets->socket);
    sockets->socket = sockets->monitor = NULL;
}

static enum sight sight_of(uint16_t event, int32_t value)
{
    switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return SIGHT_READY;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return SIGHT_REFUSED;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        return value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
                   ? SIGHT_MISMATCH
                   : SIGHT_NONSENSE;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return SIGHT_BROKEN;
    case ZMQ_EVENT_DISCONNECTED:
        return SIGHT_GONE;
    default:
        return SIGHT_CAME;
    }
}

enum sight monitor_look(void *monitor, int *fd)
{
    unsigned char frame[6];
    char address[8]; /* libzmq cuts the second frame to it: not looked at */
    uint16_t event;
    int32_t value;

    if (zmq_recv(monitor, frame, sizeof frame, ZMQ_DONTWAIT) < 0)
        return SIGHT_NONE;
    (void)zmq_recv(monitor, address, sizeof address, ZMQ_DONTWAIT);
    memcpy(&event, frame, sizeof event);
    memcpy(&value, frame + sizeof event, sizeof value);
    *fd = value;
    return sight_of(event, value);
}
