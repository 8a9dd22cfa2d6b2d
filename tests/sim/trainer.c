/* What the simulated trainer leaves to others: the optimizer, and knowing that
 * its parameters were replaced. */
#include "tests/check.h"
#include "tests/sim/lab.h"

enum { EVERY = 8, ROUNDS = 10, ELEMENTS = 11 };
#define AMOUNT 0.25

static const struct drift drift = {(float)AMOUNT};
static const float zeros[ELEMENTS], fives[ELEMENTS] = {5, 5, 5};

/* Twice as fast as the gradient says. */
static void take_double(const void *context, float *x, const float *gradient,
                        size_t first, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        x[first + i] -= 2 * gradient[i];
}

static void count_replaced(void *observer, const struct trainer_look *look)
{
    unsigned *replaced = observer;

    *replaced += look->moment == TRAINER_REPLACED;
}

/* Two nodes, the second one later and from parameters of its own; how often
 * those of each were replaced. */
static struct lab *run(trainer_optimizer *optimizer, const float *other,
                       unsigned replaced[2])
{
    static const char *const names[2] = {"n1", "n2"};
    struct lab *lab = lab_new(ELEMENTS);

    lab->config.hub.every = EVERY;
    lab->config.hub.nodes = 2;
    lab_open(lab, 3);
    for (unsigned i = 0; i < 2; i++) {
        struct world_node node = {.name = names[i],
                                  .trainer = {.start = i ? other : lab->start,
                                              .elements = ELEMENTS,
                                              .step = 100 * MILLISECOND,
                                              .rate = 1,
                                              .samples = 1,
                                              .gradient = trainer_drift,
                                              .optimizer = optimizer,
                                              .context = &drift,
                                              .look = count_replaced,
                                              .observer = &replaced[i]}};

        world_start(lab->world, world_add_node(lab->world, &node));
        lab_run(lab, SECOND);
    }
    lab_run_rounds(lab, ROUNDS);
    return lab;
}

static void own_optimizer(void)
{
    unsigned replaced[2] = {0};
    struct lab *lab = run(take_double, zeros, replaced);

    for (unsigned j = 1; j <= ROUNDS; j++)
        CHECK_NEAR(2 * AMOUNT * j * EVERY, lab_value(lab, j), 0);
    lab_destroy(&lab);
}

static void told_of_replacing(void)
{
    unsigned replaced[2] = {0};
    struct lab *lab = run(NULL, fives, replaced);

    CHECK_EQUAL(0, replaced[0]);
    CHECK_EQUAL(1, replaced[1]);
    lab_destroy(&lab);
}

void add_sim_trainer_tests(CU_pSuite suite)
{
    check_add(suite, "a trainer's own optimizer takes its steps",
              own_optimizer);
    check_add(suite, "a trainer learns that its parameters were replaced",
              told_of_replacing);
}
