#include "net/channel.h"

#include <string.h>

#include "tests/check.h"
#include "tests/net/fake_machine.h"

/* Says something on each connection as it joins, and again when answered. */
static void greet(struct fake_machine *fake, const struct event *event,
                  struct effects *out)
{
    struct msg ping = fake_ping(1), chunk = fake_chunk(1);

    if (event->kind == EVENT_MESSAGE)
        fake->received++;
    if (event->kind == EVENT_JOIN)
        effects_send(out, event->peer,
                     event->channel == CHANNEL_BULK ? &chunk : &ping,
                     event->channel == CHANNEL_BULK ? fake->payload : NULL);
}

static struct fake_machine *greeting_node(const struct fake_machine *hub)
{
    struct fake_machine *node = fake_node(hub);

    node->react = greet;
    node->payload = blob_new(node->pool, 100000);
    memset(node->payload->bytes, 1, node->payload->size);
    return node;
}

static void note_all(struct fake_machine *fake, const struct event *event,
                     struct effects *out)
{
    fake_echo(fake, event, out);
    if (event->kind == EVENT_JOIN || event->kind == EVENT_LEAVE)
        effects_note(out, NOTE_JOINED, "x", "%d", (int)event->kind);
}

static void notes_of_who_comes_and_goes_say_the_address(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->react = note_all;
    fake_start(hub);
    node = greeting_node(hub);
    fake_start(node);
    CHECK(fake_wait(hub, &hub->notes, 2));
    CHECK_TEXT("127.0.0.1", hub->address);
    hub->address[0] = '\0';
    fake_destroy(&node);
    CHECK(fake_wait(hub, &hub->notes, 4));
    CHECK_TEXT("127.0.0.1", hub->address);
    fake_destroy(&hub);
}

static void a_hub_that_comes_back_finds_its_node_again(void)
{
    struct fake_machine *hub = fake_new(true), *second, *node;

    hub->react = fake_echo;
    fake_start(hub);
    node = greeting_node(hub);
    fake_start(node);
    CHECK(fake_wait_number(node, &node->received, 2));
    fake_stop(hub);
    CHECK(fake_wait_event(node, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(node, EVENT_LEAVE, CHANNEL_BULK, 1));
    second = fake_new(true);
    second->config.port = hub->config.port;
    second->react = fake_echo;
    fake_start(second);
    CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_CONTROL, 2));
    CHECK(fake_wait_number(node, &node->received, 4));
    CHECK_EQUAL(1, fake_count(node, EVENT_LEAVE, CHANNEL_CONTROL));
    fake_destroy(&node);
    fake_destroy(&second);
    fake_destroy(&hub);
}

static void a_node_that_was_there_first_finds_its_hub(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->config.port = fake_next_port();
    node = greeting_node(hub);
    fake_start(node);
    hub->react = fake_echo;
    fake_start(hub);
    CHECK(fake_wait_number(node, &node->received, 2));
    fake_destroy(&node);
    fake_destroy(&hub);
}

/* Says goodbye on control when it is told to by a letter. */
static void greet_and_go(struct fake_machine *fake, const struct event *event,
                         struct effects *out)
{
    struct msg bye = {.kind = MSG_BYE};

    if (event->kind == EVENT_MESSAGE && event->peer == PEER_TRAINER) {
        effects_send(out, PEER_CONTROL, &bye, NULL);
        fake->flag = true;
        net_stop(fake->net);
        return;
    }
    greet(fake, event, out);
}

static int place_of(const struct fake_machine *fake, enum event_kind kind,
                    enum msg_kind msg)
{
    for (unsigned i = 0; i < fake->logged; i++)
        if (fake->log[i].kind == kind &&
            (kind == EVENT_LEAVE || fake->log[i].msg == msg))
            return (int)i;
    return -1;
}

static void a_node_that_goes_is_gone_at_once_but_its_bye_is_heard_first(void)
{
    struct fake_machine *hub = fake_new(true), *node;
    struct msg order = {.kind = MSG_LOCAL_PING};
    nanos left;

    hub->react = fake_echo;
    fake_start(hub);
    node = greeting_node(hub);
    node->react = greet_and_go;
    fake_start(node);
    CHECK(fake_wait_number(node, &node->received, 2));
    (void)net_post(node->net, &order, NULL);
    (void)pthread_join(node->thread, NULL);
    left = net_now();
    net_close(&node->net);
    CHECK(fake_wait_event(hub, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK(runs_slowly() || net_now() - left < 10 * SECOND);
    fake_stop(hub);
    CHECK(place_of(hub, EVENT_MESSAGE, MSG_BYE) >= 0);
    CHECK(place_of(hub, EVENT_MESSAGE, MSG_BYE) <
          place_of(hub, EVENT_LEAVE, MSG_BYE));
    fake_destroy(&node);
    fake_destroy(&hub);
}

/* A hub that says BYE to the first who greets on control, and drops it. */
static void send_away(struct fake_machine *fake, const struct event *event,
                      struct effects *out)
{
    struct msg bye = {.kind = MSG_BYE};

    if (event->kind != EVENT_MESSAGE || event->channel != CHANNEL_CONTROL)
        return;
    if (fake->flag) {
        effects_send(out, event->peer, event->msg, NULL);
        return;
    }
    fake->flag = true;
    effects_send(out, event->peer, &bye, NULL);
    effects_drop(out, event->peer);
}

static void what_was_said_to_a_peer_before_it_is_dropped_arrives(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->react = send_away;
    fake_start(hub);
    node = greeting_node(hub);
    fake_start(node);
    CHECK(fake_wait_event(hub, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(node, EVENT_LEAVE, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_CONTROL, 2));
    CHECK(fake_wait_event(hub, EVENT_JOIN, CHANNEL_CONTROL, 2));
    fake_stop(node);
    fake_stop(hub);
    CHECK(place_of(node, EVENT_MESSAGE, MSG_BYE) >= 0);
    CHECK_EQUAL(1, fake_count(hub, EVENT_JOIN, CHANNEL_BULK));
    fake_destroy(&node);
    fake_destroy(&hub);
}

/* A node that drops its bulk connection after the first answer on it. */
static void greet_and_drop(struct fake_machine *fake, const struct event *event,
                           struct effects *out)
{
    greet(fake, event, out);
    if (event->kind != EVENT_MESSAGE || event->channel != CHANNEL_BULK ||
        fake->flag)
        return;
    fake->flag = true;
    effects_drop(out, PEER_BULK);
}

static void a_node_that_drops_its_hub_connects_anew(void)
{
    struct fake_machine *hub = fake_new(true), *node;

    hub->react = fake_echo;
    fake_start(hub);
    node = greeting_node(hub);
    node->react = greet_and_drop;
    fake_start(node);
    CHECK(fake_wait_event(node, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK(fake_wait_number(node, &node->received, 3));
    CHECK(fake_wait_event(hub, EVENT_LEAVE, CHANNEL_BULK, 1));
    fake_stop(node);
    CHECK_EQUAL(2, fake_count(node, EVENT_JOIN, CHANNEL_BULK));
    CHECK_EQUAL(0, fake_count(node, EVENT_LEAVE, CHANNEL_CONTROL));
    fake_destroy(&node);
    fake_destroy(&hub);
}

/* Joins and leaves of each peer id: first one join, then one leave. */
static bool lives_once(const struct fake_machine *fake, peer_id peer)
{
    unsigned joins = 0, leaves = 0;

    for (unsigned i = 0; i < fake->logged; i++) {
        const struct fake_entry *entry = &fake->log[i];

        if (entry->peer != peer)
            continue;
        if (entry->kind == EVENT_MESSAGE && (joins != 1 || leaves != 0))
            return false;
        joins += entry->kind == EVENT_JOIN;
        leaves += entry->kind == EVENT_LEAVE;
        if (joins != 1 || leaves > 1)
            return false;
    }
    return leaves == 1;
}

static void peers_that_come_and_go_each_live_once(void)
{
    unsigned rounds = runs_slowly() ? 5 : 20;
    struct fake_machine *hub = fake_new(true);

    hub->react = fake_echo;
    fake_start(hub);
    for (unsigned i = 0; i < rounds; i++) {
        struct fake_machine *nodes[3];

        for (unsigned j = 0; j < 3; j++) {
            nodes[j] = greeting_node(hub);
            fake_start(nodes[j]);
        }
        for (unsigned j = 0; j < 3; j++) {
            CHECK(fake_wait_number(nodes[j], &nodes[j]->received, 2));
            fake_destroy(&nodes[j]);
        }
    }
    CHECK(fake_wait(hub, &hub->counts[EVENT_LEAVE], 6 * rounds));
    fake_stop(hub);
    CHECK_EQUAL(6 * rounds, hub->counts[EVENT_JOIN]);
    for (unsigned i = 0; i < hub->logged; i++)
        CHECK(lives_once(hub, hub->log[i].peer));
    fake_destroy(&hub);
}

void add_net_channel_tests(CU_pSuite suite)
{
    TEST(notes_of_who_comes_and_goes_say_the_address);
    TEST(a_hub_that_comes_back_finds_its_node_again);
    TEST(a_node_that_was_there_first_finds_its_hub);
    TEST(a_node_that_goes_is_gone_at_once_but_its_bye_is_heard_first);
    TEST(what_was_said_to_a_peer_before_it_is_dropped_arrives);
    TEST(a_node_that_drops_its_hub_connects_anew);
    TEST(peers_that_come_and_go_each_live_once);
}
