/* Nodes judge for a hub that has no held-out data. */
#include "hub/review.h"

#include <math.h>

#include "tests/check.h"
#include "tests/hub/party.h"

static double not_finite(double x)
{
    return x > 1 ? NO_SCORE : honest(x);
}

static void what_others_find_worse_is_refuted(void)
{
    static const double shift[4] = {0.5, 1, -1, 0};
    struct party party = party_of("verified", 4);

    all_give(&party, 1, shift);
    CHECK_EQUAL(VERDICT_COUNT, verdict_on(&party, 0));
    all_evaluate(&party, all_honest);
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 0));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 1));
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 2));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 3));
    CHECK_NEAR(1.5, fake_node_result(party.f, &party.node[0], 1, 0), 1e-6);
    CHECK_CONTAINS("by 3 nodes",
                   hand_note(&party.f->hand, NOTE_REVIEWED)->text);
    hub_fixture_destroy(&party.f);
}

/* How often value x was shown to node i. */
static unsigned shown_value(const struct party *party, unsigned i, double x)
{
    unsigned times = 0;

    for (unsigned j = 0; j < shown_count(party, i); j++) {
        const struct hand_sent *sent =
            hand_nth(&party->f->hand, party->node[i].bulk, MSG_REVIEW, j);

        times += sent->msg.review.chunk == 0 &&
                 fabs(hand_float(sent->payload, 0) - x) < 1e-6;
    }
    return times;
}

static void three_others_evaluate_each_and_the_centre_once(void)
{
    static const double shift[FAKE_NODES] = {0.1, 0.2, 0.3, 0.4, 0.5};
    struct party party = party_of("verified", FAKE_NODES);

    all_give(&party, 1, shift);
    all_evaluate(&party, all_honest);
    for (unsigned i = 0; i < FAKE_NODES; i++) {
        unsigned times = 0;

        CHECK_EQUAL(0, shown_value(&party, i, 1 + shift[i]));
        CHECK_EQUAL(1, shown_value(&party, i, 1));
        CHECK_EQUAL((1 + REVIEWERS) * FIXTURE_CHUNKS, shown_count(&party, i));
        for (unsigned j = 0; j < FAKE_NODES; j++)
            times += shown_value(&party, j, 1 + shift[i]);
        CHECK_EQUAL(REVIEWERS, times);
    }
    hub_fixture_destroy(&party.f);
}

static void a_node_has_one_review_at_a_time(void)
{
    static const double shift[4] = {0.5, 0.5, 0.5, 0.5};
    struct party party = party_of("verified", 4);

    all_give(&party, 1, shift);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(FIXTURE_CHUNKS, shown_count(&party, i));
        CHECK_NEAR(1, hand_float(shown(&party, i)->payload, 0), 0);
    }
    hub_fixture_destroy(&party.f);
}

static void chunks_wait_for_credit(void)
{
    static const double shift[2] = {0.5, 0.5};
    struct hub_fixture *f = hub_fixture_new();
    struct party party;

    f->config.window = 2 * FIXTURE_CHUNK_BYTES;
    f->config.policy = preset_find("verified")->policy;
    party = party_at(f, 2);
    all_give(&party, 1, shift);
    CHECK_EQUAL(2, shown_count(&party, 0));
    fake_node_credits(party.f, &party.node[0], 0, FIXTURE_CHUNK_BYTES);
    CHECK_EQUAL(3, shown_count(&party, 0));
    hub_fixture_destroy(&party.f);
}

static void one_byzantine_node_of_three_changes_nothing(void)
{
    static const double shift[4] = {0.5, 1, -1, 0.5};
    double (*const loss[FAKE_NODES])(double x) = {honest, honest, honest,
                                                  byzantine};
    struct party party = party_of("verified", 4);

    all_give(&party, 1, shift);
    all_evaluate(&party, loss);
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 0));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 1));
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 2));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 3));
    hub_fixture_destroy(&party.f);
}

static void what_has_no_finite_loss_is_refuted(void)
{
    static const double shift[3] = {-0.5, 1, 0};
    double (*const loss[FAKE_NODES])(double x) = {not_finite, not_finite,
                                                  not_finite};
    struct party party = party_of("verified", 3);

    all_give(&party, 1, shift);
    all_evaluate(&party, loss);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 0));
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 1));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 2));
    hub_fixture_destroy(&party.f);
}

/* Nodes know nothing of averages: the soup is the best one, 1, of one in four
 * nodes: z = 1.25, c = 1/4, theta = 1 + 1.25 / 4 + (1 - 1/4) 1.25 / 2. */
static void the_soup_is_what_others_find_best(void)
{
    static const double shift[4] = {0.5, 1, -1, 0};
    struct party party = party_of("soup", 4);

    all_give(&party, 1, shift);
    all_evaluate(&party, all_honest);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 0));
    CHECK_EQUAL(VERDICT_MERGED, verdict_on(&party, 1));
    CHECK_NEAR(1.78125, fake_node_result(party.f, &party.node[1], 1, 0), 1e-6);
    hub_fixture_destroy(&party.f);
}

static void answers_to_what_was_not_asked_change_nothing(void)
{
    static const double shift[2] = {-1, 0.5};
    struct party party = party_of("verified", 2);
    uint64_t review;

    say_reviewed(&party, 0, 1, true, 0);
    all_give(&party, 1, shift);
    review = shown(&party, 1)->msg.review.review;
    say_reviewed(&party, 1, review + 100, true, 0);
    say_reviewed(&party, 1, 0, true, 0);
    CHECK_EQUAL(FIXTURE_CHUNKS, shown_count(&party, 1));
    all_evaluate(&party, all_honest);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 0));
    hub_fixture_destroy(&party.f);
}

static void score(struct job *job)
{
    ((struct score_job *)job)->loss =
        fabs((double)blob_floats(job->in[0].blob)[0] - 3);
}

static void a_hub_with_data_asks_nobody(void)
{
    static const struct work evaluate = {"score", score, NULL};
    static const double shift[2] = {-1, 0.5};
    struct hub_fixture *f = hub_fixture_new();
    struct party party;

    f->config.evaluate = &evaluate;
    f->config.policy = preset_find("verified")->policy;
    party = party_at(f, 2);
    all_give(&party, 1, shift);
    CHECK_EQUAL(VERDICT_REFUTED, verdict_on(&party, 0));
    CHECK_EQUAL(0, shown_count(&party, 0));
    hub_fixture_destroy(&party.f);
}

void add_hub_review_tests(CU_pSuite suite)
{
    TEST(what_others_find_worse_is_refuted);
    TEST(three_others_evaluate_each_and_the_centre_once);
    TEST(a_node_has_one_review_at_a_time);
    TEST(chunks_wait_for_credit);
    TEST(one_byzantine_node_of_three_changes_nothing);
    TEST(what_has_no_finite_loss_is_refuted);
    TEST(the_soup_is_what_others_find_best);
    TEST(answers_to_what_was_not_asked_change_nothing);
    TEST(a_hub_with_data_asks_nobody);
}
