/* What the ancestor systems require of a node, by hand: the SD-* and AP-*
 * criteria, with the hub's half of each policy written out in the test. */
#include <math.h>

#include "tests/check.h"
#include "tests/node/node_fixture.h"

/* ---- SD-6, SD-7: EASGD, the side of the nodes ---- */

enum { WORKERS = 4, EXCHANGES = 12 };
#define BETA 0.43
#define ALPHA (BETA / WORKERS)

struct elastic {
    struct node_fixture *f[WORKERS];
    double x[WORKERS], sent[WORKERS][EXCHANGES + 1];
    double before[EXCHANGES + 1]; /* the centre that each exchange met */
    double centre;
};

static void elastic_start(struct elastic *star)
{
    static const double x[WORKERS] = {1, 2, 4, -3};

    star->centre = 0.5;
    for (int i = 0; i < WORKERS; i++) {
        struct node_fixture *f = node_fixture_new();

        star->f[i] = f;
        star->x[i] = x[i];
        f->welcome.exchange = EXCHANGE_PARAMETERS;
        f->weight = ALPHA;
        node_fixture_ready(f, x[i]);
    }
}

static void elastic_end(struct elastic *star)
{
    for (int i = 0; i < WORKERS; i++)
        node_fixture_destroy(&star->f[i]);
}

static void elastic_offer(struct elastic *star, uint64_t exchange)
{
    double mean = 0;

    for (int i = 0; i < WORKERS; i++) {
        node_fixture_offers(star->f[i], exchange, star->x[i]);
        star->sent[i][exchange] = node_fixture_chunk(star->f[i], exchange, 0);
        mean += star->sent[i][exchange] / WORKERS;
    }
    star->before[exchange] = star->centre;
    star->centre += BETA * (mean - star->centre);
}

/* Everybody gets the centre as it was. */
static void elastic_apply(struct elastic *star, uint64_t exchange)
{
    for (int i = 0; i < WORKERS; i++) {
        node_fixture_answers(star->f[i], exchange, VERB_REBASE,
                             star->before[exchange]);
        star->x[i] += node_fixture_apply(star->f[i], exchange, 0);
        node_fixture_applied(star->f[i], exchange);
    }
}

static double elastic_sum(const struct elastic *star)
{
    double sum = star->centre;

    for (int i = 0; i < WORKERS; i++)
        sum += star->x[i];
    return sum;
}

static void sd_06_easgd_exchanges_are_the_published_ones(void)
{
    static const double expected[2][WORKERS + 1] = {
        {0.94625, 1.83875, 3.62375, -2.62375, 0.715},
        {0.921390625, 1.717946875, 3.311059375, -2.264834375, 0.8144375}};
    struct elastic star;

    elastic_start(&star);
    for (uint64_t exchange = 1; exchange <= 2; exchange++) {
        elastic_offer(&star, exchange);
        elastic_apply(&star, exchange);
        for (int i = 0; i < WORKERS; i++)
            CHECK_NEAR(expected[exchange - 1][i], star.x[i], 1e-6);
        CHECK_NEAR(expected[exchange - 1][WORKERS], star.centre, 1e-6);
        CHECK_NEAR(4.5, elastic_sum(&star), 1e-6);
    }
    elastic_end(&star);
}

/* However late a result is, the node moves by what the centre did not. */
static void sd_07_the_sum_of_all_is_conserved_for_any_delay(void)
{
    for (uint64_t late = 0; late < 4; late++) {
        struct elastic star;
        double drift = 0;

        elastic_start(&star);
        for (uint64_t exchange = 1; exchange <= EXCHANGES; exchange++) {
            star.x[exchange % WORKERS] += 0.25;
            drift += 0.25;
            elastic_offer(&star, exchange);
            if (exchange > late)
                elastic_apply(&star, exchange - late);
        }
        for (uint64_t i = EXCHANGES - late + 1; i <= EXCHANGES; i++)
            elastic_apply(&star, i);
        CHECK_NEAR(4.5 + drift, elastic_sum(&star), 1e-5);
        elastic_end(&star);
    }
}

/* ---- SD-12: LSGD, a pull to the leader ---- */

static void sd_12_a_pull_goes_a_tenth_of_the_way_to_the_leader(void)
{
    static const double x[WORKERS] = {1, 2, 4, -3};

    for (int i = 0; i < WORKERS; i++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.exchange = EXCHANGE_PARAMETERS;
        f->weight = 0.1;
        node_fixture_ready(f, x[i]);
        node_fixture_offers(f, 1, x[i]);
        CHECK_NEAR(x[i], node_fixture_chunk(f, 1, 0), 0);
        node_fixture_answers(f, 1, VERB_PULL, 4);
        CHECK_NEAR(4, node_fixture_apply(f, 1, 0), 0);
        CHECK_NEAR(0.1,
                   node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.weight,
                   0);
        node_fixture_applied(f, 1);
        node_fixture_offers(f, 2, 0.9 * x[i] + 0.1 * 4);
        CHECK_NEAR(0.9 * x[i] + 0.1 * 4, node_fixture_chunk(f, 2, 0), 1e-6);
        node_fixture_destroy(&f);
    }
}

/* ---- SD-3: the anchor ---- */

static unsigned anchors_of(const struct node_fixture *f, double value)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->hand.sent_count; i++) {
        const struct hand_sent *sent = &f->hand.sent[i];

        if (sent->msg.kind != MSG_LOCAL_RESULT ||
            !sent->msg.local_result.anchor)
            continue;
        CHECK_NEAR(value, hand_float(sent->payload, 0), 0);
        count++;
    }
    return count;
}

/* A correction is not what was merged, so that goes to the trainer, too. */
static void sd_03_the_result_itself_is_what_to_be_pulled_to(void)
{
    for (int anchored = 0; anchored < 2; anchored++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.anchor = 0.5 * anchored;
        node_fixture_ready(f, 1);
        CHECK_NEAR(0.5 * anchored,
                   node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.anchor, 0);
        node_fixture_offers(f, 1, 3);
        node_fixture_answers(f, 1, VERB_REBASE, 10);
        CHECK_EQUAL(anchored ? FIXTURE_CHUNKS : 0, anchors_of(f, 10));
        CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
        CHECK_EQUAL(
            0, node_fixture_told(f, MSG_LOCAL_RESULT)->local_result.anchor);
        node_fixture_destroy(&f);
    }
}

/* ---- AP-6: what is exchanged ---- */

static void ap_06_gradient_progress_or_parameters_as_the_run_says(void)
{
    static const double expected[EXCHANGE_COUNT] = {[EXCHANGE_DELTA] = 2,
                                                    [EXCHANGE_GRADIENT] = 3,
                                                    [EXCHANGE_PARAMETERS] = 3};

    for (enum exchange kind = 0; kind < EXCHANGE_COUNT; kind++) {
        struct node_fixture *f = node_fixture_new();

        f->welcome.exchange = kind;
        node_fixture_ready(f, 1);
        CHECK_EQUAL(kind,
                    node_fixture_told(f, MSG_LOCAL_TUNE)->local_tune.exchange);
        node_fixture_offers(f, 1, 3);
        CHECK_EQUAL(kind, node_fixture_sent(f, MSG_OFFER)->offer.kind);
        CHECK_NEAR(expected[kind], node_fixture_chunk(f, 1, 0), 0);
        node_fixture_destroy(&f);
    }
}

/* The best one's parameters, and each keeps what it has done since. */
static void ap_09_adopting_the_best_keeps_the_own_drift(void)
{
    struct node_fixture *f = node_fixture_new();

    f->welcome.exchange = EXCHANGE_PARAMETERS;
    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_answers(f, 1, VERB_REBASE, 10); /* x = 4 + 7 */
    node_fixture_answers(f, 2, VERB_REBASE, 12);
    CHECK_NEAR(7, node_fixture_apply(f, 1, 0), 0);
    CHECK_NEAR(1, node_fixture_apply(f, 2, 0), 0);
    node_fixture_destroy(&f);
}

/* ---- AP-10: preemption ---- */

/* Flight 1 replaces the parameters while 2 and 3 are in the air. */
static struct node_fixture *preempted(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_offers(f, 3, 6);
    f->version = 8;
    f->welcome.lineage = 77;
    node_fixture_answers(f, 1, VERB_REPLACE, 50);
    CHECK_NEAR(50, node_fixture_apply(f, 1, 0), 0);
    node_fixture_applied(f, 1);
    return f;
}

static void ap_10_what_is_in_the_air_is_dropped(void)
{
    struct node_fixture *f = preempted();

    CHECK(!node_fixture_forgot(f, 1));
    CHECK_CONTAINS("version 9", hand_note(&f->hand, NOTE_TAKEN)->text);
    CHECK(node_fixture_forgot(f, 2));
    CHECK(node_fixture_forgot(f, 3));
    node_fixture_answers(f, 2, VERB_REBASE, 12);
    CHECK(isnan(node_fixture_apply(f, 2, 0)));
    node_fixture_verdicts(f, 3, 0, 3, VERDICT_EXPIRED);
    node_fixture_offers(f, 4, 50.5);
    CHECK_NEAR(0.5, node_fixture_chunk(f, 4, 0), 0);
    node_fixture_destroy(&f);
}

static void ap_10_what_was_still_to_be_given_is_dropped(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_offers(f, 2, 4);
    node_fixture_verdicts(f, 1, 0, 3, VERDICT_EXPIRED); /* 2 are put back */
    node_fixture_answers(f, 2, VERB_REPLACE, 50);
    node_fixture_applied(f, 2);
    node_fixture_offers(f, 3, 51);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

static void ap_10_it_goes_on_under_the_new_lineage(void)
{
    struct node_fixture *f = preempted();

    CHECK(node_fixture_sent(f, MSG_OFFER)->offer.lineage != 77);
    node_fixture_offers(f, 4, 50);
    CHECK_EQUAL(77, node_fixture_sent(f, MSG_OFFER)->offer.lineage);
    CHECK_EQUAL(9, node_fixture_sent(f, MSG_OFFER)->offer.base_version);
    node_fixture_destroy(&f);
}

static void ap_10_what_is_forming_is_never_offered(void)
{
    struct node_fixture *f = node_fixture_new();

    node_fixture_ready(f, 1);
    node_fixture_offers(f, 1, 3);
    node_fixture_answers(f, 1, VERB_REPLACE, 50);
    f->hand.holds_jobs = true;
    node_fixture_offers(f, 2, (double)NAN);
    node_fixture_applied(f, 1);
    f->hand.holds_jobs = false;
    hand_work(&f->hand);
    CHECK_EQUAL(1, node_fixture_sent(f, MSG_OFFER)->offer.exchange);
    CHECK(!hand_note(&f->hand, NOTE_DECLINED));
    node_fixture_offers(f, 3, 51);
    CHECK_NEAR(1, node_fixture_chunk(f, 3, 0), 0);
    node_fixture_destroy(&f);
}

void add_node_ancestors_tests(CU_pSuite suite)
{
    TEST(sd_06_easgd_exchanges_are_the_published_ones);
    TEST(sd_07_the_sum_of_all_is_conserved_for_any_delay);
    TEST(sd_12_a_pull_goes_a_tenth_of_the_way_to_the_leader);
    TEST(sd_03_the_result_itself_is_what_to_be_pulled_to);
    TEST(ap_06_gradient_progress_or_parameters_as_the_run_says);
    TEST(ap_09_adopting_the_best_keeps_the_own_drift);
    TEST(ap_10_what_is_in_the_air_is_dropped);
    TEST(ap_10_what_was_still_to_be_given_is_dropped);
    TEST(ap_10_it_goes_on_under_the_new_lineage);
    TEST(ap_10_what_is_forming_is_never_offered);
}
