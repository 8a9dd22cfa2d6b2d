/* One node attacks: the others learn what they would without it. */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6, NODES = 8, ATTACKS_AT = 8 };

enum { LIFE = 30, LONG_LIFE = 100 }; /* seconds */

static const float goal[ELEMENTS] = {1, -2, 3, -4, 5, -6};
static const struct quadratic bowl = {1, goal};

/* Each offer is about as far in the wrong direction as ten good ones. */
static double flip(const void *context, uint64_t iteration, const float *x,
                   size_t elements, float *gradient)
{
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    for (size_t i = 0; i < elements; i++)
        gradient[i] *= -10;
    return loss;
}

static double tower(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    for (size_t i = 0; iteration >= ATTACKS_AT && i < elements; i++)
        gradient[i] = 1e20f;
    return loss;
}

static double spoil(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    if (iteration >= ATTACKS_AT)
        gradient[elements / 2] = (float)NAN;
    return loss;
}

/* Says that nobody is better, and goes away from the goal. */
static double boast(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    (void)flip(context, iteration, x, elements, gradient);
    return -1000;
}

static void score(void *context, const float *theta, size_t elements,
                  double *loss, double *accuracy)
{
    (void)context;
    *loss = 0;
    *accuracy = -1;
    for (size_t i = 0; i < elements; i++)
        *loss += pow((double)theta[i] - (double)goal[i], 2);
}

/* Its steps are half as long again as good ones, back and a little aside. */
static double creep(const void *context, uint64_t iteration, const float *x,
                    size_t elements, float *gradient)
{
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    for (size_t i = 0; i < elements; i++)
        gradient[i] = gradient[i] * -1.5F + 0.2F;
    return loss;
}

/* Goes on the way that the centre goes, whichever that is, to rock it with its
 * momentum. */
static double rock(const void *context, uint64_t iteration, const float *x,
                   size_t elements, float *gradient)
{
    static float lately[ELEMENTS];
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    for (size_t i = 0; i < elements; i++) {
        lately[i] = iteration ? 0.8F * lately[i] + 0.2F * x[i] : x[i];
        gradient[i] = (lately[i] - x[i]) * 100 + 0.01F;
    }
    return loss;
}

/* How far the first of so many nodes is from the goal after a while, squared.
 * The last one is evil, and says so many samples of each iteration. The centre
 * never goes back: that would help, too. */
static double distance_of(const char *preset, trainer_gradient *evil,
                          unsigned nodes, uint64_t samples, nanos life)
{
    static const char *const names[NODES] = {"n1", "n2", "n3", "n4",
                                             "n5", "n6", "n7", "n8"};
    const struct model honest = {trainer_quadratic, &bowl, 0.1, 0, NULL, NULL};
    const struct model attacker = {evil, &bowl, 0.1, 0, NULL, NULL};
    struct lab *lab = lab_new(ELEMENTS);
    double far, accuracy;

    lab->config.hub.policy = preset_find(preset)->policy;
    lab->config.hub.policy.numbers.rollback = 0;
    lab->config.hub.nodes = nodes;
    lab->config.hub.every = 2;
    lab->config.hooks.evaluate = score;
    lab_open(lab, 5);
    for (unsigned i = 0; i + 1 < nodes; i++)
        lab_add(lab, names[i], &honest);
    lab->samples = samples;
    lab_add(lab, names[nodes - 1], &attacker);
    CHECK(lab_run(lab, life));
    score(NULL, trainer_values(world_trainer(lab->world, 0)), ELEMENTS, &far,
          &accuracy);
    lab_destroy(&lab);
    return far;
}

static double distance(const char *preset, trainer_gradient *evil)
{
    return distance_of(preset, evil, NODES, 1, LIFE * SECOND);
}

/* It began 91 away. */
#define NEAR 0.1

static void the_default_bears_what_is_obvious(void)
{
    CHECK(distance("diloco", trainer_quadratic) < NEAR);
    CHECK(distance("diloco", spoil) < NEAR);
    CHECK(distance("diloco", tower) < NEAR);
    CHECK(distance("async", tower) < NEAR);
}

/* Whatever it says of its samples, and however it turns its progress. */
static void no_byzantine_node_of_three_or_more_outweighs_the_others(void)
{
    static trainer_gradient *const ways[] = {flip, creep, tower, rock};
    static const uint64_t samples[] = {1, 1000000000000000000};

    for (unsigned nodes = 3; nodes <= 6; nodes++)
        for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++)
            for (unsigned i = 0; i < 2; i++)
                CHECK(distance_of("diloco", ways[way], nodes, samples[i],
                                  LONG_LIFE * SECOND) < NEAR);
}

static void robust_bears_all(void)
{
    CHECK(distance("robust", trainer_quadratic) < NEAR);
    CHECK(distance("robust", spoil) < NEAR);
    CHECK(distance("robust", tower) < NEAR);
    CHECK(distance("robust", flip) < NEAR);
    CHECK(distance("robust", boast) < NEAR);
}

static void who_boasts_is_not_followed(void)
{
    CHECK(distance("best", boast) < NEAR);
    CHECK(distance("top", boast) < NEAR);
}

static void without_protection_it_does_not_bear_them(void)
{
    CHECK(!(distance("mean", tower) < 1e6));
    CHECK(!(distance("mean", flip) < NEAR));
}

void add_sim_attackers_tests(CU_pSuite suite)
{
    TEST(the_default_bears_what_is_obvious);
    TEST(no_byzantine_node_of_three_or_more_outweighs_the_others);
    TEST(robust_bears_all);
    TEST(who_boasts_is_not_followed);
    TEST(without_protection_it_does_not_bear_them);
}
