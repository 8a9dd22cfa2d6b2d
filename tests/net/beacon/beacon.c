/* Hubs that announce themselves; on a network: tests/e2e/beacon.sh. */
#include "net/beacon/beacon.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "keys/key.h"
#include "tests/check.h"

static struct why why;

static struct beacon_hub some_hub(void)
{
    struct beacon_hub hub = {.run = 0x1122334455667788u, .keyed = true};

    hub.at.port = 0x1d75;
    for (unsigned i = 0; i < BEACON_FINGERPRINT_BYTES; i++)
        hub.fingerprint[i] = (uint8_t)(0xa0 + i);
    return hub;
}

static void a_datagram_is_as_documented(void)
{
    static const uint8_t expected[BEACON_BYTES] = {
        's',  't',  'a',  'r',  's',  'w',  ' ',  '1',  0x75, 0x1d, 1,    0,
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xa0, 0xa1, 0xa2, 0xa3,
        0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};
    struct beacon_hub hub = some_hub(), read = {.run = 1};
    uint8_t bytes[BEACON_BYTES];

    beacon_write(&hub, bytes);
    CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
    CHECK(beacon_read(bytes, sizeof bytes, &read));
    CHECK_EQUAL(read.at.port, hub.at.port);
    CHECK_EQUAL(read.run, hub.run);
    CHECK(read.keyed && !read.at.host[0]);
    CHECK(memcmp(read.fingerprint, hub.fingerprint, BEACON_FINGERPRINT_BYTES) ==
          0);
}

static void a_hub_without_keys_has_no_fingerprint(void)
{
    static const uint8_t nothing[BEACON_FINGERPRINT_BYTES];
    struct beacon_hub hub = some_hub(), read;
    uint8_t bytes[BEACON_BYTES];

    hub.keyed = false;
    beacon_write(&hub, bytes);
    CHECK(beacon_read(bytes, sizeof bytes, &read));
    CHECK(!read.keyed);
    CHECK(memcmp(read.fingerprint, nothing, sizeof nothing) == 0);
}

static void what_is_no_datagram_of_a_hub_is_read_over(void)
{
    struct beacon_hub hub = some_hub(), read = {.run = 7};
    uint8_t good[BEACON_BYTES + 1] = {0}, bytes[BEACON_BYTES];

    beacon_write(&hub, good);
    for (size_t size = 0; size < BEACON_BYTES; size++)
        CHECK(!beacon_read(good, size, &read));
    CHECK(!beacon_read(good, BEACON_BYTES + 1, &read));
    for (size_t i = 0; i < 8; i++) {
        memcpy(bytes, good, sizeof bytes);
        bytes[i] ^= 1;
        CHECK(!beacon_read(bytes, sizeof bytes, &read));
    }
    memcpy(bytes, good, sizeof bytes);
    bytes[8] = bytes[9] = 0; /* port 0 */
    CHECK(!beacon_read(bytes, sizeof bytes, &read));
    memcpy(bytes, good, sizeof bytes);
    bytes[11] = 1; /* a flag that nobody knows */
    CHECK(!beacon_read(bytes, sizeof bytes, &read));
    CHECK_EQUAL(read.run, 7);
}

static void a_fingerprint_is_of_one_key_and_no_part_of_it(void)
{
    struct key_pair one, other;
    uint8_t first[BEACON_FINGERPRINT_BYTES], second[BEACON_FINGERPRINT_BYTES];

    CHECK_OK(key_pair_make(&one, &why));
    CHECK_OK(key_pair_make(&other, &why));
    beacon_fingerprint(&one.shown, first);
    beacon_fingerprint(&one.shown, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    beacon_fingerprint(&other.shown, second);
    CHECK(memcmp(first, second, sizeof first) != 0);
    CHECK(!memmem(one.shown.bytes, KEY_BYTES, first, 4));
}

/* CZMQ would. */
static void no_handler_is_installed_and_no_variable_read(void)
{
    struct sigaction before[NSIG], after;
    struct beacon_hub hub = some_hub();
    struct beacon *beacon = NULL;

    CHECK(setenv("ZSYS_INTERFACE", "*", 1) == 0);
    CHECK(setenv("ZSYS_LOGSTREAM", "nowhere", 1) == 0);
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &before[i]);
    memcpy(hub.at.host, "127.0.0.1", 10); /* a network without broadcast */
    CHECK_STATUS(STATUS_UNAVAILABLE, beacon_announce(&hub, &beacon, &why));
    CHECK(!beacon);
    CHECK_CONTAINS("--hub", why.text);
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &after) == 0)
            CHECK(before[i].sa_handler == after.sa_handler);
#ifndef STAR_PORTABLE
    CHECK(!getenv("ZSYS_INTERFACE") && !getenv("ZSYS_LOGSTREAM"));
#endif
    beacon_set_run(beacon, 1);
    beacon_close(&beacon);
}

void add_net_beacon_beacon_tests(CU_pSuite suite)
{
    TEST(a_datagram_is_as_documented);
    TEST(a_hub_without_keys_has_no_fingerprint);
    TEST(what_is_no_datagram_of_a_hub_is_read_over);
    TEST(a_fingerprint_is_of_one_key_and_no_part_of_it);
    TEST(no_handler_is_installed_and_no_variable_read);
}
