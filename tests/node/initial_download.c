/* First parameters given, and the centre taken, over several sessions. */
#include "tests/check.h"
#include "tests/node/desk.h"

static void what_the_hub_has_of_first_parameters_is_not_given_again(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 3);
    desk_connects(desk);
    desk_welcomes(desk, START_FOUND);
    desk_grants(desk, 0, 2);
    CHECK_EQUAL(2, desk_chunks(desk, 0));
    desk_breaks(desk);
    desk_connects(desk);
    desk_welcomes(desk, START_FOUND);
    hand_forget(&desk->hand);
    desk_judges(desk, 0, 0, 2, VERDICT_MERGED);
    desk_grants(desk, 0, 1);
    CHECK_EQUAL(1, desk_chunks(desk, 0));
    CHECK_NEAR(3, desk_chunk(desk, 0, 2), 0);
    desk_destroy(&desk);
}

static void result_of(struct desk *desk, uint32_t chunk, double value)
{
    struct msg_result result = {.chunk = chunk,
                                .verb = VERB_REPLACE,
                                .weight = 1,
                                .version = desk->version,
                                .base = desk->version,
                                .lineage = desk->welcome.lineage};

    desk_result(desk, &result, value);
}

/* Two chunks of the centre are here when the link breaks. */
static struct desk *desk_taking(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_connects(desk);
    desk->version = 40;
    desk_welcomes(desk, START_TAKE);
    CHECK(!desk_sent(desk, MSG_CLOSE));
    result_of(desk, 0, 9);
    result_of(desk, 1, 9);
    desk_breaks(desk);
    hand_forget(&desk->hand);
    return desk;
}

static void who_takes_says_what_has_come_before_a_break(void)
{
    struct desk *desk = desk_taking();

    desk_connects(desk);
    desk_welcomes(desk, START_TAKE);
    CHECK_EQUAL(0, desk_sent(desk, MSG_CLOSE)->close.exchange);
    CHECK_EQUAL(0, desk_sent(desk, MSG_CLOSE)->close.first);
    CHECK_EQUAL(2, desk_sent(desk, MSG_CLOSE)->close.chunks);
    CHECK_EQUAL(0, desk_sent(desk, MSG_CREDIT)->credit.more);
    desk->version = 41;
    result_of(desk, 2, 9); /* on the other connection: it may be the first */
    CHECK(!desk_told(desk, MSG_APPLY));
    desk_judges(desk, 0, 0, 2, VERDICT_MERGED);
    CHECK_NEAR(9, desk_apply(desk, 0, 0), 0);
    CHECK_NEAR(9, desk_apply(desk, 0, 2), 0);
    desk_applied(desk, 0);
    CHECK_EQUAL(1, desk_told(desk, MSG_SCHEDULE)->schedule.offering);
    desk_offers(desk, 1, 11);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    CHECK_EQUAL(40, desk_sent(desk, MSG_OFFER)->offer.base_version);
    desk_destroy(&desk);
}

static void over_several_breaks_what_has_come_adds_up(void)
{
    struct desk *desk = desk_taking();

    desk_connects(desk);
    desk_welcomes(desk, START_TAKE);
    desk_breaks(desk);
    desk_connects(desk);
    hand_forget(&desk->hand);
    desk_welcomes(desk, START_TAKE);
    CHECK_EQUAL(2, desk_sent(desk, MSG_CLOSE)->close.chunks);
    desk_judges(desk, 0, 0, 1, VERDICT_MERGED);
    result_of(desk, 1, 7);
    desk_breaks(desk);
    desk_connects(desk);
    hand_forget(&desk->hand);
    desk_welcomes(desk, START_TAKE);
    CHECK_EQUAL(2, desk_sent(desk, MSG_CLOSE)->close.chunks);
    desk_judges(desk, 0, 0, 2, VERDICT_MERGED);
    result_of(desk, 2, 5);
    CHECK_NEAR(9, desk_apply(desk, 0, 0), 0);
    CHECK_NEAR(7, desk_apply(desk, 0, 1), 0);
    CHECK_NEAR(5, desk_apply(desk, 0, 2), 0);
    desk_destroy(&desk);
}

/* It has gone back, or is of a former release. */
static void a_hub_may_send_all_of_its_centre_again(void)
{
    struct desk *desk = desk_taking();

    desk_connects(desk);
    desk_welcomes(desk, START_TAKE);
    desk->version = 50;
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        result_of(desk, i, 4);
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(4, desk_apply(desk, 0, i), 0);
    desk_destroy(&desk);
}

static void nothing_is_kept_of_another_centre(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct desk *desk = desk_taking();

        desk->welcome.run += i == 0;
        desk->welcome.lineage += i == 1;
        desk_connects(desk);
        desk_welcomes(desk, START_TAKE);
        CHECK(!desk_sent(desk, MSG_CLOSE));
        desk_destroy(&desk);
    }
}

void add_node_initial_download_tests(CU_pSuite suite)
{
    TEST(what_the_hub_has_of_first_parameters_is_not_given_again);
    TEST(who_takes_says_what_has_come_before_a_break);
    TEST(over_several_breaks_what_has_come_adds_up);
    TEST(a_hub_may_send_all_of_its_centre_again);
    TEST(nothing_is_kept_of_another_centre);
}
