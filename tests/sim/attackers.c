/* One of eight nodes attacks: the others learn what they would without it. */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6, NODES = 8, ATTACKS_AT = 8 };

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

/* How far the first node is from the goal after thirty seconds, squared. The
 * centre never goes back: that would help, too. */
static double distance(const char *preset, trainer_gradient *evil)
{
    static const char *const names[NODES] = {"n1", "n2", "n3", "n4",
                                             "n5", "n6", "n7", "evil"};
    const struct model honest = {trainer_quadratic, &bowl, 0.1, 0, NULL, NULL};
    const struct model attacker = {evil, &bowl, 0.1, 0, NULL, NULL};
    struct lab *lab = lab_new(ELEMENTS);
    double far, accuracy;

    lab->config.hub.policy = preset_find(preset)->policy;
    lab->config.hub.policy.numbers.rollback = 0;
    lab->config.hub.nodes = NODES;
    lab->config.hub.every = 2;
    lab->config.hooks.evaluate = score;
    lab_open(lab, 5);
    for (unsigned i = 0; i < NODES; i++)
        lab_add(lab, names[i], i == NODES - 1 ? &attacker : &honest);
    CHECK(lab_run(lab, 30 * SECOND));
    score(NULL, trainer_values(world_trainer(lab->world, 0)), ELEMENTS, &far,
          &accuracy);
    lab_destroy(&lab);
    return far;
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
    TEST(robust_bears_all);
    TEST(who_boasts_is_not_followed);
    TEST(without_protection_it_does_not_bear_them);
}
