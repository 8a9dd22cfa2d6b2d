#include "net/net.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/net/fake_machine.h"

static enum status open_at(struct fake_machine *fake, const char *host,
                           uint16_t port, struct why *why)
{
    struct net_owner owner = {.self = NULL};

    (void)snprintf(fake->config.host, sizeof fake->config.host, "%s", host);
    fake->config.port = port;
    return fake->binds ? net_open_hub(&fake->config, fake->machine, fake->pool,
                                      &owner, &fake->net, why)
                       : net_open_node(&fake->config, fake->machine, fake->pool,
                                       &owner, &fake->net, why);
}

static void a_busy_port_is_named_with_what_to_do(void)
{
    struct fake_machine *first = fake_new(true), *second = fake_new(true);
    char expected[160];
    struct why why;

    fake_start(first);
    CHECK_STATUS(STATUS_UNAVAILABLE,
                 open_at(second, "127.0.0.1", first->config.port, &why));
    (void)snprintf(expected, sizeof expected,
                   "port %u on 127.0.0.1 is in use; stop the other program or "
                   "choose another with --listen",
                   first->config.port);
    CHECK_TEXT(expected, why.text);
    CHECK(!second->net);
    fake_destroy(&second);
    fake_destroy(&first);
}

static void a_busy_bulk_port_is_named_too(void)
{
    struct fake_machine *first = fake_new(true), *second = fake_new(true);
    char expected[64];
    struct why why;

    fake_start(first);
    CHECK_STATUS(
        STATUS_UNAVAILABLE,
        open_at(second, "127.0.0.1", (uint16_t)(first->config.port + 1), &why));
    (void)snprintf(expected, sizeof expected, "port %u on 127.0.0.1 is in use",
                   first->config.port + 1u);
    CHECK_CONTAINS(expected, why.text);
    CHECK(!second->net);
    fake_destroy(&second);
    fake_destroy(&first);
}

static void an_address_that_is_not_ours_is_refused(void)
{
    struct fake_machine *hub = fake_new(true);
    struct why why;

    CHECK_STATUS(STATUS_UNAVAILABLE,
                 open_at(hub, "192.0.2.1", fake_next_port(), &why));
    CHECK_CONTAINS("192.0.2.1 is not an address of this machine", why.text);
    fake_destroy(&hub);
}

static void a_name_that_makes_no_sense_is_refused(void)
{
    struct fake_machine *hub = fake_new(true), *node = fake_new(false);
    struct why why;

    CHECK_STATUS(STATUS_UNAVAILABLE, open_at(hub, "no host", 7541, &why));
    CHECK_CONTAINS("the host \"no host\" is not known", why.text);
    CHECK_STATUS(STATUS_UNAVAILABLE, open_at(node, "no host", 7541, &why));
    CHECK_CONTAINS("check its spelling", why.text);
    fake_destroy(&node);
    fake_destroy(&hub);
}

static void a_port_without_a_next_one_is_refused(void)
{
    struct fake_machine *hub = fake_new(true);
    struct why why;

    CHECK_STATUS(STATUS_USAGE, open_at(hub, "127.0.0.1", 0, &why));
    CHECK_STATUS(STATUS_USAGE, open_at(hub, "127.0.0.1", 65535, &why));
    CHECK_CONTAINS("take one from 1 to 65534", why.text);
    fake_destroy(&hub);
}

static void names_and_all_addresses_are_understood(void)
{
    static const char *const hosts[] = {"localhost", "0.0.0.0", "*", ""};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct fake_machine *hub = fake_new(true), *node;

        (void)snprintf(hub->config.host, sizeof hub->config.host, "%s",
                       hosts[i]);
        fake_start(hub);
        node = fake_node(hub);
        (void)snprintf(node->config.host, sizeof node->config.host,
                       "localhost");
        fake_start(node);
        CHECK(fake_wait_event(node, EVENT_JOIN, CHANNEL_CONTROL, 1));
        fake_destroy(&node);
        fake_destroy(&hub);
    }
}

static void time_never_goes_back(void)
{
    nanos before = net_now();

    for (int i = 0; i < 1000; i++) {
        nanos now = net_now();

        CHECK(now >= before);
        before = now;
    }
}

void add_net_net_tests(CU_pSuite suite)
{
    TEST(a_busy_port_is_named_with_what_to_do);
    TEST(a_busy_bulk_port_is_named_too);
    TEST(an_address_that_is_not_ours_is_refused);
    TEST(a_name_that_makes_no_sense_is_refused);
    TEST(a_port_without_a_next_one_is_refused);
    TEST(names_and_all_addresses_are_understood);
    TEST(time_never_goes_back);
}
