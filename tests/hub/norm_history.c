/* Updates that come alone are measured by those before them. */
#include "hub/norm_history.h"

#include <math.h>

#include "tests/check.h"
#include "tests/hub/bench.h"

/* An exchange of ten equal values that says its true length; what chunk 0 of
 * the centre is then. */
static double gives(struct bench *bench, struct guest *guest, uint64_t exchange,
                    double value)
{
    struct msg_offer offer = {.exchange = exchange,
                              .base_version = bench_look(bench)->version,
                              .samples = 1,
                              .norm = fabs(value) * sqrt(BENCH_ELEMENTS),
                              .score = NO_SCORE};
    double centre;

    hand_forget(&bench->hand);
    guest_offer(bench, guest, &offer);
    guest_delivers_all(bench, guest, exchange, value);
    centre = guest_result(bench, guest, exchange, 0);
    guest_returns(bench, guest, exchange);
    return centre;
}

static struct bench *bench_of(const char *preset)
{
    struct bench *bench = bench_new();

    bench->config.policy = preset_find(preset)->policy;
    return bench;
}

static void one_alone_may_offer_twice_what_it_usually_does(void)
{
    struct bench *bench = bench_of("async");
    struct guest a = guest_alone(bench);

    CHECK_NEAR(101, gives(bench, &a, 1, 100), 0); /* nothing is known */
    for (uint64_t i = 2; i <= UINT64_C(2) * NORMS_KEPT; i++)
        (void)gives(bench, &a, i, 1);
    CHECK_NEAR(118, gives(bench, &a, 100, 2), 1e-4);
    CHECK_NEAR(120, gives(bench, &a, 101, 1e6), 1e-4);
    bench_destroy(&bench);
}

static void a_giant_among_three_cannot_raise_the_measure(void)
{
    struct bench *bench = bench_of("async");
    struct guest a = guest_alone(bench), b = guest_comes(bench, "b"),
                 c = guest_comes(bench, "c");
    double before, after;

    for (uint64_t i = 1; i <= NORMS_KEPT; i++) {
        (void)gives(bench, &a, i, 0.3);
        (void)gives(bench, &b, i, 0.3);
        (void)gives(bench, &c, i, 1e9);
    }
    before = gives(bench, &a, 100, 0);
    after = gives(bench, &c, 100, 1e9);
    CHECK_NEAR(0.2, after - before, 1e-3); /* 2 x 0.3 / 3 */
    bench_destroy(&bench);
}

static void fragments_are_measured_apart(void)
{
    struct bench *bench = bench_of("async");
    struct guest a;
    double first;

    bench->config.fragments = 2;
    a = guest_alone(bench);
    for (uint64_t i = 1; i <= 4; i++) {
        struct msg_offer offer = {.exchange = i,
                                  .fragment = (uint32_t)(i % 2),
                                  .base_version = bench_look(bench)->version,
                                  .samples = 1,
                                  .norm = i % 2 ? 2 : 200 * sqrt(6),
                                  .score = NO_SCORE};

        hand_forget(&bench->hand);
        guest_offer(bench, &a, &offer);
        if (i % 2) {
            guest_delivers(bench, &a, i, 1, 1);
        } else {
            guest_delivers(bench, &a, i, 0, 200);
            guest_delivers(bench, &a, i, 2, 200);
        }
        first = guest_result(bench, &a, i, i % 2);
        guest_returns(bench, &a, i);
    }
    CHECK_NEAR(401, first, 1e-3);
    bench_destroy(&bench);
}

void add_hub_norm_history_tests(CU_pSuite suite)
{
    TEST(one_alone_may_offer_twice_what_it_usually_does);
    TEST(a_giant_among_three_cannot_raise_the_measure);
    TEST(fragments_are_measured_apart);
}
