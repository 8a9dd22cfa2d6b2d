/* What becomes of offers that lag behind the centre: ElasticDL's two modes. */
#include "tests/check.h"
#include "tests/hub/hub_fixture.h"

/* A hub whose only node has brought its centre to this version, all ones. */
static struct hub_fixture *at_version(struct hub_fixture *f, uint64_t version,
                                      struct fake_node *node)
{
    hub_fixture_open(f);
    *node = fake_node_comes(f, "a");
    fake_node_founds(f, node, 1);
    for (uint64_t i = 1; i <= version; i++) {
        fake_node_gives(f, node, i, 0);
        fake_node_credits(f, node, i, FIXTURE_BYTES);
    }
    CHECK_EQUAL(version, hub_fixture_look(f)->version);
    return f;
}

/* Whether a hub of version 6 with this tolerance takes an offer that lags. */
static bool takes(uint64_t tolerance, uint64_t lag)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 9,
                              .base_version = 6 - lag,
                              .samples = 1,
                              .score = NO_SCORE};
    struct fake_node a;
    bool taken;

    f->config.staleness = tolerance;
    f->config.policy.exchange = EXCHANGE_GRADIENT;
    (void)at_version(f, 6, &a);
    hand_forget(&f->hand);
    fake_node_offer(f, &a, &offer);
    taken = fake_node_heard_count(f, &a, MSG_GRANT) > 0;
    if (!taken)
        CHECK_EQUAL(VERDICT_STALE, fake_node_verdict(f, &a, 9, 0));
    hub_fixture_destroy(&f);
    return taken;
}

static void ef_09_an_offer_may_lag_as_far_as_the_tolerance(void)
{
    for (uint64_t tolerance = 0; tolerance <= 3; tolerance++)
        for (uint64_t lag = 0; lag <= 4; lag++)
            CHECK_EQUAL(lag <= tolerance, takes(tolerance, lag));
}

/* Hundreds of versions after a restart would be a spike in every curve. */
static void who_has_just_come_lags_behind_nothing(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node a;

    (void)at_version(f, 6, &a);
    (void)fake_node_comes(f, "b");
    CHECK_EQUAL(0, hub_fixture_node(f, "b")->lag);
    hub_fixture_destroy(&f);
}

static void ef_09_so_many_gradients_are_one_step_and_one_version(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct fake_node nodes[3];

    f->config.policy.exchange = EXCHANGE_GRADIENT;
    f->config.policy.numbers.outer_lr = 0.5;
    f->config.staleness = 0;
    hub_fixture_open(f);
    nodes[0] = fake_node_comes(f, "a");
    nodes[1] = fake_node_comes(f, "b");
    nodes[2] = fake_node_comes(f, "c");
    fake_node_founds(f, &nodes[0], 1);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(0, hub_fixture_look(f)->version);
        fake_node_gives(f, &nodes[i], 1, 1 + i);
    }
    CHECK_EQUAL(1, hub_fixture_look(f)->version);
    CHECK_NEAR(1 - 0.5 * (1 + 2 + 3) / 3, fake_node_result(f, &nodes[0], 1, 0),
               1e-6);
    hub_fixture_destroy(&f);
}

/* How far a gradient of 1 with this lag moves the centre at rate 1. */
static double moves(const struct damping_rule *damping, uint64_t lag)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {.exchange = 9,
                              .base_version = 6 - lag,
                              .samples = 1,
                              .score = NO_SCORE};
    struct fake_node a;
    double moved;

    f->config.staleness = 1000;
    f->config.policy.exchange = EXCHANGE_GRADIENT;
    f->config.policy.gate = &gate_async;
    f->config.policy.damping = damping;
    (void)at_version(f, 6, &a);
    fake_node_offer(f, &a, &offer);
    fake_node_delivers_all(f, &a, 9, 1);
    moved = 1 - fake_node_result(f, &a, 9, 0);
    CHECK_EQUAL(7, hub_fixture_look(f)->version);
    hub_fixture_destroy(&f);
    return moved;
}

static void ef_10_async_takes_every_gradient_however_old(void)
{
    for (uint64_t lag = 0; lag <= 6; lag++)
        CHECK_NEAR(1, moves(&damping_none, lag), 1e-6);
}

static void ef_10_the_rate_is_divided_by_the_staleness(void)
{
    CHECK_NEAR(1, moves(&damping_inverse, 0), 1e-6);
    for (uint64_t lag = 1; lag <= 6; lag++)
        CHECK_NEAR(1 / (double)lag, moves(&damping_inverse, lag), 1e-6);
}

/* Two nodes were cut off for 90 s, and lost 9,000 iterations of 9,111. */
static void progress_that_is_late_is_damped_and_people_are_told(void)
{
    struct hub_fixture *f = hub_fixture_new();
    struct msg_offer offer = {
        .exchange = 9, .base_version = 2, .samples = 1, .score = NO_SCORE};
    struct fake_node a;

    f->config.staleness = 1;
    (void)at_version(f, 6, &a);
    fake_node_offer(f, &a, &offer);
    if (CHECK(hand_note(&f->hand, NOTE_DECLINED) != NULL))
        CHECK_CONTAINS("it counts for 25 %",
                       hand_note(&f->hand, NOTE_DECLINED)->text);
    fake_node_delivers_all(f, &a, 9, 1);
    CHECK_NEAR(1.25, fake_node_result(f, &a, 9, 0), 1e-6);
    hub_fixture_destroy(&f);
}

void add_hub_staleness_tests(CU_pSuite suite)
{
    TEST(progress_that_is_late_is_damped_and_people_are_told);
    TEST(who_has_just_come_lags_behind_nothing);
    TEST(ef_09_an_offer_may_lag_as_far_as_the_tolerance);
    TEST(ef_09_so_many_gradients_are_one_step_and_one_version);
    TEST(ef_10_async_takes_every_gradient_however_old);
    TEST(ef_10_the_rate_is_divided_by_the_staleness);
}
