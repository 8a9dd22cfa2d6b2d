#include "bench/kit/pinger.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <zmq.h>

#include "bench/kit/kit.h"
#include "bench/kit/raw.h"
#include "bench/kit/star.h"
#include "codec/msg.h"
#include "core/schema.h"
#include "core/time.h"
#include "net/cores.h"

enum { MOST_PINGS = 1 << 16, PATIENCE = 30000 /* milliseconds */ };

#define REST 0.002

struct pings {
    atomic_bool on;
    size_t count;
    double took[MOST_PINGS];
};

/* Of the pinger that is started next: its process inherits it. */
static struct pings *shared;

static void ping_while_on(const struct post *post, void (*ping)(void *),
                          void *context)
{
    struct answer answer = {0};
    struct order order;

    cores_prompt(); /* as a node's threads, for both stars alike */
    answer_order(post, &answer);
    while (next_order(post, &order)) {
        while (atomic_load(&shared->on) && shared->count < MOST_PINGS) {
            double began = seconds();

            ping(context);
            shared->took[shared->count++] = seconds() - began;
            sleep_until(seconds() + REST);
        }
        answer_order(post, &answer);
    }
}

// ---- to the raw hub ----

static void ping_raw(void *context)
{
    char bytes[RAW_PING_BYTES] = {0};
    int handle = *(int *)context;

    if (send(handle, bytes, sizeof bytes, MSG_NOSIGNAL) != sizeof bytes ||
        recv(handle, bytes, sizeof bytes, MSG_WAITALL) != sizeof bytes)
        give_up("the raw hub does not answer");
}

void pinger_of_raw(const struct post *post)
{
    int handle = raw_connect(post, RAW_PING);

    ping_while_on(post, ping_raw, &handle);
}

// ---- to ours ----

static void say(void *socket, const struct msg *msg,
                const struct schema *schema)
{
    unsigned char bytes[MSG_MAX_BYTES];
    size_t size = msg_encode(msg, bytes);

    if (zmq_send(socket, bytes, size, schema ? ZMQ_SNDMORE : 0) < 0 ||
        (schema && zmq_send(socket, schema->text, schema->text_bytes, 0) < 0))
        give_up("cannot send to the hub: %s", zmq_strerror(zmq_errno()));
}

/* Passes over what it says of its own accord. */
static void wait_for(void *socket, enum msg_kind kind, struct msg *msg)
{
    unsigned char bytes[MSG_MAX_BYTES];

    do {
        int size = zmq_recv(socket, bytes, sizeof bytes, 0);

        if (size < 0 || (size_t)size > sizeof bytes ||
            msg_decode(bytes, (size_t)size, msg) != STATUS_OK)
            give_up("the hub does not answer the pinger");
        if (msg->kind == MSG_BYE)
            give_up("the hub sends the pinger away: %s", msg->bye.text);
    } while (msg->kind != kind);
}

static void hello(void *socket, const struct post *post)
{
    struct schema *schema = schema_new();
    uint64_t shape[] = {STAR_ROWS, post->elements / STAR_ROWS};
    struct msg msg = {.kind = MSG_HELLO};
    struct why why = {""};

    if (!schema ||
        schema_add(schema, "parameters", 2, shape, &why) != STATUS_OK)
        give_up("no schema: %s", why.text);
    msg.hello.protocol_min = PROTOCOL_MIN;
    msg.hello.protocol_max = PROTOCOL_MAX;
    msg.hello.node_high = 1;
    msg.hello.node_low = 1;
    msg.hello.incarnation = 1;
    msg.hello.schema = schema->hash;
    (void)snprintf(msg.hello.name, sizeof msg.hello.name, "pinger");
    say(socket, &msg, schema);
    wait_for(socket, MSG_WELCOME, &msg);
    schema_destroy(&schema);
}

static void ping_star(void *socket)
{
    struct msg msg = {.kind = MSG_PING};
    int64_t sent = (int64_t)(seconds() * (double)SECOND);

    msg.ping.sent = sent;
    msg.ping.accuracy = -1;
    say(socket, &msg, NULL);
    do
        wait_for(socket, MSG_PONG, &msg);
    while (msg.pong.sent != sent);
}

void pinger_of_star(const struct post *post)
{
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
    int patience = PATIENCE;
    char address[64];

    (void)snprintf(address, sizeof address, "tcp://%s:%u", post->address,
                   post->port);
    (void)zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
    if (zmq_connect(socket, address) != 0)
        give_up("cannot connect to %s", address);
    hello(socket, post);
    ping_while_on(post, ping_star, socket);
}

// ---- the measuring process ----

static void wait_for_answer(const struct pinger *pinger)
{
    struct pollfd one = {pinger->orders, POLLIN, 0};
    struct answer answer;

    if (poll(&one, 1, PATIENCE) != 1 ||
        recv(pinger->orders, &answer, sizeof answer, 0) != sizeof answer)
        give_up("the pinger does not answer");
}

void pinger_start(struct pinger *pinger, const struct process_star *star,
                  void (*work)(const struct post *))
{
    shared = shared_pages(sizeof *shared);
    pinger->pings = shared;
    pinger->process = process_star_fork(star, 0, &pinger->orders, work);
    wait_for_answer(pinger);
}

void pinger_begin(struct pinger *pinger)
{
    struct order order = {.kind = ORDER_PACED};

    pinger->pings->count = 0;
    atomic_store(&pinger->pings->on, true);
    if (send(pinger->orders, &order, sizeof order, MSG_NOSIGNAL) !=
        sizeof order)
        give_up("the pinger is gone");
}

size_t pinger_end(struct pinger *pinger, double **took)
{
    atomic_store(&pinger->pings->on, false);
    wait_for_answer(pinger);
    *took = pinger->pings->took;
    return pinger->pings->count;
}
