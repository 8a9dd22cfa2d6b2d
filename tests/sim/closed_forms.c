/* The algorithms' closed forms, through the real hub and nodes. */
#include <math.h>
#include <string.h>

#include "core/prng.h"
#include "tests/check.h"
#include "tests/sim/lab.h"

static const float four_centres[4] = {1, -2, 4, 5};
static const char *const names[] = {"n1", "n2", "n3", "n4"};

static void add_quadratics(struct lab *lab, struct quadratic *functions,
                           unsigned count, double rate)
{
    for (unsigned i = 0; i < count; i++) {
        struct model model = {
            trainer_quadratic, &functions[i], rate, 0, NULL, NULL};

        lab_add(lab, names[i], &model);
    }
}

static void four_equal(struct quadratic functions[4])
{
    for (unsigned i = 0; i < 4; i++)
        functions[i] = (struct quadratic){1, &four_centres[i]};
}

static void check_series(struct lab *lab, const double *expected,
                         unsigned count)
{
    if (!lab_run_rounds(lab, count))
        return;
    for (unsigned i = 0; i < count; i++)
        CHECK_NEAR(expected[i], lab_value(lab, i + 1), 2e-6);
}

static void t01_synchronous_gradient_average_follows_its_closed_form(void)
{
    const double expected[] = {9.2, 8.48, 7.832, 7.2488};
    struct quadratic functions[4];
    struct lab *lab = lab_new(1);

    four_equal(functions);
    lab->start[0] = 10;
    lab->config.hub.policy.exchange = EXCHANGE_GRADIENT;
    lab->config.hub.policy.numbers.outer_lr = 0.1;
    lab->config.hub.nodes = 4;
    lab_open(lab, 1);
    add_quadratics(lab, functions, 4, 0.1);
    check_series(lab, expected, 4);
    lab_destroy(&lab);
}

/* The preset as it is: the mean of gradients at every step. */
static void sd_22_ddp_is_the_baseline_to_compare_with(void)
{
    const double expected[] = {9.2, 8.48, 7.832, 7.2488};
    struct quadratic functions[4];
    struct lab *lab = lab_new(1);

    four_equal(functions);
    lab->start[0] = 10;
    lab->config.hub.policy = preset_find("ddp")->policy;
    lab->config.hub.nodes = 4;
    lab_open(lab, 22);
    add_quadratics(lab, functions, 4, 0.1);
    check_series(lab, expected, 4);
    lab_destroy(&lab);
}

static void t02_fedavg_follows_its_closed_form(void)
{
    const double expected[] = {6.72392, 4.789427521, 3.647129057, 2.972613237};
    struct quadratic functions[4];
    struct lab *lab = lab_new(1);

    four_equal(functions);
    lab->start[0] = 10;
    lab->config.hub.every = 5;
    lab->config.hub.nodes = 4;
    lab_open(lab, 2);
    add_quadratics(lab, functions, 4, 0.1);
    check_series(lab, expected, 4);
    lab_destroy(&lab);
}

static void check_drift(uint64_t every, uint64_t rounds, double expected)
{
    static const float centres[2] = {0, 1};
    struct quadratic functions[2] = {{1, &centres[0]}, {4, &centres[1]}};
    struct lab *lab = lab_new(1);

    lab->config.hub.every = every;
    lab->config.hub.nodes = 2;
    lab_open(lab, 3);
    add_quadratics(lab, functions, 2, 0.1);
    if (lab_run_rounds(lab, rounds))
        CHECK_NEAR(expected, lab_value(lab, rounds), 1e-5);
    lab_destroy(&lab);
}

static void t03_unequal_curvatures_drift_to_the_published_points(void)
{
    check_drift(1, 80, 0.8);
    check_drift(10, 60, 0.604126007663);
    check_drift(1000, 3, 0.5);
}

/* theta -= eps (D + mu m), m = mu m + D, is the same as
 * theta -= eps (mu^2 m_old + (1 + mu) D). */
static void t05_both_nesterov_forms_are_equal(void)
{
    const struct preset *diloco = preset_find("diloco");
    const struct policy_numbers *numbers = &diloco->policy.numbers;
    const double lr = numbers->outer_lr, mu = numbers->outer_momentum;
    float theta[16] = {0}, velocity[16] = {0};
    double other[16] = {0}, momentum[16] = {0};
    struct prng prng;

    prng_seed(&prng, 5);
    for (unsigned round = 0; round < 50; round++) {
        double mean[16];

        for (unsigned i = 0; i < 16; i++) {
            mean[i] = prng_unit(&prng) - 0.5;
            other[i] -= lr * (mu * mu * momentum[i] - (1 + mu) * mean[i]);
            momentum[i] = mu * momentum[i] - mean[i];
        }
        diloco->policy.merge->step(&(struct merge_tile){.value = mean,
                                                        .sign = 1,
                                                        .count = 16,
                                                        .theta = theta,
                                                        .slot = {velocity},
                                                        .numbers = numbers});
    }
    for (unsigned i = 0; i < 16; i++)
        CHECK_NEAR(other[i], (double)theta[i], 1e-5);
}

/* ---- T13 ---- */

/* Nodes of different speed, whose rounds close by this gate. */
static struct lab *rounds_of(const struct gate_rule *gate, double grace)
{
    static const float centres[5] = {3, -1, 0.1f, 7, 0.7f};
    static const struct quadratic functions[3] = {
        {1, centres}, {0.3, centres}, {2, centres}};
    struct lab *lab = lab_new(5);

    lab->config.hub.policy.gate = gate;
    lab->config.hub.policy.numbers.quorum = 0;
    lab->config.hub.policy.numbers.grace = grace;
    lab->config.hub.every = 4;
    lab->config.hub.delay = 2;
    lab->config.hub.miss = MISS_WAIT;
    lab->config.hub.nodes = 3;
    lab_open(lab, 13);
    for (unsigned i = 0; i < 3; i++) {
        struct model model = {trainer_quadratic,
                              &functions[i],
                              0.1,
                              (100 + 150 * (nanos)i) * MILLISECOND,
                              NULL,
                              NULL};

        lab_add(lab, names[i], &model);
    }
    (void)lab_run_rounds(lab, 30);
    return lab;
}

static unsigned rounds_differing(const struct lab *one, const struct lab *other)
{
    unsigned count = 0;

    for (uint64_t i = 1; i <= 30; i++)
        count += lab_differing(one, i, lab_values(other, i)) > 0;
    return count;
}

static void t13_endless_grace_is_sync_on_a_star_to_the_last_bit(void)
{
    struct lab *sync = rounds_of(&gate_sync, 0);
    struct lab *endless = rounds_of(&gate_quorum, 1e6);
    struct lab *none = rounds_of(&gate_quorum, 0);

    CHECK_EQUAL(0, rounds_differing(sync, endless));
    CHECK(rounds_differing(sync, none) > 25);
    lab_destroy(&sync);
    lab_destroy(&endless);
    lab_destroy(&none);
}

/* ---- T16 ---- */

enum { EVERY = 8, SENDS = 64 };

/* Does what a node would do that knew only to overwrite: x = v. */
struct overwriter {
    float before; /* x at the end of the last iteration */
    float sent[SENDS];
};

static void overwrite(void *observer, const struct trainer_look *look)
{
    struct overwriter *overwriter = observer;

    if (look->moment == TRAINER_STEPPED)
        overwriter->before = look->x[0];
    else if (look->moment == TRAINER_OFFERED)
        overwriter->sent[look->exchange % SENDS] = look->x[0];
    else if (look->moment == TRAINER_APPLIED && look->exchange > 0)
        look->x[0] = overwriter->sent[look->exchange % SENDS] +
                     (look->x[0] - overwriter->before);
}

static double plain_descent(double x, double centre, unsigned iterations)
{
    while (iterations--)
        x -= 0.1 * (x - centre);
    return x;
}

/* Three equal nodes do what one would do alone, for any delay. */
static void check_lossless(uint64_t delay)
{
    static const float centre = 2;
    struct quadratic functions[3] = {{1, &centre}, {1, &centre}, {1, &centre}};
    struct lab *lab = lab_new(1);

    lab->start[0] = 10;
    lab->config.hub.every = EVERY;
    lab->config.hub.delay = delay;
    lab->config.hub.nodes = 3;
    lab_open(lab, 16);
    add_quadratics(lab, functions, 3, 0.1);
    if (lab_run_rounds(lab, 6))
        for (unsigned i = 1; i <= 6; i++)
            CHECK_NEAR(plain_descent(10, 2, i * EVERY), lab_value(lab, i),
                       1e-5);
    lab_destroy(&lab);
}

static void t16_rebase_loses_nothing_and_overwrite_stands_still_at_k(void)
{
    static const float centre = 2;
    struct quadratic functions[2] = {{1, &centre}, {1, &centre}};
    struct overwriter overwriters[2] = {{0, {0}}, {0, {0}}};
    struct lab *lab = lab_new(1);

    check_lossless(0);
    check_lossless(EVERY / 2);
    check_lossless(EVERY);
    check_lossless(5 * EVERY / 2);
    lab->start[0] = 10;
    lab->config.hub.every = lab->config.hub.delay = EVERY;
    lab->config.hub.nodes = 2;
    lab_open(lab, 17);
    for (unsigned i = 0; i < 2; i++) {
        struct model model = {trainer_quadratic, &functions[i],  0.1, 0,
                              overwrite,         &overwriters[i]};

        lab_add(lab, names[i], &model);
    }
    if (lab_run_rounds(lab, 8))
        for (unsigned i = 2; i <= 8; i++)
            CHECK_NEAR(lab_value(lab, 1), lab_value(lab, i), 1e-5);
    lab_destroy(&lab);
}

void add_sim_closed_forms_tests(CU_pSuite suite)
{
    TEST(t01_synchronous_gradient_average_follows_its_closed_form);
    TEST(sd_22_ddp_is_the_baseline_to_compare_with);
    TEST(t02_fedavg_follows_its_closed_form);
    TEST(t03_unequal_curvatures_drift_to_the_published_points);
    TEST(t05_both_nesterov_forms_are_equal);
    TEST(t13_endless_grace_is_sync_on_a_star_to_the_last_bit);
    TEST(t16_rebase_loses_nothing_and_overwrite_stands_still_at_k);
}
