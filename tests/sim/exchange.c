/* What a trainer's parameters go through in a star in virtual time. */
#include "tests/check.h"
#include "tests/sim/lab.h"

static const struct drift drift = {0.25f};

/* ---- AP-10: the optimizer of who is replaced ---- */

struct replacements {
    unsigned count, reset;
};

static void count_replacements(void *observer, const struct trainer_look *look)
{
    struct replacements *seen = observer;

    if (look->moment != TRAINER_REPLACED)
        return;
    seen->count++;
    seen->reset += look->reset;
}

/* The second node has other parameters than the run, and so takes the run's. */
static void ap_10_who_takes_hears_what_becomes_of_its_optimizer(void)
{
    for (enum optimizer optimizer = 0; optimizer < OPTIMIZER_COUNT;
         optimizer++) {
        struct lab *lab = lab_new(3);
        struct replacements seen[2] = {{0, 0}, {0, 0}};
        struct model model = {trainer_drift,      &drift, 1, 0,
                              count_replacements, NULL};

        lab->config.hub.optimizer = optimizer;
        lab_open(lab, 5);
        model.observer = &seen[0];
        lab_add(lab, "n1", &model);
        lab_run(lab, SECOND);
        lab->start[0] = 9;
        model.observer = &seen[1];
        lab_add(lab, "n2", &model);
        lab_run(lab, 5 * SECOND);
        CHECK_EQUAL(0, seen[0].count);
        CHECK_EQUAL(1, seen[1].count);
        CHECK_EQUAL(optimizer == OPTIMIZER_RESET, seen[1].reset);
        lab_destroy(&lab);
    }
}

/* ---- SD-3: local pulling ---- */

enum { EVERY = 4, ROUNDS = 12 };

/* One node, whose every offer becomes the centre. */
static void sd_03_a_node_is_pulled_to_its_last_result(void)
{
    static const double strengths[] = {0, 0.5};
    const struct model model = {trainer_drift, &drift, 1, 0, NULL, NULL};

    for (int i = 0; i < 2; i++) {
        struct lab *lab = lab_new(3);
        double x = 2, anchor = 2, share = strengths[i] / EVERY;

        lab->config.hub.every = EVERY;
        lab->config.hub.policy.numbers.anchor = strengths[i];
        lab->start[0] = 2;
        lab_open(lab, 5);
        lab_add(lab, "n1", &model);
        if (!lab_run_rounds(lab, ROUNDS))
            break;
        for (unsigned step = 1; step <= ROUNDS * EVERY; step++) {
            x = (1 - share) * (x + 0.25) + share * anchor;
            if (step % EVERY)
                continue;
            anchor = x;
            CHECK_NEAR(x, lab_value(lab, step / EVERY), i ? 1e-5 : 0);
        }
        lab_destroy(&lab);
    }
}

void add_sim_exchange_tests(CU_pSuite suite)
{
    TEST(sd_03_a_node_is_pulled_to_its_last_result);
    TEST(ap_10_who_takes_hears_what_becomes_of_its_optimizer);
}
