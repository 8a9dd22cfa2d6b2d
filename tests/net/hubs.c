/* A node that knows several hubs. */
#include "net/hubs.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/net/strangers.h"

static struct hubs hubs;
static struct net_channel control;

static void open_hubs(const char *names)
{
    struct net_config config = {.port = 0};
    struct why why = {""};

    memset(&control, 0, sizeof control);
    CHECK_OK(endpoints_parse(names, &config.hubs, &why));
    CHECK_OK(hubs_open(&hubs, &config, 0, &why));
}

static void a_hub_that_cannot_be_reached_for_3_s_makes_room_for_the_next(void)
{
    open_hubs("127.0.0.1:1,127.0.0.2:2,127.0.0.3:3");
    CHECK_EQUAL(1, hubs_address(&hubs)->port);
    CHECK(!hubs_move_on(&hubs, 3 * SECOND - 1, &control));
    CHECK(hubs_move_on(&hubs, 3 * SECOND, &control));
    CHECK_EQUAL(2, hubs_address(&hubs)->port);
    CHECK(!hubs_move_on(&hubs, 6 * SECOND - 1, &control));
    CHECK(hubs_move_on(&hubs, 6 * SECOND, &control));
    CHECK(hubs_move_on(&hubs, 9 * SECOND, &control));
    CHECK_EQUAL(1, hubs_address(&hubs)->port);
}

static void the_only_hub_is_never_left(void)
{
    open_hubs("127.0.0.1:1");
    CHECK(!hubs_move_on(&hubs, 1000 * SECOND, &control));
}

static void a_name_that_nobody_knows_is_left_out_while_there_is_another(void)
{
    struct net_config config = {.port = 0};
    struct why why = {""};

    open_hubs("no-such-host.invalid,127.0.0.1:1");
    CHECK_EQUAL(1, hubs.count);
    CHECK_EQUAL(1, hubs_address(&hubs)->port);
    CHECK_OK(endpoints_parse("no-such-host.invalid", &config.hubs, &why));
    if (hubs_open(&hubs, &config, 0, &why) != STATUS_OK)
        CHECK_CONTAINS("\"no-such-host.invalid\" is not known", why.text);
}

static void all_hubs_have_to_refuse_before_a_node_gives_up(void)
{
    static struct net_keys keys;

    open_hubs("127.0.0.1:1,127.0.0.2:2");
    control.plan.keys = &keys;
    control.hindered[HINDRANCE_REFUSES_KEY] = 3;
    CHECK(!hubs_refuse(&hubs, &control));
    CHECK(hubs_move_on(&hubs, 3 * SECOND, &control));
    control.hindered[HINDRANCE_REFUSES_KEY] = 2;
    CHECK(!hubs_refuse(&hubs, &control));
    control.hindered[HINDRANCE_REFUSES_KEY] = 3;
    CHECK(hubs_refuse(&hubs, &control) != NULL);
    CHECK(!hubs_refuse(&hubs, &control)); /* once */
}

static void a_hub_that_is_away_does_not_refuse_whatever_another_does(void)
{
    static struct net_keys keys;
    nanos now = 0;

    open_hubs("127.0.0.1:1,127.0.0.2:2");
    control.plan.keys = &keys;
    for (int i = 0; i < 20; i++) {
        control.hindered[HINDRANCE_REFUSES_KEY] = i % 2 ? 3 : 0;
        CHECK(!hubs_refuse(&hubs, &control));
        now += 3 * SECOND;
        CHECK(hubs_move_on(&hubs, now, &control));
    }
}

static void a_hub_that_begins_to_refuse_is_asked_until_that_is_sure(void)
{
    static struct net_keys keys;

    open_hubs("127.0.0.1:1,127.0.0.2:2");
    control.plan.keys = &keys;
    control.hindered[HINDRANCE_REFUSES_KEY] = 2;
    CHECK(!hubs_move_on(&hubs, 3 * SECOND, &control));
    CHECK(hubs_move_on(&hubs, 6 * SECOND, &control));
}

/* One that pings, and knows both. */
static struct fake_machine *start_node_of(const struct fake_machine *first,
                                          const struct fake_machine *second)
{
    struct fake_machine *node = fake_new(false);
    struct endpoints *list = &node->config.hubs;

    list->count = 2;
    for (unsigned i = 0; i < 2; i++)
        (void)snprintf(list->list[i].host, sizeof list->list[i].host,
                       "127.0.0.1");
    list->list[0].port = first->config.port;
    list->list[1].port = second->config.port;
    node->react = ping_on;
    node->wake_every = 10 * MILLISECOND;
    fake_start(node);
    return node;
}

static void both_channels_go_to_the_hub_that_is_there(void)
{
    struct fake_machine *first = fake_new(true), *second = fake_new(true),
                        *node;

    first->react = second->react = fake_echo;
    fake_start(first);
    fake_start(second);
    node = start_node_of(first, second);
    CHECK(fake_wait_event(first, EVENT_JOIN, CHANNEL_CONTROL, 1));
    fake_stop(first);
    CHECK(fake_wait_event(second, EVENT_JOIN, CHANNEL_CONTROL, 1));
    CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_BULK, 2));
    CHECK(fake_wait_event(node, EVENT_LEAVE, CHANNEL_BULK, 1));
    CHECK_EQUAL(1, fake_count(node, EVENT_LEAVE, CHANNEL_CONTROL));
    fake_destroy(&node);
    fake_destroy(&second);
    fake_destroy(&first);
}

/* Long enough to be seen, without a word: a ping comes every 10 ms. */
static void cut_soon(struct fake_machine *fake, const struct event *event,
                     struct effects *out)
{
    if (event->kind == EVENT_MESSAGE && fake->counts[EVENT_MESSAGE] % 30 == 0)
        effects_drop(out, event->peer);
}

static void a_hub_that_shakes_hands_and_cuts_makes_room_for_the_next(void)
{
    struct fake_machine *first = fake_new(true), *second = fake_new(true),
                        *node;

    first->react = cut_soon;
    second->react = fake_echo;
    fake_start(first);
    fake_start(second);
    node = start_node_of(first, second);
    CHECK(fake_wait_event(first, EVENT_JOIN, CHANNEL_CONTROL, 2));
    CHECK(fake_wait_event(second, EVENT_JOIN, CHANNEL_CONTROL, 1));
    fake_destroy(&node);
    fake_destroy(&second);
    fake_destroy(&first);
}

static uint64_t turned_down;

static void count_turned_down(struct fake_machine *hub)
{
    turned_down = net_refusals(hub->net)->count[REFUSAL_MECHANISM];
}

/* The hub has ended, and what wants keys has its port; then it is back. */
static void who_was_let_in_outlasts_another_service_at_the_address(void)
{
    struct fake_machine *hub = fake_new(true), *other = fake_new(true), *node;

    fake_start(hub);
    other->config.port = hub->config.port;
    other->config.keys.on = true;
    CHECK_OK(key_pair_make(&other->config.keys.own, NULL));
    node = fake_node(hub);
    fake_start(node);
    CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_CONTROL, 1));
    fake_stop(hub);
    fake_start(other);
    turned_down = 0;
    for (int i = 0; i < 300 && turned_down < 3; i++)
        fake_at_tick(other, count_turned_down);
    CHECK(turned_down >= 3);
    CHECK_EQUAL(0, node->counts[EVENT_MESSAGE]); /* it is not sent away */
    fake_stop(other);
    fake_start(hub);
    CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_CONTROL, 2));
    fake_destroy(&node);
    fake_destroy(&hub);
    fake_destroy(&other);
}

void add_net_hubs_tests(CU_pSuite suite)
{
    TEST(a_hub_that_cannot_be_reached_for_3_s_makes_room_for_the_next);
    TEST(the_only_hub_is_never_left);
    TEST(a_name_that_nobody_knows_is_left_out_while_there_is_another);
    TEST(all_hubs_have_to_refuse_before_a_node_gives_up);
    TEST(a_hub_that_is_away_does_not_refuse_whatever_another_does);
    TEST(a_hub_that_begins_to_refuse_is_asked_until_that_is_sure);
    TEST(both_channels_go_to_the_hub_that_is_there);
    TEST(a_hub_that_shakes_hands_and_cuts_makes_room_for_the_next);
    TEST(who_was_let_in_outlasts_another_service_at_the_address);
}
