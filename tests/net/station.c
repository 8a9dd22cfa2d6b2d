/* What a station's links hold, and how they end (net/station_links.c,
 * net/link_write.c). */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/station_inside.h"
#include "tests/check.h"

/* With keys a command may come in the place of a payload, for which there was
 * room; the next frame asks for room again. */
static void what_a_command_took_for_a_payload_is_given_back(void)
{
    static struct station station;
    static struct link link = {.station = &station, .stranger = true};
    struct blob *blob;

    station.pool = pool_new();
    for (unsigned i = 0; i < 3; i++) {
        blob = station_room(&link, 500);
        blob_unref(&blob);
        CHECK_EQUAL(500, station.stranger_room);
    }
    station_release(&link);
    CHECK_EQUAL(0, station.stranger_room);
    pool_destroy(&station.pool);
}

/* A want of this machine's is held against nobody. */
static void who_is_cut_for_want_of_memory_has_no_score(void)
{
    static struct station station;
    struct link *link;
    struct notice *notice;

    notices_init(&station.notices, 1000, 1000, NULL, NULL);
    station.pool = pool_new();
    station.plan.binds = true;
    link = station_add(&station, -1, LINK_KNOWN);
    CHECK(station_room(link, (size_t)2 << 40) == NULL);
    notice = notices_pop(&station.notices);
    if (CHECK(notice != NULL)) {
        CHECK_TEXT("was cut: there is no memory for what it sent",
                   notice->words);
        CHECK(!notice->scores);
    }
    notice_destroy(&notice);
    meter_end(&station.notices, link->meter);
    free(link);
    notices_free(&station.notices);
    index_free(&station.numbers);
    pool_destroy(&station.pool);
}

/* A link that went on in silence would look alive. */
static void a_link_without_memory_to_seal_a_message_hangs_up(void)
{
    static const struct zmtp_keys keys;
    static struct link link;
    struct blob payload = {.size = (size_t)2 << 40, .references = 1};
    struct pool *pool = pool_new();
    char byte;
    int fds[2];

    if (!CHECK_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds)))
        return;
    link.fd = fds[0];
    link.end = &link.first;
    link.zmtp.plan.keys = &keys;
    link.zmtp.expects = ZMTP_EXPECTS_MESSAGES;
    CHECK(link_queue(
        &link, queue_entry_new(1, (const unsigned char *)"", 1, &payload), 1));
    CHECK(!link_flush(&link, pool));
    CHECK_EQUAL(0, recv(fds[0], &byte, 1, MSG_DONTWAIT));
    CHECK_EQUAL(0, recv(fds[1], &byte, 1, MSG_DONTWAIT));
    link_discard(&link);
    pool_destroy(&pool);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

void add_net_station_tests(CU_pSuite suite)
{
    TEST(what_a_command_took_for_a_payload_is_given_back);
    TEST(who_is_cut_for_want_of_memory_has_no_score);
    TEST(a_link_without_memory_to_seal_a_message_hangs_up);
}
