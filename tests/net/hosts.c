/* How many connections one address may make: time is the test's own. */
#include "net/hosts.h"

#include "tests/check.h"
#include "tests/net/origins.h"

static struct host *find(struct hosts *hosts, const char *address, nanos now)
{
    struct origin origin = origin_of(address);

    return hosts_find(hosts, &origin, now);
}

static unsigned come(struct host *host, nanos now, unsigned tries)
{
    unsigned count = 0;

    while (tries--)
        count += host_may_come(host, now);
    return count;
}

static void an_address_may_make_512_connections_and_200_a_second(void)
{
    struct hosts hosts;
    struct host *one;

    hosts_init(&hosts);
    one = find(&hosts, "192.0.2.7", 0);
    CHECK_EQUAL(HOST_BURST, come(one, 0, 10000));
    CHECK_EQUAL(HOST_PER_SECOND, come(one, SECOND, 10000));
    CHECK_EQUAL(HOST_PER_SECOND / 10, come(one, SECOND + SECOND / 10, 10000));
    CHECK_EQUAL(HOST_BURST, come(one, 3600 * SECOND, 10000)); /* no more */
    hosts_free(&hosts);
}

static void another_address_is_not_held_up_by_it(void)
{
    struct hosts hosts;

    hosts_init(&hosts);
    CHECK_EQUAL(HOST_BURST, come(find(&hosts, "192.0.2.7", 0), 0, 10000));
    CHECK_EQUAL(100, come(find(&hosts, "192.0.2.8", 0), 0, 100));
    CHECK_EQUAL(0, come(find(&hosts, "192.0.2.7", 0), 0, 100));
    CHECK(find(&hosts, "2001:db8::1", 0) == find(&hosts, "2001:db8::2", 0));
    hosts_free(&hosts);
}

static void addresses_are_forgotten_when_they_owe_nothing(void)
{
    struct hosts hosts;
    struct host *one;

    hosts_init(&hosts);
    one = find(&hosts, "192.0.2.7", 0);
    CHECK_EQUAL(HOST_BURST, come(one, 0, 10000));
    hosts_tidy(&hosts, SECOND);
    CHECK_EQUAL(1, hosts.count);
    one->links = 1;
    hosts_tidy(&hosts, 3600 * SECOND);
    CHECK_EQUAL(1, hosts.count);
    one->links = 0;
    hosts_tidy(&hosts, 3600 * SECOND);
    CHECK_EQUAL(0, hosts.count);
    hosts_free(&hosts);
}

static void more_addresses_than_there_are_places_share_one(void)
{
    struct hosts hosts;
    struct origin origin = origin_of("10.0.0.0");

    hosts_init(&hosts);
    for (unsigned i = 0; i < HOSTS_MAX; i++) {
        origin.address[13] = (uint8_t)(i >> 16);
        origin.address[14] = (uint8_t)(i >> 8);
        origin.address[15] = (uint8_t)i;
        (void)hosts_find(&hosts, &origin, 0);
    }
    CHECK_EQUAL(HOSTS_MAX, hosts.count);
    CHECK(find(&hosts, "192.0.2.7", 0) == find(&hosts, "192.0.2.8", 0));
    CHECK_EQUAL(HOSTS_MAX, hosts.count);
    CHECK_EQUAL(HOST_BURST, come(find(&hosts, "192.0.2.9", 0), 0, 10000));
    hosts_free(&hosts);
}

void add_net_hosts_tests(CU_pSuite suite)
{
    TEST(an_address_may_make_512_connections_and_200_a_second);
    TEST(another_address_is_not_held_up_by_it);
    TEST(addresses_are_forgotten_when_they_owe_nothing);
    TEST(more_addresses_than_there_are_places_share_one);
}
