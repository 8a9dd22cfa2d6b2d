/* A poisoned centre comes back, on the star. */
#include <math.h>

#include "tests/check.h"
#include "tests/sim/lab.h"

enum { ELEMENTS = 6, NODES = 4, ATTACKS_AT = 40 };

static const float goal[ELEMENTS] = {1, -2, 3, -4, 5, -6};
static const struct quadratic bowl = {1, goal};

/* Honest but for a single step, out of which comes an enormous offer. */
static double attack(const void *context, uint64_t iteration, const float *x,
                     size_t elements, float *gradient)
{
    double loss = trainer_quadratic(context, iteration, x, elements, gradient);

    for (size_t i = 0; iteration == ATTACKS_AT && i < elements; i++)
        gradient[i] = 1e27f;
    return loss;
}

static const struct model honest = {
    trainer_quadratic, &bowl, 0.1, 0, NULL, NULL};
static const struct model attacker = {attack, &bowl, 0.1, 0, NULL, NULL};

static void score(void *context, const float *theta, size_t elements,
                  double *loss, double *accuracy)
{
    (void)context;
    *loss = 1; /* what nobody can learn */
    *accuracy = -1;
    for (size_t i = 0; i < elements; i++)
        *loss += pow((double)theta[i] - (double)goal[i], 2);
}

/* How far a node is from the goal after 20 seconds. */
static double run(const char *preset, double rollback, bool scored,
                  uint64_t *rollbacks)
{
    static const char *const names[NODES] = {"n1", "n2", "n3", "evil"};
    static struct hub_view view;
    struct lab *lab = lab_new(ELEMENTS);
    double loss = NO_SCORE, accuracy;

    lab->config.hub.policy = preset_find(preset)->policy;
    lab->config.hub.policy.reduce = &reduce_mean; /* which clips nobody */
    lab->config.hub.policy.numbers.rollback = rollback;
    lab->config.hub.nodes = NODES;
    lab->config.hub.every = 2;
    lab->config.hub.evaluate_interval = 100 * MILLISECOND;
    if (scored)
        lab->config.hooks.evaluate = score;
    lab_open(lab, 5);
    for (unsigned i = 0; i < NODES; i++)
        lab_add(lab, names[i], i == NODES - 1 ? &attacker : &honest);
    CHECK(lab_run(lab, 20 * SECOND));
    hub_look(world_hub(lab->world), world_now(lab->world), &view);
    *rollbacks = view.rollbacks;
    score(NULL, trainer_values(world_trainer(lab->world, 0)), ELEMENTS, &loss,
          &accuracy);
    lab_destroy(&lab);
    return loss;
}

static void a_poisoned_centre_comes_back(void)
{
    static const char *const policies[] = {"mean", "diloco", "async"};
    uint64_t rollbacks;

    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        CHECK(run(policies[i], 1, true, &rollbacks) < 1.1);
        CHECK(rollbacks >= 1 && rollbacks <= 2);
    }
}

static void it_does_not_where_that_is_switched_off(void)
{
    uint64_t rollbacks;

    CHECK(!(run("mean", 0, true, &rollbacks) < 1e30));
    CHECK_EQUAL(0, rollbacks);
}

static void nor_where_the_hub_cannot_score(void)
{
    uint64_t rollbacks;

    CHECK(!(run("mean", 1, false, &rollbacks) < 1e30));
    CHECK_EQUAL(0, rollbacks);
}

void add_sim_rollback_tests(CU_pSuite suite)
{
    TEST(a_poisoned_centre_comes_back);
    TEST(it_does_not_where_that_is_switched_off);
    TEST(nor_where_the_hub_cannot_score);
}
