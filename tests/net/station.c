/* What a station's links hold, and how they end (net/station_links.c,
 * net/link_write.c). */
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

void add_net_station_tests(CU_pSuite suite)
{
    TEST(what_a_command_took_for_a_payload_is_given_back);
}
