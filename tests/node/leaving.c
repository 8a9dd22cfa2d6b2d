/* A trainer leaves: its last offer, and what was under way before. */
#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void who_leaves_gives_its_last_progress_and_says_goodbye(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_leaves(f, 1, 2);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    CHECK_NEAR(1, node_fixture_chunk(f, 1, 0), 0);
    CHECK(!node_fixture_sent(f, MSG_BYE));
    node_fixture_answers(f, 1, VERB_REBASE, 2);
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.final);
    node_fixture_destroy(&f);
}

/* The hub ends its run while the last verdict is on its way. */
static void who_has_left_is_called_by_no_run_that_ends(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_leaves(f, 1, 2);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK(node_ended(f->node));
    node_fixture_says(f, MSG_STOP);
    CHECK_EQUAL(1, hand_count(&f->hand, PEER_TRAINER, MSG_LOCAL_BYE));
    CHECK_EQUAL(1, node_fixture_told(f, MSG_LOCAL_BYE)->local_bye.final);
    node_fixture_destroy(&f);
}

/* Its last offer holds all that is not merged, so it knows what is. */
static void who_leaves_waits_for_what_was_offered_before(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    node_fixture_leaves(f, 2, 3);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    node_fixture_grants(f, 2, FIXTURE_CHUNKS);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    CHECK(!node_fixture_sent(f, MSG_BYE));
    node_fixture_verdicts(f, 2, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void who_leaves_gives_until_all_has_its_verdict(void)
{
    struct node_fixture *f = node_fixture_member();

    f->ungranted = true;
    CHECK(!node_gives(f->node));
    node_fixture_leaves(f, 1, 2);
    CHECK(!node_gives(f->node));
    node_fixture_grants(f, 1, 1);
    CHECK(node_gives(f->node));
    node_fixture_breaks(f);
    CHECK(!node_gives(f->node));
    node_fixture_rejoins(f);
    node_fixture_grants(f, 2, FIXTURE_CHUNKS);
    CHECK(node_gives(f->node));
    node_fixture_verdicts(f, 2, 0, 3, VERDICT_MERGED);
    CHECK(!node_gives(f->node));
    node_fixture_destroy(&f);
}

/* What the hub gives back is in the last offer, and so are its samples. */
static void the_last_offer_holds_what_was_given_back(void)
{
    struct node_fixture *f = node_fixture_new();
    uint64_t each;

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    each = node_fixture_sent(f, MSG_OFFER)->offer.samples;
    CHECK(each > 0);
    node_fixture_offers(f, 2, 4);
    node_fixture_says(f, MSG_STOP);
    node_fixture_leaves(f, 3, 7);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    node_fixture_verdicts(f, 2, 0, 3, VERDICT_SUPERSEDED);
    CHECK_EQUAL(3, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    CHECK_EQUAL(2 * each, node_fixture_sent(f, MSG_OFFER)->offer.samples);
    node_fixture_grants(f, 3, FIXTURE_CHUNKS);
    CHECK_NEAR(2 + 3, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void who_leaves_with_nothing_waits_for_what_was_offered_before(void)
{
    struct msg_local_offer nothing = {.last = 1};
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    node_fixture_takes(f, &nothing, NULL);
    CHECK(!node_ended(f->node));
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void who_will_not_wait_says_so_once_more(void)
{
    struct msg_local_offer nothing = {.last = 1};
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 2);
    node_fixture_leaves(f, 2, 3);
    node_fixture_takes(f, &nothing, NULL);
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void who_leaves_without_a_hub_is_gone_at_once(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_begins(f, 1);
    node_fixture_leaves(f, 1, 2);
    CHECK(node_ended(f->node));
    CHECK(!node_fixture_sent(f, MSG_BYE));
    node_fixture_destroy(&f);
}

static void who_leaves_while_the_hub_is_lost_waits_ten_seconds(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_leaves(f, 1, 2);
    node_fixture_breaks(f);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!node_ended(f->node));
    hand_wait(&f->hand, 2 * SECOND);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void a_last_offer_that_was_lost_is_made_again(void)
{
    struct node_fixture *f = node_fixture_member();

    f->ungranted = true;
    node_fixture_leaves(f, 1, 2);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    CHECK(!node_ended(f->node));
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    CHECK_EQUAL(32, node_fixture_sent(f, MSG_OFFER)->offer.samples);
    node_fixture_grants(f, 2, FIXTURE_CHUNKS);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK_EQUAL(FAREWELL_LEAVING, node_fixture_sent(f, MSG_BYE)->bye.farewell);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void who_is_asked_to_leave_on_its_way_back_makes_its_last_offer(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    node_fixture_leaves(f, 0, 4);
    CHECK(!node_ended(f->node));
    node_fixture_rejoins(f);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    node_fixture_grants(f, 2, FIXTURE_CHUNKS);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void a_run_that_ends_calls_again_who_comes_back(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_says(f, MSG_STOP);
    node_fixture_breaks(f);
    CHECK(!node_ended(f->node));
    node_fixture_leaves(f, 1, 2);
    node_fixture_rejoins(f);
    node_fixture_says(f, MSG_STOP);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK(!node_ended(f->node));
    node_fixture_says_bye(f, FAREWELL_DONE);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

/* Merged is not yet saved: the next hub may need it again. */
static void a_hub_that_is_lost_before_its_goodbye_is_waited_for(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_says(f, MSG_STOP);
    node_fixture_leaves(f, 1, 2);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    node_fixture_breaks(f);
    hand_wait(&f->hand, 9 * SECOND);
    CHECK(!node_ended(f->node));
    f->welcome.epoch += UINT64_C(1) << 32;
    node_fixture_rejoins(f);
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    node_fixture_grants(f, 2, FIXTURE_CHUNKS);
    CHECK_NEAR(1, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_verdicts(f, 2, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    CHECK(node_ended(f->node));
    node_fixture_destroy(&f);
}

static void a_hub_that_has_the_last_offer_is_not_given_it_again(void)
{
    struct node_fixture *f = node_fixture_member();

    node_fixture_says(f, MSG_STOP);
    node_fixture_leaves(f, 1, 2);
    node_fixture_verdicts(f, 1, 0, FIXTURE_CHUNKS, VERDICT_MERGED);
    node_fixture_breaks(f);
    f->welcome.merged = 1;
    node_fixture_rejoins(f);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK(node_ended(f->node));
    CHECK(hand_note(&f->hand, NOTE_LAST_LOST) == NULL);
    node_fixture_destroy(&f);
}

static void what_no_centre_has_is_told(void)
{
    struct node_fixture *f = node_fixture_member();
    struct msg progress = {.kind = MSG_LOCAL_PING, .local_ping.iteration = 70};

    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    node_fixture_breaks(f);
    node_fixture_leaves(f, 0, 4);
    hand_wait(&f->hand, 11 * SECOND);
    CHECK(node_ended(f->node));
    CHECK_CONTAINS("its last 70 iterations is in no centre",
                   hand_note(&f->hand, NOTE_LAST_LOST)->text);
    node_fixture_destroy(&f);
}

/* There was no memory for a copy; its hub is there, or was lost before. */
static void what_is_left_without_a_copy_is_told(void)
{
    struct msg progress = {.kind = MSG_LOCAL_PING, .local_ping.iteration = 70};
    struct msg_local_offer nothing = {.last = 1};

    for (int lost = 0; lost < 2; lost++) {
        struct node_fixture *f = node_fixture_member();

        hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
        if (lost)
            node_fixture_breaks(f);
        node_fixture_takes(f, &nothing, NULL);
        CHECK(node_ended(f->node));
        CHECK_CONTAINS("its last 70 iterations is in no centre",
                       hand_note(&f->hand, NOTE_LAST_LOST)->text);
        node_fixture_destroy(&f);
    }
}

/* It had no time for a last offer: an iteration takes longer. */
static void a_run_that_ends_without_a_last_offer_tells_what_is_lost(void)
{
    struct node_fixture *f = node_fixture_member();
    struct msg progress = {.kind = MSG_LOCAL_PING, .local_ping.iteration = 70};

    hand_say(&f->hand, PEER_TRAINER, &progress, NULL);
    node_fixture_says(f, MSG_STOP);
    node_fixture_says_bye(f, FAREWELL_DONE);
    CHECK(node_ended(f->node));
    CHECK(hand_note(&f->hand, NOTE_LAST_LOST) != NULL);
    node_fixture_destroy(&f);
}

/* What is departed from is of a version that the hub went back behind. */
static void a_last_offer_departs_from_a_version_that_the_hub_knows(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.version = 100;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_breaks(f);
    node_fixture_leaves(f, 2, 4);
    f->welcome.version = 10;
    node_fixture_rejoins(f);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
    CHECK_EQUAL(10, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_destroy(&f);
}

/* It was left out where an earlier offer had been lost that stood for more. */
static void the_last_offer_stands_for_its_samples_whatever_was_lost_before(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_breaks(f);
    node_fixture_leaves(f, 2, 4);
    for (int i = 0; i < 2; i++) {
        node_fixture_rejoins(f);
        CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.last);
        CHECK_EQUAL(64, node_fixture_sent(f, MSG_OFFER)->offer.samples);
        node_fixture_breaks(f);
    }
    node_fixture_destroy(&f);
}

void add_node_leaving_tests(CU_pSuite suite)
{
    TEST(who_leaves_gives_its_last_progress_and_says_goodbye);
    TEST(who_has_left_is_called_by_no_run_that_ends);
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
    TEST(what_is_left_without_a_copy_is_told);
    TEST(a_run_that_ends_without_a_last_offer_tells_what_is_lost);
    TEST(a_last_offer_departs_from_a_version_that_the_hub_knows);
    TEST(the_last_offer_stands_for_its_samples_whatever_was_lost_before);
}
