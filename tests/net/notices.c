/* How much a station may have told that nobody has heard yet. */
#include "net/notices.h"

#include "tests/check.h"

enum { LIMIT = 1000, EACH = 300 };

static bool put(struct notices *notices, struct meter *meter, size_t bytes)
{
    struct notice *notice = notice_new(NOTICE_MESSAGE);

    notice->meter = meter;
    notice->bytes = bytes;
    return notices_put(notices, notice);
}

static void take(struct notices *notices)
{
    struct notice *notice = notices_pop(notices);

    if (CHECK(notice != NULL))
        notice_destroy(&notice);
}

static void who_is_at_its_bound_goes_on_when_half_is_taken(void)
{
    struct notices notices;
    int link;
    struct meter *meter = meter_new(&link);

    notices_init(&notices, LIMIT, EACH, NULL, NULL);
    CHECK(!put(&notices, meter, 100));
    CHECK(!put(&notices, meter, 200));
    CHECK(put(&notices, meter, 100));
    take(&notices);
    take(&notices);
    CHECK(notices_resumed(&notices) == &link);
    CHECK(!notices_resumed(&notices));
    meter_end(&notices, meter);
    notices_free(&notices);
}

static void all_together_have_a_bound_and_nobody_is_forgotten(void)
{
    struct notices notices;
    int links[5];
    struct meter *meters[5];
    bool resumed[5] = {false};
    int *link;

    notices_init(&notices, LIMIT, EACH, NULL, NULL);
    for (unsigned i = 0; i < 5; i++) {
        meters[i] = meter_new(&links[i]);
        CHECK_EQUAL(i >= 4, put(&notices, meters[i], 250));
    }
    for (unsigned i = 0; i < 4; i++)
        take(&notices);
    CHECK(!notices_resumed(&notices)); /* its own still waits */
    take(&notices);
    while ((link = notices_resumed(&notices)) != NULL)
        resumed[link - links] = true;
    CHECK(resumed[4]);
    for (unsigned i = 0; i < 5; i++)
        meter_end(&notices, meters[i]);
    notices_free(&notices);
}

static void what_a_connection_said_outlives_it(void)
{
    struct notices notices;
    int link;
    struct meter *meter = meter_new(&link);

    notices_init(&notices, LIMIT, EACH, NULL, NULL);
    CHECK(put(&notices, meter, EACH + 1));
    meter_end(&notices, meter);
    take(&notices);
    CHECK(!notices_resumed(&notices));
    CHECK(!notices_pop(&notices));
    notices_free(&notices);
}

void add_net_notices_tests(CU_pSuite suite)
{
    TEST(who_is_at_its_bound_goes_on_when_half_is_taken);
    TEST(all_together_have_a_bound_and_nobody_is_forgotten);
    TEST(what_a_connection_said_outlives_it);
}
