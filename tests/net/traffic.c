/* What strangers may do to a hub, and a strange hub to a node. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

enum { HUGE_CHUNK = 8 * FAKE_CHUNK };

/* A message that no node sends. */
struct nonsense {
    const char *what;
    enum channel channel;
    unsigned frames;
    enum { BYTES, PING, CHUNK, HELLO } first; /* frame */
    size_t size;                              /* of the other frames */
};

static const struct nonsense nonsense[] = {
    {"random bytes", CHANNEL_CONTROL, 1, BYTES, 0},
    {"random bytes on bulk", CHANNEL_BULK, 1, BYTES, 0},
    {"a ping with a payload", CHANNEL_CONTROL, 2, PING, 10},
    {"a ping with an empty payload", CHANNEL_CONTROL, 2, PING, 0},
    {"a ping on bulk", CHANNEL_BULK, 1, PING, 0},
    {"a chunk on control", CHANNEL_CONTROL, 2, CHUNK, 10},
    {"a chunk without payload", CHANNEL_BULK, 1, CHUNK, 0},
    {"a hello without schema", CHANNEL_CONTROL, 1, HELLO, 0},
    {"a hello of three frames", CHANNEL_CONTROL, 3, HELLO, 10},
    {"a chunk of four frames", CHANNEL_BULK, 4, CHUNK, 1000},
    {"a chunk too large by a byte", CHANNEL_BULK, 2, CHUNK, FAKE_CHUNK + 1},
    {"a chunk too large by far", CHANNEL_BULK, 2, CHUNK, HUGE_CHUNK},
};

static size_t first_frame(const struct nonsense *row, unsigned char *bytes)
{
    struct msg ping = fake_ping(1), chunk = fake_chunk(1);
    struct msg hello = {.kind = MSG_HELLO};

    if (row->first == PING)
        return msg_encode(&ping, bytes);
    if (row->first == CHUNK)
        return msg_encode(&chunk, bytes);
    if (row->first == HELLO)
        return msg_encode(&hello, bytes);
    memset(bytes, 0xc1, 20);
    return 20;
}

static void talk(void *socket, const struct nonsense *row)
{
    static const unsigned char zeros[HUGE_CHUNK];
    unsigned char header[MSG_MAX_BYTES];
    size_t size = first_frame(row, header);

    (void)zmq_send(socket, header, size, row->frames > 1 ? ZMQ_SNDMORE : 0);
    for (unsigned i = 1; i < row->frames; i++)
        (void)zmq_send(socket, zeros, row->size,
                       i + 1 < row->frames ? ZMQ_SNDMORE : 0);
}

static void nonsense_is_cut_off_and_the_machine_never_hears_it(void)
{
    struct pair pair;

    open_pair(&pair);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        struct stranger stranger;

        meet(&stranger, pair.hub, nonsense[i].channel, NULL);
        talk(stranger.socket, &nonsense[i]);
        check_true(is_cut(&stranger), nonsense[i].what, HERE);
        part(&stranger);
    }
    CHECK_EQUAL(1, fake_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    CHECK_EQUAL(0, fake_count(pair.hub, EVENT_JOIN, CHANNEL_BULK));
    CHECK(pair.hub->notes >= 1);
    close_pair(&pair);
}

static void a_peer_that_turns_bad_leaves(void)
{
    struct pair pair;
    struct stranger stranger;
    unsigned char header[MSG_MAX_BYTES];
    struct msg ping = fake_ping(1);

    open_pair(&pair);
    meet(&stranger, pair.hub, CHANNEL_CONTROL, NULL);
    (void)zmq_send(stranger.socket, header, msg_encode(&ping, header), 0);
    talk(stranger.socket, &nonsense[0]);
    CHECK(is_cut(&stranger));
    CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK_EQUAL(2, fake_count(pair.hub, EVENT_JOIN, CHANNEL_CONTROL));
    part(&stranger);
    close_pair(&pair);
}

/* A name of its own is nothing to a hub: it names its peers itself. */
static void a_peer_that_names_itself_gets_nothing_by_it(void)
{
    struct pair pair;
    struct stranger one, other;
    struct nonsense ping = {"a ping", CHANNEL_CONTROL, 1, PING, 0};

    open_pair(&pair);
    meet(&one, pair.hub, CHANNEL_CONTROL, "me");
    meet(&other, pair.hub, CHANNEL_CONTROL, "me");
    talk(one.socket, &ping);
    talk(other.socket, &ping);
    CHECK(fake_wait_event(pair.hub, EVENT_JOIN, CHANNEL_CONTROL, 3));
    part(&one);
    part(&other);
    close_pair(&pair);
}

/* Joins and leaves are in step, 20 ms after the last has gone. */
static bool all_have_left(struct fake_machine *hub, enum channel channel)
{
    for (int i = 0; i < 3000; i++) {
        if (fake_count(hub, EVENT_JOIN, channel) ==
            fake_count(hub, EVENT_LEAVE, channel))
            return true;
        (void)usleep(10000);
    }
    return false;
}

static void peers_that_say_one_word_and_go_leave_nothing_behind(void)
{
    struct nonsense chunk = {"a chunk", CHANNEL_BULK, 2, CHUNK, 100};
    struct pair pair;
    struct stranger strangers[10];
    int linger = 5000;

    open_pair(&pair);
    for (unsigned round = 0; round < (runs_slowly() ? 3u : 20u); round++) {
        for (unsigned i = 0; i < 10; i++) {
            meet(&strangers[i], pair.hub, CHANNEL_BULK, NULL);
            (void)zmq_setsockopt(strangers[i].socket, ZMQ_LINGER, &linger,
                                 sizeof linger);
            talk(strangers[i].socket, &chunk);
        }
        for (unsigned i = 0; i < 10; i++)
            part(&strangers[i]);
    }
    CHECK(all_have_left(pair.hub, CHANNEL_BULK));
    CHECK(fake_count(pair.hub, EVENT_JOIN, CHANNEL_BULK) > 0);
    CHECK_EQUAL(0, pair.hub->notes);
    close_pair(&pair);
}

/* A hub that sends chunks without end to who says ATTACH, credit or not. */
static void pour(struct fake_machine *fake, const struct event *event,
                 struct effects *out)
{
    struct msg chunk = fake_chunk(0);

    if (event->kind == EVENT_MESSAGE && event->channel == CHANNEL_BULK)
        fake->last_peer = event->peer;
    if (event->kind == EVENT_LEAVE && event->channel == CHANNEL_BULK)
        fake->flag = true;
    if (event->kind == EVENT_WAKE && fake->last_peer && !fake->flag)
        for (int i = 0; i < 8; i++)
            effects_send(out, fake->last_peer, &chunk, fake->payload);
    if (event->channel == CHANNEL_CONTROL)
        fake_echo(fake, event, out);
}

static void a_peer_that_never_reads_blocks_nobody_and_is_cut(void)
{
    struct fake_machine *hub = fake_new(true), *node;
    struct stranger stranger;
    unsigned char header[MSG_MAX_BYTES];
    struct msg attach = {.kind = MSG_ATTACH};

    hub->react = pour;
    hub->wake_every = 2 * MILLISECOND;
    hub->payload = blob_new(hub->pool, FAKE_CHUNK);
    memset(hub->payload->bytes, 0, FAKE_CHUNK);
    fake_start(hub);
    node = fake_node(hub);
    node->react = ping_on;
    node->wake_every = 10 * MILLISECOND;
    fake_start(node);
    meet(&stranger, hub, CHANNEL_BULK, NULL);
    (void)zmq_send(stranger.socket, header, msg_encode(&attach, header), 0);
    CHECK(fake_wait_event(hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK(fake_wait(hub, &hub->notes, 1));
    CHECK_CONTAINS("does not take", hub->note);
    CHECK(fake_wait_number(node, &node->received, 20));
    CHECK_EQUAL(0, fake_count(node, EVENT_LEAVE, CHANNEL_CONTROL));
    fake_destroy(&node);
    part(&stranger);
    fake_destroy(&hub);
}

static void longer(struct fake_machine *fake)
{
    net_limit(fake->net, (size_t)2 * FAKE_CHUNK);
}

static void shorter(struct fake_machine *fake)
{
    net_limit(fake->net, FAKE_CHUNK);
}

/* Also on a connection that is there already. */
static void payloads_may_be_as_long_as_the_hub_says(void)
{
    const struct nonsense small = {"a chunk", CHANNEL_BULK, 2, CHUNK, 10};
    const struct nonsense large = {"a chunk too large by a byte", CHANNEL_BULK,
                                   2, CHUNK, FAKE_CHUNK + 1};
    struct pair pair;
    struct stranger stranger, later;

    open_pair(&pair);
    meet(&stranger, pair.hub, CHANNEL_BULK, NULL);
    fake_at_tick(pair.hub, longer);
    talk(stranger.socket, &small); /* what comes after it comes after that */
    CHECK(fake_wait_event(pair.hub, EVENT_MESSAGE, CHANNEL_BULK, 1));
    talk(stranger.socket, &large);
    CHECK(fake_wait_event(pair.hub, EVENT_MESSAGE, CHANNEL_BULK, 2));
    fake_at_tick(pair.hub, shorter);
    /* Whoever has come after that shows that it is so now. */
    meet(&later, pair.hub, CHANNEL_BULK, NULL);
    talk(later.socket, &small);
    CHECK(fake_wait_event(pair.hub, EVENT_MESSAGE, CHANNEL_BULK, 3));
    talk(stranger.socket, &large);
    CHECK(fake_wait_event(pair.hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK_EQUAL(3, fake_count(pair.hub, EVENT_MESSAGE, CHANNEL_BULK));
    part(&later);
    part(&stranger);
    close_pair(&pair);
}

/* A plain ROUTER in place of a hub; answers the first ping with nonsense. */
static void nonsense_of_a_hub_is_noted_and_ignored(void)
{
    struct fake_machine *node = fake_new(false);
    void *context = zmq_ctx_new(), *router = zmq_socket(context, ZMQ_ROUTER);
    char address[64], routing[16];
    int linger = 0, size;

    (void)zmq_setsockopt(router, ZMQ_LINGER, &linger, sizeof linger);
    do {
        node->config.port = fake_next_port();
        (void)snprintf(address, sizeof address, "tcp://127.0.0.1:%u",
                       node->config.port);
    } while (zmq_bind(router, address) != 0);
    node->react = ping_on;
    node->wake_every = 10 * MILLISECOND;
    fake_start(node);
    size = zmq_recv(router, routing, sizeof routing, 0);
    if (CHECK(size > 0)) {
        (void)zmq_send(router, routing, (size_t)size, ZMQ_SNDMORE);
        talk(router, &nonsense[0]);
        CHECK(fake_wait(node, &node->notes, 1));
        CHECK_EQUAL(0, fake_count(node, EVENT_MESSAGE, CHANNEL_CONTROL));
        CHECK_EQUAL(0, fake_count(node, EVENT_LEAVE, CHANNEL_CONTROL));
    }
    fake_destroy(&node);
    (void)zmq_close(router);
    (void)zmq_ctx_term(context);
}

void add_net_traffic_tests(CU_pSuite suite)
{
    TEST(nonsense_is_cut_off_and_the_machine_never_hears_it);
    TEST(a_peer_that_turns_bad_leaves);
    TEST(a_peer_that_names_itself_gets_nothing_by_it);
    TEST(peers_that_say_one_word_and_go_leave_nothing_behind);
    TEST(a_peer_that_never_reads_blocks_nobody_and_is_cut);
    TEST(payloads_may_be_as_long_as_the_hub_says);
    TEST(nonsense_of_a_hub_is_noted_and_ignored);
}
