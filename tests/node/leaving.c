/* A trainer leaves: its last offer, and what was under way before. */
#include "tests/check.h"
#include "tests/node/desk.h"

static void who_leaves_gives_its_last_progress_and_says_goodbye(void)
{
    struct desk *desk = desk_member();

    desk_leaves(desk, 1, 2);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    CHECK_NEAR(1, desk_chunk(desk, 1, 0), 0);
    CHECK(!desk_sent(desk, MSG_BYE));
    desk_answers(desk, 1, VERB_REBASE, 2);
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    CHECK_EQUAL(1, desk_told(desk, MSG_ENDED)->ended.final);
    desk_destroy(&desk);
}

/* Its last offer holds all that is not merged, so it knows what is. */
static void who_leaves_waits_for_what_was_offered_before(void)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    desk_leaves(desk, 2, 3);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.exchange);
    desk_judges(desk, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    desk_grants(desk, 2, DESK_CHUNKS);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    CHECK(!desk_sent(desk, MSG_BYE));
    desk_judges(desk, 2, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void who_leaves_gives_until_all_has_its_verdict(void)
{
    struct desk *desk = desk_member();

    desk->ungranted = true;
    CHECK(!node_gives(desk->node));
    desk_leaves(desk, 1, 2);
    CHECK(!node_gives(desk->node));
    desk_grants(desk, 1, 1);
    CHECK(node_gives(desk->node));
    desk_breaks(desk);
    CHECK(!node_gives(desk->node));
    desk_rejoins(desk);
    desk_grants(desk, 2, DESK_CHUNKS);
    CHECK(node_gives(desk->node));
    desk_judges(desk, 2, 0, 3, VERDICT_MERGED);
    CHECK(!node_gives(desk->node));
    desk_destroy(&desk);
}

/* What the hub gives back is in the last offer, and so are its samples. */
static void the_last_offer_holds_what_was_given_back(void)
{
    struct desk *desk = desk_new();
    uint64_t each;

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    each = desk_sent(desk, MSG_OFFER)->offer.samples;
    CHECK(each > 0);
    desk_offers(desk, 2, 4);
    desk_says(desk, MSG_STOP);
    desk_leaves(desk, 3, 7);
    desk_judges(desk, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    desk_judges(desk, 2, 0, 3, VERDICT_SUPERSEDED);
    CHECK_EQUAL(3, desk_sent(desk, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    CHECK_EQUAL(2 * each, desk_sent(desk, MSG_OFFER)->offer.samples);
    desk_grants(desk, 3, DESK_CHUNKS);
    CHECK_NEAR(2 + 3, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void who_leaves_with_nothing_waits_for_what_was_offered_before(void)
{
    struct msg_snapshot nothing = {.last = 1};
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    desk_takes(desk, &nothing, NULL);
    CHECK(!node_ended(desk->node));
    desk_judges(desk, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void who_will_not_wait_says_so_once_more(void)
{
    struct msg_snapshot nothing = {.last = 1};
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 2);
    desk_leaves(desk, 2, 3);
    desk_takes(desk, &nothing, NULL);
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void who_leaves_without_a_hub_is_gone_at_once(void)
{
    struct desk *desk = desk_new();

    desk_begins(desk, 1);
    desk_leaves(desk, 1, 2);
    CHECK(node_ended(desk->node));
    CHECK(!desk_sent(desk, MSG_BYE));
    desk_destroy(&desk);
}

static void who_leaves_while_the_hub_is_lost_waits_ten_seconds(void)
{
    struct desk *desk = desk_member();

    desk_leaves(desk, 1, 2);
    desk_breaks(desk);
    hand_wait(&desk->hand, 9 * SECOND);
    CHECK(!node_ended(desk->node));
    hand_wait(&desk->hand, 2 * SECOND);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void a_last_offer_that_was_lost_is_made_again(void)
{
    struct desk *desk = desk_member();

    desk->ungranted = true;
    desk_leaves(desk, 1, 2);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.exchange);
    desk_breaks(desk);
    desk_rejoins(desk);
    CHECK(!node_ended(desk->node));
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    CHECK_EQUAL(32, desk_sent(desk, MSG_OFFER)->offer.samples);
    desk_grants(desk, 2, DESK_CHUNKS);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, desk_sent(desk, MSG_BYE)->bye.farewell);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void who_is_asked_to_leave_on_its_way_back_makes_its_last_offer(void)
{
    struct desk *desk = desk_offering();

    desk_breaks(desk);
    desk_leaves(desk, 0, 4);
    CHECK(!node_ended(desk->node));
    desk_rejoins(desk);
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    desk_grants(desk, 2, DESK_CHUNKS);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void a_run_that_ends_calls_again_who_comes_back(void)
{
    struct desk *desk = desk_member();

    desk_says(desk, MSG_STOP);
    desk_breaks(desk);
    CHECK(!node_ended(desk->node));
    desk_leaves(desk, 1, 2);
    desk_rejoins(desk);
    desk_says(desk, MSG_STOP);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_MERGED);
    CHECK(!node_ended(desk->node));
    desk_says_bye(desk, FAREWELL_DONE);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

/* Merged is not yet saved: the next hub may need it again. */
static void a_hub_that_is_lost_before_its_goodbye_is_waited_for(void)
{
    struct desk *desk = desk_member();

    desk_says(desk, MSG_STOP);
    desk_leaves(desk, 1, 2);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_MERGED);
    desk_breaks(desk);
    hand_wait(&desk->hand, 9 * SECOND);
    CHECK(!node_ended(desk->node));
    desk->welcome.epoch += UINT64_C(1) << 32;
    desk_rejoins(desk);
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    desk_grants(desk, 2, DESK_CHUNKS);
    CHECK_NEAR(1, desk_chunk(desk, 2, 0), 0);
    desk_judges(desk, 2, 0, DESK_CHUNKS, VERDICT_MERGED);
    CHECK(node_ended(desk->node));
    desk_destroy(&desk);
}

static void a_hub_that_has_the_last_offer_is_not_given_it_again(void)
{
    struct desk *desk = desk_member();

    desk_says(desk, MSG_STOP);
    desk_leaves(desk, 1, 2);
    desk_judges(desk, 1, 0, DESK_CHUNKS, VERDICT_MERGED);
    desk_breaks(desk);
    desk->welcome.merged = 1;
    desk_rejoins(desk);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.exchange);
    CHECK(node_ended(desk->node));
    CHECK(hand_note(&desk->hand, NOTE_LAST_LOST) == NULL);
    desk_destroy(&desk);
}

static void what_no_centre_has_is_told(void)
{
    struct desk *desk = desk_member();
    struct msg progress = {.kind = MSG_PROGRESS, .progress.iteration = 70};

    hand_say(&desk->hand, PEER_TRAINER, &progress, NULL);
    desk_breaks(desk);
    desk_leaves(desk, 0, 4);
    hand_wait(&desk->hand, 11 * SECOND);
    CHECK(node_ended(desk->node));
    CHECK_CONTAINS("its last 70 iterations is in no centre",
                   hand_note(&desk->hand, NOTE_LAST_LOST)->text);
    desk_destroy(&desk);
}

/* What is departed from is of a version that the hub went back behind. */
static void a_last_offer_departs_from_a_version_that_the_hub_knows(void)
{
    struct desk *desk = desk_new();

    desk->welcome.version = 100;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_breaks(desk);
    desk_leaves(desk, 2, 4);
    desk->welcome.version = 10;
    desk_rejoins(desk);
    CHECK_EQUAL(1, desk_sent(desk, MSG_OFFER)->offer.last);
    CHECK_EQUAL(10, desk_sent(desk, MSG_OFFER)->offer.base_version);
    desk_destroy(&desk);
}

void add_node_leaving_tests(CU_pSuite suite)
{
    TEST(who_leaves_gives_its_last_progress_and_says_goodbye);
    TEST(who_leaves_waits_for_what_was_offered_before);
    TEST(who_leaves_gives_until_all_has_its_verdict);
    TEST(the_last_offer_holds_what_was_given_back);
    TEST(who_leaves_with_nothing_waits_for_what_was_offered_before);
    TEST(who_will_not_wait_says_so_once_more);
    TEST(who_leaves_without_a_hub_is_gone_at_once);
    TEST(who_leaves_while_the_hub_is_lost_waits_ten_seconds);
    TEST(a_last_offer_that_was_lost_is_made_again);
    TEST(who_is_asked_to_leave_on_its_way_back_makes_its_last_offer);
    TEST(a_run_that_ends_calls_again_who_comes_back);
    TEST(a_hub_that_is_lost_before_its_goodbye_is_waited_for);
    TEST(a_hub_that_has_the_last_offer_is_not_given_it_again);
    TEST(what_no_centre_has_is_told);
    TEST(a_last_offer_departs_from_a_version_that_the_hub_knows);
}
