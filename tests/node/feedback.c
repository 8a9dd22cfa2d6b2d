/* Error feedback: what a codec leaves out of one offer is in the next. */
#include <math.h>
#include <string.h>

#include "tests/check.h"
#include "tests/node/rig.h"

enum { OFFERS = 60 };

/* What is allowed to x, which is rounded whenever something is applied. */
#define ROUNDING 1e-4

static double off(const struct rig *rig)
{
    double most = 0;

    for (int i = 0; i < FIXTURE_ELEMENTS; i++)
        most = fmax(most, fabs(rig->own[i] - rig->merged[i]));
    return most;
}

/* How far x is from the centre with what is left: nothing is under way. */
static double astray(const struct rig *rig)
{
    double most = 0;

    for (int i = 0; i < FIXTURE_ELEMENTS; i++) {
        double left = rig->own[i] - rig->merged[i];

        most = fmax(most, fabs((double)rig->x[i] - rig->centre[i] - left));
    }
    return most;
}

struct course {
    unsigned under_way; /* offers without an answer */
    uint32_t fragments;
    unsigned loses;
    double others;
};

static void check_course(enum codec_id codec, const struct course *course)
{
    struct rig rig;

    rig_open(&rig, codec, 1 + course->loses);
    rig.f->welcome.fragments = course->fragments;
    node_fixture_welcomes(rig.f, START_GO);
    rig.loses = course->loses;
    rig.others = course->others;
    for (unsigned i = 0; i < OFFERS; i++) {
        rig_drift(&rig);
        while (rig.answers > course->under_way)
            rig_answer(&rig);
        rig_offers(&rig);
    }
    CHECK(!course->loses == !rig.lost);
    while (rig.answers)
        rig_answer(&rig);
    if (!course->loses)
        CHECK_NEAR(0, astray(&rig), ROUNDING);
    rig_finishes(&rig);
    CHECK_NEAR(0, off(&rig), ROUNDING);
    rig_close(&rig);
}

static void t20_what_was_merged_and_what_is_left_are_all_there_was(void)
{
    static const struct course courses[] = {
        {0, 1, 0, 0},   {0, 1, 0, 0.5}, {1, 1, 0, 0.5},
        {5, 1, 0, 0.5}, {1, 1, 30, 0},  {5, 1, 30, 0.5},
        {0, 3, 0, 0.5}, {4, 2, 0, 0.5}, {7, 3, 30, 0.5}};

    for (unsigned codec = 0; codec < CODEC_COUNT; codec++)
        for (unsigned i = 0; i < sizeof courses / sizeof *courses; i++)
            check_course((enum codec_id)codec, &courses[i]);
}

/* Where no result comes x is never rounded, and so nor is the identity. */
static void t20_without_results_the_sum_is_exact(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        rig_open(&rig, (enum codec_id)codec, 3);
        rig.loses = 20;
        for (unsigned i = 0; i < OFFERS / 4; i++) {
            rig_drift(&rig);
            rig_offers(&rig);
            rig_verdict(&rig);
        }
        rig_finishes(&rig);
        CHECK_NEAR(0, off(&rig), 1e-12);
        rig_close(&rig);
    }
}

/* Three offers are taken before the first of them is formed, while a result is
 * applied. */
static void hurry(struct rig *rig)
{
    for (unsigned i = 0; i < 3; i++) {
        rig_drift(rig);
        rig_takes(rig, rig->x, false);
        if (i == 1)
            rig_answer(rig);
    }
    rig_hub(rig);
}

static void t20_offers_that_wait_for_each_other_give_the_same(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        rig_open(&rig, (enum codec_id)codec, 4);
        rig.loses = 20;
        rig.others = 0.5;
        for (unsigned i = 0; i < OFFERS / 4; i++) {
            rig_drift(&rig);
            rig_offers(&rig);
            hurry(&rig);
            while (rig.answers > 2)
                rig_answer(&rig);
        }
        rig_finishes(&rig);
        CHECK_NEAR(0, off(&rig), ROUNDING);
        rig_close(&rig);
    }
}

static void t20_what_is_left_stays_small(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;
        double most = 0;

        rig_open(&rig, (enum codec_id)codec, 5);
        for (unsigned i = 0; i < 10 * OFFERS; i++) {
            rig_drift(&rig);
            rig_offers(&rig);
            rig_answer(&rig);
            most = fmax(most, off(&rig));
        }
        CHECK((codec == CODEC_RAW) == (most < 1e-5));
        CHECK(most < 8);
        rig_close(&rig);
    }
}

/* The most inputs of the jobs that are held. */
static unsigned most_inputs(const struct hand *hand)
{
    unsigned most = 0;

    for (unsigned i = 0; i < hand->job_count; i++)
        if (hand->jobs[i]->inputs > most)
            most = hand->jobs[i]->inputs;
    return most;
}

/* r and what was sent cancel, so that r is the result alone. */
static void a_result_makes_the_reference_one_blob(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        rig_open(&rig, (enum codec_id)codec, 12);
        rig.loses = 20;
        for (unsigned i = 0; i < OFFERS; i++) {
            rig_drift(&rig);
            rig_takes(&rig, rig.x, false);
            rig_hub(&rig);
            rig.loses = 0;
            rig_offers(&rig);
            rig_answer(&rig);
            rig_answer(&rig);
            rig_takes(&rig, rig.x, false);
            CHECK_EQUAL(2, most_inputs(&rig.f->hand));
            rig_hub(&rig);
            rig_answer(&rig);
        }
        rig_finishes(&rig);
        CHECK_NEAR(0, off(&rig), ROUNDING);
        rig_close(&rig);
    }
}

/* Results would make the reference short; here there are none. */
static void a_reference_stays_short_without_results(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        rig_open(&rig, (enum codec_id)codec, 6);
        for (unsigned i = 0; i < 4 * OFFERS; i++) {
            rig_drift(&rig);
            rig_takes(&rig, rig.x, false);
            CHECK(most_inputs(&rig.f->hand) <= 20);
            rig_hub(&rig);
            rig_verdict(&rig);
        }
        rig_finishes(&rig);
        CHECK_NEAR(0, off(&rig), ROUNDING);
        rig_close(&rig);
    }
}

static void what_was_encoded_for_another_hub_is_offered_anew(void)
{
    struct rig rig;

    for (unsigned codec = 1; codec < CODEC_COUNT; codec++) {
        rig_open(&rig, (enum codec_id)codec, 7);
        rig_drift(&rig);
        rig_takes(&rig, rig.x, false);
        node_fixture_breaks(rig.f);
        rig.f->welcome.codec = CODEC_RAW;
        node_fixture_rejoins(rig.f);
        rig_hub(&rig);
        CHECK(node_fixture_sent(rig.f, MSG_CHUNK) == NULL);
        CHECK(off(&rig) > 0);
        rig.answers = 0;
        rig_offers(&rig);
        CHECK_NEAR(0, off(&rig), 0);
        rig_close(&rig);
    }
}

/* ---- norms ---- */

/* One large value and many of a little more than half a step of 4 bits: these
 * are all rounded up. */
static void t20_the_announced_norm_is_that_of_what_is_sent(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        rig_open(&rig, (enum codec_id)codec, 8);
        for (int i = 0; i < FIXTURE_ELEMENTS; i++)
            rig.x[i] = i % 4 ? 0.51f : 7;
        for (unsigned i = 0; i < 4; i++) {
            rig_offers(&rig);
            rig_answer(&rig);
            CHECK(i > 0 || rig.sent > 49);
            CHECK_NEAR(rig.sent, rig.announced, 1e-12 * rig.sent);
            rig_drift(&rig);
        }
        rig_close(&rig);
    }
}

/* ---- gradients ---- */

static void open_gradients(struct rig *rig, enum codec_id codec)
{
    rig_open(rig, codec, 9);
    node_fixture_tunes(rig->f, 1, EXCHANGE_GRADIENT);
}

static void draw_gradient(struct rig *rig, float *gradient)
{
    for (int i = 0; i < FIXTURE_ELEMENTS; i++) {
        gradient[i] = (float)prng_below(&rig->prng, 32769) / 16384 - 1;
        rig->own[i] += (double)gradient[i];
    }
}

/* Two at a time, so that the second waits for what the first leaves. */
static void t20_gradients_leave_nothing_out(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        float gradient[FIXTURE_ELEMENTS];
        struct rig rig;

        open_gradients(&rig, (enum codec_id)codec);
        for (unsigned i = 0; i < OFFERS; i++) {
            draw_gradient(&rig, gradient);
            rig_takes(&rig, gradient, false);
            draw_gradient(&rig, gradient);
            rig_gives(&rig, gradient, false);
            rig_verdict(&rig);
            rig_verdict(&rig);
        }
        CHECK((codec == CODEC_RAW) == (off(&rig) < 1e-5));
        draw_gradient(&rig, gradient);
        rig_gives(&rig, gradient, true);
        CHECK_NEAR(0, off(&rig), ROUNDING);
        rig_close(&rig);
    }
}

/* Sparsified SGD with memory (Stich, Cordonnier and Jaggi 2018): of (1, 0.4) at
 * each step the larger is sent, with all that was left of it before. */
static void t20_top_1_with_feedback_gives_the_vectors(void)
{
    static const double expected[][2] = {{1, 0},   {2, 0},   {2, 1.2},
                                         {4, 1.2}, {5, 1.2}, {5, 2.4}};
    const float gradient[FIXTURE_ELEMENTS] = {[8] = 1, [9] = 0.4f};
    struct rig rig;

    open_gradients(&rig, CODEC_TOP1);
    for (unsigned i = 0; i < 6; i++) {
        rig_gives(&rig, gradient, false);
        CHECK_NEAR(expected[i][0], rig.merged[8], 1e-6);
        CHECK_NEAR(expected[i][1], rig.merged[9], 1e-6);
    }
    rig_close(&rig);
}

/* Other parameters are taken: what gradients of the old ones left out is not
 * given to the new ones. */
static void t20_what_gradients_left_out_goes_with_the_parameters(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        float gradient[FIXTURE_ELEMENTS];
        struct rig rig;

        open_gradients(&rig, (enum codec_id)codec);
        draw_gradient(&rig, gradient);
        rig_gives(&rig, gradient, false);
        node_fixture_answers(rig.f, rig.exchange, VERB_REPLACE, 3);
        node_fixture_applied(rig.f, rig.exchange);
        rig.answers = 0;
        memset(rig.own, 0, sizeof rig.own);
        memset(rig.merged, 0, sizeof rig.merged);
        draw_gradient(&rig, gradient);
        rig_gives(&rig, gradient, true);
        CHECK_NEAR(0, off(&rig), 0);
        rig_close(&rig);
    }
}

/* ---- parameters ---- */

/* The hub moves its centre by a part of what it has decoded; the node must be
 * moved by the same part of the same. */
static void t20_an_elastic_pull_is_measured_from_what_was_sent(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;
        double before[FIXTURE_ELEMENTS];

        if (codecs[codec].use != CODEC_FOR_ALL)
            continue;
        rig_open(&rig, (enum codec_id)codec, 10);
        node_fixture_tunes(rig.f, 1, EXCHANGE_PARAMETERS);
        rig.f->weight = 0.25;
        rig_drift(&rig);
        for (int i = 0; i < FIXTURE_ELEMENTS; i++) {
            rig.x[i] += 1 / 3.0f;
            before[i] = (double)rig.x[i];
        }
        rig_offers(&rig);
        rig_answer(&rig);
        /* The centre, at first 0, was what it got. */
        for (int i = 0; i < FIXTURE_ELEMENTS; i++)
            CHECK_NEAR(before[i], (double)rig.x[i], 0);
        rig_offers(&rig);
        for (int i = 0; i < FIXTURE_ELEMENTS; i++)
            rig.waiting[0].centre[i] = rig.merged[i] / 2 + 1;
        rig_answer(&rig);
        for (int i = 0; i < FIXTURE_ELEMENTS; i++)
            CHECK_NEAR(before[i] + 0.25, (double)rig.x[i], 1e-6);
        rig_close(&rig);
    }
}

static void parameters_are_raw_where_a_codec_is_for_changes(void)
{
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct rig rig;

        if (codecs[codec].use == CODEC_FOR_ALL)
            continue;
        rig_open(&rig, (enum codec_id)codec, 11);
        node_fixture_tunes(rig.f, 1, EXCHANGE_PARAMETERS);
        rig_drift(&rig);
        rig_offers(&rig);
        CHECK_NEAR(0, off(&rig), 0);
        rig_close(&rig);
    }
}

void add_node_feedback_tests(CU_pSuite suite)
{
    TEST(t20_what_was_merged_and_what_is_left_are_all_there_was);
    TEST(t20_without_results_the_sum_is_exact);
    TEST(t20_offers_that_wait_for_each_other_give_the_same);
    TEST(t20_what_is_left_stays_small);
    TEST(a_result_makes_the_reference_one_blob);
    TEST(a_reference_stays_short_without_results);
    TEST(what_was_encoded_for_another_hub_is_offered_anew);
    TEST(t20_the_announced_norm_is_that_of_what_is_sent);
    TEST(t20_gradients_leave_nothing_out);
    TEST(t20_top_1_with_feedback_gives_the_vectors);
    TEST(t20_what_gradients_left_out_goes_with_the_parameters);
    TEST(t20_an_elastic_pull_is_measured_from_what_was_sent);
    TEST(parameters_are_raw_where_a_codec_is_for_changes);
}
