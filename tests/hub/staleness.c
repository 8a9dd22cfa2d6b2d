/* What becomes of offers that lag behind the centre: ElasticDL's two modes. */
#include "tests/check.h"
#include "tests/hub/bench.h"

/* A hub whose only node has brought its centre to this version, all ones. */
static struct bench *at_version(struct bench *bench, uint64_t version,
                                struct guest *guest)
{
    bench_open(bench);
    *guest = guest_comes(bench, "a");
    guest_founds(bench, guest, 1);
    for (uint64_t i = 1; i <= version; i++) {
        guest_gives(bench, guest, i, 0);
        guest_credits(bench, guest, i, BENCH_BYTES);
    }
    CHECK_EQUAL(version, bench_look(bench)->version);
    return bench;
}

/* Whether a hub of version 6 with this tolerance takes an offer that lags. */
static bool takes(uint64_t tolerance, uint64_t lag)
{
    struct bench *bench = bench_new();
    struct msg_offer offer = {.exchange = 9,
                              .base_version = 6 - lag,
                              .samples = 1,
                              .score = NO_SCORE};
    struct guest a;
    bool taken;

    bench->config.staleness = tolerance;
    bench->config.policy.exchange = EXCHANGE_GRADIENT;
    (void)at_version(bench, 6, &a);
    hand_forget(&bench->hand);
    guest_offer(bench, &a, &offer);
    taken = guest_heard_count(bench, &a, MSG_GRANT) > 0;
    if (!taken)
        CHECK_EQUAL(VERDICT_STALE, guest_verdict(bench, &a, 9, 0));
    bench_destroy(&bench);
    return taken;
}

static void ef_09_an_offer_may_lag_as_far_as_the_tolerance(void)
{
    for (uint64_t tolerance = 0; tolerance <= 3; tolerance++)
        for (uint64_t lag = 0; lag <= 4; lag++)
            CHECK_EQUAL(lag <= tolerance, takes(tolerance, lag));
}

static void ef_09_so_many_gradients_are_one_step_and_one_version(void)
{
    struct bench *bench = bench_new();
    struct guest guests[3];

    bench->config.policy.exchange = EXCHANGE_GRADIENT;
    bench->config.policy.numbers.outer_lr = 0.5;
    bench->config.staleness = 0;
    bench_open(bench);
    guests[0] = guest_comes(bench, "a");
    guests[1] = guest_comes(bench, "b");
    guests[2] = guest_comes(bench, "c");
    guest_founds(bench, &guests[0], 1);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQUAL(0, bench_look(bench)->version);
        guest_gives(bench, &guests[i], 1, 1 + i);
    }
    CHECK_EQUAL(1, bench_look(bench)->version);
    CHECK_NEAR(1 - 0.5 * (1 + 2 + 3) / 3, guest_result(bench, &guests[0], 1, 0),
               1e-6);
    bench_destroy(&bench);
}

/* How far a gradient of 1 with this lag moves the centre at rate 1. */
static double moves(const struct damping_rule *damping, uint64_t lag)
{
    struct bench *bench = bench_new();
    struct msg_offer offer = {.exchange = 9,
                              .base_version = 6 - lag,
                              .samples = 1,
                              .score = NO_SCORE};
    struct guest a;
    double moved;

    bench->config.staleness = 1000;
    bench->config.policy.exchange = EXCHANGE_GRADIENT;
    bench->config.policy.gate = &gate_async;
    bench->config.policy.damping = damping;
    (void)at_version(bench, 6, &a);
    guest_offer(bench, &a, &offer);
    guest_delivers_all(bench, &a, 9, 1);
    moved = 1 - guest_result(bench, &a, 9, 0);
    CHECK_EQUAL(7, bench_look(bench)->version);
    bench_destroy(&bench);
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
    struct bench *bench = bench_new();
    struct msg_offer offer = {
        .exchange = 9, .base_version = 2, .samples = 1, .score = NO_SCORE};
    struct guest a;

    bench->config.staleness = 1;
    (void)at_version(bench, 6, &a);
    guest_offer(bench, &a, &offer);
    if (CHECK(hand_note(&bench->hand, NOTE_DECLINED) != NULL))
        CHECK_CONTAINS("it counts for 25 %",
                       hand_note(&bench->hand, NOTE_DECLINED)->text);
    guest_delivers_all(bench, &a, 9, 1);
    CHECK_NEAR(1.25, guest_result(bench, &a, 9, 0), 1e-6);
    bench_destroy(&bench);
}

void add_hub_staleness_tests(CU_pSuite suite)
{
    TEST(progress_that_is_late_is_damped_and_people_are_told);
    TEST(ef_09_an_offer_may_lag_as_far_as_the_tolerance);
    TEST(ef_09_so_many_gradients_are_one_step_and_one_version);
    TEST(ef_10_async_takes_every_gradient_however_old);
    TEST(ef_10_the_rate_is_divided_by_the_staleness);
}
