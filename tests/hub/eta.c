/* The estimate of the time that is left, of walks and curves whose end is
 * known. */
#include "hub/eta.h"

#include <math.h>
#include <stdlib.h>

#include "core/prng.h"
#include "tests/check.h"

enum { SEEDS = 300, QUARTERS = 3 };

/* Of one quarter of the way, all seeds together. */
struct quarter {
    unsigned known, within; /* two spreads of the truth */
    double off;             /* from it, as a share, added up */
};

static void judge(struct quarter *quarter, struct eta_left left, double truth)
{
    if (!left.known)
        return;
    quarter->known++;
    quarter->within += fabs(left.seconds - truth) <= 2 * left.spread;
    quarter->off += fabs(left.seconds - truth) / truth;
}

/* ---- counts ---- */

/* Ten a second, give or take; every so often nothing for a while. */
static double step_of(struct prng *prng)
{
    double step = 2.5 + 1.0 * prng_normal(prng);

    return prng_unit(prng) < 0.02 || step < 0 ? 0 : step;
}

static void walk(uint64_t seed, double target, struct quarter *quarters)
{
    struct eta_left left[QUARTERS] = {{false, 0, 0}};
    double at[QUARTERS] = {0}, value = 0, seconds = 0;
    struct eta_track track = {0};
    struct prng prng;
    unsigned passed = 0;

    prng_seed(&prng, seed);
    while (value < target) {
        seconds += 0.25;
        value += step_of(&prng);
        eta_note_count(&track, (nanos)(seconds * (double)SECOND), value);
        if (passed < QUARTERS && value >= target * (passed + 1) / 4) {
            left[passed] = eta_of_count(&track, value, target);
            at[passed++] = seconds;
        }
    }
    for (unsigned i = 0; i < passed; i++)
        judge(&quarters[i], left[i], seconds - at[i]);
}

static void the_spread_of_a_count_covers_the_truth(void)
{
    struct quarter quarters[QUARTERS] = {{0, 0, 0}};

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        walk(seed, 2000, quarters);
    for (unsigned i = 0; i < QUARTERS; i++) {
        CHECK_EQUAL(SEEDS, quarters[i].known);
        /* Two standard deviations are 95 %; and no excuse of a spread. */
        CHECK(quarters[i].within >= SEEDS * 90 / 100);
        CHECK(quarters[i].off / SEEDS < 0.06);
    }
}

static void the_estimate_of_a_count_converges(void)
{
    struct eta_track track = {0};
    struct prng prng;
    double value = 0, spread = INFINITY;
    nanos now = 0;

    prng_seed(&prng, 5);
    while (value < 4000) {
        now += SECOND / 4;
        value += step_of(&prng);
        eta_note_count(&track, now, value);
        if (now % (100 * SECOND) == 0) {
            struct eta_left left = eta_of_count(&track, value, 4000);

            CHECK(left.known && left.spread < spread);
            spread = left.spread;
        }
    }
    CHECK(spread < 5);
}

static void at_first_nothing_is_known(void)
{
    struct eta_track track = {0};

    CHECK(!eta_of_count(&track, 0, 10).known);
    for (unsigned i = 1; i < 8; i++)
        eta_note_count(&track, i * SECOND, i);
    CHECK(!eta_of_count(&track, 7, 10).known);
    CHECK(!eta_of_score(&track, 0, 8 * SECOND, 1).known);
}

static void what_does_not_move_has_no_end(void)
{
    struct eta_track track = {0};

    for (unsigned i = 1; i < 200; i++)
        eta_note_count(&track, i * SECOND, 7);
    CHECK(!eta_of_count(&track, 7, 10).known);
}

static void what_is_there_takes_no_time(void)
{
    struct eta_track track = {0};
    struct eta_left left = eta_of_count(&track, 10, 10);

    CHECK(left.known);
    CHECK_NEAR(0, left.seconds, 0);
}

static void a_rate_that_changes_is_followed(void)
{
    struct eta_track track = {0};
    double value = 0;
    nanos now = 0;

    while (value < 1000) {
        now += SECOND;
        eta_note_count(&track, now, value += now < 20 * SECOND ? 1 : 10);
    }
    CHECK_NEAR(100, eta_of_count(&track, value, 2000).seconds, 5);
}

static void a_count_that_falls_begins_anew(void)
{
    struct eta_track track = {0};

    for (unsigned i = 1; i < 100; i++)
        eta_note_count(&track, i * SECOND, i);
    eta_note_count(&track, 100 * SECOND, 3);
    CHECK(!eta_of_count(&track, 3, 10).known);
}

/* ---- scores ---- */

static double loss_at(double seconds, struct prng *prng)
{
    return 5 * pow(seconds, -0.4) * exp(0.03 * prng_normal(prng));
}

/* Until a score is there that meets the goal. */
static void learn(uint64_t seed, double goal, struct quarter *quarters)
{
    static const double asked[QUARTERS] = {0.25, 0.5, 0.75};
    double usual = pow(5 / goal, 1 / 0.4), at[QUARTERS], seconds = 0, loss = 9;
    struct eta_left left[QUARTERS] = {{false, 0, 0}};
    struct eta_track track = {0};
    unsigned passed = 0;
    struct prng prng;

    prng_seed(&prng, seed);
    while (loss > goal) {
        nanos now = (nanos)(++seconds * (double)SECOND);

        loss = loss_at(seconds, &prng);
        eta_note_score(&track, now, loss);
        if (passed < QUARTERS && seconds >= asked[passed] * usual) {
            left[passed] = eta_of_score(&track, 0, now, goal);
            at[passed++] = seconds;
        }
    }
    for (unsigned i = 0; i < passed; i++)
        if (seconds > at[i])
            judge(&quarters[i], left[i], seconds - at[i]);
}

static void the_spread_of_a_score_covers_the_truth(void)
{
    struct quarter quarters[QUARTERS] = {{0, 0, 0}};

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        learn(seed, 0.5, quarters);
    for (unsigned i = 0; i < QUARTERS; i++) {
        CHECK(quarters[i].known > SEEDS * 90 / 100);
        CHECK(quarters[i].within >= quarters[i].known * 90 / 100);
    }
}

static void a_score_that_does_not_fall_meets_no_goal(void)
{
    struct eta_track track = {0};
    struct prng prng;

    prng_seed(&prng, 3);
    for (unsigned i = 1; i < 500; i++)
        eta_note_score(&track, i * SECOND, 1 + 0.01 * prng_unit(&prng));
    CHECK(!eta_of_score(&track, 0, 500 * SECOND, 0.5).known);
}

static void a_goal_that_is_too_far_is_not_foretold(void)
{
    struct eta_track track = {0};
    struct prng prng;

    prng_seed(&prng, 3);
    for (unsigned i = 1; i < 100; i++)
        eta_note_score(&track, i * SECOND, loss_at(i, &prng));
    CHECK(eta_of_score(&track, 0, 100 * SECOND, 0.5).known);
    CHECK(!eta_of_score(&track, 0, 100 * SECOND, 0.1).known);
}

void add_hub_eta_tests(CU_pSuite suite)
{
    TEST(the_spread_of_a_count_covers_the_truth);
    TEST(the_estimate_of_a_count_converges);
    TEST(at_first_nothing_is_known);
    TEST(what_does_not_move_has_no_end);
    TEST(what_is_there_takes_no_time);
    TEST(a_rate_that_changes_is_followed);
    TEST(a_count_that_falls_begins_anew);
    TEST(the_spread_of_a_score_covers_the_truth);
    TEST(a_score_that_does_not_fall_meets_no_goal);
    TEST(a_goal_that_is_too_far_is_not_foretold);
}
