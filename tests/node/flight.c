#include <math.h>

#include "core/fragment.h"
#include "tests/check.h"
#include "tests/node/node_fixture.h"

static void an_offer_says_what_there_is_to_give(void)
{
    struct node_fixture *f = node_fixture_new();
    const struct msg_offer *offer;

    f->ungranted = true;
    f->welcome.version = 6;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    offer = &node_fixture_sent(f, MSG_OFFER)->offer;
    CHECK_EQUAL(FRAGMENT_ALL, offer->fragment); /* whatever F is by then */
    CHECK_EQUAL(1, offer->exchange);
    CHECK_EQUAL(10, offer->iteration);
    CHECK_EQUAL(32, offer->samples);
    CHECK_EQUAL(6, offer->base_version);
    CHECK_NEAR(0.5, offer->score, 0);
    CHECK_NEAR(sqrt(FIXTURE_ELEMENTS * 4.0), offer->norm, 1e-12);
    CHECK_EQUAL(0, offer->last);
    CHECK_EQUAL(0, node_fixture_chunks(f, 1));
    node_fixture_destroy(&f);
}

static void data_goes_out_on_grant_and_credit(void)
{
    struct node_fixture *f = node_fixture_new();
    struct msg credit = {.kind = MSG_CREDIT};

    f->ungranted = true;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_grants(f, 1, 1);
    CHECK_EQUAL(1, node_fixture_chunks(f, 1));
    credit.credit.exchange = 1;
    credit.credit.more = 80;
    hand_say(&f->hand, PEER_CONTROL, &credit, NULL);
    CHECK_EQUAL(FIXTURE_CHUNKS, node_fixture_chunks(f, 1));
    for (uint32_t i = 0; i < FIXTURE_CHUNKS; i++)
        CHECK_NEAR(2, node_fixture_chunk(f, 1, i), 0);
    node_fixture_destroy(&f);
}

static void an_offer_is_progress_since_the_last_one(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_offers(f, 2, 7);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void what_was_not_merged_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_verdicts(f, 1, 0, 1, VERDICT_MERGED);
    node_fixture_verdicts(f, 1, 1, 2, VERDICT_EXPIRED);
    CHECK(node_fixture_forgot(f, 1));
    node_fixture_offers(f, 2, 7);
    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(6, node_fixture_chunk(f, 2, 1), 0);
    CHECK_NEAR(6, node_fixture_chunk(f, 2, 2), 0);
    node_fixture_destroy(&f);
}

static void a_verdict_counts_once(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_verdicts(f, 1, 0, UINT32_MAX, VERDICT_STALE);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_STALE);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_MERGED);
    node_fixture_verdicts(f, 1, 4, 1, VERDICT_STALE);
    node_fixture_offers(f, 2, 3);
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void a_verdict_within_a_result_counts_too(void)
{
    struct node_fixture *f = node_fixture_offering();
    struct msg_result result = {.exchange = 1, .version = 1, .weight = 1};

    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++) {
        result.verdict = result.chunk == 1 ? VERDICT_NONFINITE : VERDICT_MERGED;
        node_fixture_result(f, &result, 5);
    }
    node_fixture_applied(f, 1);
    /* x = 3 + (5 - 3); in chunk 1 the progress of 2 is still to be given. */
    node_fixture_offers(f, 2, 5);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 0), 0);
    CHECK_NEAR(2, node_fixture_chunk(f, 2, 1), 0);
    node_fixture_destroy(&f);
}

/* x moves from 1 to 3, which is judged, then to 7. */
static struct node_fixture *node_fixture_judged(enum verdict verdict)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, 3, verdict);
    CHECK(node_fixture_forgot(f, 1));
    node_fixture_offers(f, 2, 7);
    return f;
}

static void progress_of_another_lineage_is_not_offered_again(void)
{
    struct node_fixture *f = node_fixture_judged(VERDICT_LINEAGE);

    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_answers(f, 2, VERB_REBASE, 5);
    CHECK_NEAR(5 - 7, node_fixture_apply(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* Nobody was chosen, so that no result comes: x still holds the progress, and
 * its score is that of all of it. */
static void what_was_left_out_without_a_result_is_offered_again(void)
{
    static const enum verdict verdicts[] = {VERDICT_DECLINED, VERDICT_REFUTED};

    for (unsigned i = 0; i < 2; i++) {
        struct node_fixture *f = node_fixture_judged(verdicts[i]);

        CHECK_NEAR(6, node_fixture_chunk(f, 2, 0), 0);
        node_fixture_answers(f, 2, VERB_REBASE, 5);
        CHECK_NEAR(5 - 7, node_fixture_apply(f, 2, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* The result takes it back: x = v. */
static void what_was_left_out_with_a_result_is_not_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();
    struct msg_result result = {
        .exchange = 1, .version = 1, .weight = 1, .verdict = VERDICT_DECLINED};

    for (; result.chunk < FIXTURE_CHUNKS; result.chunk++)
        node_fixture_result(f, &result, 5);
    node_fixture_applied(f, 1);
    node_fixture_offers(f, 2, 5);
    CHECK_NEAR(0, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void what_is_in_flight_when_the_hub_goes_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_offers(f, 2, 4);
    node_fixture_breaks(f);
    node_fixture_rejoins(f);
    node_fixture_offers(f, 3, 4);
    CHECK_NEAR(3, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void what_the_hub_had_merged_is_not_offered_again(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_offers(f, 2, 4);
    node_fixture_breaks(f);
    node_fixture_connects(f);
    node_fixture_verdicts(f, 2, 0, 1, VERDICT_MERGED); /* it remembers a part */
    f->welcome.merged = 1;
    node_fixture_welcomes(f, START_GO);
    node_fixture_offers(f, 3, 4);
    CHECK_NEAR(0, node_fixture_chunk(f, 3, 0), 0);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 1), 0);
    node_fixture_destroy(&f);
}

static void what_was_forming_when_the_hub_went_is_offered_again(void)
{
    struct node_fixture *f = node_fixture_member();

    f->hand.holds_jobs = true;
    node_fixture_offers(f, 1, 3);
    node_fixture_breaks(f);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK(!node_fixture_sent(f, MSG_OFFER));
    node_fixture_rejoins(f);
    node_fixture_offers(f, 2, 4);
    CHECK_NEAR(3, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void parameters_are_offered_as_they_are_and_never_again(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_PARAMETERS;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    CHECK_NEAR(3, node_fixture_chunk(f, 1, 0), 0);
    CHECK_EQUAL(EXCHANGE_PARAMETERS,
                node_fixture_sent(f, MSG_OFFER)->offer.kind);
    CHECK_NEAR(sqrt(FIXTURE_ELEMENTS * 9.0),
               node_fixture_sent(f, MSG_OFFER)->offer.norm, 1e-12);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_EXPIRED);
    node_fixture_offers(f, 2, 4);
    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void offers_that_come_too_late_are_told_of(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_PARAMETERS;
    node_fixture_ready(f, 1);
    for (unsigned i = 1; i <= 6; i++) {
        node_fixture_offers(f, i, 3);
        CHECK(!hand_note(&f->hand, NOTE_BARREN));
        node_fixture_verdicts(f, i, 0, 3,
                              i == 3 ? VERDICT_MERGED : VERDICT_EXPIRED);
    }
    CHECK_CONTAINS("3 offers in a row", hand_note(&f->hand, NOTE_BARREN)->text);
    CHECK_CONTAINS("larger --every", hand_note(&f->hand, NOTE_BARREN)->text);
    node_fixture_destroy(&f);
}

/* A node whose parameters were merged without an answer keeps them. */
static void parameters_that_are_merged_without_a_result_stay(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_PARAMETERS;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_MERGED);
    CHECK(node_fixture_forgot(f, 1));
    CHECK(!node_fixture_told(f, MSG_LOCAL_RESULT));
    node_fixture_tunes(f, 1, EXCHANGE_DELTA);
    node_fixture_offers(f, 2, 3.5);
    CHECK_NEAR(0.5, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

static void what_is_offered_may_change_and_what_is_in_flight_does_not(void)
{
    struct node_fixture *f = node_fixture_new();

    f->ungranted = true;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_tunes(f, 20, EXCHANGE_PARAMETERS);
    CHECK_EQUAL(20, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.every);
    CHECK_EQUAL(EXCHANGE_PARAMETERS,
                node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.exchange);
    CHECK_EQUAL(4, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.delay);
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(EXCHANGE_PARAMETERS,
                node_fixture_sent(f, MSG_OFFER)->offer.kind);
    node_fixture_grants(f, 1, 3);
    node_fixture_grants(f, 2, 3);
    CHECK_NEAR(2, node_fixture_chunk(f, 1, 0), 0);
    CHECK_NEAR(4, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_EXPIRED);
    node_fixture_tunes(f, 0, EXCHANGE_GRADIENT); /* makes no sense */
    CHECK_EQUAL(20, node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.every);
    node_fixture_tunes(f, 1, EXCHANGE_DELTA);
    node_fixture_offers(f, 3, 4.5); /* waits: parameters that are merged move r
                                     */
    CHECK_EQUAL(2, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    node_fixture_verdicts(f, 2, 0, 3, VERDICT_MERGED);
    node_fixture_grants(f, 3, 3);
    CHECK_NEAR(0.5, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void a_gradient_is_offered_as_it_is_and_never_again(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_GRADIENT;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 0.5);
    CHECK_NEAR(0.5, node_fixture_chunk(f, 1, 0), 0);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_EXPIRED);
    node_fixture_offers(f, 2, 0.25);
    CHECK_NEAR(0.25, node_fixture_chunk(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* Its snapshot is still being made into an offer when the hub comes back
 * without a centre: what it founds and what it offers then are all of x. */
static void progress_under_way_is_not_founded_and_offered_again(void)
{
    for (unsigned codec = CODEC_RAW; codec < CODEC_COUNT; codec++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.codec = (enum codec_id)codec;
        node_fixture_ready(f, 1);
        f->ungranted = f->hand.holds_jobs = true;
        node_fixture_offers(f, 1, 3);
        node_fixture_breaks(f);
        node_fixture_connects(f);
        node_fixture_welcomes(f, START_FOUND);
        f->hand.holds_jobs = false;
        hand_work(&f->hand);
        node_fixture_grants(f, 0, FIXTURE_CHUNKS);
        CHECK_NEAR(1, node_fixture_chunk(f, 0, 0), 0);
        node_fixture_restarts(f, START_GO);
        node_fixture_leaves(f, 2, 3);
        node_fixture_grants(f, 2, FIXTURE_CHUNKS);
        CHECK_NEAR(2, node_fixture_chunk(f, 2, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* Some of exchange 2 came too late before its parameters were replaced, the
 * rest after that. */
static void what_was_replaced_gives_no_samples_to_the_next_offer(void)
{
    struct node_fixture *f = node_fixture_offering();

    node_fixture_offers(f, 2, 5);
    node_fixture_answers(f, 1, VERB_REPLACE, 9);
    node_fixture_verdicts(f, 2, 0, 1, VERDICT_EXPIRED);
    node_fixture_applied(f, 1);
    node_fixture_verdicts(f, 2, 1, FIXTURE_CHUNKS - 1, VERDICT_EXPIRED);
    node_fixture_offers(f, 3, 10);
    CHECK_EQUAL(32, node_fixture_sent(f, MSG_OFFER)->offer.samples);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

/* The numbers of offers rise, in whatever order their jobs end. */
static void
what_is_formed_first_is_not_offered_before_what_was_taken_first(void)
{
    struct node_fixture *f = node_fixture_member();
    struct job **jobs = f->hand.jobs;

    f->ungranted = f->hand.holds_jobs = true;
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS, f->hand.job_count);
    for (unsigned i = 0; i < FIXTURE_CHUNKS; i++) {
        struct job *job = jobs[i];

        jobs[i] = jobs[2 * FIXTURE_CHUNKS - 1 - i];
        jobs[2 * FIXTURE_CHUNKS - 1 - i] = job;
    }
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK_EQUAL(2, hand_count(&f->hand, PEER_CONTROL, MSG_OFFER));
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(
            i + 1,
            hand_nth(&f->hand, PEER_CONTROL, MSG_OFFER, i)->msg.offer.exchange);
    node_fixture_destroy(&f);
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
