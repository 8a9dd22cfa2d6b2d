/* Reviewers that do not answer, and updates that get lost. */
#include "hub/review.h"

#include <math.h>

#include "tests/check.h"
#include "tests/hub/party.h"

static void who_cannot_is_replaced_and_not_asked_again(void)
{
    static const double shift[FAKE_NODES] = {0.5, 0.5, -1, 0.5, 0.5};
    double (*const loss[FAKE_NODES])(double x) = {NULL, honest, honest, honest,
                                                  honest};
    struct party party = party_of("verified", FAKE_NODES);
    unsigned before;

    all_give(&party, 1, shift);
    say_reviewed(&party, 0, shown(&party, 0)->msg.review.review, false, 0);
    all_evaluate(&party, loss);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 2));
    CHECK_CONTAINS("by 3 nodes",
                   hand_note(&party.f->hand, NOTE_REVIEWED)->text);
    before = shown_count(&party, 0);
    all_give(&party, 2, shift);
    CHECK_EQUAL(before, shown_count(&party, 0));
    hub_fixture_destroy(&party.f);
}

static void a_lost_reviewer_is_not_waited_for(void)
{
    static const double shift[4] = {0.5, 1, -1, 0.5};
    double (*const loss[FAKE_NODES])(double x) = {honest, honest, honest, NULL};
    struct party party = party_of("verified", 4);

    all_give(&party, 1, shift);
    all_evaluate(&party, loss);
    CHECK_EQUAL(VERDICT_COUNT, verdict_on(&party, 0));
    fake_node_breaks(party.f, &party.node[3]);
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 0));
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 2));
    hub_fixture_destroy(&party.f);
}

static void a_late_reviewer_is_not_waited_for_twice(void)
{
    static const double shift[4] = {0.5, 1, -1, 0.5};
    double (*const loss[FAKE_NODES])(double x) = {honest, honest, honest, NULL};
    struct party party = party_of("verified", 4);
    uint64_t late;

    all_give(&party, 1, shift);
    late = shown(&party, 3)->msg.review.review;
    all_evaluate(&party, loss);
    all_live(&party, REVIEW_TIME - SECOND);
    CHECK_EQUAL(VERDICT_COUNT, verdict_on(&party, 0));
    all_live(&party, 7 * SECOND); /* it is slower than the others: patience */
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 2));
    CHECK_EQUAL(FIXTURE_CHUNKS, shown_count(&party, 3));
    all_give(&party, 2, shift);
    all_evaluate(&party, loss);
    CHECK_EQUAL(VERDICT_REFUTED,
                fake_node_verdict(party.f, &party.node[2], 2, 0));
    say_reviewed(&party, 3, late, true, 0); /* it is back */
    fake_node_credits(party.f, &party.node[3], 0, FIXTURE_BYTES);
    all_live(&party, 110 * SECOND); /* until its patience has come back */
    all_give(&party, 3, shift);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS, shown_count(&party, 3));
    hub_fixture_destroy(&party.f);
}

static void without_any_answer_all_are_kept(void)
{
    static const double shift[3] = {0.5, 1, -1};
    struct party party = party_of("verified", 3);

    all_give(&party, 1, shift);
    for (unsigned i = 0; i < 3; i++)
        say_reviewed(&party, i, shown(&party, i)->msg.review.review, false, 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, i));
    CHECK_CONTAINS("no other node could test it",
                   hand_note(&party.f->hand, NOTE_UNREVIEWED)->text);
    hub_fixture_destroy(&party.f);
}

static void who_is_alone_is_believed(void)
{
    static const double shift[1] = {-1};
    struct party party = party_of("verified", 1);

    all_give(&party, 1, shift);
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 0));
    CHECK_EQUAL(0, shown_count(&party, 0));
    hub_fixture_destroy(&party.f);
}

static void offer(struct party *party, unsigned i, double score)
{
    const struct msg_offer scored = {
        .exchange = 1, .samples = 1, .score = score};

    fake_node_offer(party->f, &party->node[i], &scored);
}

/* Only the best one is asked for data. "a" is, but comes back while it is
 * evaluated: what it gave before is lost. */
static struct party a_is_lost(double score_of_b)
{
    struct hub_fixture *f = hub_fixture_new();
    struct party party;

    f->config.policy = preset_find("verified")->policy;
    f->config.policy.select = &select_best;
    party = party_at(f, 2);
    offer(&party, 0, 1);
    offer(&party, 1, score_of_b);
    fake_node_delivers_all(f, &party.node[0], 1, 0.5);
    CHECK_EQUAL(FIXTURE_CHUNKS, shown_count(&party, 1));
    fake_node_breaks(f, &party.node[0]);
    fake_node_comes_again(f, &party.node[0]);
    CHECK_EQUAL(VERDICT_LOST, verdict_on(&party, 0));
    all_live(&party, SECOND);
    return party;
}

static void what_is_lost_under_review_is_replaced(void)
{
    struct party party = a_is_lost(2);

    CHECK_EQUAL(
        1, fake_node_heard(party.f, &party.node[1], MSG_GRANT)->grant.exchange);
    fake_node_delivers_all(party.f, &party.node[1], 1, -0.5);
    CHECK_NEAR(1, hand_float(shown(&party, 0)->payload, 0), 0);
    all_evaluate(&party, all_honest);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 1));
    hub_fixture_destroy(&party.f);
}

/* Nobody else is to be merged: nothing is left to be evaluated. */
static void what_is_lost_under_review_leaves_nothing_behind(void)
{
    struct party party = a_is_lost(NO_SCORE);
    uint64_t review = shown(&party, 1)->msg.review.review;

    CHECK_EQUAL(VERDICT_DECLINED, verdict_on(&party, 1));
    say_reviewed(&party, 1, review, true, 0);
    CHECK_EQUAL(0, hub_fixture_look(party.f)->version);
    CHECK_EQUAL(FIXTURE_CHUNKS, shown_count(&party, 1));
    fake_node_credits(party.f, &party.node[1], 0, FIXTURE_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        const struct msg_offer next = {
            .exchange = 2, .samples = 1, .score = 1 + i};

        fake_node_offer(party.f, &party.node[i], &next);
    }
    fake_node_delivers_all(party.f, &party.node[0], 2, 0.5);
    CHECK_EQUAL(2 * FIXTURE_CHUNKS, shown_count(&party, 1));
    hub_fixture_destroy(&party.f);
}

/* Over links on which its parameters take minutes. */
static void a_slow_review_is_told(void)
{
    static const double shift[2] = {0.5, 1};
    struct hub_fixture *f = hub_fixture_new();
    const struct hub_view *view;
    struct party party;

    f->config.window = 2 * FIXTURE_CHUNK_BYTES;
    f->config.policy = preset_find("verified")->policy;
    party = party_at(f, 2);
    all_give(&party, 1, shift);
    for (unsigned i = 0; i < 2 * (unsigned)(REVIEW_NOTICED / SECOND); i++) {
        if (i == REVIEW_NOTICED / SECOND - 1)
            CHECK(!hand_note(&f->hand, NOTE_REVIEW_SLOW));
        all_live(&party, SECOND);
        for (unsigned j = 0; i % 8 == 0 && j < 2; j++)
            fake_node_credits(f, &party.node[j], 0, 1);
    }
    view = hub_fixture_look(f);
    CHECK_CONTAINS("--model and --data, so that it tests them itself",
                   hand_note(&f->hand, NOTE_REVIEW_SLOW)->text);
    CHECK_CONTAINS("tests of parameters by nodes, for 1", view->state);
    hub_fixture_destroy(&f);
}

void add_hub_review_lost_tests(CU_pSuite suite)
{
    TEST(who_cannot_is_replaced_and_not_asked_again);
    TEST(a_lost_reviewer_is_not_waited_for);
    TEST(a_late_reviewer_is_not_waited_for_twice);
    TEST(without_any_answer_all_are_kept);
    TEST(who_is_alone_is_believed);
    TEST(what_is_lost_under_review_is_replaced);
    TEST(what_is_lost_under_review_leaves_nothing_behind);
    TEST(a_slow_review_is_told);
}
