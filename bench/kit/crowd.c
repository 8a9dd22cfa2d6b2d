#include "bench/kit/crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <zmq.h>

#include "bench/kit/kit.h"
#include "core/blob.h"
#include "core/schema.h"
#include "net/net.h"

enum { CONTEXTS = 2 };
#define PATIENCE 100.0 /* seconds that it may all take */
#define PING_EVERY 0.5

struct node;

/* One socket of a node. */
struct end {
    struct node *node;
    void *socket;
    struct end *next; /* of those that are to be looked at */
    bool listed;
};

struct node {
    struct crowd *crowd;
    struct end control, bulk;
    uint64_t number, exchange, version;
    enum exchange kind;
    bool attached, going;
};

struct crowd {
    struct node *nodes;
    const struct net_keys *keys; /* of each, or NULL */
    unsigned count, port;
    void *contexts[CONTEXTS];
    int epoll;
    struct end *todo;
    struct schema *schema;
    uint32_t chunks;
    unsigned char *values;
    uint64_t checksum;
    uint64_t results, wanted; /* chunks that came back; to be offered for */
    uint64_t offered;
    double next_ping, limit; /* in seconds(); it takes no longer than that */
};

static void look_later(struct end *end)
{
    struct crowd *crowd = end->node->crowd;

    if (end->listed)
        return;
    end->listed = true;
    end->next = crowd->todo;
    crowd->todo = end;
}

/* Sending may take from the socket the sign that something has come. */
static void say(struct end *end, const struct msg *msg, void *payload,
                size_t size)
{
    unsigned char header[MSG_MAX_BYTES];
    size_t length = msg_encode(msg, header);
    zmq_msg_t frame;

    if (zmq_send(end->socket, header, length, payload ? ZMQ_SNDMORE : 0) < 0)
        abort();
    if (payload) {
        (void)zmq_msg_init_data(&frame, payload, size, NULL, NULL);
        if (zmq_msg_send(&frame, end->socket, 0) < 0)
            abort();
    }
    look_later(end);
}

static void say_hello(struct node *node)
{
    struct schema *schema = node->crowd->schema;
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.protocol_min = PROTOCOL_MIN;
    msg.hello.protocol_max = PROTOCOL_MAX;
    msg.hello.node_high = 1;
    msg.hello.node_low = node->number + 1;
    msg.hello.incarnation = msg.hello.lineage = msg.hello.run = 1;
    msg.hello.schema = schema->hash;
    (void)snprintf(msg.hello.name, sizeof msg.hello.name, "n%" PRIu64,
                   node->number);
    say(&node->control, &msg, schema->text, schema->text_bytes);
}

static void send_chunk(struct node *node, uint64_t exchange, uint32_t chunk)
{
    struct msg msg = {.kind = MSG_CHUNK};

    msg.chunk.exchange = exchange;
    msg.chunk.chunk = chunk;
    msg.chunk.checksum = node->crowd->checksum;
    say(&node->bulk, &msg, node->crowd->values, CROWD_CHUNK_BYTES);
}

static uint32_t chunk_of(const struct node *node)
{
    return (uint32_t)((node->number + node->exchange) % node->crowd->chunks);
}

static void offer(struct node *node)
{
    struct msg msg = {.kind = MSG_OFFER};

    if (node->crowd->offered == node->crowd->wanted)
        return;
    node->crowd->offered++;
    node->exchange++;
    msg.offer.exchange = msg.offer.iteration = node->exchange;
    msg.offer.base_version = node->version;
    msg.offer.samples = 1;
    msg.offer.norm = 1e9;
    msg.offer.kind = node->kind;
    msg.offer.fragment = chunk_of(node);
    msg.offer.lineage = 1;
    say(&node->control, &msg, NULL, 0);
}

static void attach(struct node *node, const struct msg_welcome *welcome)
{
    struct msg msg = {.kind = MSG_ATTACH};

    node->attached = true;
    msg.attach.session = welcome->session;
    say(&node->bulk, &msg, NULL, 0);
}

/* `bytes`: of its payload. */
static void hear(struct node *node, const struct msg *msg, size_t bytes)
{
    struct msg credit = {.kind = MSG_CREDIT};

    switch (msg->kind) {
    case MSG_WELCOME:
        if (!node->attached)
            attach(node, &msg->welcome);
        node->version = msg->welcome.version;
        node->kind = msg->welcome.exchange;
        node->going = msg->welcome.start == START_GO;
        break;
    case MSG_GRANT:
        if (msg->grant.exchange)
            send_chunk(node, msg->grant.exchange, chunk_of(node));
        else
            for (uint32_t i = 0; i < node->crowd->chunks; i++)
                send_chunk(node, 0, i);
        break;
    case MSG_RESULT:
        node->version = msg->result.version;
        node->crowd->results++;
        credit.credit.exchange = msg->result.exchange;
        credit.credit.more = bytes;
        say(&node->control, &credit, NULL, 0);
        offer(node);
        break;
    case MSG_BYE:
        give_up("a node is told to leave: %s", msg->bye.text);
    default:
        break;
    }
}

/* Answers one message; false when none has come. */
static bool read_one(struct end *end, zmq_msg_t *frame)
{
    struct msg msg;
    size_t bytes = 0;
    bool more;

    if (zmq_msg_recv(frame, end->socket, ZMQ_DONTWAIT) < 0)
        return false;
    more = zmq_msg_more(frame);
    if (msg_decode(zmq_msg_data(frame), zmq_msg_size(frame), &msg) != STATUS_OK)
        abort();
    while (more && zmq_msg_recv(frame, end->socket, 0) >= 0) {
        bytes += zmq_msg_size(frame);
        more = zmq_msg_more(frame);
    }
    hear(end->node, &msg, bytes);
    return true;
}

/* Reads all that has come, and what comes by answering it. */
static void read_all(struct crowd *crowd)
{
    while (crowd->todo) {
        struct end *end = crowd->todo;
        zmq_msg_t frame;

        crowd->todo = end->next;
        end->listed = false;
        (void)zmq_msg_init(&frame);
        while (read_one(end, &frame))
            continue;
        (void)zmq_msg_close(&frame);
    }
}

static void ping_all(struct crowd *crowd)
{
    struct msg msg = {.kind = MSG_PING};

    msg.ping.accuracy = -1;
    for (unsigned i = 0; i < crowd->count; i++)
        if (crowd->nodes[i].attached)
            say(&crowd->nodes[i].control, &msg, NULL, 0);
}

/* Waits 20 ms at most for something to come, and answers it. */
static void turn(struct crowd *crowd)
{
    struct epoll_event events[256];
    int count = epoll_wait(crowd->epoll, events, 256, 20);

    for (int i = 0; i < count; i++)
        look_later(events[i].data.ptr);
    if (seconds() >= crowd->next_ping) {
        ping_all(crowd);
        crowd->next_ping = seconds() + PING_EVERY;
    }
    read_all(crowd);
    if (seconds() >= crowd->limit)
        give_up("nothing happens any more");
}

static bool use_keys(void *socket, const struct net_keys *keys)
{
    return zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys->hub.bytes,
                          KEY_BYTES) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys->own.shown.bytes,
                          KEY_BYTES) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->own.secret.bytes,
                          KEY_BYTES) == 0;
}

static void end_open(struct node *node, struct end *end, unsigned port)
{
    struct crowd *crowd = node->crowd;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int zero = 0, fd;
    size_t size = sizeof fd;
    char address[40];

    end->node = node;
    end->socket =
        zmq_socket(crowd->contexts[node->number % CONTEXTS], ZMQ_DEALER);
    (void)snprintf(address, sizeof address, "tcp://127.0.0.1:%u", port);
    if (!end->socket ||
        zmq_setsockopt(end->socket, ZMQ_LINGER, &zero, sizeof zero) != 0 ||
        (crowd->keys && !use_keys(end->socket, &crowd->keys[node->number])) ||
        zmq_connect(end->socket, address) != 0 ||
        zmq_getsockopt(end->socket, ZMQ_FD, &fd, &size) != 0)
        abort();
    event.data.ptr = end;
    if (epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
}

void crowd_come(struct crowd *crowd)
{
    struct node *node = &crowd->nodes[crowd->count];

    node->crowd = crowd;
    node->number = crowd->count++;
    end_open(node, &node->control, crowd->port);
    end_open(node, &node->bulk, crowd->port + 1);
    say_hello(node);
    read_all(crowd);
}

void crowd_found(struct crowd *crowd)
{
    while (!crowd->nodes[0].going)
        turn(crowd);
}

void crowd_offer(struct crowd *crowd, uint64_t offers)
{
    crowd->wanted = offers;
    for (unsigned i = 0; i < crowd->count; i++)
        offer(&crowd->nodes[i]);
}

void crowd_live(struct crowd *crowd, uint64_t results,
                const atomic_uint *counted, unsigned many)
{
    while (crowd->results < results || atomic_load(counted) < many)
        turn(crowd);
}

/* ---- the crowd ---- */

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        give_up("no memory for a crowd");
    return memory;
}

static uint64_t checksum_of(void *values)
{
    struct pool *pool = pool_new();
    struct blob *blob = blob_wrap(pool, values, CROWD_CHUNK_BYTES, NULL, NULL);
    uint64_t checksum;

    blob_seal(blob);
    checksum = blob->checksum;
    blob_unref(&blob);
    pool_destroy(&pool);
    return checksum;
}

struct crowd *crowd_open(unsigned port, unsigned most, uint32_t chunks,
                         const struct net_keys *keys)
{
    uint64_t shape[1] = {(uint64_t)chunks * CROWD_CHUNK_ELEMENTS};
    struct crowd *crowd = zeros(1, sizeof *crowd);

    crowd->port = port;
    crowd->keys = keys;
    crowd->chunks = chunks;
    crowd->limit = seconds() + PATIENCE;
    crowd->nodes = zeros(most, sizeof *crowd->nodes);
    crowd->values = zeros(1, CROWD_CHUNK_BYTES);
    crowd->checksum = checksum_of(crowd->values);
    crowd->schema = schema_new();
    crowd->epoll = epoll_create1(0);
    if (!crowd->schema ||
        schema_add(crowd->schema, "w", 1, shape, NULL) != STATUS_OK)
        abort();
    for (unsigned i = 0; i < CONTEXTS; i++) {
        crowd->contexts[i] = zmq_ctx_new();
        (void)zmq_ctx_set(crowd->contexts[i], ZMQ_MAX_SOCKETS, 8192);
    }
    return crowd;
}

void crowd_close(struct crowd **crowd)
{
    struct crowd *gone = *crowd;

    *crowd = NULL;
    for (unsigned i = 0; i < gone->count; i++) {
        (void)zmq_close(gone->nodes[i].control.socket);
        (void)zmq_close(gone->nodes[i].bulk.socket);
    }
    for (unsigned i = 0; i < CONTEXTS; i++)
        (void)zmq_ctx_term(gone->contexts[i]);
    (void)close(gone->epoll);
    schema_destroy(&gone->schema);
    free(gone->values);
    free(gone->nodes);
    free(gone);
}
