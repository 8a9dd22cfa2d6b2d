#include <math.h>

#include "core/fragment.h"
#include "tests/check.h"
#include "tests/node/desk.h"

static void an_offer_says_what_there_is_to_give(void)
{
    struct desk *desk = desk_new();
    const struct msg_offer *offer;

    desk->ungranted = true;
    desk->welcome.version = 6;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    offer = &desk_sent(desk, MSG_OFFER)->offer;
    CHECK_EQUAL(FRAGMENT_ALL, offer->fragment); /* whatever F is by then */
    CHECK_EQUAL(1, offer->exchange);
    CHECK_EQUAL(10, offer->iteration);
    CHECK_EQUAL(32, offer->samples);
    CHECK_EQUAL(6, offer->base_version);
    CHECK_NEAR(0.5, offer->score, 0);
    CHECK_NEAR(sqrt(DESK_ELEMENTS * 4.0), offer->norm, 1e-12);
    CHECK_EQUAL(0, offer->last);
    CHECK_EQUAL(0, desk_chunks(desk, 1));
    desk_destroy(&desk);
}

static void data_goes_out_on_grant_and_credit(void)
{
    struct desk *desk = desk_new();
    struct msg credit = {.kind = MSG_CREDIT};

    desk->ungranted = true;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_grants(desk, 1, 1);
    CHECK_EQUAL(1, desk_chunks(desk, 1));
    credit.credit.exchange = 1;
    credit.credit.more = 80;
    hand_say(&desk->hand, PEER_CONTROL, &credit, NULL);
    CHECK_EQUAL(DESK_CHUNKS, desk_chunks(desk, 1));
    for (uint32_t i = 0; i < DESK_CHUNKS; i++)
        CHECK_NEAR(2, desk_chunk(desk, 1, i), 0);
    desk_destroy(&desk);
}

static void an_offer_is_progress_since_the_last_one(void)
{
    struct desk *desk = desk_offering();

    desk_offers(desk, 2, 7);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    CHECK_NEAR(4, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void what_was_not_merged_is_offered_again(void)
{
    struct desk *desk = desk_offering();

    desk_judges(desk, 1, 0, 1, VERDICT_MERGED);
    desk_judges(desk, 1, 1, 2, VERDICT_EXPIRED);
    CHECK(desk_forgot(desk, 1));
    desk_offers(desk, 2, 7);
    CHECK_NEAR(4, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(6, desk_chunk(desk, 2, 1), 0);
    CHECK_NEAR(6, desk_chunk(desk, 2, 2), 0);
    desk_destroy(&desk);
}

static void a_verdict_counts_once(void)
{
    struct desk *desk = desk_offering();

    desk_judges(desk, 1, 0, UINT32_MAX, VERDICT_STALE);
    desk_judges(desk, 1, 0, 3, VERDICT_STALE);
    desk_judges(desk, 1, 0, 3, VERDICT_MERGED);
    desk_judges(desk, 1, 4, 1, VERDICT_STALE);
    desk_offers(desk, 2, 3);
    CHECK_NEAR(2, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void a_verdict_within_a_result_counts_too(void)
{
    struct desk *desk = desk_offering();
    struct msg_result result = {.exchange = 1, .version = 1, .weight = 1};

    for (; result.chunk < DESK_CHUNKS; result.chunk++) {
        result.verdict = result.chunk == 1 ? VERDICT_NONFINITE : VERDICT_MERGED;
        desk_result(desk, &result, 5);
    }
    desk_applied(desk, 1);
    /* x = 3 + (5 - 3); in chunk 1 the progress of 2 is still to be given. */
    desk_offers(desk, 2, 5);
    CHECK_NEAR(0, desk_chunk(desk, 2, 0), 0);
    CHECK_NEAR(2, desk_chunk(desk, 2, 1), 0);
    desk_destroy(&desk);
}

/* x moves from 1 to 3, which is judged, then to 7. */
static struct desk *desk_judged(enum verdict verdict)
{
    struct desk *desk = desk_new();

    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_judges(desk, 1, 0, 3, verdict);
    CHECK(desk_forgot(desk, 1));
    desk_offers(desk, 2, 7);
    return desk;
}

static void progress_of_another_lineage_is_not_offered_again(void)
{
    struct desk *desk = desk_judged(VERDICT_LINEAGE);

    CHECK_NEAR(4, desk_chunk(desk, 2, 0), 0);
    desk_answers(desk, 2, VERB_REBASE, 5);
    CHECK_NEAR(5 - 7, desk_apply(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* Nobody was chosen, so that no result comes: x still holds the progress, and
 * its score is that of all of it. */
static void what_was_left_out_without_a_result_is_offered_again(void)
{
    static const enum verdict verdicts[] = {VERDICT_DECLINED, VERDICT_REFUTED};

    for (unsigned i = 0; i < 2; i++) {
        struct desk *desk = desk_judged(verdicts[i]);

        CHECK_NEAR(6, desk_chunk(desk, 2, 0), 0);
        desk_answers(desk, 2, VERB_REBASE, 5);
        CHECK_NEAR(5 - 7, desk_apply(desk, 2, 0), 0);
        desk_destroy(&desk);
    }
}

/* The result takes it back: x = v. */
static void what_was_left_out_with_a_result_is_not_offered_again(void)
{
    struct desk *desk = desk_offering();
    struct msg_result result = {
        .exchange = 1, .version = 1, .weight = 1, .verdict = VERDICT_DECLINED};

    for (; result.chunk < DESK_CHUNKS; result.chunk++)
        desk_result(desk, &result, 5);
    desk_applied(desk, 1);
    desk_offers(desk, 2, 5);
    CHECK_NEAR(0, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void what_is_in_flight_when_the_hub_goes_is_offered_again(void)
{
    struct desk *desk = desk_offering();

    desk_offers(desk, 2, 4);
    desk_breaks(desk);
    desk_rejoins(desk);
    desk_offers(desk, 3, 4);
    CHECK_NEAR(3, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void what_the_hub_had_merged_is_not_offered_again(void)
{
    struct desk *desk = desk_offering();

    desk_offers(desk, 2, 4);
    desk_breaks(desk);
    desk_connects(desk);
    desk_judges(desk, 2, 0, 1, VERDICT_MERGED); /* it remembers a part */
    desk->welcome.merged = 1;
    desk_welcomes(desk, START_GO);
    desk_offers(desk, 3, 4);
    CHECK_NEAR(0, desk_chunk(desk, 3, 0), 0);
    CHECK_NEAR(1, desk_chunk(desk, 3, 1), 0);
    desk_destroy(&desk);
}

static void what_was_forming_when_the_hub_went_is_offered_again(void)
{
    struct desk *desk = desk_member();

    desk->hand.holds_jobs = true;
    desk_offers(desk, 1, 3);
    desk_breaks(desk);
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    CHECK(!desk_sent(desk, MSG_OFFER));
    desk_rejoins(desk);
    desk_offers(desk, 2, 4);
    CHECK_NEAR(3, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void parameters_are_offered_as_they_are_and_never_again(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_PARAMETERS;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    CHECK_NEAR(3, desk_chunk(desk, 1, 0), 0);
    CHECK_EQUAL(EXCHANGE_PARAMETERS, desk_sent(desk, MSG_OFFER)->offer.kind);
    CHECK_NEAR(sqrt(DESK_ELEMENTS * 9.0),
               desk_sent(desk, MSG_OFFER)->offer.norm, 1e-12);
    desk_judges(desk, 1, 0, 3, VERDICT_EXPIRED);
    desk_offers(desk, 2, 4);
    CHECK_NEAR(4, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void offers_that_come_too_late_are_told_of(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_PARAMETERS;
    desk_ready(desk, 1);
    for (unsigned i = 1; i <= 6; i++) {
        desk_offers(desk, i, 3);
        CHECK(!hand_note(&desk->hand, NOTE_BARREN));
        desk_judges(desk, i, 0, 3, i == 3 ? VERDICT_MERGED : VERDICT_EXPIRED);
    }
    CHECK_CONTAINS("3 offers in a row",
                   hand_note(&desk->hand, NOTE_BARREN)->text);
    CHECK_CONTAINS("larger --every", hand_note(&desk->hand, NOTE_BARREN)->text);
    desk_destroy(&desk);
}

/* A node whose parameters were merged without an answer keeps them. */
static void parameters_that_are_merged_without_a_result_stay(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_PARAMETERS;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_judges(desk, 1, 0, 3, VERDICT_MERGED);
    CHECK(desk_forgot(desk, 1));
    CHECK(!desk_told(desk, MSG_APPLY));
    desk_tunes(desk, 1, EXCHANGE_DELTA);
    desk_offers(desk, 2, 3.5);
    CHECK_NEAR(0.5, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

static void what_is_offered_may_change_and_what_is_in_flight_does_not(void)
{
    struct desk *desk = desk_new();

    desk->ungranted = true;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 3);
    desk_tunes(desk, 20, EXCHANGE_PARAMETERS);
    CHECK_EQUAL(20, desk_told(desk, MSG_SCHEDULE)->schedule.every);
    CHECK_EQUAL(EXCHANGE_PARAMETERS,
                desk_told(desk, MSG_SCHEDULE)->schedule.exchange);
    CHECK_EQUAL(4, desk_told(desk, MSG_SCHEDULE)->schedule.delay);
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(EXCHANGE_PARAMETERS, desk_sent(desk, MSG_OFFER)->offer.kind);
    desk_grants(desk, 1, 3);
    desk_grants(desk, 2, 3);
    CHECK_NEAR(2, desk_chunk(desk, 1, 0), 0);
    CHECK_NEAR(4, desk_chunk(desk, 2, 0), 0);
    desk_judges(desk, 1, 0, 3, VERDICT_EXPIRED);
    desk_tunes(desk, 0, EXCHANGE_GRADIENT); /* makes no sense */
    CHECK_EQUAL(20, desk_told(desk, MSG_SCHEDULE)->schedule.every);
    desk_tunes(desk, 1, EXCHANGE_DELTA);
    desk_offers(desk, 3, 4.5); /* waits: parameters that are merged move r */
    CHECK_EQUAL(2, desk_sent(desk, MSG_OFFER)->offer.exchange);
    desk_judges(desk, 2, 0, 3, VERDICT_MERGED);
    desk_grants(desk, 3, 3);
    CHECK_NEAR(0.5, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

static void a_gradient_is_offered_as_it_is_and_never_again(void)
{
    struct desk *desk = desk_new();

    desk->welcome.exchange = EXCHANGE_GRADIENT;
    desk_ready(desk, 1);
    desk_offers(desk, 1, 0.5);
    CHECK_NEAR(0.5, desk_chunk(desk, 1, 0), 0);
    desk_judges(desk, 1, 0, 3, VERDICT_EXPIRED);
    desk_offers(desk, 2, 0.25);
    CHECK_NEAR(0.25, desk_chunk(desk, 2, 0), 0);
    desk_destroy(&desk);
}

/* Its snapshot is still being made into an offer when the hub comes back
 * without a centre: what it founds and what it offers then are all of x. */
static void progress_under_way_is_not_founded_and_offered_again(void)
{
    for (unsigned codec = CODEC_RAW; codec < CODEC_COUNT; codec++) {
        struct desk *desk = desk_new();

        desk->welcome.codec = (enum codec_id)codec;
        desk_ready(desk, 1);
        desk->ungranted = desk->hand.holds_jobs = true;
        desk_offers(desk, 1, 3);
        desk_breaks(desk);
        desk_connects(desk);
        desk_welcomes(desk, START_FOUND);
        desk->hand.holds_jobs = false;
        hand_work(&desk->hand);
        desk_grants(desk, 0, DESK_CHUNKS);
        CHECK_NEAR(1, desk_chunk(desk, 0, 0), 0);
        desk_restarts(desk, START_GO);
        desk_leaves(desk, 2, 3);
        desk_grants(desk, 2, DESK_CHUNKS);
        CHECK_NEAR(2, desk_chunk(desk, 2, 0), 0);
        desk_destroy(&desk);
    }
}

/* Some of exchange 2 came too late before its parameters were replaced, the
 * rest after that. */
static void what_was_replaced_gives_no_samples_to_the_next_offer(void)
{
    struct desk *desk = desk_offering();

    desk_offers(desk, 2, 5);
    desk_answers(desk, 1, VERB_REPLACE, 9);
    desk_judges(desk, 2, 0, 1, VERDICT_EXPIRED);
    desk_applied(desk, 1);
    desk_judges(desk, 2, 1, DESK_CHUNKS - 1, VERDICT_EXPIRED);
    desk_offers(desk, 3, 10);
    CHECK_EQUAL(32, desk_sent(desk, MSG_OFFER)->offer.samples);
    CHECK_NEAR(1, desk_chunk(desk, 3, 0), 0);
    desk_destroy(&desk);
}

/* The numbers of offers rise, in whatever order their jobs end. */
static void
what_is_formed_first_is_not_offered_before_what_was_taken_first(void)
{
    struct desk *desk = desk_member();
    struct job **jobs = desk->hand.jobs;

    desk->ungranted = desk->hand.holds_jobs = true;
    desk_offers(desk, 1, 3);
    desk_offers(desk, 2, 4);
    CHECK_EQUAL(2 * DESK_CHUNKS, desk->hand.job_count);
    for (unsigned i = 0; i < DESK_CHUNKS; i++) {
        struct job *job = jobs[i];

        jobs[i] = jobs[2 * DESK_CHUNKS - 1 - i];
        jobs[2 * DESK_CHUNKS - 1 - i] = job;
    }
    desk->hand.holds_jobs = false;
    hand_work(&desk->hand);
    CHECK_EQUAL(2, hand_count(&desk->hand, PEER_CONTROL, MSG_OFFER));
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(i + 1, hand_nth(&desk->hand, PEER_CONTROL, MSG_OFFER, i)
                               ->msg.offer.exchange);
    desk_destroy(&desk);
}

void add_node_flight_tests(CU_pSuite suite)
{
    TEST(an_offer_says_what_there_is_to_give);
    TEST(data_goes_out_on_grant_and_credit);
    TEST(an_offer_is_progress_since_the_last_one);
    TEST(what_was_not_merged_is_offered_again);
    TEST(a_verdict_counts_once);
    TEST(a_verdict_within_a_result_counts_too);
    TEST(progress_of_another_lineage_is_not_offered_again);
    TEST(what_was_left_out_without_a_result_is_offered_again);
    TEST(what_was_left_out_with_a_result_is_not_offered_again);
    TEST(what_is_in_flight_when_the_hub_goes_is_offered_again);
    TEST(what_the_hub_had_merged_is_not_offered_again);
    TEST(what_was_forming_when_the_hub_went_is_offered_again);
    TEST(parameters_are_offered_as_they_are_and_never_again);
    TEST(offers_that_come_too_late_are_told_of);
    TEST(parameters_that_are_merged_without_a_result_stay);
    TEST(what_is_offered_may_change_and_what_is_in_flight_does_not);
    TEST(a_gradient_is_offered_as_it_is_and_never_again);
    TEST(progress_under_way_is_not_founded_and_offered_again);
    TEST(what_was_replaced_gives_no_samples_to_the_next_offer);
    TEST(what_is_formed_first_is_not_offered_before_what_was_taken_first);
}
